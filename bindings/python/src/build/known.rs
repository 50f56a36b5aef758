//! Text that came as a dict key, and so is likely to come again: each thread remembers some of it from one body to the next.
//!
//! A str from here has its hash already and is the one that other dicts hold, which CPython sees without comparing its characters. What is
//! kept is bounded, whatever the bytes are: [`SLOTS`] strs of [`LONGEST`] bytes for each thread. Nothing is interned, and no text is told
//! from its bytes: a key that is found is equal, or it is made anew.

use std::cell::Cell;

use hookless::{Code, Error, Result};
use pyo3::prelude::*;

use crate::ffi::chars::{self, AsciiText};

/// Strs remembered by a thread, and how long they may be.
const SLOTS: usize = 512;
const LONGEST: usize = 64;

/// A str that is remembered, with a word of its hash, so that another key is told from it without a look at it; and that word of the
/// last key that was not it.
#[derive(Default)]
struct Slot {
    word: u32,
    other: u32,
    text: Option<AsciiText>,
}

type Slots = Box<[Slot; SLOTS]>;

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
        let (slot, word) = place_of(bytes);
        self.0.as_deref()?.get(slot)?.find(py, word, bytes)
    }

    /// A str of these bytes, which are ASCII: remembered, or made.
    ///
    /// A made one is remembered from now on if the slot is free, or if it is the second such key in a row that was not there: keys that
    /// never come again cost those that do nothing.
    #[inline(never)]
    pub(super) fn key<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
        if bytes.len() > LONGEST {
            return chars::ascii(py, bytes);
        }
        let slots = match &mut self.0 {
            Some(slots) => slots,
            none => none.insert(match KNOWN.try_with(Cell::take) {
                Ok(Some(slots)) => slots,
                _ => fresh()?,
            }),
        };
        let (slot, word) = place_of(bytes);
        let Some(slot) = slots.get_mut(slot) else { return chars::ascii(py, bytes) };
        if let Some(text) = slot.find(py, word, bytes) {
            return Ok(text);
        }
        if slot.text.is_some() && slot.other != word {
            slot.other = word;
            return chars::ascii(py, bytes);
        }
        let text = AsciiText::new(py, bytes)?;
        let bound = text.bound(py);
        slot.word = word;
        if let Some(before) = slot.text.replace(text) {
            before.forget(py);
        }
        Ok(bound)
    }
}

impl Slot {
    #[inline(always)]
    fn find<'py>(&self, py: Python<'py>, word: u32, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
        let text = self.text.as_ref().filter(|_| self.word == word)?;
        text.is(bytes).then(|| text.bound(py))
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
    slots.resize_with(SLOTS, Slot::default);
    slots.into_boxed_slice().try_into().map_err(|_| Error::new(Code::OutOfMemory))
}

/// 2^64 divided by the golden ratio, which spreads what differs in few bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where a key is remembered, and a word that tells it from most others: a hash of its length, its first and its last bytes. Whoever chooses
/// keys for one slot is given a new str for each, which is what a miss costs.
#[inline(always)]
fn place_of(bytes: &[u8]) -> (usize, u32) {
    let words = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from_le_bytes(*first).wrapping_add(u64::from_le_bytes(*last).rotate_left(23))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
    } else {
        bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    let mixed = (words ^ bytes.len() as u64).wrapping_mul(SPREAD);
    ((mixed >> (u64::BITS - SLOTS.ilog2())) as usize, (mixed >> 16) as u32)
}
