//! Python objects to the wire: decides by `type(x)` alone and runs no code of the value's own.

use hookless::wire::{BytesKind, MapKind, Placed, SequenceKind, SetKind, Writer, push_name};
use hookless::{Code, Error, Limits, Result, TextRef};
use pyo3::exceptions::{PyBaseException, PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PyMemoryView, PyString, PyTuple, PyType};

use crate::array::Array;
use crate::failure::{self, EntryTexts, Failure};
use crate::ffi::chars::{self, Chars};
use crate::ffi::fallible::Str;
use crate::ffi::leaf::{self, Pair};
use crate::ffi::make;
use crate::ffi::types::{Exact, exact};
use crate::plain::{self, Plain};
use crate::scalar::Scalar;
use crate::scalars;
use crate::standard::{self, Kind};
use crate::warm::{Loaded, Numpy, Warm};

mod arrays;
mod rare;
mod record;

use record::Substitute;

/// Walks one value.
pub(crate) struct Walker<'w, 'l, 'py> {
    pub(crate) py: Python<'py>,
    warm: &'py Warm,
    numpy: Option<&'py Numpy>,
    pub(crate) writer: &'w mut Writer<'l>,
    limits: &'l Limits,
    /// What goes into the data region, in order: objects with the buffer protocol.
    pub(crate) region: &'w mut Vec<Bound<'py, PyAny>>,
    /// Generalised UTF-8 of a str that is not ASCII.
    text: Vec<u8>,
    /// Name of the type that is not of the closed set.
    pub(crate) type_name: Option<String>,
    /// What the caller makes of values outside the closed set.
    default: Option<Bound<'py, PyAny>>,
    /// The exception of the value's or the caller's own code that led to the error.
    pub(crate) cause: Option<PyErr>,
    /// An exception that must pass through, such as KeyboardInterrupt.
    pub(crate) raised: Option<PyErr>,
}

impl<'w, 'l, 'py> Walker<'w, 'l, 'py> {
    #[inline]
    pub(crate) fn new(
        py: Python<'py>,
        Loaded { warm, numpy }: Loaded<'py>,
        writer: &'w mut Writer<'l>,
        region: &'w mut Vec<Bound<'py, PyAny>>,
        limits: &'l Limits,
        default: Option<Bound<'py, PyAny>>,
    ) -> Self {
        Walker {
            py,
            warm,
            numpy,
            writer,
            limits,
            region,
            text: Vec::new(),
            type_name: None,
            default,
            cause: None,
            raised: None,
        }
    }

    /// Writes one value. Recurses once for each open container, which `Limits::depth` bounds; containers, and what holds none, stay out of
    /// line, so that a level costs the stack its own locals and no others.
    #[inline]
    pub(crate) fn value(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        match leaf::one(value, self.writer) {
            Some(written) => written,
            None => self.compound(value),
        }
    }

    /// Writes a value that [`leaf`] has left.
    fn compound(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        match exact(value) {
            Exact::Str => self.wide_str(value),
            Exact::Int => self.big_int(value),
            Exact::Dict => self.dict(value),
            Exact::List => self.list(value),
            Exact::Tuple => self.tuple(value),
            Exact::Bytes => self.bytes(value),
            Exact::Set => self.set(SetKind::Set, value),
            Exact::FrozenSet => self.set(SetKind::FrozenSet, value),
            Exact::ByteArray => self.bytearray(value),
            Exact::Complex => {
                let (re, im) = make::complex_parts(value);
                self.writer.complex(re, im)
            }
            // What `leaf` writes is of one of these kinds.
            Exact::Other | Exact::None | Exact::Bool | Exact::Float => self.rest(value),
        }
    }

    /// Writes a value of another type than Python's own.
    ///
    /// Each container has a function of its own here, which is not inlined, and so has each leaf with many locals: the stack of a deeply nested
    /// value is made of what its containers need and no more.
    #[inline(never)]
    fn rest(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        if let Some(numpy) = self.numpy
            && numpy.is_plain_array(value)
            && let Some(written) = self.numbers(value, numpy)
        {
            return written;
        }
        match self.warm.records.kind_of(value) {
            Some(kind) => self.inert(kind, value),
            None => match self.other(value)? {
                // Not from within `other`: the frames of a value that is nested deeply stay small.
                Some(substitute) => self.substitute(&substitute),
                None => Ok(()),
            },
        }
    }

    /// A str that is not ASCII.
    #[inline(never)]
    fn wide_str(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        if let Some(text) = chars::known_utf8(value) {
            return self.writer.utf8(text, false);
        }
        let Some(found) = chars::of(value) else { return Err(make::refused(self.py)) };
        match found.written_to(&mut self.text) {
            TextRef::Str(text) => self.writer.utf8(text, false),
            text => self.writer.text(text),
        }
    }

