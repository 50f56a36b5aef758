//! A frame on its way out: what is left of it, and the memory that it is sent from.

use std::io::IoSlice;

use hookless::frame::{HEAD_LEN, padding};
use hookless::{Code, Error};
use pyo3::prelude::*;
use rustix::io::Errno;

use super::link::{Link, Pushed};

use crate::region::{Entry, Gathered};

/// Slices that are handed to the kernel at once: no memory is asked for to send.
const SLICES: usize = 64;

/// Bytes that are gathered at a time. The kernel takes them before the next are, so that they stay in the processor's cache.
const WINDOW: usize = 1 << 20;

static ZEROS: [u8; 64] = [0; 64];

/// The entries of a data region, each after so many zero bytes.
pub(crate) struct Entries {
    all: Vec<(usize, Entry)>,
    window: Window,
}

/// The part of an entry that has been gathered and is not yet all gone.
#[derive(Default)]
struct Window {
    /// Which entry, and where in it.
    entry: usize,
    from: usize,
    filled: usize,
    bytes: Vec<u8>,
}

impl Window {
    /// Bytes of an entry from `at` on, some of them at least: those that are left of the last ones, or the next. All of it happens without the
    /// GIL, so that a peer that takes its time, and an array that is large, hold nobody up.
    fn look(&mut self, entry: usize, gathered: &Gathered, at: usize) -> Result<&[u8], Errno> {
        let inside = self.entry == entry && self.from <= at && at < self.from + self.filled;
        if !inside {
            let len = gathered.part(WINDOW).min(gathered.len());
            if self.bytes.len() < len {
                self.bytes.try_reserve_exact(len - self.bytes.len()).map_err(|_| Errno::NOMEM)?;
                self.bytes.resize(len, 0);
            }
            // Both begin and end between elements: the one before it has gone as a whole.
            let filled = gathered.fill_over(at, &mut self.bytes[..len]).len();
            (self.entry, self.from, self.filled) = (entry, at, filled);
        }
        Ok(&self.bytes[at - self.from..self.filled])
    }
}

