//! The classes of `hookless.errors`, chosen by the class of the code.

use hookless::{Class, Code, Error};
use pyo3::exceptions::{PyMemoryError, PySystemError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ffi::fallible::{self, Str, Unsigned};

/// An error of decoding, or of the session, as its Python exception.
#[cold]
pub(crate) fn decode_error(py: Python<'_>, error: &Error) -> PyErr {
    let make = |error: &Error| {
        let name = match (error.code(), error.code().class()) {
            (Code::Truncated, _) => "Truncated",
            (_, Class::Limit) => "LimitExceeded",
            (_, Class::Session) => "ProtocolError",
            (_, Class::Wire | Class::Environment | Class::Encode) => "DecodeError",
        };
        let fields = fallible::dict(py)?;
        fields.set_item(Str("code"), Str(error.code().as_str()))?;
        if name != "ProtocolError" {
            fields.set_item(Str("offset"), error.offset().map(Unsigned))?;
            fields.set_item(Str("path"), Str(error.path()))?;
        }
        raised(py, name, &error.message(), Some(&fields))
    };
    made(py, error, make)
}

/// An error of encoding: `type_name` is that of the value at the path, when its type is at fault.
#[cold]
pub(crate) fn encode_error(py: Python<'_>, error: &Error, type_name: Option<&str>) -> PyErr {
    let make = |error: &Error| {
        let fields = fallible::dict(py)?;
        fields.set_item(Str("code"), Str(error.code().as_str()))?;
        fields.set_item(Str("path"), Str(error.path()))?;
        fields.set_item(Str("type_name"), type_name.map(Str))?;
        raised(py, "EncodeError", &error.message(), Some(&fields))
    };
    made(py, error, make)
}

/// The exception; where memory runs out while it is made, the one that says so, and a MemoryError where there is none even for that.
fn made(py: Python<'_>, error: &Error, make: impl Fn(&Error) -> PyResult<PyErr>) -> PyErr {
    let first = make(error);
    let made = match first {
        Err(raised) if raised.is_instance_of::<PyMemoryError>(py) => make(&Error::new(Code::OutOfMemory)),
        first => first,
    };
    made.unwrap_or_else(|raised| raised)
}

/// An exception of `hookless.errors` by its name.
#[cold]
pub(crate) fn raise(py: Python<'_>, name: &str, message: &str) -> PyErr {
    raised(py, name, message, None).unwrap_or_else(|error| error)
}

/// The same with fields, or what was raised while it was made.
pub(crate) fn raised(
    py: Python<'_>,
    name: &str,
    message: &str,
    fields: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyErr> {
    let message = fallible::tuple(py, &[Str(message).into_pyobject(py)?])?;
    let made = py.import(Str("hookless.errors"))?.getattr(Str(name))?.call(message, fields)?;
    Ok(PyErr::from_value(made))
}

/// Whether it is ProtocolError with the code `busy`.
#[cold]
pub(crate) fn is_busy(py: Python<'_>, error: &PyErr) -> bool {
    let is_ours = error.get_type(py).name().is_ok_and(|name| name == "ProtocolError");
    let code = || error.value(py).getattr(Str("code")).and_then(|code| code.extract::<String>());
    is_ours && code().is_ok_and(|code| code == Code::Busy.as_str())
}

/// What a decoder raises for an exception of its own calls into Python: a want of memory is the documented error.
#[cold]
pub(crate) fn decode_memory(py: Python<'_>, error: PyErr) -> PyErr {
    if !is_memory(py, &error) {
        return error;
    }
    because(py, decode_error(py, &Error::new(Code::OutOfMemory)), error)
}

/// The same for an encoder.
#[cold]
pub(crate) fn encode_memory(py: Python<'_>, error: PyErr) -> PyErr {
    if !is_memory(py, &error) {
        return error;
    }
    because(py, encode_error(py, &Error::new(Code::OutOfMemory), None), error)
}

/// CPython 3.11 loses the MemoryError of a Python function that has no memory for its frame, and says SystemError.
fn is_memory(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyMemoryError>(py) || error.is_instance_of::<PySystemError>(py)
}

/// With the exception that led to it, when that says more.
fn because(py: Python<'_>, made: PyErr, error: PyErr) -> PyErr {
    if error.is_instance_of::<PySystemError>(py) && !made.is_instance_of::<PyMemoryError>(py) {
        made.set_cause(py, Some(error));
    }
    made
}
