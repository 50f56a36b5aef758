//! The classes of `hookless.errors`, chosen by the class of the code.

use hookless::{Class, Code, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An error of decoding, or of the session, as its Python exception.
#[cold]
pub(crate) fn decode_error(py: Python<'_>, error: &Error) -> PyErr {
    let name = match (error.code(), error.code().class()) {
        (Code::Truncated, _) => "Truncated",
        (_, Class::Limit) => "LimitExceeded",
        (_, Class::Session) => "ProtocolError",
        (_, Class::Wire | Class::Environment | Class::Encode) => "DecodeError",
    };
    let fields = PyDict::new(py);
    let set = || {
        fields.set_item("code", error.code().as_str())?;
        if name != "ProtocolError" {
            fields.set_item("offset", error.offset())?;
            fields.set_item("path", error.path())?;
        }
        Ok(())
    };
    set().map_or_else(|error| error, |()| raise(py, name, &error.message(), Some(&fields)))
}

/// An error of encoding: `type_name` is that of the value at the path, when its type is at fault.
#[cold]
pub(crate) fn encode_error(py: Python<'_>, error: &Error, type_name: Option<&str>) -> PyErr {
    let fields = PyDict::new(py);
    let set = || {
        fields.set_item("code", error.code().as_str())?;
        fields.set_item("path", error.path())?;
        fields.set_item("type_name", type_name)
    };
    set().map_or_else(|error| error, |()| raise(py, "EncodeError", &error.message(), Some(&fields)))
}

/// An exception of `hookless.errors` by its name.
#[cold]
pub(crate) fn raise(py: Python<'_>, name: &str, message: &str, fields: Option<&Bound<'_, PyDict>>) -> PyErr {
    let make = || py.import("hookless.errors")?.getattr(name)?.call((message,), fields);
    make().map_or_else(|error| error, PyErr::from_value)
}
