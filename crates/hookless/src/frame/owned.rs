//! Frames that own what they are made of, to be sent by vectored writes.

use crate::encode_parts;
use crate::error::Result;
use crate::frame::{FrameKind, HEAD_LEN};
use crate::limits::{Limits, REGION_THRESHOLD};
use crate::memory;
use crate::value::Value;
use crate::wire::{Tree, wide};

/// A frame in parts: head and body, and the buffers that follow, each after as many zero bytes as [`padding`](super::padding) says.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnedParts {
    /// Head and body.
    pub start: Vec<u8>,
    /// The buffers of the data region: those of the value itself, moved out of it.
    pub region: Vec<Vec<u8>>,
}

impl OwnedParts {
    /// Encodes a value, which is taken apart: large buffers are neither copied nor left behind.
    ///
    /// # Errors
    /// As [`encode`](crate::encode).
    pub fn encode(mut value: Value, kind: FrameKind, call_id: u64, limits: &Limits) -> Result<OwnedParts> {
        let start = encode_parts(&value, kind, call_id, limits, &mut Vec::new())?;
        let mut region = Vec::new();
        Tree::each(&mut value, &mut |bytes| {
            let is_large = wide(bytes.len()) >= REGION_THRESHOLD;
            if is_large { memory::push(&mut region, std::mem::take(bytes)) } else { Ok(()) }
        })?;
        Ok(OwnedParts { start, region })
    }

    /// A control frame of this body.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn control(kind: FrameKind, call_id: u64, body: &[u8]) -> Result<OwnedParts> {
        let head = super::Head { kind, call_id, body_len: wide(body.len()), data_len: 0 };
        let mut start = memory::room(HEAD_LEN.saturating_add(body.len()))?;
        memory::extend(&mut start, &head.to_bytes())?;
        memory::extend(&mut start, body)?;
        Ok(OwnedParts { start, region: Vec::new() })
    }

    /// Makes it a frame of another call: who begins one learns its id last (S5).
    pub fn set_call_id(&mut self, call_id: u64) {
        let place = self.start.get_mut(8..16).unwrap_or_default();
        place.iter_mut().zip(call_id.to_be_bytes()).for_each(|(to, from)| *to = from);
    }
}
