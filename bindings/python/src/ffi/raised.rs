//! What CPython keeps in an exception and its traceback, read where it lies, so that no code of its class runs.

use std::ffi::c_int;

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTraceback, PyTuple, PyType};

/// The parts of an exception that every class has.
pub(crate) struct Parts<'py> {
    pub(crate) args: Bound<'py, PyTuple>,
    pub(crate) traceback: Option<Bound<'py, PyTraceback>>,
    pub(crate) cause: Option<Bound<'py, PyBaseException>>,
    pub(crate) context: Option<Bound<'py, PyBaseException>>,
    pub(crate) suppress_context: bool,
}

/// The parts of an exception; none if it has attributes of its own, or is half taken apart.
pub(crate) fn parts<'py>(error: &Bound<'py, PyBaseException>) -> Option<Parts<'py>> {
    let py = error.py();
    // SAFETY: the GIL is held and `error` is live; its type derives from BaseException, whose layout it begins with. Each field is null or
    // a live object while the exception holds it, and is made strong here, before anything else can run. CPython writes one byte of
    // `suppress_context`, which PyO3 declares wider than it is, so that byte alone is read.
    unsafe {
        let found = error.as_ptr().cast::<ffi::PyBaseExceptionObject>();
        let dict = (*found).dict;
        if !dict.is_null() && (ffi::PyDict_CheckExact(dict) == 0 || ffi::PyDict_Size(dict) != 0) {
            return None;
        }
        let strong = |field: *mut ffi::PyObject| Bound::from_borrowed_ptr_or_opt(py, field);
        let linked = |field| strong(field).map(|one| one.cast_into::<PyBaseException>()).transpose().ok();
        let traceback = strong((*found).traceback).map(|one| one.cast_into::<PyTraceback>()).transpose();
        Some(Parts {
            args: strong((*found).args)?.cast_into_exact().ok()?,
            traceback: traceback.ok()?,
            cause: linked((*found).cause)?,
            context: linked((*found).context)?,
            suppress_context: (&raw const (*found).suppress_context).cast::<u8>().read() != 0,
        })
    }
}

/// Whether `str` of such an exception is CPython's own, and reads `args` alone: that of BaseException or of KeyError.
pub(crate) fn shows_args(kind: &Bound<'_, PyType>) -> bool {
    // SAFETY: the GIL is held; the types are live, and a slot is a plain pointer.
    unsafe {
        let slot =
            |kind: *mut ffi::PyObject| (*kind.cast::<ffi::PyTypeObject>()).tp_str.map(|slot| slot as usize);
        let found = slot(kind.as_ptr());
        found.is_some() && (found == slot(ffi::PyExc_BaseException) || found == slot(ffi::PyExc_KeyError))
    }
}

/// The dict of a class that was made at run time; none for one of CPython's or an extension's own.
pub(crate) fn heap_dict<'py>(kind: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the GIL is held and the class is live; such a class holds its dict as long as it lives.
    unsafe {
        let found = kind.as_ptr().cast::<ffi::PyTypeObject>();
        if (*found).tp_flags & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
            return None;
        }
        Bound::from_borrowed_ptr_or_opt(kind.py(), (*found).tp_dict)?.cast_into().ok()
    }
}

/// One entry of a traceback: the frame, its code, the instruction, and the entry below.
pub(crate) struct Entry<'py> {
    pub(crate) frame: Bound<'py, PyAny>,
    pub(crate) code: Bound<'py, PyCode>,
    pub(crate) instruction: c_int,
    pub(crate) next: Option<Bound<'py, PyTraceback>>,
}

/// Reads one entry of a traceback; none if it is half taken apart.
pub(crate) fn entry<'py>(traceback: &Bound<'py, PyTraceback>) -> Option<Entry<'py>> {
    let py = traceback.py();
    // SAFETY: the GIL is held and `traceback` is a live traceback, of CPython's exact type, which has no subclasses. Its fields are null or
    // live while it holds them, and are made strong before anything else can run. PyFrame_GetCode gives a new reference to a code object.
    unsafe {
        let found = traceback.as_ptr().cast::<ffi::PyTracebackObject>();
        let frame = Bound::from_borrowed_ptr_or_opt(py, (*found).tb_frame.cast())?;
        let code = Bound::from_owned_ptr_or_opt(py, ffi::PyFrame_GetCode(frame.as_ptr().cast()).cast())?;
        let next = Bound::from_borrowed_ptr_or_opt(py, (*found).tb_next.cast());
        Some(Entry {
            frame,
            code: code.cast_into().ok()?,
            instruction: (*found).tb_lasti,
            next: next.map(|next| next.cast_into()).transpose().ok()?,
        })
    }
}
