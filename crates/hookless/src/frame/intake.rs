//! Frames of [`Value`]s for whoever receives: says where the next bytes belong, and gives each frame once it is whole.

use crate::error::{Code, Error, Result};
use crate::frame::assembler::STEP;
use crate::frame::{Assembler, Head, Want};
use crate::limits::Limits;
use crate::memory::{self, Full};
use crate::value::Value;
use crate::wire::{Tree, wide};

/// Where the next bytes belong.
#[derive(Debug)]
pub enum Place<'a> {
    /// Here: the first ones of head, body or padding.
    Bytes(&'a mut [u8]),
    /// At the end of this, which becomes the memory of an array (or of bytes): at most `most`, for which it has room.
    Array {
        /// What has arrived.
        data: &'a mut Vec<u8>,
        /// Bytes that may be added now.
        most: usize,
    },
    /// Nowhere yet: a frame is complete, and [`Intake::take`] gives it.
    Done,
}

/// A frame that is whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its head.
    pub head: Head,
    /// What the session reads: the body of a control frame, and the beginning of a CALL's; empty for any other.
    pub body: Vec<u8>,
    /// The value of any other frame; None for a control frame.
    pub value: Value,
    /// What it costs until [`Intake::release`] says that it was handed on (L10).
    pub cost: u64,
}

/// Puts the frames of one stream together, each byte received straight to where it stays.
///
/// Nothing is reserved on the word of a length: room grows with what has arrived, for arrays too.
///
/// ```
/// use hookless::frame::{Intake, Place};
/// use hookless::{Limits, Value, encode};
///
/// let frame = encode(&Value::from("x"), &Limits::default())?;
/// let (mut intake, mut rest) = (Intake::new(Limits::default()), &frame[..]);
/// loop {
///     let count = match intake.place()? {
///         Place::Bytes(space) => {
///             let count = space.len().min(rest.len());
///             space[..count].copy_from_slice(&rest[..count]);
///             count
///         }
///         Place::Array { data, most } => {
///             data.extend_from_slice(&rest[..most]);
///             most
///         }
///         Place::Done => break,
///     };
///     rest = &rest[count..];
///     intake.advance(count)?;
/// }
/// assert_eq!(intake.take()?.value, Value::from("x"));
/// # Ok::<(), hookless::Error>(())
/// ```
#[derive(Debug)]
pub struct Intake {
    assembler: Assembler,
    pending: Option<Value>,
    slots: Vec<Vec<u8>>,
}

impl Intake {
    /// An intake at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Intake {
        Intake { assembler: Assembler::new(limits), pending: None, slots: Vec::new() }
    }

    /// The head of the frame under way, once it has arrived.
    #[must_use]
    pub fn head(&self) -> Option<Head> {
        self.assembler.head()
    }

    /// Whether nothing of a frame has arrived.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.assembler.is_idle()
    }

    /// Whether a frame is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.assembler.want() == Want::Done
    }

    /// How many bytes of the frame under way have arrived; where a stream that ends now is `truncated` (F14).
    #[must_use]
    pub fn received(&self) -> u64 {
        self.assembler.received()
    }

    /// Where the next bytes belong.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn place(&mut self) -> Result<Place<'_>> {
        match self.assembler.want() {
            Want::Slot { index, from, len } => {
                if self.slots.len() <= index {
                    memory::push(&mut self.slots, Vec::new())?;
                }
                let missing = usize::try_from(len.saturating_sub(from)).unwrap_or(usize::MAX);
                let Some(data) = self.slots.last_mut() else { return Ok(Place::Done) };
                let most = missing.min(data.len().max(STEP));
                data.try_reserve_exact(most).map_err(Full::from)?;
                Ok(Place::Array { data, most })
            }
            Want::Bytes => Ok(Place::Bytes(self.assembler.space()?)),
            Want::Build | Want::Check { .. } | Want::Done => Ok(Place::Done),
        }
    }

    /// Says that `count` bytes have been put into the [`Intake::place`].
    ///
    /// # Errors
    /// Any error of the wire, `undelivered_limit` (L10), `out_of_memory`. Nothing can be received any more then.
    pub fn advance(&mut self, count: usize) -> Result<()> {
        match self.assembler.want() {
            Want::Slot { .. } => self.assembler.advance_slot(wide(count)),
            _ => self.assembler.advance(count)?,
        }
        loop {
            match self.assembler.want() {
                Want::Build => self.build()?,
                Want::Check { .. } => {
                    self.assembler.check_slot(self.slots.last().map_or(&[], Vec::as_slice))?;
                }
                Want::Bytes | Want::Slot { .. } | Want::Done => return Ok(()),
            }
        }
    }

    fn build(&mut self) -> Result<()> {
        self.slots.clear();
        match self.head() {
            Some(head) if !head.kind.carries_value() => self.assembler.skip_build(),
            _ => {
                self.pending = Some(self.assembler.build(&mut Tree::arriving())?);
                Ok(())
            }
        }
    }

    /// The frame that is complete, and makes ready for the next.
    ///
    /// # Errors
    /// `unexpected_frame` if none is; `out_of_memory`.
    pub fn take(&mut self) -> Result<Whole> {
        let Some(head) = self.head().filter(|_| self.is_done()) else {
            return Err(Error::new(Code::UnexpectedFrame).note("no frame is complete"));
        };
        let body = memory::copied(self.assembler.told_to_session())?;
        let mut value = self.pending.take().unwrap_or(Value::None);
        let mut slots = std::mem::take(&mut self.slots).into_iter();
        Tree::fill(&mut value, &mut |place| {
            *place = slots.next().unwrap_or_default();
            Ok(())
        })?;
        let cost = self.assembler.reset();
        Ok(Whole { head, body, value, cost })
    }

    /// Says that a frame has been handed on which cost so much (L10).
    pub fn release(&mut self, cost: u64) {
        self.assembler.release(cost);
    }

    /// L10: what the frames hold that were taken and not released.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.assembler.held()
    }
}
