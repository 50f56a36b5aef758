//! L10: frames that are complete and not handed on are bounded together.

use crate::error::{Code, Result};
use crate::frame::Head;
use crate::limits::{Limits, charge, over};

/// What such frames hold. Each holds something, so 0 means that there are none.
#[derive(Debug, Default)]
pub(crate) struct Undelivered(u64);

impl Undelivered {
    /// What the body of the next frame may be charged beside them; none where there are none, and its own limits hold.
    ///
    /// # Errors
    /// `undelivered_limit` at byte 0, where not even its head fits.
    pub(crate) fn left_for(&self, head: &Head, limits: &Limits) -> Result<Option<u64>> {
        if self.0 == 0 {
            return Ok(None);
        }
        let left = limits.undelivered.saturating_sub(self.0);
        let fixed = fixed_cost(head);
        match left.checked_sub(fixed) {
            Some(rest) => Ok(Some(rest)),
            None => Err(over(Code::UndeliveredLimit, fixed, left).or_at(0)),
        }
    }

    /// One more is complete, whose value was charged so much: what it costs until it is handed on.
    pub(crate) fn add(&mut self, head: &Head, charged: u64) -> u64 {
        let charged = if head.kind.carries_value() { charged } else { 0 };
        let cost = fixed_cost(head).saturating_add(charged);
        self.0 = self.0.saturating_add(cost);
        cost
    }

    /// One of that cost was handed on.
    pub(crate) fn release(&mut self, cost: u64) {
        self.0 = self.0.saturating_sub(cost);
    }

    /// All were.
    pub(crate) fn clear(&mut self) {
        self.0 = 0;
    }

    /// What they hold.
    pub(crate) fn held(&self) -> u64 {
        self.0
    }
}

/// What a frame costs beside the charges of its value. A control frame has none, and its body counts as it is.
fn fixed_cost(head: &Head) -> u64 {
    let bytes = if head.kind.carries_value() { head.data_len } else { head.body_len };
    bytes.saturating_add(charge::DELIVERED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Assembler, FrameKind, Want};
    use crate::session::{EMPTY_BODY, Progress};
    use crate::wire::{Tree, wide};

    fn of(kind: FrameKind, call_id: u64, body: &[u8]) -> Vec<u8> {
        let head = Head { kind, call_id, body_len: wide(body.len()), data_len: 0 };
        [&head.to_bytes(), body].concat()
    }

    /// An item: a list of so many None.
    fn item(nones: u8) -> Vec<u8> {
        of(FrameKind::Item, 1, &[&[0x90 | nones][..], &vec![0xc0; nones.into()]].concat())
    }

    /// One frame as a session takes it: what it costs.
    fn take(assembler: &mut Assembler, mut frame: &[u8]) -> Result<u64> {
        while assembler.want() != Want::Done {
            match assembler.want() {
                Want::Build if assembler.head().unwrap().kind.carries_value() => {
                    assembler.build(&mut Tree::arriving())?;
                }
                Want::Build => assembler.skip_build()?,
                _ => {
                    let space = assembler.space()?;
                    let count = space.len();
                    space.copy_from_slice(&frame[..count]);
                    frame = &frame[count..];
                    assembler.advance(count)?;
                }
            }
        }
        Ok(assembler.reset())
    }

    fn with(undelivered: u64) -> Assembler {
        Assembler::new(Limits { undelivered, ..Limits::default() })
    }

    fn refused(taken: Result<u64>) -> (Code, Option<u64>) {
        let error = taken.unwrap_err();
        (error.code(), error.offset())
    }

    #[test]
    fn l10_a_frame_costs_until_it_is_released() {
        let mut assembler = with(0);
        for _ in 0..3 {
            let cost = take(&mut assembler, &item(2)).unwrap();
            assert_eq!((cost, assembler.held()), (128 + 88 + 64, cost));
            assembler.release(cost);
            assert_eq!(assembler.held(), 0, "while nothing is held, a frame is bounded by its own limits");
        }
        take(&mut assembler, &item(0)).unwrap();
        assert_eq!(refused(take(&mut assembler, &item(0))), (Code::UndeliveredLimit, Some(0)));
    }

    #[test]
    fn l10_the_frames_held_are_bounded_together_at_the_limit_and_past_it() {
        let one = 128 + 88 + 32;
        for (past, verdict) in [(0, Ok(one)), (1, Err((Code::UndeliveredLimit, Some(33))))] {
            let mut assembler = with(3 * one - past);
            let costs = [1, 1].map(|nones| take(&mut assembler, &item(nones)).unwrap());
            assert_eq!(costs, [one; 2]);
            let third = take(&mut assembler, &item(1));
            assert_eq!(third.map_err(|error| (error.code(), error.offset())), verdict, "{past} past");
        }
        // What was handed on in any order makes room again.
        let mut assembler = with(3 * one);
        let costs = [0, 1, 1].map(|nones| take(&mut assembler, &item(nones)).unwrap());
        assembler.release(costs[1]);
        assert_eq!(take(&mut assembler, &item(1)), Ok(one));
        assembler.release(costs[0]);
        assert_eq!(refused(take(&mut assembler, &item(2))), (Code::UndeliveredLimit, Some(34)));
    }

    #[test]
    fn l10_a_control_frame_counts_its_body() {
        let body = Progress { done: 1, total: None, text: "half" }.to_body().unwrap();
        let progress = of(FrameKind::Progress, 1, &body);
        let cost = 128 + wide(body.len());
        let mut assembler = with(2 * cost);
        assert_eq!([(); 2].map(|()| take(&mut assembler, &progress)), [Ok(cost), Ok(cost)]);
        let empty = of(FrameKind::Cancelled, 1, EMPTY_BODY);
        assert_eq!(refused(take(&mut assembler, &empty)), (Code::UndeliveredLimit, Some(0)));
        let mut assembler = with(2 * cost - 1);
        take(&mut assembler, &progress).unwrap();
        assert_eq!(refused(take(&mut assembler, &progress)), (Code::UndeliveredLimit, Some(0)));
    }
}
