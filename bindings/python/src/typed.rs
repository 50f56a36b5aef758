//! The Rust side of typed results: the value is decoded first, with every limit, and what the host asked for is made of it afterwards.

use pyo3::prelude::*;

use crate::errors::decode_error;
use crate::ffi::fallible::Str;
use crate::guard::{EXEMPT, Guard, Table};

/// What `decode` gives; as a value of the type that the host asked for, when it did. A type that cannot be asked for is a TypeError before
/// a byte is looked at.
pub(crate) fn converted<'py>(
    py: Python<'py>,
    wanted: Option<&Bound<'py, PyAny>>,
    decode: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(wanted) = wanted else { return decode() };
    let convert =
        py.import(Str("hookless._typed.conversion"))?.getattr(Str("conversion"))?.call1((wanted,))?;
    convert.call1((decode()?,))
}

/// Raises DecodeError if keys with these hashes, in this order, would degrade a dict (or a set): for tables that a conversion builds.
#[pyfunction]
pub(crate) fn check_hashes(py: Python<'_>, hashes: Vec<isize>, is_set: bool) -> PyResult<()> {
    if hashes.len() < EXEMPT {
        return Ok(());
    }
    let table = if is_set { Table::Set } else { Table::Dict };
    let check = || {
        let mut guard = Guard::new(table, hashes.len(), &[])?;
        hashes.iter().try_for_each(|&hash| {
            guard.note(hash, true)?;
            guard.insert(hash)
        })
    };
    check().map_err(|error| decode_error(py, &error))
}
