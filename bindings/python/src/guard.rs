//! Counts the probes that CPython's tables will make for keys that an attacker could choose.
//!
//! A dict or set of n keys is built in O(n) steps only if its probes stay few. Ints, floats, tuples and the like hash without a secret, so
//! keys can be chosen whose probe sequences all run through the same occupied slots (seconds for a few hundred kilobytes). The tables are
//! simulated here, growth included, and past 256 n + 1024 probes the frame is refused (`key_collision`).
//!
//! Why 256: honest keys at a stride of a power of two, counted over all strides up to 2^61, come to 139 probes a key in a dict of 10^6 and
//! to 214 in a set; chosen ones to n / 2.
//!
//! Source: `Objects/dictobject.c` (PERTURB_SHIFT 5, growth to 3 × used, two thirds full) and `Objects/setobject.c` (LINEAR_PROBES 9,
//! growth to 4 × used, or 2 × past 50 000, three fifths full) of CPython 3.11 to 3.13, which agree in this.

use std::collections::HashMap;

use hookless::{Code, Error, Result};

/// Tables that stay below this many keys cannot degrade enough to matter.
pub(crate) const EXEMPT: usize = 64;

/// Which of CPython's two tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Dict,
    Set,
}

/// One table, simulated.
pub(crate) struct Guard {
    table: Table,
    hashes: Vec<isize>,
    used: Vec<bool>,
    probes: u64,
    allowed: u64,
    /// How many keys have each hash, once there is a compound one: comparing two tuples, fractions or paths costs as much as they are long.
    alike: Option<HashMap<isize, Alike>>,
}

/// Keys of one hash.
#[derive(Default)]
struct Alike {
    all: u32,
    compound: u32,
}

/// Compound keys of one table that may share a full hash. Honest ones do so by -1 and -2, which hash alike.
const MOST_ALIKE: u32 = 64;

impl Guard {
    /// A guard for a table that announces `announced` keys and holds those with these hashes.
    pub(crate) fn new(table: Table, announced: usize, hashes: &[isize]) -> Result<Guard> {
        let allowed = 256 * announced as u64 + 1024;
        let mut guard =
            Guard { table, hashes: Vec::new(), used: vec![false; 8], probes: 0, allowed, alike: None };
        hashes.iter().try_for_each(|&hash| guard.insert(hash))?;
        Ok(guard)
    }

    /// Notes a key with this hash, before [`Guard::insert`]; gives with how many keys it will be compared at length: a compound one (a tuple,
    /// frozenset, record, decimal) with all of its hash, any other with the compound ones.
    pub(crate) fn note(&mut self, hash: isize, compound: bool) -> Result<u32> {
        let full = |_| Error::new(Code::OutOfMemory);
        let all = match &mut self.alike {
            Some(all) => all,
            None if !compound => return Ok(0),
            none => {
                let all = none.insert(HashMap::new());
                all.try_reserve(self.hashes.len()).map_err(full)?;
                self.hashes.iter().for_each(|&hash| all.entry(hash).or_default().all += 1);
                all
            }
        };
        all.try_reserve(1).map_err(full)?;
        let alike = all.entry(hash).or_default();
        let before = if compound { alike.all } else { alike.compound };
        alike.all += 1;
        alike.compound += u32::from(compound);
        if alike.compound > MOST_ALIKE {
            let note = format!("{} compound keys with one hash", alike.compound);
            return Err(Error::new(Code::KeyCollision).note(note));
        }
        Ok(before)
    }

    /// Counts what inserting a key with this hash costs.
    pub(crate) fn insert(&mut self, hash: isize) -> Result<()> {
        if self.table == Table::Dict && self.hashes.len() >= self.used.len() * 2 / 3 {
            self.grow(self.hashes.len() * 3)?;
        }
        self.hashes.try_reserve(1).map_err(|_| Error::new(Code::OutOfMemory))?;
        self.hashes.push(hash);
        self.place(hash)?;
        if self.table == Table::Set && self.hashes.len() * 5 >= (self.used.len() - 1) * 3 {
            let factor = if self.hashes.len() > 50_000 { 2 } else { 4 };
            self.grow(self.hashes.len() * factor + 1)?;
        }
        Ok(())
    }

    /// Moves to a table of at least `least` slots, as CPython does: every key is placed again.
    fn grow(&mut self, least: usize) -> Result<()> {
        let size = least.max(8).next_power_of_two();
        self.used.clear();
        self.used.try_reserve(size).map_err(|_| Error::new(Code::OutOfMemory))?;
        self.used.resize(size, false);
        for index in 0..self.hashes.len() {
            self.place(self.hashes[index])?;
        }
        Ok(())
    }

    fn place(&mut self, hash: isize) -> Result<()> {
        let mask = self.used.len() - 1;
        let mut perturb = hash.cast_unsigned();
        let mut at = perturb & mask;
        loop {
            let run = if self.table == Table::Set && at + 9 <= mask { 9 } else { 0 };
            for slot in at..=at + run {
                if !self.used[slot] {
                    self.used[slot] = true;
                    return Ok(());
                }
                self.probes += 1;
            }
            if self.probes > self.allowed {
                let note = format!("{} probes for {} keys", self.probes, self.hashes.len());
                return Err(Error::new(Code::KeyCollision).note(note));
            }
            perturb >>= 5;
            at = at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1) & mask;
        }
    }
}
