//! What comparing keys of one hash costs.
//!
//! Two tuples, frozensets or records that hash alike are compared item by item, and frozensets in them member by member, each with all
//! members that hash like it. Keys can be chosen so that this multiplies from level to level (a second for a few hundred kilobytes, in tables
//! of 30 keys), so it is summed up for the whole body.

use std::collections::HashMap;

use hookless::{Code, Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::guard::full;
use super::{Counted, Prior, Spent};
use crate::ffi::fallible::Str;
use crate::ffi::make;
use crate::ffi::types::{Exact, exact};
use crate::records::Inert;
use crate::warm::Warm;

/// Comparisons that a body may cost, each as that of two ints. Honest keys hash alike by -1 and -2 only.
const ALLOWED: u64 = 1 << 22;

/// The same for what Python code compares: a record, a fraction, a path; and a value in a record.
const RECORD: u64 = 40;
const IN_RECORD: u64 = 10;

/// The same for an int and a float that are compared with a decimal: they are made decimals each time. For an int of n bytes that takes
/// n² / `QUADRATIC` besides (a tenth of a second for 16 KiB).
const INT_TO_DECIMAL: u64 = 10;
const FLOAT_TO_DECIMAL: u64 = 200;
const QUADRATIC: u64 = 128;

/// Hashes of the keys of a table that is too small for a guard, from its first compound key on; and whether each is of one.
pub(super) type Few = Vec<(isize, bool)>;

/// How many keys have one hash, and how many of them are compound.
#[derive(Default)]
pub(super) struct Alike {
    all: u32,
    compound: u32,
}

/// Compound keys of one table that may share a full hash. Honest ones do so by -1 and -2, which hash alike.
const MOST_ALIKE: u32 = 64;

/// Notes a key with this hash, beside those `before` it; gives with how many it will be compared at length: a compound one (a tuple,
/// frozenset, record, decimal) with all of its hash, any other with the compound ones.
#[cold]
pub(super) fn note(
    alike: &mut Option<HashMap<isize, Alike>>,
    before: &[isize],
    hash: isize,
    compound: bool,
) -> Result<u32> {
    let all = match alike {
        Some(all) => all,
        none => {
            let all = none.insert(HashMap::new());
            all.try_reserve(before.len()).map_err(full)?;
            before.iter().for_each(|&hash| all.entry(hash).or_default().all += 1);
            all
        }
    };
    all.try_reserve(1).map_err(full)?;
    let alike = all.entry(hash).or_default();
    let count = if compound { alike.all } else { alike.compound };
    alike.all += 1;
    alike.compound += u32::from(compound);
    if alike.compound > MOST_ALIKE {
        let note = format!("{} compound keys with one hash", alike.compound);
        return Err(Error::new(Code::KeyCollision).note(note));
    }
    Ok(count)
}

impl Spent {
    /// Notes a key of a table that is too small for a guard and has a compound key: this one, or one before it.
    #[cold]
    pub(super) fn note_few(
        &mut self,
        warm: &Warm,
        counted: &mut Option<Box<Counted>>,
        key: &Bound<'_, PyAny>,
        compound: bool,
        priors: impl FnOnce() -> Result<Vec<Prior>>,
    ) -> Result<()> {
        if counted.is_none() {
            let priors = priors()?;
            let mut few = Few::new();
            few.try_reserve(priors.len()).map_err(full)?;
            few.extend(priors.into_iter().map(|(hash, _)| (hash, false)));
            *counted = Some(Box::new(Counted::Small(few)));
        }
        let Some(Counted::Small(few)) = counted.as_deref_mut() else { return Ok(()) };
        let hash = make::hash(key)?;
        let alike = few.iter().filter(|&&(other, long)| other == hash && (long || compound)).count();
        few.try_reserve(1).map_err(full)?;
        few.push((hash, compound));
        self.compare(warm, key, alike as u64)
    }

    /// Counts the comparison of a key with `alike` keys of its hash.
    pub(super) fn compare(&mut self, warm: &Warm, key: &Bound<'_, PyAny>, alike: u64) -> Result<()> {
        if alike == 0 {
            return Ok(());
        }
        self.compared = self.compared.saturating_add(alike.saturating_mul(self.weigh(warm, key)?));
        if self.compared > ALLOWED {
            return Err(Error::new(Code::KeyCollision).note("compound keys with one hash, again and again"));
        }
        Ok(())
    }

    /// What it costs besides to compare a number with a decimal, where there are any; of a decimal, with the longest int.
    fn as_decimal(&self, value: &Bound<'_, PyAny>, kind: Exact, perhaps_decimal: bool) -> Result<u64> {
        let bytes = match kind {
            _ if !self.decimals => return Ok(0),
            Exact::Float | Exact::Complex => return Ok(FLOAT_TO_DECIMAL),
            Exact::Other if perhaps_decimal => self.longest,
            Exact::Int => {
                let bits = value.call_method0(Str("bit_length")).and_then(|bits| bits.extract::<u64>());
                bits.map_err(|error| make::refused_by(value.py(), error))? / 8
            }
            _ => return Ok(0),
        };
        let first = if kind == Exact::Int { INT_TO_DECIMAL } else { FLOAT_TO_DECIMAL };
        Ok(first.saturating_add(bytes.saturating_mul(bytes) / QUADRATIC))
    }

    /// What comparing a key with another one of its hash costs at most, up to more than is allowed.
    fn weigh(&self, warm: &Warm, key: &Bound<'_, PyAny>) -> Result<u64> {
        let mut total = 0u64;
        let mut todo = Todo::default();
        todo.push(key.clone(), 1, false)?;
        while let Some(Compared { value, times, in_record }) = todo.0.pop() {
            let kind = exact(&value);
            let record = if kind == Exact::Other { self.record(warm, &value)? } else { None };
            let unit = if kind == Exact::Other {
                RECORD.saturating_add(self.as_decimal(&value, kind, record.is_none())?)
            } else {
                let plain = if in_record { IN_RECORD } else { 1 };
                plain + self.as_decimal(&value, kind, false)?
            };
            total = total.saturating_add(times.saturating_mul(unit));
            if total > ALLOWED {
                break;
            }
            match kind {
                Exact::Tuple => todo.extend(&value, times, in_record)?,
                Exact::FrozenSet => todo.extend_by_hash(&value, times, in_record)?,
                Exact::Set if self.host_classes => todo.extend_by_hash(&value, times, in_record)?,
                Exact::List if self.host_classes => todo.extend(&value, times, in_record)?,
                Exact::Dict if self.host_classes => todo.extend_values(&value, times, in_record)?,
                _ => {}
            }
            match record {
                Some((Inert::Record(_), record)) => {
                    todo.extend_values(&part(&record, "_fields")?, times, true)?;
                }
                Some((Inert::Member, member)) => todo.push(part(&member, "_value")?, times, true)?,
                None => {}
            }
        }
        Ok(total)
    }

    /// The record that a value is, or that an instance of a host's class would be sent as: read as the encoder reads it, so that no hook of its
    /// class runs. A class that does not tell its fields is taken for one that has none.
    fn record<'py>(
        &self,
        warm: &Warm,
        value: &Bound<'py, PyAny>,
    ) -> Result<Option<(Inert, Bound<'py, PyAny>)>> {
        if let Some(kind) = warm.records.kind_of(value) {
            return Ok(Some((kind, value.clone())));
        }
        if !self.host_classes {
            return Ok(None);
        }
        let found = warm.records.classify.bind(value.py()).call1((value,));
        let found = found.map_err(|error| make::refused_by(value.py(), error))?;
        Ok(warm.records.kind_of(&found).map(|kind| (kind, found)))
    }
}

