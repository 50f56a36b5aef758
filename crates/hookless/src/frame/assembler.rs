//! Puts a frame together from bytes as they arrive, and says where the next ones belong.

use crate::error::{Code, Error, Result};
use crate::frame::undelivered::Undelivered;
use crate::frame::whole::check_zero;
use crate::frame::{FrameKind, HEAD_LEN, Head, read_body};
use crate::limits::Limits;
use crate::memory::{self, Full};
use crate::wire::{Build, Plan, Slot, Tree, wide};

/// The most that a buffer grows at once, before more has arrived: that of a body, or of an array ([`Intake`](super::Intake)).
pub(super) const STEP: usize = 256 * 1024;

/// Zero bytes between entries are read through a buffer of this size.
const GAP: usize = 64;

/// What an [`Assembler`] waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Bytes of head, body or padding: ask [`Assembler::space`], then tell [`Assembler::advance`].
    Bytes,
    /// The body is complete: call [`Assembler::build`].
    Build,
    /// Bytes of an entry of the data region, to be put into memory of the caller's: `from` to `len` are missing.
    Slot {
        /// Index in the plan.
        index: usize,
        /// Bytes that have arrived.
        from: u64,
        /// Bytes in all.
        len: u64,
    },
    /// All bytes of the entry are there: call [`Assembler::check_slot`].
    Check {
        /// Index in the plan.
        index: usize,
    },
    /// The frame is complete: [`Assembler::reset`] makes ready for the next.
    Done,
}

/// A pure state machine over the bytes of one stream; grows only with what has arrived.
///
/// ```text
/// Head --32 bytes--> Body --all bytes--> Build --> Data (padding, slot, check)* --> Done --reset--> Head
/// ```
#[derive(Debug)]
pub struct Assembler {
    limits: Limits,
    stage: Stage,
    head_bytes: [u8; HEAD_LEN],
    head: Option<Head>,
    body: Vec<u8>,
    gap: [u8; GAP],
    plan: Plan,
    undelivered: Undelivered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head {
        have: usize,
    },
    Body {
        have: usize,
    },
    Build,
    /// Zero bytes before slot `next`.
    Gap {
        next: usize,
        left: usize,
    },
    Slot {
        index: usize,
        have: u64,
    },
    Check {
        index: usize,
    },
    Done,
}

impl Assembler {
    /// An assembler at the start of a stream.
    pub fn new(limits: Limits) -> Self {
        Assembler {
            limits,
            stage: Stage::Head { have: 0 },
            head_bytes: [0; HEAD_LEN],
            head: None,
            body: Vec::new(),
            gap: [0; GAP],
            plan: Plan::default(),
            undelivered: Undelivered::default(),
        }
    }

    /// The limits that it applies.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it waits for.
    pub fn want(&self) -> Want {
        match self.stage {
            Stage::Head { .. } | Stage::Body { .. } | Stage::Gap { .. } => Want::Bytes,
            Stage::Build => Want::Build,
            Stage::Slot { index, have } => Want::Slot { index, from: have, len: self.slot(index).1 },
            Stage::Check { index } => Want::Check { index },
            Stage::Done => Want::Done,
        }
    }

