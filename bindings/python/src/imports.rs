//! Modules that hookless needs, imported whole or not at all.
//!
//! Code that runs in the midst of an import (a finaliser, a profile hook) may decode, and would find modules half imported: names are missing, or
//! functions whose globals are. It is told `busy`.

use hookless::{Code, Error};
use pyo3::exceptions::{PyAttributeError, PyImportError, PyNameError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::decode_error;
use crate::ffi::fallible::Str;

/// A module of the fixed lists; ProtocolError with the code `busy` while this thread is importing it, or what it needs.
pub(crate) fn imported<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    match py.import(Str(name)) {
        Ok(module) if is_half(module.as_any())? => Err(busy(py, name)),
        Ok(module) => Ok(module),
        Err(error) if explains(py, &error)? => {
            let told = busy(py, name);
            told.set_cause(py, Some(error));
            Err(told)
        }
        Err(error) => Err(error),
    }
}

/// What `module` holds under `name`.
pub(crate) fn attribute<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    imported(py, module)?.getattr(Str(name))
}

#[cold]
fn busy(py: Python<'_>, name: &str) -> PyErr {
    decode_error(py, &Error::new(Code::Busy).note(format_args!("{name} is still being imported")))
}

/// Whether half an import is why another failed: some module is in the midst of one.
#[cold]
pub(crate) fn explains(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    // What a half imported module lacks; its functions lack globals.
    let lacks = error.is_instance_of::<PyImportError>(py)
        || error.is_instance_of::<PyAttributeError>(py)
        || error.is_instance_of::<PyNameError>(py);
    if !lacks {
        return Ok(false);
    }
    let modules = py.import(Str("sys"))?.getattr(Str("modules"))?.cast_into::<PyDict>()?;
    for module in modules.values() {
        if is_half(&module)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a module has not been executed to its end; what stands in the place of one has no spec, and is taken as it is.
fn is_half(module: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(spec) = module.getattr_opt(Str("__spec__"))? else { return Ok(false) };
    match spec.getattr_opt(Str("_initializing"))? {
        Some(found) => found.is_truthy(),
        None => Ok(false),
    }
}
