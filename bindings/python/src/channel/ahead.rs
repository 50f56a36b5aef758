//! What was received together with the beginning of a frame: small frames take one system call, and several of them may come by one.

use hookless::Result;
use hookless::frame::Want;

use crate::inbox::Inbox;

/// Bytes that are asked for where a frame begins. Most of those that are not large fit in, and what a large one has to be copied is little.
const LEN: usize = 8192;

/// Received bytes that have not been put where they belong.
pub(super) struct Ahead {
    bytes: Box<[u8; LEN]>,
    from: usize,
    to: usize,
}

impl Ahead {
    pub(super) fn new() -> Ahead {
        Ahead { bytes: Box::new([0; LEN]), from: 0, to: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Where the next bytes go; to be asked for when it is empty.
    pub(super) fn space(&mut self) -> &mut [u8] {
        &mut self.bytes[..]
    }

    /// Says that `count` bytes are in the space.
    pub(super) fn fill(&mut self, count: usize) {
        (self.from, self.to) = (0, count.min(LEN));
    }

    /// Moves the next of them to where they belong, but not past what has to be judged first; how many they are.
    pub(super) fn move_to(&mut self, inbox: &mut Inbox) -> Result<usize> {
        let bytes = &self.bytes[self.from..self.to];
        let count = match inbox.assembler.want() {
            Want::Slot { index, from, len } => {
                let count = usize::try_from(len - from).unwrap_or(usize::MAX).min(bytes.len());
                inbox.targets.put(index, usize::try_from(from).unwrap_or(usize::MAX), &bytes[..count]);
                count
            }
            _ => {
                let space = inbox.assembler.space()?;
                let count = space.len().min(bytes.len());
                space[..count].copy_from_slice(&bytes[..count]);
                count
            }
        };
        self.from += count;
        Ok(count)
    }
}
