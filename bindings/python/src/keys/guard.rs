//! Counts the probes that CPython's tables will make for keys that an attacker could choose.
//!
//! A dict or set of n keys is built in O(n) steps only if its probes stay few. Ints, floats, tuples and the like hash without a secret, so
//! keys can be chosen whose probe sequences all run through the same occupied slots (seconds for a few hundred kilobytes). The tables are
//! simulated here, growth included, slot for slot; past [`PER_KEY`] steps for each key that is there the frame is refused
//! (`key_collision`). What all tables of a body may take together stands in `keys.rs`.
//!
//! A step is a slot of a dict, or a run of up to ten neighbouring slots of a set, which lie in three lines of memory. A slot whose key has the
//! same hash counts [`EQUAL`] times on the way in, since the two keys are compared; a table that grows compares nothing.
//!
//! Why 256: honest keys at a stride of a power of two, counted over all strides up to 2^61 and at every size up to 10^6, come to at most 141
//! steps a key in a dict and 30 in a set; chosen ones to n / 2.
//!
//! Source: `Objects/dictobject.c` (PERTURB_SHIFT 5, growth to 3 × used, two thirds full; a table of str grows when its first other key
//! comes) and `Objects/setobject.c` (LINEAR_PROBES 9, growth to more than 4 × used, or 2 × past 50 000, three fifths full; moved slot by slot)
//! of CPython 3.11 to 3.13, which agree in this.

use hookless::{Code, Error, Result};

/// Tables that stay below this many keys cannot degrade enough to matter.
pub(crate) const EXEMPT: usize = 64;

/// Steps that a table may take: so many at first, and so many more for each key.
const AT_FIRST: u64 = 1024;
const PER_KEY: u64 = 256;

/// Steps that comparing with a key of the same hash stands for.
const EQUAL: u64 = 4;

/// PERTURB_SHIFT and LINEAR_PROBES.
const SHIFT: u32 = 5;
const LINEAR: usize = 9;

/// Which of CPython's two tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Dict,
    Set,
}

/// One table, simulated.
pub(crate) struct Guard {
    table: Table,
    /// Of the keys, in the order in which they came.
    hashes: Vec<isize>,
    /// A tag of the key in each slot, 0 where there is none.
    tags: Vec<u8>,
    /// Of a set: which key is in each slot.
    order: Vec<u32>,
    /// Keys that fit in before the table grows.
    room: usize,
    /// Whether a dict has had no keys but str.
    only_text: bool,
    steps: u64,
}

impl Guard {
    /// A guard for an empty table.
    pub(crate) fn new(table: Table) -> Result<Guard> {
        let (hashes, tags, order) = (Vec::new(), Vec::new(), Vec::new());
        let mut guard = Guard { table, hashes, tags, order, room: 0, only_text: true, steps: 0 };
        guard.resize(8)?;
        Ok(guard)
    }

    /// Steps so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Hashes of the keys so far.
    pub(crate) fn hashes(&self) -> &[isize] {
        &self.hashes
    }

    /// Counts what inserting a key with this hash costs; `text` says whether it is a str.
    #[inline]
    pub(crate) fn insert(&mut self, hash: isize, text: bool) -> Result<()> {
        if self.table == Table::Dict {
            let leaves_text = self.only_text && !text && !self.hashes.is_empty();
            self.only_text &= text;
            if self.room == 0 || leaves_text {
                self.grow(self.hashes.len() * 3)?;
            }
        }
        self.hashes.try_reserve(1).map_err(full)?;
        self.hashes.push(hash);
        self.room -= 1;
        self.place(self.hashes.len() - 1, EQUAL);
        if self.table == Table::Set && self.room == 0 {
            let factor = if self.hashes.len() > 50_000 { 2 } else { 4 };
            self.grow(self.hashes.len() * factor + 1)?;
        }
        self.check()
    }

    #[inline]
    fn check(&self) -> Result<()> {
        let keys = self.hashes.len() as u64;
        if self.steps <= AT_FIRST + PER_KEY * keys {
            return Ok(());
        }
        let note = format!("{} steps through a table for {keys} keys", self.steps);
        Err(Error::new(Code::KeyCollision).note(note))
    }

    /// Moves to a table of at least `least` slots, as CPython does: every key is placed again, in a dict in order, in a set slot by slot.
    #[cold]
    fn grow(&mut self, least: usize) -> Result<()> {
        let slots = std::mem::take(&mut self.order);
        let tags = std::mem::take(&mut self.tags);
        // Never to 8: CPython rounds what is less up to 16.
        self.resize(least.max(9).next_power_of_two())?;
        match self.table {
            Table::Dict => {
                drop(tags);
                for key in 0..self.hashes.len() {
                    self.place(key, 1);
                    self.check()?;
                }
            }
            Table::Set => {
                for (&key, _) in slots.iter().zip(tags).filter(|&(_, tag)| tag != 0) {
                    self.place(key as usize, 0);
                    self.check()?;
                }
            }
        }
        Ok(())
    }

    fn resize(&mut self, size: usize) -> Result<()> {
        let mut tags = Vec::new();
        tags.try_reserve_exact(size).map_err(full)?;
        tags.resize(size, 0);
        self.tags = tags;
        let usable = match self.table {
            Table::Dict => size * 2 / 3,
            Table::Set => {
                let mut order = Vec::new();
                order.try_reserve_exact(size).map_err(full)?;
                order.resize(size, 0);
                self.order = order;
                ((size - 1) * 3).div_ceil(5)
            }
        };
        self.room = usable.saturating_sub(self.hashes.len());
        Ok(())
    }

    #[inline]
    fn place(&mut self, key: usize, equal: u64) {
        let hash = self.hashes[key];
        match self.table {
            Table::Dict => self.steps += place_in_dict(&mut self.tags, hash, equal),
            Table::Set => {
                let (slot, steps) = place_in_set(&mut self.tags, hash, equal);
                self.order[slot] = key as u32;
                self.steps += steps;
            }
        }
    }
}

pub(super) fn full(_: std::collections::TryReserveError) -> Error {
    Error::new(Code::OutOfMemory)
}

/// Seven mixed bits of a hash, and one that says that the slot is taken.
#[inline]
fn tag(hash: isize) -> u8 {
    let mixed = hash.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8 | 1
}

/// Takes the slot of a dict that is free for this hash; gives the steps to it.
#[inline]
fn place_in_dict(tags: &mut [u8], hash: isize, equal: u64) -> u64 {
    let (mask, tag) = (tags.len() - 1, tag(hash));
    let mut perturb = hash.cast_unsigned();
    let mut at = perturb & mask;
    let mut steps = 0;
    loop {
        let slot = &mut tags[at & mask];
        if *slot == 0 {
            *slot = tag;
            return steps;
        }
        steps += if *slot == tag { equal } else { 1 };
        perturb >>= SHIFT;
        at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
    }
}

/// Takes the slot of a set that is free for this hash; gives it, and the steps to it.
#[inline]
fn place_in_set(tags: &mut [u8], hash: isize, equal: u64) -> (usize, u64) {
    let (mask, tag) = (tags.len() - 1, tag(hash));
    let mut perturb = hash.cast_unsigned();
    let mut at = perturb & mask;
    let mut steps = 0;
    loop {
        let run = if at + LINEAR <= mask { LINEAR } else { 0 };
        for (next, slot) in tags[at..=at + run].iter_mut().enumerate() {
            if *slot == 0 {
                *slot = tag;
                return (at + next, steps);
            }
            steps += if *slot == tag { equal } else { 0 };
        }
        steps += 1;
        perturb >>= SHIFT;
        at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
    }
}
