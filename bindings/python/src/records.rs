//! `hookless.records` and `hookless._classify`, looked up once.

use crate::ffi::fallible::Str;
use crate::imports::{attribute, imported};
use hookless::RecordKind;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What an inert instance is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inert {
    Record(RecordKind),
    Member,
}

/// The host's own classes of inert instances, and the functions around them.
pub(crate) struct Records {
    record: Py<PyType>,
    named: Py<PyType>,
    member: Py<PyType>,
    new_record: Py<PyAny>,
    new_named: Py<PyAny>,
    /// Makes an `EnumValue` of module, qualname, name and value.
    pub(crate) new_member: Py<PyAny>,
    /// `hookless._classify.classify`, which the encoder asks about instances of other classes.
    pub(crate) classify: Py<PyAny>,
}

impl Records {
    pub(crate) fn load(py: Python<'_>) -> PyResult<Records> {
        let module = imported(py, "hookless.records")?;
        let class = |name: &str| Ok::<_, PyErr>(module.getattr(Str(name))?.cast_into::<PyType>()?.unbind());
        Ok(Records {
            record: class("Record")?,
            named: class("NamedRecord")?,
            member: class("EnumValue")?,
            new_record: module.getattr(Str("_new_record"))?.unbind(),
            new_named: module.getattr(Str("_new_named"))?.unbind(),
            new_member: module.getattr(Str("_new_member"))?.unbind(),
            classify: attribute(py, "hookless._classify", "classify")?.unbind(),
        })
    }

    /// Makes a record of module, qualname and a dict of its fields.
    pub(crate) fn maker(&self, kind: RecordKind) -> &Py<PyAny> {
        match kind {
            RecordKind::Record => &self.new_record,
            RecordKind::Named => &self.new_named,
        }
    }

    /// What an object is, by its exact type; none when it is no inert instance.
    #[inline]
    pub(crate) fn kind_of(&self, value: &Bound<'_, PyAny>) -> Option<Inert> {
        let found = value.get_type_ptr();
        let is = |class: &Py<PyType>| std::ptr::eq(found.cast(), class.as_ptr());
        if is(&self.record) {
            Some(Inert::Record(RecordKind::Record))
        } else if is(&self.named) {
            Some(Inert::Record(RecordKind::Named))
        } else if is(&self.member) {
            Some(Inert::Member)
        } else {
            None
        }
    }
}
