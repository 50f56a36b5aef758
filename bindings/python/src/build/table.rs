//! Dicts and sets: what their keys cost is counted before each goes in.

use hookless::wire::{MapKind, SetKind};
use hookless::{Code, Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::PyBuilder;
use crate::ffi::make;
use crate::keys::{Keys, Prior, Table};
use crate::{scalars, standard};

/// A dict being filled.
pub(crate) struct Map<'py> {
    kind: MapKind,
    pub(super) dict: Bound<'py, PyDict>,
    done: usize,
    keys: Keys,
}

/// A set being filled.
pub(crate) struct Set<'py> {
    pub(super) set: Bound<'py, PyAny>,
    done: usize,
    keys: Keys,
}

impl<'py> PyBuilder<'_, 'py> {
    pub(super) fn open_map(&mut self, kind: MapKind, len: usize) -> Result<Map<'py>> {
        let dict = match kind {
            MapKind::Dict => make::dict(self.py)?,
            MapKind::OrderedDict | MapKind::Counter => self.rare_map(kind)?,
        };
        let keys = Keys::new(Table::Dict, kind == MapKind::OrderedDict, len);
        Ok(Map { kind, dict, done: 0, keys })
    }

    #[inline(always)]
    pub(super) fn put(
        &mut self,
        map: &mut Map<'py>,
        key: Bound<'py, PyAny>,
        value: Bound<'py, PyAny>,
    ) -> Result<bool> {
        self.spent.admit(self.warm, &mut map.keys, &key, || keys_of(&map.dict, map.done))?;
        let inserted = match map.kind {
            MapKind::OrderedDict => put_ordered(&map.dict, &key, &value),
            MapKind::Dict | MapKind::Counter => map.dict.set_item(&key, &value),
        };
        inserted.map_err(|error| scalars::table_error(self.py, &error))?;
        map.done += 1;
        Ok(map.dict.len() == map.done)
    }

    /// The same for an int, whose hash is computed here once.
    pub(super) fn put_int(
        &mut self,
        map: &mut Map<'py>,
        key: Bound<'py, PyAny>,
        number: i128,
        value: Bound<'py, PyAny>,
    ) -> Result<bool> {
        if map.kind != MapKind::Dict {
            return self.put(map, key, value);
        }
        let hash = int_hash(number);
        self.spent.admit_int(self.warm, &mut map.keys, &key, hash, || keys_of(&map.dict, map.done))?;
        make::dict_set(&map.dict, &key, &value, hash)?;
        map.done += 1;
        Ok(map.dict.len() == map.done)
    }

    pub(super) fn open_set(&mut self, kind: SetKind, len: usize) -> Result<Set<'py>> {
        let set = make::set(self.py, kind == SetKind::FrozenSet)?;
        Ok(Set { set, done: 0, keys: Keys::new(Table::Set, false, len) })
    }

    pub(super) fn put_member(&mut self, set: &mut Set<'py>, member: &Bound<'py, PyAny>) -> Result<bool> {
        self.spent.admit(self.warm, &mut set.keys, member, || members_of(&set.set))?;
        set.done += 1;
        Ok(make::set_add(&set.set, member)? == set.done)
    }

    /// An empty OrderedDict or Counter.
    #[cold]
    fn rare_map(&self, kind: MapKind) -> Result<Bound<'py, PyDict>> {
        let py = self.py;
        let made = standard::shelf(py).and_then(|shelf| {
            let class = if kind == MapKind::Counter { &shelf.counter } else { &shelf.ordered_dict };
            Ok(class.bind(py).call0()?.cast_into::<PyDict>()?)
        });
        made.map_err(|error| scalars::table_error(py, &error))
    }
}

/// The hash of an int of at most 64 bits, as CPython has it: its remainder by 2^61 - 1, with its sign; -1 stands for an error there.
fn int_hash(number: i128) -> isize {
    const MODULUS: u64 = (1 << 61) - 1;
    let magnitude = number.unsigned_abs() as u64;
    let folded = (magnitude & MODULUS) + (magnitude >> 61);
    let rest = (if folded >= MODULUS { folded - MODULUS } else { folded }).cast_signed();
    match if number < 0 { -rest } else { rest } {
        -1 => -2,
        hash => hash as isize,
    }
}

/// By its own method, which keeps the order as well.
#[inline(never)]
fn put_ordered<'py>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    dict.as_any().set_item(key, value)
}

/// The keys of a dict, in order.
#[cold]
fn keys_of(dict: &Bound<'_, PyDict>, count: usize) -> Result<Vec<Prior>> {
    let mut found = Vec::new();
    found.try_reserve_exact(count).map_err(|_| Error::new(Code::OutOfMemory))?;
    let mut position = 0;
    while let Some((key, _)) = make::dict_next(dict, &mut position) {
        found.push((make::hash(&key)?, make::is_text(&key)));
    }
    Ok(found)
}

/// The members of a set, in its own order: they have keyed hashes, or are few, so that it does not matter in which they came.
#[cold]
fn members_of(set: &Bound<'_, PyAny>) -> Result<Vec<Prior>> {
    Ok(make::set_hashes(set)?.into_iter().map(|hash| (hash, false)).collect())
}
