//! What the keys of tables cost the host: probes (`guard.rs`) and comparisons of keys of one hash (`alike.rs`).
//!
//! The decoder's own tables and those that a conversion to a type builds are counted by the same lines.

use std::collections::HashMap;

use hookless::{Code, Error, Result};
use pyo3::prelude::*;

use crate::ffi::make;
use crate::ffi::types::{Exact, exact};
use crate::warm::Warm;
use alike::{Alike, Few};
pub(crate) use guard::Table;
use guard::{EXEMPT, Guard};

mod alike;
mod guard;

/// Probes that all tables of a body may take together: so many at first (a second or two), and so many more for each key. Two honest dicts
/// of 10^6 keys at the worst stride take 2^28.1.
const BODY_AT_FIRST: u64 = 1 << 28;
const BODY_PER_KEY: u64 = 32;

/// Probes of a set, most of which lie side by side, take so much less than those of a dict.
const IN_RUNS: u64 = 4;

/// What the keys of a body have cost so far.
#[derive(Default)]
pub(crate) struct Spent {
    /// Probes of tables that have a guard, and keys of such tables.
    probes: u64,
    keys: u64,
    /// What comparing keys of one hash has cost.
    compared: u64,
    /// Whether a decimal is in a key, and the bytes of the longest int or term of a fraction: to compare the two, the int is made a decimal.
    pub(crate) decimals: bool,
    pub(crate) longest: u64,
    /// Whether keys may be of the host's own classes, whose parts are looked at as well.
    host_classes: bool,
}

/// The keys of one table.
pub(crate) struct Keys {
    table: Table,
    /// An OrderedDict looks each key up once more, and all of them whenever it grows.
    ordered: bool,
    announced: usize,
    /// Whatever has to be counted, once something has: most tables have str for keys, and are small while the reader moves them about.
    counted: Option<Box<Counted>>,
}

/// What is counted of one table.
enum Counted {
    /// Its probes; and keys by hash, once it has a compound key: comparing two tuples, fractions or paths costs as much as they are long.
    Guarded(Guard, Option<HashMap<isize, Alike>>),
    /// Keys by hash of a table that is too small for a guard.
    Small(Few),
}

impl Keys {
    pub(crate) fn new(table: Table, ordered: bool, announced: usize) -> Keys {
        Keys { table, ordered, announced, counted: None }
    }

    /// Probes counted so far; none without a guard.
    pub(crate) fn probes(&self) -> Option<u64> {
        match self.counted.as_deref()? {
            Counted::Guarded(guard, _) => Some(guard.probes()),
            Counted::Small(_) => None,
        }
    }
}

/// A hash, and whether it is of a str.
pub(crate) type Prior = (isize, bool);

impl Spent {
    /// For keys that a conversion has made.
    pub(crate) fn of_host_classes() -> Spent {
        Spent { host_classes: true, ..Spent::default() }
    }

    /// Counts what a key costs its table, before it goes in; `priors` are those that are in it, in order.
    #[inline]
    pub(crate) fn admit<'py>(
        &mut self,
        warm: &Warm,
        keys: &mut Keys,
        key: &Bound<'py, PyAny>,
        priors: impl FnOnce() -> Result<Vec<Prior>>,
    ) -> Result<()> {
        // Most keys: a str, or an int in a small table, which has had nothing to be counted.
        if keys.counted.is_none() {
            let kind = exact(key);
            if kind == Exact::Str && (keys.announced < EXEMPT || warm.keyed_hashes)
                || kind == Exact::Int && keys.announced < EXEMPT
            {
                return Ok(());
            }
        }
        self.admit_other(warm, keys, key, priors)
    }

    /// The same for an int with this hash.
    #[inline]
    pub(crate) fn admit_int<'py>(
        &mut self,
        warm: &Warm,
        keys: &mut Keys,
        key: &Bound<'py, PyAny>,
        hash: isize,
        priors: impl FnOnce() -> Result<Vec<Prior>>,
    ) -> Result<()> {
        match keys.counted.as_deref_mut() {
            None if keys.announced < EXEMPT => Ok(()),
            Some(Counted::Guarded(guard, None)) => self.probe(keys.ordered, guard, hash, false),
            _ => self.admit_other(warm, keys, key, priors),
        }
    }

    #[inline(never)]
    fn admit_other<'py>(
        &mut self,
        warm: &Warm,
        keys: &mut Keys,
        key: &Bound<'py, PyAny>,
        priors: impl FnOnce() -> Result<Vec<Prior>>,
    ) -> Result<()> {
        let kind = exact(key);
        let compound = matches!(kind, Exact::Tuple | Exact::FrozenSet | Exact::Other);
        if keys.announced >= EXEMPT {
            // Nobody can choose a hash that depends on a secret.
            let keyed = warm.keyed_hashes && matches!(kind, Exact::Str | Exact::Bytes);
            if keys.counted.is_none() {
                if keyed {
                    return Ok(());
                }
                keys.counted = Some(begin(keys.table, keys.announced, priors()?)?);
            }
            return self.count(warm, keys, key, compound, kind == Exact::Str);
        }
        if keys.announced > 1 && (compound || keys.counted.is_some()) {
            return self.note_few(warm, &mut keys.counted, key, compound, priors);
        }
        Ok(())
    }

    #[inline]
    fn count(
        &mut self,
        warm: &Warm,
        keys: &mut Keys,
        key: &Bound<'_, PyAny>,
        compound: bool,
        text: bool,
    ) -> Result<()> {
        let hash = make::hash(key)?;
        let Some(Counted::Guarded(guard, seen)) = keys.counted.as_deref_mut() else { return Ok(()) };
        if compound || seen.is_some() {
            let alike = alike::note(seen, guard.hashes(), hash, compound)?;
            self.compare(warm, key, alike.into())?;
        }
        self.probe(keys.ordered, guard, hash, text)
    }

    /// Counts the probes of a key with this hash, and those of the whole body.
    #[inline]
    fn probe(&mut self, ordered: bool, guard: &mut Guard, hash: isize, text: bool) -> Result<()> {
        let probes = guard.insert(hash, text)?;
        self.probes += match guard.table() {
            Table::Dict if ordered => 2 * probes,
            Table::Dict => probes,
            Table::Set => probes.div_ceil(IN_RUNS),
        };
        self.keys += 1;
        if self.probes > BODY_AT_FIRST + BODY_PER_KEY * self.keys {
            return Err(self.too_many());
        }
        Ok(())
    }

    #[cold]
    fn too_many(&self) -> Error {
        let note = format!("{} probes in the tables of one body", self.probes);
        Error::new(Code::KeyCollision).note(note)
    }
}

/// The guard of a table that holds these keys, and will hold as many as are announced, which have been charged.
#[cold]
fn begin(table: Table, announced: usize, priors: Vec<Prior>) -> Result<Box<Counted>> {
    let mut guard = Guard::new(table, announced)?;
    priors.into_iter().try_for_each(|(hash, text)| guard.insert(hash, text).map(drop))?;
    Ok(Box::new(Counted::Guarded(guard, None)))
}
