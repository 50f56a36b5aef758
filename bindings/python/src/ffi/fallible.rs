//! What PyO3 makes by calls that panic when memory runs out: here each is a MemoryError.
//!
//! `getattr("name")`, `call1(("text", 1))` and `PyDict::new` make their objects by such calls; `getattr(Str("name"))`,
//! `call1((Str("text"), Unsigned(1)))` and [`dict`] do not.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyMappingProxy, PyString, PyTuple};

/// Text that becomes a str.
pub(crate) struct Str<'a>(pub(crate) &'a str);

/// A number that becomes an int.
#[derive(Clone, Copy)]
pub(crate) struct Unsigned(pub(crate) u64);

impl<'py> IntoPyObject<'py> for Str<'_> {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let len = self.0.len().cast_signed();
        // SAFETY: the pointer is valid for `len` bytes of UTF-8, which are copied.
        unsafe { made(py, ffi::PyUnicode_FromStringAndSize(self.0.as_ptr().cast(), len)) }
    }
}

/// The same, owned: what a getter returns.
pub(crate) struct Owned(pub(crate) String);

impl<'py> IntoPyObject<'py> for Owned {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Str(&self.0).into_pyobject(py)
    }
}

impl<'py> IntoPyObject<'py> for Unsigned {
    type Target = PyInt;
    type Output = Bound<'py, PyInt>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyInt>> {
        // SAFETY: the GIL is held; the call gives a new reference or null.
        unsafe { made(py, ffi::PyLong_FromUnsignedLongLong(self.0)) }
    }
}

/// An interned str of a literal, made once.
macro_rules! interned {
    ($py:expr, $text:literal) => {{
        static NAME: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::types::PyString>> = pyo3::sync::PyOnceLock::new();
        NAME.get_or_try_init($py, || $crate::ffi::fallible::intern($py, $text).map(pyo3::Bound::unbind))
            .map(|name| name.bind($py))
    }};
}
pub(crate) use interned;

/// See [`interned!`].
pub(crate) fn intern<'py>(py: Python<'py>, text: &CStr) -> PyResult<Bound<'py, PyString>> {
    // SAFETY: the pointer is valid up to its NUL; the call gives a new reference or null.
    unsafe { made(py, ffi::PyUnicode_InternFromString(text.as_ptr())) }
}

/// Takes over a new object, or the exception that stands for it.
///
/// # Safety
/// `object` is null with an exception set, or a reference to a `T` that the caller owns.
unsafe fn made<'py, T>(py: Python<'py>, object: *mut ffi::PyObject) -> PyResult<Bound<'py, T>> {
    // SAFETY: as above.
    unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
}

/// An empty dict.
pub(crate) fn dict(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    // SAFETY: the GIL is held; a new dict or null comes back.
    unsafe { made(py, ffi::PyDict_New()) }
}

/// A read-only view of a dict.
pub(crate) fn proxy<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyMappingProxy>> {
    // SAFETY: the GIL is held and the dict is live; a new view, which keeps it, or null comes back.
    unsafe { made(dict.py(), ffi::PyDictProxy_New(dict.as_ptr())) }
}

/// An empty list.
pub(crate) fn list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: the GIL is held; a new list or null comes back.
    unsafe { made(py, ffi::PyList_New(0)) }
}

/// A list of these objects.
pub(crate) fn list_of<'py, T>(
    py: Python<'py>,
    items: impl IntoIterator<Item = Bound<'py, T>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = list(py)?;
    items.into_iter().try_for_each(|item| list.append(item.into_any()))?;
    Ok(list)
}

/// A tuple of these objects.
pub(crate) fn tuple<'py, T>(py: Python<'py>, items: &[Bound<'py, T>]) -> PyResult<Bound<'py, PyTuple>> {
    let len = items.len().cast_signed();
    // SAFETY: the GIL is held; a new tuple or null comes back. Nobody else has it while its items are put in, and nothing else runs; each
    // index is inside, its item null, and the reference given away. The empty tuple is shared and stays as it is.
    unsafe {
        let tuple: Bound<'py, PyTuple> = made(py, ffi::PyTuple_New(len))?;
        for (index, item) in (0..).zip(items) {
            ffi::PyTuple_SET_ITEM(tuple.as_ptr(), index, item.clone().into_ptr());
        }
        Ok(tuple)
    }
}

/// A tuple of ints.
pub(crate) fn ints(py: Python<'_>, numbers: impl IntoIterator<Item = u64>) -> PyResult<Bound<'_, PyTuple>> {
    let numbers = numbers.into_iter().map(|number| Unsigned(number).into_pyobject(py));
    tuple(py, &numbers.collect::<PyResult<Vec<_>>>()?)
}

/// bytes with these contents.
pub(crate) fn bytes<'py>(py: Python<'py>, contents: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let len = contents.len().cast_signed();
    // SAFETY: the pointer is valid for `len` bytes, which are copied.
    unsafe { made(py, ffi::PyBytes_FromStringAndSize(contents.as_ptr().cast(), len)) }
}
