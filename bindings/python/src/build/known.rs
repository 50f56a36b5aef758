//! Text that came as a dict key, and so is likely to come again: each thread remembers some of it from one body to the next.
//!
//! A str from here has its hash already and is the one that other dicts hold, which CPython sees without comparing its characters. What is
//! kept is bounded, whatever the bytes are: [`SLOTS`] strs of [`LONGEST`] bytes for each thread. Nothing is interned, and no text is told
//! from its bytes: a key that is found is equal, or it is made anew.

use std::cell::Cell;

use hookless::{Code, Error, Result};
use pyo3::prelude::*;

use crate::ffi::chars::AsciiText;

/// Strs remembered by a thread, and how long they may be.
const SLOTS: usize = 512;
const LONGEST: usize = 64;

type Slots = Box<[Option<AsciiText>; SLOTS]>;

thread_local! {
    /// What the thread's last body has left. A body takes it and gives it back; one that is decoded meanwhile, by a finaliser, has its own.
    static KNOWN: Cell<Option<Slots>> = const { Cell::new(None) };
}

/// The keys that one body remembers: those of the thread, once it has a key itself.
#[derive(Default)]
pub(super) struct KnownKeys(Option<Slots>);

impl KnownKeys {
    /// The str of these bytes, if it is remembered.
    #[inline(always)]
    pub(super) fn find<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
        let known = self.0.as_deref()?.get(slot_of(bytes))?.as_ref()?;
        known.is(bytes).then(|| known.bound(py))
    }

    /// A str of these bytes, which are ASCII: remembered, or made and remembered from now on.
    #[inline(never)]
    pub(super) fn key<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
        if self.0.is_none() {
            self.0 = Some(match KNOWN.try_with(Cell::take) {
                Ok(Some(slots)) => slots,
                _ => fresh()?,
            });
        }
        if let Some(text) = self.find(py, bytes) {
            return Ok(text);
        }
        let text = AsciiText::new(py, bytes)?;
        let bound = text.bound(py);
        if bytes.len() <= LONGEST
            && let Some(slot) = self.0.as_deref_mut().and_then(|slots| slots.get_mut(slot_of(bytes)))
            && let Some(before) = slot.replace(text)
        {
            before.forget(py);
        }
        Ok(bound)
    }
}

impl Drop for KnownKeys {
    fn drop(&mut self) {
        if let Some(slots) = self.0.take() {
            // A thread that is about to end keeps nothing.
            drop(KNOWN.try_with(|known| known.replace(Some(slots))));
        }
    }
}

/// Remembers nothing yet.
#[cold]
fn fresh() -> Result<Slots> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(SLOTS).map_err(|_| Error::new(Code::OutOfMemory))?;
    slots.resize_with(SLOTS, || None);
    slots.into_boxed_slice().try_into().map_err(|_| Error::new(Code::OutOfMemory))
}

/// 2^64 divided by the golden ratio, which spreads what differs in few bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where a key is remembered: a hash of its length, its first and its last bytes. Whoever chooses keys for one slot is given a new str for
/// each, which is what a miss costs.
#[inline(always)]
fn slot_of(bytes: &[u8]) -> usize {
    let words = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from_le_bytes(*first).wrapping_add(u64::from_le_bytes(*last).rotate_left(23))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
    } else {
        bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    let mixed = (words ^ bytes.len() as u64).wrapping_mul(SPREAD);
    (mixed >> (u64::BITS - SLOTS.ilog2())) as usize
}
