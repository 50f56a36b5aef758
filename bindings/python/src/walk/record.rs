//! Instances of classes: by `hookless._classify` inert records, and by `default=` what the caller makes of them.

use std::borrow::Cow;

use hookless::wire::{RecordNames, push_name};
use hookless::{Code, Error, RecordKind, Result, TextRef};
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::{Walker, changed, type_name};
use crate::ffi::fallible::Str;
use crate::ffi::{chars, make};
use crate::records::Inert;
use crate::standard::Kind;

/// What is written in the place of a value.
pub(super) enum Substitute<'py> {
    /// The record that an instance becomes.
    Inert(Inert, Bound<'py, PyAny>),
    /// What `default=` returned.
    Default(Bound<'py, PyAny>),
    /// The value itself, an array of objects.
    Objects(Bound<'py, PyAny>),
    /// The value itself, a container of the standard library.
    Container(Kind, Bound<'py, PyAny>),
}

impl<'py> Walker<'_, '_, 'py> {
    /// An instance of a class that is not of the closed set: a record, or what `default=` makes of it.
    pub(super) fn instance(&mut self, value: &Bound<'py, PyAny>, hint: &str) -> Result<Substitute<'py>> {
        let found = match self.warm.records.classify.bind(self.py).call1((value,)) {
            Ok(found) => found,
            Err(error) => return Err(self.caught(value, error, "its class cannot be read:")),
        };
        if let Some(kind) = self.warm.records.kind_of(&found) {
            return Ok(Substitute::Inert(kind, found));
        }
        if let Ok(failed) = found.cast_exact::<PyTuple>() {
            let name = failed.get_item(0).map(|name| name.to_string()).unwrap_or_default();
            let error = failed.get_item(1).map_or_else(|error| error, PyErr::from_value);
            let error = self.caught(value, error, "reading the field raised");
            return Err(error.within(|path| push_name(path, &name)));
        }
        self.outside(value, hint)
    }

    /// What is not of the closed set: what `default=` makes of it, or an error.
    pub(super) fn outside(&mut self, value: &Bound<'py, PyAny>, hint: &str) -> Result<Substitute<'py>> {
        let Some(default) = self.default.clone() else { return Err(self.unsupported(value, hint)) };
        // Each call counts as a level, so that an object that becomes itself has an end.
        self.writer.substitute()?;
        match default.call1((value,)) {
            Ok(substitute) => Ok(Substitute::Default(substitute)),
            Err(error) => Err(self.caught(value, error, "default= raised")),
        }
    }

    /// What was to be written as it is, or, when it is of no kind of the set and nothing of it has been written, what `default=` makes of it.
    pub(super) fn or_default(
        &mut self,
        value: &Bound<'py, PyAny>,
        written: Result<()>,
    ) -> Result<Option<Substitute<'py>>> {
        match written {
            Ok(()) => Ok(None),
            Err(error) if error.code() == Code::UnsupportedType && self.default.is_some() => {
                self.outside(value, "").map(Some)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes what stands for a value. Inlined, and the rest not: each frame here counts once for each level.
    #[inline(always)]
    pub(super) fn substitute(&mut self, found: &Substitute<'py>) -> Result<()> {
        match found {
            Substitute::Inert(kind, value) => self.inert(*kind, value),
            Substitute::Objects(value) => self.objects(value),
            Substitute::Container(kind, value) => self.standard(value, *kind),
            Substitute::Default(value) => {
                self.value(value)?;
                self.writer.end_substitute();
                Ok(())
            }
        }
    }

    /// The error for an exception of the value's or the caller's own code; one like KeyboardInterrupt passes through.
    #[cold]
    fn caught(&mut self, value: &Bound<'py, PyAny>, error: PyErr, what: &str) -> Error {
        if !error.is_instance_of::<PyException>(self.py) {
            self.raised = Some(error);
            return Error::new(Code::OutOfMemory);
        }
        if error.is_instance_of::<PyMemoryError>(self.py) {
            self.cause = Some(error);
            return Error::new(Code::OutOfMemory);
        }
        let hint = format!("{what} {}", type_name(error.value(self.py)));
        self.cause = Some(error);
        self.unsupported(value, &hint)
    }

    /// A `Record`, `NamedRecord` or `EnumValue`, as it is.
    #[inline(always)]
    pub(super) fn inert(&mut self, kind: Inert, value: &Bound<'py, PyAny>) -> Result<()> {
        match kind {
            Inert::Record(kind) => self.record(kind, value),
            Inert::Member => self.enum_member(value),
        }
    }

    #[inline(never)]
    fn record(&mut self, kind: RecordKind, value: &Bound<'py, PyAny>) -> Result<()> {
        let fields = self.open_record(kind, value)?;
        let (len, mut position, mut done) = (fields.len(), 0, 0);
        while let Some((name, item)) = make::dict_next(&fields, &mut position) {
            if done == len {
                return Err(changed());
            }
            self.field_name(&name, done)?;
            self.value(&item).map_err(|error| field_step(error, &name))?;
            done += 1;
        }
        self.writer.end_record();
        if done == len { Ok(()) } else { Err(changed()) }
    }

    /// Writes what comes before the fields; gives the fields. Apart, so that its frame is gone while they are written.
    #[inline(never)]
    fn open_record(&mut self, kind: RecordKind, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>> {
        let (module, qualname) = (self.part(value, "_module")?, self.part(value, "_qualname")?);
        let Ok(fields) = self.part(value, "_fields")?.cast_into::<PyDict>() else {
            return Err(self.unsupported(value, ""));
        };
        let (module, qualname) = (bytes_of(&module)?, bytes_of(&qualname)?);
        let names = RecordNames { module: text(&module)?, qualname: text(&qualname)? };
        self.writer.record(kind, names, fields.len())?;
        Ok(fields)
    }

    #[inline(never)]
    fn field_name(&mut self, name: &Bound<'py, PyAny>, number: usize) -> Result<()> {
        let name = bytes_of(name)?;
        self.writer
            .field_name(text(&name)?)
            .map_err(|error| error.within(|path| path.add(format_args!(".names[{number}]"))))
    }

    #[inline(never)]
    fn enum_member(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        let held = self.open_member(value)?;
        self.value(&held).map_err(|error| error.within(|path| path.push_str(".value")))?;
        self.writer.end_record();
        Ok(())
    }

    /// Writes what comes before the value; gives the value.
    #[inline(never)]
    fn open_member(&mut self, value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let (module, qualname) = (self.part(value, "_module")?, self.part(value, "_qualname")?);
        let name = self.part(value, "_name")?;
        let (module, qualname) = (bytes_of(&module)?, bytes_of(&qualname)?);
        let name = if name.is_none() { None } else { Some(bytes_of(&name)?.into_owned()) };
        let name = name.as_deref().map(text).transpose()?;
        let names = RecordNames { module: text(&module)?, qualname: text(&qualname)? };
        self.writer.enum_member(names, name)?;
        self.part(value, "_value")
    }

    /// A slot of an inert instance: no code runs.
    fn part(&mut self, value: &Bound<'py, PyAny>, slot: &str) -> Result<Bound<'py, PyAny>> {
        let found = value.getattr(Str(slot));
        self.passed(found)
    }
}

/// The step to a field.
#[cold]
fn field_step(error: Error, name: &Bound<'_, PyAny>) -> Error {
    let name = bytes_of(name).unwrap_or_default();
    error.within(|path| push_name(path, &String::from_utf8_lossy(&name)))
}

/// A name as generalised UTF-8.
fn bytes_of<'a>(name: &'a Bound<'_, PyAny>) -> Result<Cow<'a, [u8]>> {
    match chars::of(name) {
        Some(chars::Chars::Ascii(text)) => Ok(Cow::Borrowed(text.as_bytes())),
        Some(found) => {
            let mut bytes = Vec::new();
            found.append_to(&mut bytes);
            Ok(Cow::Owned(bytes))
        }
        None => Err(Error::new(Code::BadType)),
    }
}

fn text(bytes: &[u8]) -> Result<TextRef<'_>> {
    TextRef::from_generalised(bytes).ok_or_else(|| Error::new(Code::BadUtf8))
}
