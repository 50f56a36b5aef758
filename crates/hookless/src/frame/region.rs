//! The cursor over a data region: F11, F12, F13.

use crate::error::{Code, Error, Result};
use crate::limits::{REGION_ENTRIES, over};

/// Entries begin at multiples of this, counted from the frame's first byte.
pub const ALIGNMENT: u64 = 64;

/// How many zero bytes follow `len` bytes of a frame before an entry begins.
pub const fn padding(len: u64) -> u64 {
    len.wrapping_neg() & (ALIGNMENT - 1)
}

/// Gives each entry its place; offsets count from the region's first byte, itself a multiple of 64.
#[derive(Debug, Clone)]
pub(crate) struct RegionCursor {
    end: u64,
    entries: u64,
    len: u64,
    past: Code,
}

impl RegionCursor {
    /// A cursor over a region of `len` bytes, for a reader.
    pub(crate) fn over(len: u64) -> Self {
        RegionCursor { end: 0, entries: 0, len, past: Code::RegionMismatch }
    }

    /// A cursor that may go as far as `limit`, for a writer.
    pub(crate) fn within(limit: u64) -> Self {
        RegionCursor { end: 0, entries: 0, len: limit, past: Code::RegionLimit }
    }

    /// Where the next entry begins.
    pub(crate) fn next(&mut self, len: u64) -> Result<u64> {
        if self.entries >= REGION_ENTRIES {
            return Err(over(Code::RegionEntryLimit, self.entries.saturating_add(1), REGION_ENTRIES));
        }
        let start = self.end.saturating_add(padding(self.end));
        let end = start.saturating_add(len);
        if end > self.len {
            return Err(over(self.past, end, self.len));
        }
        self.entries = self.entries.saturating_add(1);
        self.end = end;
        Ok(start)
    }

    /// Where the last entry ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// F12: the region ends with its last entry.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.end == self.len {
            return Ok(());
        }
        Err(Error::at(Code::RegionMismatch, 24).note(format_args!("{} bytes used of {}", self.end, self.len)))
    }
}