    #[inline(never)]
    fn big_int(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let most = self.limits.int_bytes;
        let written = scalars::write_big_int(value, self.writer, most);
        self.passed(written)?
    }

    /// The result of a call into Python, whose exception, if any, is kept to be raised as it is.
    pub(crate) fn passed<T>(&mut self, result: PyResult<T>) -> Result<T> {
        result.map_err(|error| {
            let memory = error.is_instance_of::<PyMemoryError>(self.py);
            if !memory {
                self.raised = Some(error);
            }
            Error::new(Code::OutOfMemory)
        })
    }

    #[inline(never)]
    fn bytes(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let contents = make::bytes_contents(value).unwrap_or_default();
        if self.writer.bytes(BytesKind::Bytes, contents)? == Placed::Region {
            self.region.push(value.clone());
        }
        Ok(())
    }

    #[inline(never)]
    fn bytearray(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let found = value.cast::<PyByteArray>().map_err(|_| Error::new(Code::UnsupportedType))?;
        // A copy: another thread could change what is being written. Small ones are cheap; large ones are exported and locked.
        if (found.len() as u64) < hookless::limits::REGION_THRESHOLD {
            return self.writer.bytes(BytesKind::ByteArray, &found.to_vec()).map(|_| ());
        }
        let view =
            self.passed(PyMemoryView::from(value).and_then(|view| view.call_method0(Str("toreadonly"))))?;
        let len = found.len();
        self.writer.region_bytes(BytesKind::ByteArray, len)?;
        self.region.push(view);
        Ok(())
    }

