//! Records and enum members: calls of hookless's own functions, with parts that the reader has checked.

use hookless::wire::{Build, MapKind, RecordNames};
use hookless::{Code, Error, RecordKind, Result, TextRef};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::PyBuilder;
use crate::ffi::chars;
use crate::scalars;

impl<'py> PyBuilder<'_, 'py> {
    pub(super) fn build_record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        fields: Vec<(TextRef<'_>, Bound<'py, PyAny>)>,
    ) -> Result<Bound<'py, PyAny>> {
        let mut map = self.map(MapKind::Dict, fields.len())?;
        for (name, value) in fields {
            let name = self.name(name)?;
            // R4: the reader has seen that no name comes twice.
            self.insert(&mut map, name, value)?;
        }
        let (module, qualname, fields) =
            (self.name(names.module)?, self.name(names.qualname)?, self.finish_map(map)?);
        let made = self.warm.records.maker(kind).bind(self.py).call1((module, qualname, fields));
        self.own_code(made)
    }

    pub(super) fn build_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let (module, qualname) = (self.name(names.module)?, self.name(names.qualname)?);
        let name = name.map(|name| self.name(name)).transpose()?;
        let made = self.warm.records.new_member.bind(self.py).call1((module, qualname, name, value));
        self.own_code(made)
    }

    /// A name, which is likely to come again in the next record.
    fn name(&mut self, text: TextRef<'_>) -> Result<Bound<'py, PyAny>> {
        let bytes = text.as_bytes();
        if bytes.is_ascii() { self.known.key(self.py, bytes) } else { chars::utf8(self.py, bytes) }
    }

    /// The result of hookless's own Python code. What it raises is a want of memory or of stack, or comes from a signal handler.
    fn own_code<T>(&mut self, result: PyResult<T>) -> Result<T> {
        result.map_err(|error| {
            if error.is_instance_of::<PyException>(self.py) {
                return scalars::table_error(self.py, &error);
            }
            self.interrupted = Some(error);
            Error::new(Code::OutOfMemory).note("interrupted")
        })
    }
}
