//! Objects of CPython's own types, with a typed error when memory runs out.

use hookless::{Code, Error, Result};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::leaf::{self, Small};

/// Takes over a new reference, or the exception that stands for it.
///
/// # Safety
/// `object` is null with an exception set, or a reference that the caller owns.
pub(super) unsafe fn owned<'py>(py: Python<'py>, object: *mut ffi::PyObject) -> Result<Bound<'py, PyAny>> {
    // SAFETY: the caller owns the reference; null is handled by the `_or_opt` form.
    match unsafe { Bound::from_owned_ptr_or_opt(py, object) } {
        Some(object) => Ok(object),
        None => Err(refused(py)),
    }
}

/// The typed error for the exception that CPython has set; the exception itself is dropped.
#[cold]
pub(crate) fn refused(py: Python<'_>) -> Error {
    match PyErr::take(py) {
        Some(error) => refused_by(py, error),
        None => Error::new(Code::OutOfMemory),
    }
}

/// The same for an exception that PyO3 has taken over.
#[cold]
pub(crate) fn refused_by(py: Python<'_>, error: PyErr) -> Error {
    keep_interrupt(py, &error);
    let out_of_memory = error.is_instance_of::<pyo3::exceptions::PyMemoryError>(py);
    Error::new(if out_of_memory { Code::OutOfMemory } else { Code::KeyError })
}

/// Ctrl-C that was raised while a record was hashed or compared, by Python code of hookless's own, is raised again after this error.
#[cold]
pub(crate) fn keep_interrupt(py: Python<'_>, error: &PyErr) {
    if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        // SAFETY: the call only notes that SIGINT is due.
        unsafe { ffi::PyErr_SetInterrupt() }
    }
}

pub(crate) fn unsigned(py: Python<'_>, value: u64) -> Result<Bound<'_, PyAny>> {
    // SAFETY: the GIL is held; the call gives a new reference or null.
    unsafe { owned(py, ffi::PyLong_FromUnsignedLongLong(value)) }
}

#[inline]
pub(crate) fn signed(py: Python<'_>, value: i64) -> Result<Bound<'_, PyAny>> {
    // SAFETY: as above.
    unsafe { owned(py, ffi::PyLong_FromLongLong(value)) }
}

#[inline]
pub(crate) fn float(py: Python<'_>, value: f64) -> Result<Bound<'_, PyAny>> {
    // SAFETY: as above.
    unsafe { owned(py, ffi::PyFloat_FromDouble(value)) }
}

pub(crate) fn complex(py: Python<'_>, re: f64, im: f64) -> Result<Bound<'_, PyAny>> {
    // SAFETY: as above.
    unsafe { owned(py, ffi::PyComplex_FromDoubles(re, im)) }
}

pub(crate) fn dict(py: Python<'_>) -> Result<Bound<'_, PyDict>> {
    // SAFETY: as above; the object is a dict.
    unsafe { Ok(owned(py, ffi::PyDict_New())?.cast_into_unchecked()) }
}

pub(crate) fn set(py: Python<'_>, frozen: bool) -> Result<Bound<'_, PyAny>> {
    let empty = std::ptr::null_mut();
    // SAFETY: as above; null asks for an empty set.
    unsafe { owned(py, if frozen { ffi::PyFrozenSet_New(empty) } else { ffi::PySet_New(empty) }) }
}

unsafe extern "C" {
    /// `PyDict_SetItem` of a key whose hash is known; CPython 3.11 to 3.13 export it.
    fn _PyDict_SetItem_KnownHash(
        dict: *mut ffi::PyObject,
        key: *mut ffi::PyObject,
        value: *mut ffi::PyObject,
        hash: ffi::Py_hash_t,
    ) -> std::ffi::c_int;
}

/// Adds a pair to a dict, or replaces its value; `hash` is that of the key. Not asking for it again saves a sixteenth of the instructions of a
/// dict of large ints.
pub(crate) fn dict_set(
    dict: &Bound<'_, PyDict>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    hash: isize,
) -> Result<()> {
    debug_assert_eq!(key.hash().ok(), Some(hash));
    // SAFETY: the GIL is held and all three are live; the object is a dict. A wrong hash would put the key where it is not found, and
    // do no other harm.
    let status = unsafe { _PyDict_SetItem_KnownHash(dict.as_ptr(), key.as_ptr(), value.as_ptr(), hash) };
    if status == 0 { Ok(()) } else { Err(refused(dict.py())) }
}

/// Adds a member to a set, or to a frozenset that nothing else has seen yet; gives the new size.
pub(crate) fn set_add(set: &Bound<'_, PyAny>, member: &Bound<'_, PyAny>) -> Result<usize> {
    // SAFETY: the GIL is held and both are live objects; CPython refuses anything but a set or a fresh frozenset.
    let status = unsafe { ffi::PySet_Add(set.as_ptr(), member.as_ptr()) };
    if status != 0 {
        return Err(refused(set.py()));
    }
    // SAFETY: PySet_Add has accepted it, so it is a set or frozenset.
    let size = unsafe { ffi::PySet_Size(set.as_ptr()) };
    Ok(usize::try_from(size).unwrap_or_default())
}

/// Hash of a key, as its table will use it.
#[inline]
pub(crate) fn hash(key: &Bound<'_, PyAny>) -> Result<isize> {
    // SAFETY: the GIL is held and the object is live.
    let hash = unsafe { ffi::PyObject_Hash(key.as_ptr()) };
    if hash == -1 { Err(refused(key.py())) } else { Ok(hash) }
}

/// Whether an object is exactly a str.
pub(crate) fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<pyo3::types::PyString>()
}

/// Hashes of what a set holds, in the set's own order.
pub(crate) fn set_hashes(set: &Bound<'_, PyAny>) -> Result<Vec<isize>> {
    let mut hashes = Vec::new();
    let members = members(set)?;
    hashes.try_reserve_exact(members.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
    for member in &members {
        hashes.push(hash(member)?);
    }
    Ok(hashes)
}

/// What a set, tuple or list holds, in its own order.
pub(crate) fn members<'py>(container: &Bound<'py, PyAny>) -> Result<Vec<Bound<'py, PyAny>>> {
    let refuse = |error| refused_by(container.py(), error);
    let mut found = Vec::new();
    for member in container.try_iter().map_err(refuse)? {
        found.try_reserve(1).map_err(|_| Error::new(Code::OutOfMemory))?;
        found.push(member.map_err(refuse)?);
    }
    Ok(found)
}

/// The next pair of a dict from `position` on, as strong references: safe whatever happens to the dict in between.
#[inline]
pub(crate) fn dict_next<'py>(
    dict: &Bound<'py, PyDict>,
    position: &mut isize,
) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the GIL is held; PyDict_Next checks the position against the table as it is now.
    let found = unsafe { ffi::PyDict_Next(dict.as_ptr(), position, &mut key, &mut value) };
    // SAFETY: both are live while the dict holds them, and are made strong before anything else can run.
    (found != 0).then(|| unsafe {
        (Bound::from_borrowed_ptr(dict.py(), key), Bound::from_borrowed_ptr(dict.py(), value))
    })
}

/// bytes with these contents.
pub(crate) fn bytes<'py>(py: Python<'py>, contents: &[u8]) -> Result<Bound<'py, PyAny>> {
    let len = contents.len().cast_signed();
    // SAFETY: the pointer is valid for `len` bytes, which are copied.
    unsafe { owned(py, ffi::PyBytes_FromStringAndSize(contents.as_ptr().cast(), len)) }
}