    /// Writes items: `leaves` those that are leaves, from an index on, which it moves along; it gives the one that is not. Says how many there were.
    #[inline(always)]
    fn items(
        &mut self,
        leaves: impl Fn(&mut usize, &mut Writer<'_>) -> Result<Option<Bound<'py, PyAny>>>,
    ) -> Result<usize> {
        let mut index = 0;
        loop {
            let written = match leaves(&mut index, self.writer) {
                Ok(Some(item)) => self.compound(&item),
                Ok(None) => return Ok(index),
                Err(error) => Err(error),
            };
            written.map_err(|error| error.within(|path| path.add(format_args!("[{index}]"))))?;
            index += 1;
        }
    }

    #[inline(never)]
    fn list(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let Ok(list) = value.cast::<PyList>() else { return Err(Error::new(Code::UnsupportedType)) };
        let len = list.len();
        self.writer.sequence(SequenceKind::List, len)?;
        let index = self.items(|index, writer| leaf::of_list(list, index, len, writer))?;
        self.writer.end_sequence();
        // It may have changed under the walk: a finaliser can run wherever memory is taken.
        if index == len && list.len() == len { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn tuple(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let Ok(tuple) = value.cast::<PyTuple>() else { return Err(Error::new(Code::UnsupportedType)) };
        self.writer.sequence(SequenceKind::Tuple, tuple.len())?;
        let index = self.items(|index, writer| leaf::of_tuple(tuple, index, writer))?;
        self.writer.end_sequence();
        // One that C code is still making, and that others can see, ends where its items do.
        if index == tuple.len() { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn dict(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let Ok(dict) = value.cast::<PyDict>() else { return Err(Error::new(Code::UnsupportedType)) };
        let len = dict.len();
        let mut map = self.writer.map(MapKind::Dict, len)?;
        let (mut position, mut done) = (0, 0);
        while dict.len() == len {
            let (key, written) =
                match leaf::of_dict(dict, &mut position, &mut done, len, self.writer, &mut map) {
                    Pair::End => break,
                    Pair::More => return Err(changed()),
                    Pair::Key(key, item) => {
                        self.compound(&key)
                            .and_then(|()| self.writer.value(&mut map))
                            .map_err(|error| nth_key(error, done))?;
                        (key, self.value(&item))
                    }
                    Pair::Value(key, item) => (key, self.compound(&item)),
                    Pair::BadKey(error) => return Err(nth_key(error, done)),
                    Pair::BadValue(error, key) => (key, Err(error)),
                };
            written.map_err(|error| error.within(|path| key_step(&key, done, path)))?;
            done += 1;
        }
        self.writer.end_map(map);
        if done == len && dict.len() == len { Ok(()) } else { Err(changed()) }
    }

    #[inline(never)]
    fn set(&mut self, kind: SetKind, value: &Bound<'py, PyAny>) -> Result<()> {
        let len = self.passed(value.len())?;
        let mut scope = self.writer.set(kind, len)?;
        let mut done = 0;
        for member in self.passed(value.try_iter())? {
            let member = member.map_err(|error| moved(self.py, &error))?;
            if done == len {
                return Err(changed());
            }
            self.value(&member)
                .and_then(|()| self.writer.member(&mut scope))
                .map_err(|error| error.within(|path| path.add(format_args!("{{{done}}}"))))?;
            done += 1;
        }
        if done == len { self.writer.end_set(scope) } else { Err(changed()) }
    }

    /// Writes a value of another type than Python's own, or says what is to be written in its place.
    #[inline(never)]
    fn other(&mut self, value: &Bound<'py, PyAny>) -> Result<Option<Substitute<'py>>> {
        let address = value.get_type_ptr() as usize;
        if let Some(numpy) = self.numpy {
            if numpy.arrays.contains(&address) {
                if arrays::is_of_objects(value) {
                    return Ok(Some(Substitute::Objects(value.clone())));
                }
                let written = self.ndarray(value, numpy);
                return self.or_default(value, written);
            }
            if let Some(kind) = numpy.scalar_kind(address) {
                let written = scalars::write(value, numpy, kind, self.writer);
                return match self.passed(written)?? {
                    true => Ok(None),
                    false => {
                        let written = self.element(value, numpy);
                        self.or_default(value, written)
                    }
                };
            }
            if address == numpy.ma.class.as_ptr() as usize {
                let written = self.masked(value, numpy);
                return self.or_default(value, written);
            }
            if numpy.is_element(self.py, address) {
                let written = self.element(value, numpy);
                return self.or_default(value, written);
            }
            if numpy.is_longlong(address) {
                let hint = "longlong has no wire form of its own: send numpy.int64(x)";
                return self.outside(value, hint).map(Some);
            }
        }
        if let Ok(array) = value.cast_exact::<Array>() {
            return self.inert_array(array.get()).map(|()| None);
        }
        if let Ok(scalar) = value.cast_exact::<Scalar>() {
            return scalar.get().write(self.writer).map(|()| None);
        }
        if arrays::is_inert_objects(value) {
            return Ok(Some(Substitute::Objects(value.clone())));
        }
        if let Some(written) = self.inert_arrays(value) {
            return written.map(|()| None);
        }
        if let Ok(failure) = value.cast_exact::<Failure>() {
            return self.failure(failure).map(|()| None);
        }
        if value.is_instance_of::<PyBaseException>() {
            return self.exception(value).map(|()| None);
        }
        let kind = standard::kind_of(value);
        if let Some(kind) = self.passed(kind)? {
            return match kind {
                Kind::Slice | Kind::Deque | Kind::OrderedDict | Kind::Counter => {
                    Ok(Some(Substitute::Container(kind, value.clone())))
                }
                kind => self.standard(value, kind).map(|()| None),
            };
        }
        let hint = if value.is_instance_of::<PyMemoryView>() { "send bytes(m)" } else { "" };
        self.instance(value, hint).map(Some)
    }

    #[cold]
    pub(crate) fn unsupported(&mut self, value: &Bound<'_, PyAny>, hint: &str) -> Error {
        let name = type_name(value);
        let note = if hint.is_empty() { name.clone() } else { format!("{name} ({hint})") };
        self.type_name = Some(name);
        Error::new(Code::UnsupportedType).note(note)
    }

    #[inline(never)]
    fn inert_array(&mut self, array: &Array) -> Result<()> {
        let placed = self.writer.array(&array.head)?;
        self.inert_data(array, placed)
    }

    pub(crate) fn inert_data(&mut self, array: &Array, placed: Placed) -> Result<()> {
        let data = array.data.bind(self.py);
        match placed {
            Placed::Inline => self.writer.array_data(data.as_bytes())?,
            Placed::Region => self.region.push(data.clone().into_any()),
        }
        Ok(())
    }

    /// A live exception, by what `hookless.failure.describe` says of it; one that came from elsewhere, as it came.
    #[inline(never)]
    fn exception(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let remote = self.warm.remote_classes.contains(&(value.get_type_ptr() as usize));
        if !remote && let Some(written) = self.plain_exception(value) {
            return written;
        }
        let described = if remote {
            value.getattr(Str("remote"))
        } else {
            let limits = Bound::new(self.py, crate::limits::Limits { core: self.limits.clone() });
            limits.and_then(|limits| self.warm.describe.bind(self.py).call1((value, limits)))
        };
        let described = self.passed(described)?;
        match described.cast_exact::<Failure>() {
            Ok(failure) => self.failure(failure),
            Err(_) => Err(self.unsupported(value, "its descriptor is not a hookless.Failure")),
        }
    }

    /// An exception that is written without a descriptor of it being made; none for those that are not plain.
    #[inline(never)]
    fn plain_exception(&mut self, value: &Bound<'py, PyAny>) -> Option<Result<()>> {
        let found = match plain::read(value.cast().ok()?, &self.warm.plain, self.limits) {
            Ok(found) => found?,
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(self.py) => {
                return Some(self.passed(Err(error)));
            }
            // What goes wrong is described.
            Err(_) => return None,
        };
        Some(self.plain_entries(&found))
    }

    fn plain_entries(&mut self, found: &[Plain<'_, 'py>]) -> Result<()> {
        let mut scope = self.writer.report(found.len())?;
        for (number, entry) in (0..).zip(found) {
            let texts = entry.texts()?;
            self.writer.entry(&mut scope, &entry.head(&texts, number)?, entry.args.len())?;
            for (arg, value) in entry.args.iter_borrowed().enumerate() {
                self.value(&value)
                    .map_err(|error| error.within(|path| path.add(format_args!("!{number}.args[{arg}]"))))?;
            }
            self.writer.fields(0)?;
        }
        self.writer.end_report(scope)
    }

    #[inline(never)]
    fn failure(&mut self, failure: &Bound<'py, Failure>) -> Result<()> {
        let found = failure::entries(failure);
        let (entries, numbers) = self.passed(found)?;
        let mut scope = self.writer.report(entries.len())?;
        for (index, entry) in entries.iter().enumerate() {
            let texts = EntryTexts::of(entry);
            let texts = self.passed(texts)?;
            let args = entry.get().args.bind(self.py).clone();
            self.writer.entry(&mut scope, &texts.head(entry, &numbers)?, args.len())?;
            for (arg, value) in args.iter().enumerate() {
                self.value(&value)
                    .map_err(|error| error.within(|path| path.add(format_args!("!{index}.args[{arg}]"))))?;
            }
            self.fields(entry.get().fields.bind(self.py), index)?;
        }
        self.writer.end_report(scope)
    }

    fn fields(&mut self, fields: &Bound<'py, PyDict>, index: usize) -> Result<()> {
        let len = fields.len();
        self.writer.fields(len)?;
        let (mut position, mut done) = (0, 0);
        while let Some((name, value)) = make::dict_next(fields, &mut position) {
            if done == len {
                return Err(changed());
            }
            let Some(found) = chars::of(&name) else { return Err(Error::new(Code::BadType)) };
            let mut text = Vec::new();
            found.append_to(&mut text);
            let text = TextRef::from_generalised(&text).ok_or_else(|| Error::new(Code::BadUtf8))?;
            self.writer.descriptor_text(text)?;
            self.value(&value)
                .map_err(|error| error.within(|path| path.add(format_args!("!{index}.fields[{done}]"))))?;
            done += 1;
        }
        if done == len { Ok(()) } else { Err(changed()) }
    }
}

/// A container changed its size while it was being walked.
#[cold]
pub(crate) fn changed() -> Error {
    Error::new(Code::Mutated)
}

/// An iterator stopped: its container changed, or memory ran out.
#[cold]
pub(crate) fn moved(py: Python<'_>, error: &PyErr) -> Error {
    let memory = error.is_instance_of::<PyMemoryError>(py);
    Error::new(if memory { Code::OutOfMemory } else { Code::Mutated })
}

/// The step to a key of a dict.
#[cold]
fn nth_key(error: Error, index: usize) -> Error {
    error.within(|path| path.add(format_args!(".keys[{index}]")))
}

/// The step into a dict, by its key.
fn key_step(key: &Bound<'_, PyAny>, index: usize, path: &mut hookless::Steps) {
    match (exact(key), chars::of(key)) {
        (Exact::Str, Some(Chars::Ascii(name))) => push_name(path, name),
        (Exact::Str, Some(found)) => {
            let mut text = Vec::new();
            found.append_to(&mut text);
            push_name(path, &String::from_utf8_lossy(&text));
        }
        (Exact::Int, _) => match make::small_int(key) {
            Some(Ok(number)) => path.add(format_args!("[{number}]")),
            _ => path.add(format_args!(".values[{index}]")),
        },
        _ => path.add(format_args!(".values[{index}]")),
    }
}

/// `module.qualname` of the value's type, read by the getters of `type` itself, so that no code of a metaclass runs.
fn type_name(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type();
    let read = |name: &str| -> PyResult<String> {
        let getter = value.py().get_type::<PyType>().getattr(Str("__dict__"))?.get_item(Str(name))?;
        let text = getter.call_method1(Str("__get__"), (&kind,))?;
        Ok(text.cast_exact::<PyString>()?.to_string_lossy().into_owned())
    };
    let name = read("__qualname__").unwrap_or_else(|_| "an object".to_owned());
    match read("__module__") {
        Ok(module) if module != "builtins" => format!("{module}.{name}"),
        _ => name,
    }
}

/// A dtype in words, for an error.
pub(crate) fn type_text(dtype: &Bound<'_, PyAny>) -> String {
    dtype.str().map_or_else(|_| "unknown".to_owned(), |text| text.to_string())
}