/// A value that is to be compared, how often, and whether Python code of a record does it.
struct Compared<'py> {
    value: Bound<'py, PyAny>,
    times: u64,
    in_record: bool,
}

/// Values of a key that have still to be weighed.
#[derive(Default)]
struct Todo<'py>(Vec<Compared<'py>>);

impl<'py> Todo<'py> {
    fn push(&mut self, value: Bound<'py, PyAny>, times: u64, in_record: bool) -> Result<()> {
        self.0.try_reserve(1).map_err(full)?;
        self.0.push(Compared { value, times, in_record });
        Ok(())
    }

    /// The items of a tuple or list, each compared with one other.
    fn extend(&mut self, items: &Bound<'py, PyAny>, times: u64, in_record: bool) -> Result<()> {
        make::members(items)?.into_iter().try_for_each(|item| self.push(item, times, in_record))
    }

    fn extend_values(&mut self, dict: &Bound<'py, PyAny>, times: u64, in_record: bool) -> Result<()> {
        let dict = dict.cast::<PyDict>().map_err(|_| Error::new(Code::KeyError))?;
        let mut position = 0;
        while let Some((_, item)) = make::dict_next(dict, &mut position) {
            self.push(item, times, in_record)?;
        }
        Ok(())
    }

    /// The members of a set, each compared with all that hash like it.
    fn extend_by_hash(&mut self, set: &Bound<'py, PyAny>, times: u64, in_record: bool) -> Result<()> {
        let members = make::members(set)?;
        let mut alike: HashMap<isize, u64> = HashMap::new();
        alike.try_reserve(members.len()).map_err(full)?;
        for member in &members {
            *alike.entry(make::hash(member)?).or_insert(0) += 1;
        }
        for member in members {
            let count = alike.get(&make::hash(&member)?).copied().unwrap_or(1);
            self.push(member, times.saturating_mul(count), in_record)?;
        }
        Ok(())
    }
}

/// A slot of an inert instance.
fn part<'py>(record: &Bound<'py, PyAny>, slot: &str) -> Result<Bound<'py, PyAny>> {
    record.getattr(Str(slot)).map_err(|error| make::refused_by(record.py(), error))
}
