//! A mapped file whose arrays are views of it.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What keeps a read-only mapping where it is: an export of it, which nobody can release but the arrays that hold this.
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct Mapped {
    export: PyBuffer<u8>,
}

impl Mapped {
    /// # Errors
    /// BufferError for what exports no bytes, ValueError for what this process could write to through the same object.
    pub(crate) fn of(map: &Bound<'_, PyAny>) -> PyResult<Mapped> {
        let export = PyBuffer::<u8>::get(map)?;
        if export.readonly() && export.is_c_contiguous() {
            Ok(Mapped { export })
        } else {
            Err(PyValueError::new_err("views need a mapping that is read-only"))
        }
    }

    /// The bytes of the mapping.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.export.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: valid for that many bytes as long as the export lives: an exported mapping can be neither closed nor resized. That no other
        // process writes to the file or cuts it is what `load(mmap=True)` asks of its caller (SECURITY.md); all that decides the shape of a
        // value is read from a copy, so that a write can change elements of arrays and nothing else.
        unsafe { std::slice::from_raw_parts(self.export.buf_ptr().cast::<u8>(), self.export.len_bytes()) }
    }
}
