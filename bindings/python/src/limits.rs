//! `hookless.Limits`.

use crate::ffi::fallible;
use hookless::Limits as Core;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Where decoding and encoding stop: see proto/limits.md. `Limits(depth=32)` changes one and keeps the rest.
#[pyclass(frozen, eq, hash, module = "hookless")]
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Limits {
    pub(crate) core: Core,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (**overrides))]
    fn new(overrides: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        changed(Core::default(), overrides)
    }

    /// For answers that are small.
    #[staticmethod]
    #[pyo3(signature = (**overrides))]
    fn strict(overrides: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        changed(Core::strict(), overrides)
    }

    /// For large data on a large machine.
    #[staticmethod]
    #[pyo3(signature = (**overrides))]
    fn generous(overrides: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        changed(Core::generous(), overrides)
    }

    fn __getattr__(&self, name: &str) -> PyResult<u64> {
        let found = self.core.entries().find(|(known, _)| *known == name);
        found
            .map(|(_, value)| value)
            .ok_or_else(|| pyo3::exceptions::PyAttributeError::new_err(name.to_owned()))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let defaults = Core::default();
        let changed: Vec<String> = self
            .core
            .entries()
            .zip(defaults.entries())
            .filter(|(mine, default)| mine != default)
            .map(|((name, value), _)| format!("{name}={value}"))
            .collect();
        format!("Limits({})", changed.join(", "))
    }

    /// Default and hard ceiling of each limit.
    #[classattr]
    #[pyo3(name = "TABLE")]
    fn table(py: Python<'_>) -> PyResult<Py<PyDict>> {
        let table = fallible::dict(py)?;
        for &(name, default, ceiling) in Core::TABLE {
            table.set_item(name, (default, ceiling))?;
        }
        Ok(table.unbind())
    }
}

/// The limits of a call: those given, or the defaults.
#[inline]
pub(crate) fn chosen<'a>(limits: Option<&'a Bound<'_, Limits>>) -> &'a Core {
    static DEFAULT: Core = Core::DEFAULT;
    limits.map_or(&DEFAULT, |limits| &limits.get().core)
}

/// The limits with those changed that are named.
fn changed(mut core: Core, overrides: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    for (name, value) in overrides.into_iter().flatten() {
        let name: String = name.extract()?;
        let Some(&(_, _, ceiling)) = Core::TABLE.iter().find(|(known, ..)| *known == name) else {
            return Err(PyTypeError::new_err(format!("Limits has no limit named {name:?}")));
        };
        let refuse = || PyValueError::new_err(format!("Limits.{name} may be 0 to {ceiling}"));
        let value =
            value.extract::<u64>().map_err(|error| match value.is_instance_of::<pyo3::types::PyInt>() {
                true => refuse(),
                false => error,
            })?;
        core = core.with(&name, value).ok_or_else(refuse)?;
    }
    Ok(Limits { core })
}
