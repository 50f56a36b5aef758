//! A frame on its way out, in the memory where its parts lie.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};
use hookless::frame::{OwnedParts, padding};

/// The most slices of one write: what the kernel takes (IOV_MAX) is more, and no faster.
const SLICES: usize = 64;

/// Zero bytes before an entry of the data region: 63 at most.
static ZEROS: [u8; 64] = [0; 64];

/// What is left of a frame.
#[derive(Debug)]
pub(crate) struct Packet {
    parts: VecDeque<Bytes>,
    /// Whether it is a CALL, which a worker may leave unread while it is at work on no other.
    pub(crate) is_call: bool,
}

impl Packet {
    pub(crate) fn new(frame: OwnedParts, is_call: bool) -> Packet {
        let mut len = frame.start.len();
        let mut parts = VecDeque::from([Bytes::from(frame.start)]);
        for part in frame.region {
            let gap = usize::try_from(padding(len as u64)).unwrap_or_default();
            if let Some(zeros) = ZEROS.get(..gap).filter(|zeros| !zeros.is_empty()) {
                parts.push_back(Bytes::from_static(zeros));
            }
            len += gap + part.len();
            parts.push_back(Bytes::from(part));
        }
        Packet { parts, is_call }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.parts.is_empty()
    }

    /// What is to be written next.
    pub(crate) fn slices<'a>(&'a self, room: &mut [IoSlice<'a>; SLICES]) -> usize {
        let mut count = 0;
        for (slice, part) in room.iter_mut().zip(&self.parts) {
            *slice = IoSlice::new(part);
            count += 1;
        }
        count
    }

    pub(crate) fn room<'a>() -> [IoSlice<'a>; SLICES] {
        [IoSlice::new(&[]); SLICES]
    }

    /// So many bytes are gone; parts are let go as they are.
    pub(crate) fn advance(&mut self, mut count: usize) {
        while let Some(part) = self.parts.front_mut() {
            if count < part.len() {
                part.advance(count);
                return;
            }
            count -= part.len();
            self.parts.pop_front();
        }
    }
}
