//! The 32 bytes at the start of a frame: F1 to F9.

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, padding};
use crate::limits::{Limits, over};

/// The first four bytes of every frame (F1).
pub const MAGIC: [u8; 4] = *b"HKLS";

/// The version that this crate writes, and the only one so far (F2).
pub const VERSION: u8 = 1;

/// Bytes of a head.
pub const HEAD_LEN: usize = 32;

/// F7: the longest body of a control frame.
const CONTROL_BODY: u64 = 65_536;

/// The head of a frame, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the frame is for.
    pub kind: FrameKind,
    /// The call it belongs to; 0 for none.
    pub call_id: u64,
    /// Bytes of the body.
    pub body_len: u64,
    /// Bytes of the data region; 0 for none.
    pub data_len: u64,
}

impl Head {
    /// Refuses what cannot become a frame: F1, byte by byte.
    ///
    /// # Errors
    /// `bad_magic`.
    #[inline]
    pub fn check_magic(bytes: &[u8]) -> Result<()> {
        let wrong = bytes.iter().zip(&MAGIC).any(|(found, wanted)| found != wanted);
        if !wrong {
            return Ok(());
        }
        let note = match bytes {
            [0x80, 2..=5, ..] => "this looks like a pickle, which hookless never reads",
            _ => "a frame begins with the bytes HKLS",
        };
        Err(Error::at(Code::BadMagic, 0).note(note))
    }

    /// Reads a head and checks it in the order of its fields: magic F1, version F2, kind F3, flags F4, call id F5, body length F6 and
    /// F7, data length F8 and F9.
    ///
    /// # Errors
    /// The codes of F1 to F9, each at its field.
    #[inline(always)]
    pub fn parse(bytes: &[u8; HEAD_LEN], limits: &Limits) -> Result<Head> {
        Head::check_magic(bytes)?;
        let [_, _, _, _, version, kind, flag1, flag2, rest @ ..] = *bytes;
        let [call_id, body_len, data_len] = three_u64(&rest);
        if version != VERSION {
            return Err(Error::at(Code::BadVersion, 4).note(format_args!("version {version}")));
        }
        let Some(kind) = FrameKind::from_number(kind) else {
            return Err(Error::at(Code::UnknownFrameKind, 5).note(format_args!("kind {kind}")));
        };
        if (flag1, flag2) != (0, 0) {
            return Err(Error::at(Code::BadFlags, 6));
        }
        if !kind.takes_call_id(call_id) {
            return Err(
                Error::at(Code::BadCallId, 8).note(format_args!("call id {call_id} in {}", kind.name()))
            );
        }
        if body_len == 0 {
            return Err(Error::at(Code::BadLength, 16).note("an empty body"));
        }
        let most = if kind.carries_value() { limits.body } else { limits.body.min(CONTROL_BODY) };
        if body_len > most {
            return Err(over(Code::BodyLimit, body_len, most).or_at(16));
        }
        if data_len != 0 && !kind.carries_value() {
            return Err(Error::at(Code::BadLength, 24).note("a control frame with a data region"));
        }
        if data_len > limits.region {
            return Err(over(Code::RegionLimit, data_len, limits.region).or_at(24));
        }
        Ok(Head { kind, call_id, body_len, data_len })
    }

    /// F11: zero bytes between body and region.
    pub fn gap_len(self) -> u64 {
        let filled = self.body_len.saturating_add(crate::wire::wide(HEAD_LEN));
        if self.data_len == 0 { 0 } else { padding(filled) }
    }

    /// Bytes of the whole frame.
    pub fn frame_len(self) -> u64 {
        let body = self.body_len.saturating_add(crate::wire::wide(HEAD_LEN));
        body.saturating_add(self.gap_len()).saturating_add(self.data_len)
    }

    /// The bytes of this head.
    #[inline]
    pub fn to_bytes(self) -> [u8; HEAD_LEN] {
        let mut bytes = [0u8; HEAD_LEN];
        let [a, b, c, d] = MAGIC;
        let fixed = [a, b, c, d, VERSION, self.kind.number(), 0, 0];
        let fields =
            [fixed, self.call_id.to_be_bytes(), self.body_len.to_be_bytes(), self.data_len.to_be_bytes()];
        bytes.as_chunks_mut::<8>().0.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        bytes
    }
}

fn three_u64(bytes: &[u8; 24]) -> [u64; 3] {
    let mut fields = [0u64; 3];
    let (chunks, _) = bytes.as_chunks::<8>();
    fields.iter_mut().zip(chunks).for_each(|(field, chunk)| *field = u64::from_be_bytes(*chunk));
    fields
}