    /// The head, once it has arrived.
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Whether nothing of a frame has arrived.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Head { have: 0 }
    }

    /// The body, once it is complete.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// What the session reads of a body that is complete: all of a control frame's, and of a CALL's the beginning, which has its verb.
    pub fn told_to_session(&self) -> &[u8] {
        match self.head {
            Some(Head { kind: FrameKind::Call, .. }) => self.body.get(..2).unwrap_or_default(),
            Some(head) if head.kind.carries_value() => &[],
            _ => &self.body,
        }
    }

    /// The entries of the data region, once [`Assembler::build`] has read the body.
    pub fn slots(&self) -> &[Slot] {
        self.plan.slots()
    }

    /// Memory for the next bytes, in [`Want::Bytes`]; empty in any other state.
    pub fn space(&mut self) -> Result<&mut [u8]> {
        match self.stage {
            Stage::Head { have } => Ok(self.head_bytes.get_mut(have..).unwrap_or_default()),
            Stage::Body { have } => {
                let missing = self.body_len().saturating_sub(have);
                let room = missing.min(have.max(STEP));
                let len = have.saturating_add(room);
                if self.body.len() < len {
                    let more = len.saturating_sub(self.body.len());
                    self.body.try_reserve_exact(more).map_err(Full::from)?;
                    memory::resize(&mut self.body, len, 0)?;
                }
                Ok(self.body.get_mut(have..len).unwrap_or_default())
            }
            Stage::Gap { left, .. } => Ok(self.gap.get_mut(..left.min(GAP)).unwrap_or_default()),
            Stage::Build | Stage::Slot { .. } | Stage::Check { .. } | Stage::Done => Ok(&mut []),
        }
    }

    /// Says that `count` bytes have been put into [`Assembler::space`].
    ///
    /// # Errors
    /// The codes of the head, `bad_padding`.
    pub fn advance(&mut self, count: usize) -> Result<()> {
        match self.stage {
            Stage::Head { have } => {
                let have = have.saturating_add(count).min(HEAD_LEN);
                self.stage = Stage::Head { have };
                Head::check_magic(self.head_bytes.get(..have).unwrap_or_default())?;
                if have == HEAD_LEN {
                    self.head = Some(Head::parse(&self.head_bytes, &self.limits)?);
                    self.stage = Stage::Body { have: 0 };
                }
            }
            Stage::Body { have } => {
                let have = have.saturating_add(count).min(self.body.len());
                let complete = have == self.body_len();
                self.stage = if complete { Stage::Build } else { Stage::Body { have } };
            }
            Stage::Gap { next, left } => {
                let at = self.gap_end(next).saturating_sub(wide(left));
                check_zero(self.gap.get(..count.min(left)).unwrap_or_default(), at)?;
                let left = left.saturating_sub(count);
                self.stage =
                    if left == 0 { Stage::Slot { index: next, have: 0 } } else { Stage::Gap { next, left } };
            }
            Stage::Build | Stage::Slot { .. } | Stage::Check { .. } | Stage::Done => {}
        }
        Ok(())
    }

    /// Reads the body, in [`Want::Build`]: F10.
    ///
    /// # Errors
    /// All of [`read_body`], and `undelivered_limit` (L10).
    pub fn build<B: Build>(&mut self, build: &mut B) -> Result<B::Value> {
        let Some(head) = self.head else { return Err(Error::new(Code::UnexpectedFrame)) };
        self.body.truncate(self.body_len());
        let read = match self.undelivered.left_for(&head, &self.limits)? {
            Some(memory) if memory < self.limits.memory => {
                let limits = Limits { memory, ..self.limits.clone() };
                read_body(&self.body, &head, &limits, build).map_err(|error| match error.code() {
                    Code::MemoryLimit => error.recoded(Code::UndeliveredLimit),
                    _ => error,
                })
            }
            _ => read_body(&self.body, &head, &self.limits, build),
        };
        let (value, plan) = read?;
        self.plan = plan;
        self.enter(0, usize::try_from(head.gap_len()).unwrap_or_default());
        Ok(value)
    }

    /// In place of [`Assembler::build`] for a value that the caller cannot hold (S18): goes on if the body is well formed.
    ///
    /// # Errors
    /// As [`Assembler::build`].
    pub fn check_body(&mut self) -> Result<()> {
        self.build(&mut Tree::arriving()).map(drop)
    }

    /// In place of [`Assembler::build`] for a control frame, whose body the session reads.
    ///
    /// # Errors
    /// `undelivered_limit` (L10).
    pub fn skip_build(&mut self) -> Result<()> {
        if let Some(head) = self.head {
            self.undelivered.left_for(&head, &self.limits)?;
        }
        self.body.truncate(self.body_len());
        self.stage = Stage::Done;
        Ok(())
    }

    /// Says that `count` more bytes of the slot are in the caller's memory.
    pub fn advance_slot(&mut self, count: u64) {
        if let Stage::Slot { index, have } = self.stage {
            let have = have.saturating_add(count).min(self.slot(index).1);
            let full = have == self.slot(index).1;
            self.stage = if full { Stage::Check { index } } else { Stage::Slot { index, have } };
        }
    }

    /// Checks the bytes of a slot (A10) and goes on to the next.
    ///
    /// # Errors
    /// `bad_element`.
    pub fn check_slot(&mut self, bytes: &[u8]) -> Result<()> {
        let Stage::Check { index } = self.stage else { return Ok(()) };
        let Some(slot) = self.plan.slots().get(index) else { return Ok(()) };
        if let Some(bad) = slot.find_bad(bytes) {
            let at = self.region_start().saturating_add(slot.offset).saturating_add(bad);
            return Err(Error::at(Code::BadElement, at));
        }
        let end = slot.offset.saturating_add(slot.len);
        let next = index.saturating_add(1);
        let gap = self.plan.slots().get(next).map_or(0, |slot| slot.offset.saturating_sub(end));
        self.enter(next, usize::try_from(gap).unwrap_or_default());
        Ok(())
    }

    /// Says that all frames which were complete have been handed on: L10 begins anew.
    pub fn delivered(&mut self) {
        self.undelivered.clear();
    }

    /// Says that a frame has been handed on, of which [`Assembler::reset`] said that it costs so much (L10).
    pub fn release(&mut self, cost: u64) {
        self.undelivered.release(cost);
    }

    /// L10: what the frames hold that are complete and not handed on.
    pub fn held(&self) -> u64 {
        self.undelivered.held()
    }

    /// Makes ready for the next frame, and keeps the buffer unless it has grown large. Gives what this one costs until it is handed on (L10).
    pub fn reset(&mut self) -> u64 {
        let cost = self.head.map_or(0, |head| self.undelivered.add(&head, self.plan.charged()));
        self.body.clear();
        if self.body.capacity() > STEP.saturating_mul(4) {
            self.body = Vec::new();
        }
        self.head = None;
        self.plan = Plan::default();
        self.stage = Stage::Head { have: 0 };
        cost
    }

    /// How many bytes of the frame have arrived; where a stream that ends now is `truncated` (F14).
    pub fn received(&self) -> u64 {
        let body = wide(HEAD_LEN);
        match self.stage {
            Stage::Head { have } => wide(have),
            Stage::Body { have } => body.saturating_add(wide(have)),
            Stage::Build => body.saturating_add(wide(self.body_len())),
            Stage::Gap { next, left } => self.gap_end(next).saturating_sub(wide(left)),
            Stage::Slot { index, have } => self.gap_end(index).saturating_add(have),
            Stage::Check { index } => self.gap_end(index).saturating_add(self.slot(index).1),
            Stage::Done => self.region_start().saturating_add(self.head.map_or(0, |head| head.data_len)),
        }
    }

    fn enter(&mut self, next: usize, gap: usize) {
        self.stage = match (next < self.plan.slots().len(), gap) {
            (false, _) => Stage::Done,
            (true, 0) => Stage::Slot { index: next, have: 0 },
            (true, left) => Stage::Gap { next, left },
        };
    }

    /// Offset and length of a slot.
    fn slot(&self, index: usize) -> (u64, u64) {
        self.plan.slots().get(index).map_or((0, 0), |slot| (slot.offset, slot.len))
    }

    fn body_len(&self) -> usize {
        self.head.and_then(|head| usize::try_from(head.body_len).ok()).unwrap_or_default()
    }

    /// Where the region begins, from the frame's first byte.
    fn region_start(&self) -> u64 {
        let head = self.head.map_or(0, |head| head.body_len.saturating_add(head.gap_len()));
        head.saturating_add(wide(HEAD_LEN))
    }

    /// Where the zero bytes before a slot end.
    fn gap_end(&self, next: usize) -> u64 {
        self.region_start().saturating_add(self.slot(next).0)
    }
}
