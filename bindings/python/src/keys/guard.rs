//! Counts the probes that CPython's tables will make for keys that an attacker could choose.
//!
//! A dict or set of n keys is built in O(n) steps only if its probes stay few. Ints, floats, tuples and the like hash without a secret, so
//! keys can be chosen whose probe sequences all run through the same occupied slots (seconds for a few hundred kilobytes). The tables are
//! simulated here, growth included, slot for slot, and every occupied slot that a key has to pass is a probe. Past a bound for each key that
//! is there the frame is refused (`key_collision`). What all tables of a body may take together stands in `keys.rs`.
//!
//! The bounds leave honest keys at a stride of a power of two, which are the worst of those, a third of room: counted over all strides up to
//! 2^61 and at every size, such keys come to at most 30 probes a key in a dict of 10^3, 36 of 10^4, 59 of 10^5 and 141 of 10^6, and to 251 in a
//! set of any size, most of them in neighbouring slots; 3000 powers of two, which have 61 hashes, to 108. Chosen ones come to n / 2.
//!
//! Source: `Objects/dictobject.c` (PERTURB_SHIFT 5, growth to 3 × used, two thirds full; a table of str grows when its first other key
//! comes) and `Objects/setobject.c` (LINEAR_PROBES 9, growth to more than 4 × used, or 2 × past 50 000, three fifths full; moved slot by slot)
//! of CPython 3.11 to 3.13, which agree in this.

use hookless::{Code, Error, Result};

/// Tables that stay below this many keys cannot degrade enough to matter.
pub(crate) const EXEMPT: usize = 64;

/// Probes that any table may take at first.
const AT_FIRST: u64 = 1024;

/// Probes that a set may take for each key; a dict with so many slots: more when it is large, where strides are worse.
const PER_MEMBER: u64 = 320;
fn per_key(slots: usize) -> u64 {
    128 + (slots as u64 / 64).isqrt()
}

/// PERTURB_SHIFT and LINEAR_PROBES.
const SHIFT: u32 = 5;
const LINEAR: usize = 9;

/// Of a word.
const BITS: usize = u64::BITS as usize;

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
    /// Which slots are taken: a bit each, so that a table of 10^6 keys stays in the processor's cache.
    taken: Vec<u64>,
    /// Slots, less one: their number is a power of two.
    mask: usize,
    /// Of a set: which key is in each slot.
    order: Vec<u32>,
    /// Keys that fit in before the table grows.
    room: usize,
    /// Whether a dict has had no keys but str.
    only_text: bool,
    /// Probes that each key may take, in a table as large as it is now.
    allowed: u64,
    probes: u64,
}

impl Guard {
    /// A guard for an empty table, with room for so many keys.
    pub(crate) fn new(table: Table, keys: usize) -> Result<Guard> {
        let (mut hashes, taken, order) = (Vec::new(), Vec::new(), Vec::new());
        hashes.try_reserve_exact(keys).map_err(full)?;
        let mut guard =
            Guard { table, hashes, taken, mask: 0, order, room: 0, only_text: true, allowed: 0, probes: 0 };
        guard.resize(8)?;
        Ok(guard)
    }

    /// Probes so far.
    pub(crate) fn probes(&self) -> u64 {
        self.probes
    }

    /// Which table it is.
    #[inline]
    pub(crate) fn table(&self) -> Table {
        self.table
    }

    /// Hashes of the keys so far.
    pub(crate) fn hashes(&self) -> &[isize] {
        &self.hashes
    }

    /// Counts what inserting a key with this hash costs, and gives the probes; `text` says whether it is a str.
    #[inline]
    pub(crate) fn insert(&mut self, hash: isize, text: bool) -> Result<u64> {
        let before = self.probes;
        if self.hashes.len() == self.hashes.capacity() {
            self.hashes.try_reserve(1).map_err(full)?;
        }
        match self.table {
            Table::Dict => {
                let leaves_text = self.only_text && !text && !self.hashes.is_empty();
                self.only_text &= text;
                if self.room == 0 || leaves_text {
                    self.grow(self.hashes.len() * 3)?;
                }
                self.hashes.push(hash);
                self.room -= 1;
                self.probes += place_in_dict(&mut self.taken, self.mask, hash);
            }
            Table::Set => {
                self.hashes.push(hash);
                self.room -= 1;
                self.place(self.hashes.len() - 1);
                if self.room == 0 {
                    let factor = if self.hashes.len() > 50_000 { 2 } else { 4 };
                    self.grow(self.hashes.len() * factor + 1)?;
                }
            }
        }
        self.check()?;
        Ok(self.probes - before)
    }

