//! Values of the standard library to the wire.

use hookless::wire::{MapKind, MapScope, Placed, SequenceKind};
use hookless::{Code, Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};

use super::{Walker, changed, key_step, moved, nth_key};
use crate::ffi::fallible::Str;
use crate::ffi::make;
use crate::ffi::types::{Exact, exact};
use crate::standard::{self, Kind, Unreadable};

impl<'py> Walker<'_, '_, 'py> {
    /// A value of the standard library, whose kind its exact type has told.
    pub(super) fn standard(&mut self, value: &Bound<'py, PyAny>, kind: Kind) -> Result<()> {
        match kind {
            Kind::Slice => self.slice(value),
            Kind::Deque => self.deque(value),
            Kind::OrderedDict => self.ordered_dict(value),
            Kind::Counter => self.counter(value),
            Kind::TypedArray => self.typed_array(value),
            kind => self.standard_leaf(value, kind),
        }
    }

    /// Out of line, as all that walks into no container.
    #[inline(never)]
    fn standard_leaf(&mut self, value: &Bound<'py, PyAny>, kind: Kind) -> Result<()> {
        match self.readable(value, standard::read(value, kind))? {
            Some(read) => self.writer.standard(&read),
            None => Err(self.unsupported(value, "")),
        }
    }

    /// What was read of a value, or why it cannot be sent.
    #[inline(never)]
    fn readable<T>(
        &mut self,
        value: &Bound<'py, PyAny>,
        read: std::result::Result<T, Unreadable>,
    ) -> Result<T> {
        match read {
            Ok(read) => Ok(read),
            Err(Unreadable::Field(what)) => Err(self.unsupported(value, &what)),
            Err(Unreadable::Refused(error)) if error.code() == Code::IntLimit => Err(error),
            Err(Unreadable::Refused(error)) => Err(self.unsupported(value, error.found())),
            Err(Unreadable::Raised(error)) if standard::is_malformed(&error, self.py) => {
                Err(self.unsupported(value, "its fields are not what its class makes them"))
            }
            Err(Unreadable::Raised(error)) => self.passed(Err(error)),
        }
    }

    #[inline(never)]
    fn slice(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        self.writer.sequence(SequenceKind::Slice, 3)?;
        for name in ["start", "stop", "step"] {
            let part = self.passed(value.getattr(Str(name)))?;
            self.value(&part).map_err(|error| error.within(|path| path.add(format_args!(".{name}"))))?;
        }
        self.writer.end_sequence();
        Ok(())
    }

    #[inline(never)]
    fn deque(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let (len, mut items) = self.deque_head(value)?;
        let mut done = 0;
        while let Some(item) = next_of(&mut items)? {
            if done == len {
                return Err(changed());
            }
            self.value(&item).map_err(|error| error.within(|path| path.add(format_args!("[{done}]"))))?;
            done += 1;
        }
        self.writer.end_sequence();
        if done == len { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn deque_head(&mut self, value: &Bound<'py, PyAny>) -> Result<(usize, Bound<'py, PyIterator>)> {
        let maxlen =
            self.passed(value.getattr(Str("maxlen")).and_then(|most| most.extract::<Option<u64>>()))?;
        let len = self.passed(value.len())?;
        self.writer.sequence(SequenceKind::Deque(maxlen), len)?;
        Ok((len, self.iterator(value)?))
    }

    #[inline(never)]
    fn iterator(&mut self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyIterator>> {
        self.passed(value.try_iter())
    }

    /// Looked up once the key is known to be of the closed set.
    #[inline(never)]
    fn item_of(&mut self, dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        self.passed(dict.get_item(key))?.ok_or_else(changed)
    }

    /// The key of a pair.
    #[inline(never)]
    fn key(&mut self, map: &mut MapScope, key: &Bound<'py, PyAny>, done: usize) -> Result<()> {
        self.writer.key(map);
        self.value(key).and_then(|()| self.writer.value(map)).map_err(|error| nth_key(error, done))
    }

    /// In its own order, which `move_to_end` changes and the dict below does not know.
    #[inline(never)]
    fn ordered_dict(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let Ok(dict) = value.cast::<PyDict>() else { return Err(Error::new(Code::UnsupportedType)) };
        let len = dict.len();
        let mut map = self.writer.map(MapKind::OrderedDict, len)?;
        let (mut done, mut keys) = (0, self.iterator(value)?);
        while let Some(key) = next_of(&mut keys)? {
            if done == len {
                return Err(changed());
            }
            self.key(&mut map, &key, done)?;
            let item = self.item_of(dict, &key)?;
            self.value(&item).map_err(|error| error.within(|path| key_step(&key, done, path)))?;
            done += 1;
        }
        self.writer.end_map(map);
        if done == len { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn counter(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let Ok(dict) = value.cast::<PyDict>() else { return Err(Error::new(Code::UnsupportedType)) };
        let len = dict.len();
        let mut map = self.writer.map(MapKind::Counter, len)?;
        let (mut position, mut done) = (0, 0);
        while let Some((key, count)) = make::dict_next(dict, &mut position) {
            if done == len || dict.len() != len {
                return Err(changed());
            }
            self.key(&mut map, &key, done)?;
            self.count(&count).map_err(|error| error.within(|path| key_step(&key, done, path)))?;
            done += 1;
        }
        self.writer.end_map(map);
        if done == len { Ok(()) } else { Err(changed()) }
    }

    /// D17: a count.
    fn count(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        match exact(value) {
            Exact::Int | Exact::Bool | Exact::Float => self.value(value),
            _ => Err(self.unsupported(value, "a Counter's counts are bools, ints or floats")),
        }
    }

    #[inline(never)]
    fn typed_array(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let (code, bytes) = self.readable(value, standard::typed_array_parts(value))?;
        let len = self.passed(bytes.len())?;
        match self.writer.typed_array(code, len as u64)? {
            Placed::Inline => match bytes.cast::<PyBytes>() {
                Ok(bytes) => self.writer.array_data(bytes.as_bytes())?,
                Err(_) => return Err(Error::new(Code::Mutated)),
            },
            Placed::Region => self.region.push(bytes),
        }
        Ok(())
    }
}

/// The next of an iterator, which raises when what it goes through has changed.
#[inline(never)]
fn next_of<'py>(items: &mut Bound<'py, PyIterator>) -> Result<Option<Bound<'py, PyAny>>> {
    let py = items.py();
    items.next().transpose().map_err(|error| moved(py, &error))
}
