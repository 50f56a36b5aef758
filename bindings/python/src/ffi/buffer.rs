//! Buffers that Python hands in, and those that hookless hands out.

use super::fallible::Str;
use std::ffi::c_int;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;

/// A copy of the bytes of any C-contiguous buffer.
///
/// A copy, because what another thread or process can change may not be looked at twice.
pub(crate) fn copied(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let buffer = PyBuffer::<u8>::get(object).or_else(|_| {
        let view = object.py().import(Str("builtins"))?.getattr(Str("memoryview"))?.call1((object,))?;
        PyBuffer::<u8>::get(&view.call_method1(Str("cast"), (Str("B"),))?)
    })?;
    let mut copy = Vec::new();
    copy.try_reserve_exact(buffer.item_count()).map_err(|_| PyMemoryError::new_err(()))?;
    copy.resize(buffer.item_count(), 0);
    buffer.copy_to_slice(object.py(), &mut copy)?;
    Ok(copy)
}

/// Fills a Python buffer request over memory that `owner` keeps.
///
/// # Safety
/// `view` is the pointer that CPython passed to `__getbuffer__`. `memory` lives and does not move as long as `owner` lives.
pub(crate) unsafe fn fill(
    owner: Bound<'_, PyAny>,
    memory: &[u8],
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no buffer to fill"));
    }
    // SAFETY: see above; the view is marked read-only, and takes its own reference to `owner`.
    let status = unsafe {
        ffi::PyBuffer_FillInfo(
            view,
            owner.as_ptr(),
            memory.as_ptr().cast_mut().cast(),
            memory.len().cast_signed(),
            1,
            flags,
        )
    };
    if status == 0 { Ok(()) } else { Err(PyErr::fetch(owner.py())) }
}