/// bytes of a head and a body. The head is not put before the body first: a copy that loads what was stored in other pieces just now waits
/// until it is in the cache, which is a tenth of a small call.
#[inline]
pub(crate) fn framed<'py, const N: usize>(
    py: Python<'py>,
    head: [u8; N],
    body: &[u8],
) -> Result<Bound<'py, PyAny>> {
    let len = isize::try_from(N.saturating_add(body.len())).map_err(|_| Error::new(Code::OutOfMemory))?;
    // SAFETY: null contents ask for `len` bytes of memory, which nobody else has yet, and which is as long as head and body.
    unsafe {
        let object = owned(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), len))?;
        let memory: *mut u8 = ffi::PyBytes_AS_STRING(object.as_ptr()).cast_mut().cast();
        memory.cast::<[u8; N]>().write(head);
        memory.add(N).copy_from_nonoverlapping(body.as_ptr(), body.len());
        Ok(object)
    }
}

/// bytearray with these contents.
pub(crate) fn bytearray<'py>(py: Python<'py>, contents: &[u8]) -> Result<Bound<'py, PyAny>> {
    let len = contents.len().cast_signed();
    // SAFETY: as above.
    unsafe { owned(py, ffi::PyByteArray_FromStringAndSize(contents.as_ptr().cast(), len)) }
}

/// An exact int as an `i64` or `u64`; none when it is larger.
#[inline]
pub(crate) fn small_int(int: &Bound<'_, PyAny>) -> Option<Small> {
    debug_assert!(int.is_exact_instance_of::<pyo3::types::PyInt>());
    // SAFETY: the GIL is held and the object is a live int.
    unsafe { leaf::small_int(int.as_ptr()) }
}

/// The value of an exact float.
#[inline]
pub(crate) fn float_value(float: &Bound<'_, PyAny>) -> f64 {
    debug_assert!(float.is_exact_instance_of::<pyo3::types::PyFloat>());
    // SAFETY: the GIL is held; PyFloat_AsDouble reads any float and cannot run code for an exact one.
    unsafe { ffi::PyFloat_AsDouble(float.as_ptr()) }
}

/// Parts of an exact complex number.
pub(crate) fn complex_parts(number: &Bound<'_, PyAny>) -> (f64, f64) {
    // SAFETY: the GIL is held; for an exact complex number this reads two fields.
    let parts = unsafe { ffi::PyComplex_AsCComplex(number.as_ptr()) };
    (parts.real, parts.imag)
}

/// Contents of a bytes object, or of a subclass.
pub(crate) fn bytes_contents<'a>(bytes: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    bytes.cast::<pyo3::types::PyBytes>().ok().map(|bytes| {
        // The borrow lives as long as `bytes`, whose contents never change.
        bytes.as_bytes()
    })
}
