//! Arrays for hosts that have not loaded NumPy: inert, and encoded again as they came.

use std::ffi::c_int;

use hookless::array::{ArrayClass, ArrayHead};
use hookless::{Dtype, Result};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi as pyffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::ffi::fallible::{self, Owned, Str, Unsigned};
use crate::ffi::{buffer, ndarray};
use crate::scalars::table_error;

/// An array without NumPy: dtype, shape and bytes.
///
/// Its buffer is the elements' bytes, read-only. `numpy.frombuffer(a, a.dtype).reshape(a.shape, order=a.order)` makes it an array.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Array {
    pub(crate) head: ArrayHead,
    pub(crate) data: Py<PyBytes>,
}

impl Array {
    /// An array over bytes that are, or will be, exactly its elements.
    pub(crate) fn of<'py>(head: ArrayHead, bytes: Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let py = bytes.py();
        let data =
            bytes.cast_into::<PyBytes>().map_err(|_| table_error(py, &PyTypeError::new_err("bytes")))?;
        let made = Bound::new(py, Array { head, data: data.unbind() });
        made.map(Bound::into_any).map_err(|error| table_error(py, &error))
    }

    /// Equal types and bits.
    pub(crate) fn is_same(&self, py: Python<'_>, other: &Array) -> bool {
        self.head == other.head && self.data.as_bytes(py) == other.data.as_bytes(py)
    }

    /// dtype and shape.
    pub(crate) fn text(&self) -> String {
        let shape: Vec<String> = self.head.shape().dimensions().iter().map(u64::to_string).collect();
        format!("{} ({})", self.head.dtype(), shape.join(", "))
    }
}

#[pymethods]
impl Array {
    /// NumPy's `dtype.str`, such as `<f8`; `<g[x87]` for a long double, `<bfloat16` for a type of ml_dtypes.
    #[getter]
    fn dtype(&self) -> Owned {
        Owned(self.head.dtype().to_string())
    }

    /// Whether NumPy makes it a `recarray`, whose fields are attributes.
    #[getter]
    fn recarray(&self) -> bool {
        self.head.class() == ArrayClass::Record
    }

    /// The fields of a structured dtype, or None: a dict of itemsize, align, record and fields, each a tuple of name, title, offset, shape and dtype,
    /// which is again a str or such a dict.
    #[getter]
    fn structure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.head.dtype().fields() {
            Some(_) => described(py, self.head.dtype()).map(Some),
            None => Ok(None),
        }
    }

    /// The dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        fallible::ints(py, self.head.shape().dimensions().iter().copied())
    }

    /// `C` when the last index runs fastest, `F` when the first does.
    #[getter]
    fn order(&self) -> Str<'static> {
        Str(crate::flat::order_name(self.head.shape()))
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> Unsigned {
        Unsigned(self.head.nbytes())
    }

    /// The elements' bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.data.bind(py).clone()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        other.cast_exact::<Array>().is_ok_and(|other| self.is_same(py, other.get()))
    }

    fn __repr__(&self) -> Owned {
        Owned(format!("<hookless.Array {}>", self.text()))
    }

    #[expect(unsafe_code, reason = "the buffer protocol has no safe form")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut pyffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let data = slf.get().data.bind(slf.py()).clone();
        // SAFETY: the view is CPython's; the bytes live in `slf`, which the view keeps, and never move.
        unsafe { buffer::fill(slf.clone().into_any(), data.as_bytes(), view, flags) }
    }
}

/// A dtype as plain Python values: see `Array.structure`.
pub(crate) fn described<'py>(py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyAny>> {
    let Some(structure) = dtype.fields() else {
        return Ok(Str(&dtype.to_string()).into_pyobject(py)?.into_any());
    };
    let fields = fallible::list(py)?;
    for field in structure.fields() {
        let title = field.title.as_ref().map(|title| crate::dtypes::text(py, title)).transpose()?;
        let shape = fallible::ints(py, field.shape.iter().map(|&extent| extent.into()))?;
        let name = crate::dtypes::text(py, &field.name)?;
        let title = title.unwrap_or_else(|| py.None().into_bound(py));
        let offset = Unsigned(field.offset.into()).into_pyobject(py)?.into_any();
        let parts = [name, title, offset, shape.into_any(), described(py, &field.dtype)?];
        fields.append(fallible::tuple(py, &parts)?)?;
    }
    let all = fallible::dict(py)?;
    all.set_item(Str("itemsize"), Unsigned(dtype.itemsize()))?;
    all.set_item(Str("align"), structure.flags().align)?;
    all.set_item(Str("record"), structure.flags().record)?;
    all.set_item(Str("fields"), fields)?;
    Ok(all.into_any())
}

/// One entry of the data region, as `encode` hands it out: the array's own memory, not copied.
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct RegionBuffer {
    array: Py<PyUntypedArray>,
    /// Where its elements were when it was encoded, and how many bytes.
    address: usize,
    pub(crate) len: usize,
}

impl RegionBuffer {
    pub(crate) fn of<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, RegionBuffer>> {
        let bytes = ndarray::contiguous_bytes(array).unwrap_or_default();
        let (address, len) = (bytes.as_ptr() as usize, bytes.len());
        Bound::new(array.py(), RegionBuffer { array: array.clone().unbind(), address, len })
    }

    /// The elements, unless the array has been given other memory since (`resize` with `refcheck=False`).
    pub(crate) fn bytes<'a>(&'a self, py: Python<'a>) -> Option<&'a [u8]> {
        let bytes = ndarray::contiguous_bytes(self.array.bind(py))?;
        (bytes.as_ptr() as usize == self.address && bytes.len() == self.len).then_some(bytes)
    }
}

#[pymethods]
impl RegionBuffer {
    fn __len__(&self) -> usize {
        self.len
    }

    #[expect(unsafe_code, reason = "the buffer protocol has no safe form")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut pyffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let py = slf.py();
        let Some(memory) = slf.get().bytes(py) else {
            return Err(PyBufferError::new_err("the array has been resized since it was encoded"));
        };
        // SAFETY: the view is CPython's; the memory is the array's, which `slf` holds and the view keeps.
        unsafe { buffer::fill(slf.clone().into_any(), memory, view, flags) }
    }
}
