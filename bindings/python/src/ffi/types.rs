//! The exact type of an object, by its address.

use pyo3::ffi;
use pyo3::prelude::*;

/// Builtin types of the closed set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exact {
    Str,
    Int,
    Float,
    Bool,
    None,
    Dict,
    List,
    Tuple,
    Bytes,
    Set,
    FrozenSet,
    ByteArray,
    Complex,
    /// Anything else.
    Other,
}

/// Decides by `type(x)` alone: no code of the object runs.
#[inline]
pub(crate) fn exact(object: &Bound<'_, PyAny>) -> Exact {
    let found = object.get_type_ptr();
    macro_rules! is {
        ($name:ident) => {
            std::ptr::eq(found, &raw const ffi::$name)
        };
    }
    if is!(PyUnicode_Type) {
        Exact::Str
    } else if is!(PyLong_Type) {
        Exact::Int
    } else if is!(PyDict_Type) {
        Exact::Dict
    } else if is!(PyList_Type) {
        Exact::List
    } else if is!(PyTuple_Type) {
        Exact::Tuple
    } else if is!(PyFloat_Type) {
        Exact::Float
    } else if object.is_none() {
        Exact::None
    } else if is!(PyBool_Type) {
        Exact::Bool
    } else if is!(PyBytes_Type) {
        Exact::Bytes
    } else if is!(PySet_Type) {
        Exact::Set
    } else if is!(PyFrozenSet_Type) {
        Exact::FrozenSet
    } else if is!(PyByteArray_Type) {
        Exact::ByteArray
    } else if is!(PyComplex_Type) {
        Exact::Complex
    } else {
        Exact::Other
    }
}