impl Entries {
    /// Those of a region that follows `frame_len` bytes of head and body.
    pub(super) fn of(frame_len: usize, region: &[Bound<'_, PyAny>]) -> hookless::Result<Entries> {
        let mut all = Vec::new();
        all.try_reserve_exact(region.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
        let mut filled = frame_len as u64;
        for entry in region {
            let (gap, entry) = (padding(filled), Entry::of(entry)?);
            filled += gap + entry.len() as u64;
            all.push((gap as usize, entry));
        }
        Ok(Entries { all, window: Window::default() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// How much of a frame is gone. Each byte leaves exactly once: what a short write took is not sent again.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    /// The first part that is not yet gone, and how many bytes of it are. Part 0 is head and body, each entry has two more: zeros and bytes.
    part: usize,
    gone: usize,
}

/// The parts of a frame.
pub(super) struct Parts<'a> {
    pub(super) frame: &'a [u8],
    pub(super) entries: &'a mut Entries,
}

impl Parts<'_> {
    fn len(&self, index: usize) -> Option<usize> {
        let Some(behind) = index.checked_sub(1) else { return Some(self.frame.len()) };
        let (gap, entry) = self.entries.all.get(behind / 2)?;
        Some(if behind.is_multiple_of(2) { *gap } else { entry.len() })
    }

    /// The next slices to be sent, of at most `most` bytes together, and how many they are; none when all is gone.
    pub(super) fn slices(
        &mut self,
        cursor: Cursor,
        most: usize,
    ) -> Result<([IoSlice<'_>; SLICES], usize), Errno> {
        let Entries { all, window } = &mut *self.entries;
        let mut window = Some(window);
        let mut slices = [IoSlice::new(&[]); SLICES];
        let (mut count, mut skip, mut left, mut index) = (0, cursor.gone, most, cursor.part);
        while count < SLICES && left > 0 {
            let mut is_last = false;
            let rest = match index.checked_sub(1) {
                None => &self.frame[skip..],
                Some(behind) => match all.get(behind / 2) {
                    None => break,
                    Some((gap, _)) if behind.is_multiple_of(2) => &ZEROS[skip..*gap],
                    Some((_, Entry::Pinned(pinned))) => &pinned.bytes()[skip..],
                    Some((_, Entry::Gathered(gathered))) => {
                        // There is one window, so what follows the part that is in it waits for the next turn.
                        let Some(window) = window.take() else { break };
                        let gathered = gathered.get();
                        let part = if gathered.len() > skip {
                            window.look(behind / 2, gathered, skip)?
                        } else {
                            &[]
                        };
                        is_last = skip + part.len() < gathered.len();
                        part
                    }
                },
            };
            let now = &rest[..rest.len().min(left)];
            if !now.is_empty() {
                slices[count] = IoSlice::new(now);
                count += 1;
            }
            left -= now.len();
            skip = 0;
            index += 1;
            if is_last {
                break;
            }
        }
        Ok((slices, count))
    }

    /// Says that so many bytes are gone.
    pub(super) fn advance(&self, cursor: &mut Cursor, mut count: usize) {
        while let Some(len) = self.len(cursor.part) {
            let left = len - cursor.gone;
            if count < left {
                cursor.gone += count;
                return;
            }
            count -= left;
            *cursor = Cursor { part: cursor.part + 1, gone: 0 };
        }
    }

    pub(super) fn is_gone(&self, cursor: Cursor) -> bool {
        self.len(cursor.part).is_none()
    }
}

/// A frame that waits, or the rest of one. To be dropped with the GIL held where [`Packet::holds_objects`].
pub(crate) struct Packet {
    frame: Vec<u8>,
    entries: Entries,
    cursor: Cursor,
    /// Whether it opens a call: the peer may be at work on others, and not read it.
    pub(super) is_call: bool,
}

impl Packet {
    /// The rest of a frame. Its bytes are copied where few are left, and taken from `frame` otherwise.
    pub(super) fn rest(
        frame: &mut Vec<u8>,
        entries: Entries,
        mut cursor: Cursor,
        is_call: bool,
    ) -> hookless::Result<Packet> {
        /// A buffer that the encoder does not keep for the next frame anyway.
        const TAKEN: usize = 1 << 20;
        let left = if cursor.part == 0 { &frame[cursor.gone..] } else { &[] };
        let frame = if left.len() >= TAKEN {
            std::mem::take(frame)
        } else {
            let mut copy = Vec::new();
            copy.try_reserve_exact(left.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
            copy.extend_from_slice(left);
            if cursor.part == 0 {
                cursor.gone = 0;
            }
            copy
        };
        Ok(Packet { frame, entries, cursor, is_call })
    }

    /// Sends as much of it as is taken.
    pub(super) fn push(&mut self, link: &Link, most: &mut usize) -> Result<Pushed, Errno> {
        let parts = Parts { frame: &self.frame, entries: &mut self.entries };
        link.push(parts, &mut self.cursor, most)
    }

    /// Names the call that it is of. Its head is there until it is sent.
    pub(super) fn name(&mut self, call_id: u64) {
        name(&mut self.frame, call_id);
    }

    pub(super) fn holds_objects(&self) -> bool {
        !self.entries.is_empty()
    }
}

/// Puts the call's id into the heads (F5) of one or more frames: it is known only when they take their place in the stream.
pub(super) fn name(mut frames: &mut [u8], call_id: u64) {
    while let Some((head, rest)) = frames.split_first_chunk_mut::<HEAD_LEN>() {
        head[8..16].copy_from_slice(&call_id.to_be_bytes());
        let mut body_len = [0; 8];
        body_len.copy_from_slice(&head[16..24]);
        let body_len = usize::try_from(u64::from_be_bytes(body_len)).unwrap_or(usize::MAX);
        frames = rest.get_mut(body_len..).unwrap_or_default();
    }
}