    #[inline]
    fn check(&self) -> Result<()> {
        let keys = self.hashes.len() as u64;
        if self.probes <= AT_FIRST + self.allowed * keys { Ok(()) } else { Err(self.too_many()) }
    }

    #[cold]
    fn too_many(&self) -> Error {
        let note = format!("{} probes for {} keys", self.probes, self.hashes.len());
        Error::new(Code::KeyCollision).note(note)
    }

    /// Moves to a table of at least `least` slots, as CPython does: every key is placed again, in a dict in order, in a set slot by slot.
    #[cold]
    fn grow(&mut self, least: usize) -> Result<()> {
        let slots = std::mem::take(&mut self.order);
        let taken = std::mem::take(&mut self.taken);
        // Never to 8: CPython rounds what is less up to 16.
        self.resize(least.max(9).next_power_of_two())?;
        match self.table {
            Table::Dict => {
                drop(taken);
                for &hash in &self.hashes {
                    self.probes += place_in_dict(&mut self.taken, self.mask, hash);
                    self.check()?;
                }
            }
            Table::Set => {
                for (slot, &key) in slots.iter().enumerate() {
                    if !is_taken(&taken, slot) {
                        continue;
                    }
                    self.place(key as usize);
                    self.check()?;
                }
            }
        }
        Ok(())
    }

    fn resize(&mut self, size: usize) -> Result<()> {
        let mut taken = Vec::new();
        let words = size.div_ceil(BITS);
        taken.try_reserve_exact(words).map_err(full)?;
        taken.resize(words, 0);
        self.taken = taken;
        self.mask = size - 1;
        let usable = match self.table {
            Table::Dict => {
                self.allowed = per_key(size);
                size * 2 / 3
            }
            Table::Set => {
                self.allowed = PER_MEMBER;
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
    fn place(&mut self, key: usize) {
        let hash = self.hashes[key];
        match self.table {
            Table::Dict => self.probes += place_in_dict(&mut self.taken, self.mask, hash),
            Table::Set => {
                let (slot, probes) = place_in_set(&mut self.taken, self.mask, hash);
                self.order[slot] = key as u32;
                self.probes += probes;
            }
        }
    }
}

pub(super) fn full(_: std::collections::TryReserveError) -> Error {
    Error::new(Code::OutOfMemory)
}

#[inline]
fn is_taken(taken: &[u64], slot: usize) -> bool {
    taken[slot / BITS] >> (slot % BITS) & 1 == 1
}

/// Takes a slot; whether it was free.
#[inline]
fn take(taken: &mut [u64], slot: usize) -> bool {
    let (word, bit) = (&mut taken[slot / BITS], 1 << (slot % BITS));
    let free = *word & bit == 0;
    *word |= bit;
    free
}

/// Takes the slot of a dict that is free for this hash; gives the probes on the way.
#[inline]
fn place_in_dict(taken: &mut [u64], mask: usize, hash: isize) -> u64 {
    let mut perturb = hash.cast_unsigned();
    let first = perturb & mask;
    perturb >>= SHIFT;
    let second = first.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
    // Whether the first slot is free is even chance, and not to be foretold: so both are looked at before either is chosen.
    let passed = is_taken(taken, first);
    let mut at = if passed { second } else { first };
    let mut probes = u64::from(passed);
    while !take(taken, at) {
        probes += 1;
        perturb >>= SHIFT;
        at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
    }
    probes
}

/// Takes the slot of a set that is free for this hash; gives it, and the probes on the way.
#[inline]
fn place_in_set(taken: &mut [u64], mask: usize, hash: isize) -> (usize, u64) {
    let mut perturb = hash.cast_unsigned();
    let mut at = perturb & mask;
    let mut probes = 0;
    loop {
        let run = if at + LINEAR <= mask { LINEAR } else { 0 };
        for slot in at..=at + run {
            if take(taken, slot) {
                return (slot, probes);
            }
            probes += 1;
        }
        perturb >>= SHIFT;
        at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
    }
}
