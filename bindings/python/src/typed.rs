//! The Rust side of typed results: the value is decoded first, with every limit, and what the host asked for is made of it afterwards.

use hookless::{Code, Error};
use pyo3::prelude::*;

use crate::errors::decode_error;
use crate::ffi::fallible::Unsigned;
use crate::ffi::make;
use crate::imports::attribute;
use crate::keys::{Keys, Spent, Table};
use crate::warm::warm;

/// What `decode` gives; as a value of the type that the host asked for, when it did. A type that cannot be asked for is a TypeError before
/// a byte is looked at.
pub(crate) fn converted<'py>(
    py: Python<'py>,
    wanted: Option<&Bound<'py, PyAny>>,
    decode: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(wanted) = wanted else { return decode() };
    let convert = attribute(py, "hookless._typed.conversion", "conversion")?.call1((wanted,))?;
    convert.call1((decode()?,))
}

/// What the tables of one conversion cost, as in a decoder.
#[pyclass(module = "hookless._hookless")]
pub(crate) struct KeyCosts(Spent);

#[pymethods]
impl KeyCosts {
    #[new]
    fn new() -> Self {
        KeyCosts(Spent::of_host_classes())
    }

    /// Raises DecodeError if these keys, in this order, would degrade a dict (or a set); gives the probes that they take, none where they are
    /// not counted. An error of hashing them passes through.
    fn check(
        &mut self,
        py: Python<'_>,
        keys: Vec<Bound<'_, PyAny>>,
        is_set: bool,
    ) -> PyResult<Option<Unsigned>> {
        keys.iter().try_for_each(|key| key.hash().map(drop))?;
        let warm = warm(py)?;
        let mut table = Keys::new(if is_set { Table::Set } else { Table::Dict }, false, keys.len());
        for (index, key) in keys.iter().enumerate() {
            let priors = || {
                let mut priors = Vec::new();
                priors.try_reserve_exact(index).map_err(|_| Error::new(Code::OutOfMemory))?;
                for key in keys.iter().take(index) {
                    priors.push((make::hash(key)?, make::is_text(key)));
                }
                Ok(priors)
            };
            self.0.admit(warm, &mut table, key, priors).map_err(|error| decode_error(py, &error))?;
        }
        Ok(table.probes().map(Unsigned))
    }
}
