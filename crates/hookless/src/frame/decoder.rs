//! Frames of [`Value`]s from a stream of bytes.

use crate::error::{Code, Error, Result};
use crate::frame::{Assembler, FrameKind, Want};
use crate::limits::Limits;
use crate::memory;
use crate::value::Value;
use crate::wire::Tree;

/// A frame that carries a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it is for.
    pub kind: FrameKind,
    /// The call it belongs to; 0 for none.
    pub call_id: u64,
    /// Its value.
    pub value: Value,
}

/// Takes bytes as they come and gives whole frames. One decoder serves one stream.
///
/// Nothing is allocated on the word of a length: head and body grow with what has arrived, and array memory is reserved, untouched,
/// within `Limits::region`. What one `feed` gives is bounded by `Limits::undelivered` (L10). After an error the decoder is dead, and says so again on every call.
#[derive(Debug)]
pub struct Decoder {
    assembler: Assembler,
    pending: Option<Value>,
    slots: Vec<Vec<u8>>,
    dead: Option<Error>,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(limits: Limits) -> Self {
        Decoder { assembler: Assembler::new(limits), pending: None, slots: Vec::new(), dead: None }
    }

    /// Takes the next bytes, and gives the frames that they complete. Frames that were complete before an error are not lost: they are
    /// given now, and the error on the next call.
    ///
    /// # Errors
    /// Any error of the wire; offsets count from the first byte of the frame that is at fault.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Frame>> {
        if let Some(error) = &self.dead {
            return Err(error.clone());
        }
        self.assembler.delivered();
        let mut frames = Vec::new();
        loop {
            let next = match self.step(&mut bytes) {
                Ok(Some(frame)) => memory::push(&mut frames, frame).map_err(Error::from),
                Ok(None) => return Ok(frames),
                Err(error) => Err(error),
            };
            match next {
                Ok(()) => {}
                Err(error) => {
                    self.dead = Some(error.clone());
                    return if frames.is_empty() { Err(error) } else { Ok(frames) };
                }
            }
        }
    }

    /// Says that the stream has ended.
    ///
    /// # Errors
    /// `truncated` inside a frame, or the error that the decoder died of.
    pub fn finish(&self) -> Result<()> {
        match &self.dead {
            Some(error) => Err(error.clone()),
            None if self.assembler.is_idle() => Ok(()),
            None => Err(Error::at(Code::Truncated, self.assembler.received())),
        }
    }

    /// Goes on until a frame is complete or the bytes are used up.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>> {
        loop {
            match self.assembler.want() {
                Want::Bytes => {
                    if bytes.is_empty() {
                        return Ok(None);
                    }
                    let space = self.assembler.space()?;
                    let count = space.len().min(bytes.len());
                    let (now, later) = bytes.split_at_checked(count).unwrap_or_default();
                    space.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
                    *bytes = later;
                    self.assembler.advance(count)?;
                }
                Want::Build => {
                    let value = self.assembler.build(&mut Tree::arriving())?;
                    self.slots.clear();
                    self.pending = Some(value);
                }
                Want::Slot { index, from, len } => {
                    if bytes.is_empty() {
                        return Ok(None);
                    }
                    if self.slots.len() <= index {
                        memory::push(&mut self.slots, Vec::new())?;
                    }
                    let missing = usize::try_from(len.saturating_sub(from)).unwrap_or(usize::MAX);
                    let (now, later) = bytes.split_at_checked(missing).unwrap_or((*bytes, &[]));
                    if let Some(slot) = self.slots.last_mut() {
                        memory::extend(slot, now)?;
                    }
                    *bytes = later;
                    self.assembler.advance_slot(crate::wire::wide(now.len()));
                }
                Want::Check { .. } => {
                    self.assembler.check_slot(self.slots.last().map_or(&[], Vec::as_slice))?;
                }
                Want::Done => {
                    let head = self.assembler.head();
                    let (Some(head), Some(mut value)) = (head, self.pending.take()) else {
                        return Err(Error::new(Code::UnexpectedFrame));
                    };
                    let mut slots = std::mem::take(&mut self.slots).into_iter();
                    Tree::fill(&mut value, &mut |place| {
                        *place = slots.next().unwrap_or_default();
                        Ok(())
                    })?;
                    self.assembler.reset();
                    return Ok(Some(Frame { kind: head.kind, call_id: head.call_id, value }));
                }
            }
        }
    }
}
