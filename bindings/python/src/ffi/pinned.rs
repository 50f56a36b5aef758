//! Memory of Python objects that stays where it is while it is sent.

use hookless::{Code, Error};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::RegionBuffer;

/// The bytes of one entry of a data region, and what keeps them there. To be dropped with the GIL held.
pub(crate) struct Pinned {
    _owner: Owner,
    memory: *const u8,
    len: usize,
}

enum Owner {
    /// bytes, or the array's own buffer object.
    Object { _held: Py<PyAny> },
    /// An export, while which its object cannot be resized.
    Export { _held: PyBuffer<u8> },
}

// SAFETY: the memory belongs to the owner, which any thread may hold, and is only read.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// The bytes of an entry.
    ///
    /// # Errors
    /// `mutated` for an array that is no longer what was encoded, `out_of_memory`.
    pub(crate) fn of(entry: &Bound<'_, PyAny>) -> hookless::Result<Pinned> {
        let held = |bytes: &[u8]| Pinned {
            _owner: Owner::Object { _held: entry.clone().unbind() },
            memory: bytes.as_ptr(),
            len: bytes.len(),
        };
        if let Ok(bytes) = entry.cast::<PyBytes>() {
            return Ok(held(bytes.as_bytes()));
        }
        if let Ok(array) = entry.cast_exact::<RegionBuffer>() {
            let bytes = array.get().bytes(entry.py());
            return bytes.map(held).ok_or_else(|| Error::new(Code::Mutated));
        }
        let export = PyBuffer::<u8>::get(entry).map_err(|_| Error::new(Code::OutOfMemory))?;
        if !export.is_c_contiguous() {
            return Err(Error::new(Code::Mutated));
        }
        let (memory, len) = (export.buf_ptr().cast::<u8>().cast_const(), export.len_bytes());
        Ok(Pinned { _owner: Owner::Export { _held: export }, memory, len })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: valid for `len` bytes as long as the owner lives: bytes never move, an array's memory is moved only by a `resize` that is
        // told not to look for references, and an export keeps its memory. The kernel reads what is there: a value that changes before it has
        // been sent goes out changed, as `encode` says.
        unsafe { std::slice::from_raw_parts(self.memory, self.len) }
    }
}
