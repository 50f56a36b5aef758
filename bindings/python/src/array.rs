//! Arrays and scalars for hosts that have not loaded NumPy: inert, and encoded again as they came.

use std::ffi::c_int;

use hookless::array::ArrayHead;
use hookless::{Code, Dtype, Error, Order, Result, ScalarKind};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi as pyffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::ffi::{buffer, chars, make, ndarray};
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
}

#[pymethods]
impl Array {
    /// NumPy's `dtype.str`, such as `<f8`.
    #[getter]
    fn dtype(&self) -> String {
        self.head.dtype().to_string()
    }

    /// The fields of a structured dtype, or None: a dict of itemsize, align and fields, each a tuple of name, title, offset, shape and dtype,
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
        PyTuple::new(py, self.head.shape().dimensions())
    }

    /// `C` when the last index runs fastest, `F` when the first does.
    #[getter]
    fn order(&self) -> &'static str {
        match self.head.shape().order() {
            Order::C => "C",
            Order::F => "F",
        }
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.head.nbytes()
    }

    /// The elements' bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.data.bind(py).clone()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        other.cast_exact::<Array>().is_ok_and(|other| {
            let other = other.get();
            self.head == other.head && self.data.as_bytes(py) == other.data.as_bytes(py)
        })
    }

    fn __repr__(&self) -> String {
        let shape: Vec<String> = self.head.shape().dimensions().iter().map(u64::to_string).collect();
        format!("<hookless.Array {} ({})>", self.head.dtype(), shape.join(", "))
    }

    #[expect(unsafe_code, reason = "the buffer protocol has no safe form")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut pyffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let data = slf.get().data.bind(slf.py()).clone();
        // SAFETY: the view is CPython's; the bytes live in `slf`, which the view keeps, and never move.
        unsafe { buffer::fill(slf.clone().into_any(), data.as_bytes(), view, flags) }
    }
}

/// A dtype as plain Python values: see `Array.structure`.
fn described<'py>(py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyAny>> {
    let Some(structure) = dtype.fields() else { return Ok(dtype.to_string().into_pyobject(py)?.into_any()) };
    let fields = PyList::empty(py);
    for field in structure.fields() {
        let title = field.title.as_ref().map(|title| crate::dtypes::text(py, title)).transpose()?;
        let shape = PyTuple::new(py, &field.shape)?;
        let name = crate::dtypes::text(py, &field.name)?;
        fields.append((name, title, field.offset, shape, described(py, &field.dtype)?))?;
    }
    let all = PyDict::new(py);
    all.set_item("itemsize", dtype.itemsize())?;
    all.set_item("align", structure.is_aligned())?;
    all.set_item("fields", fields)?;
    Ok(all.into_any())
}

/// A NumPy scalar without NumPy: its dtype and its bytes.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Scalar {
    pub(crate) kind: ScalarKind,
    pub(crate) payload: Vec<u8>,
}

impl Scalar {
    pub(crate) fn of<'py>(py: Python<'py>, kind: ScalarKind, payload: &[u8]) -> Result<Bound<'py, PyAny>> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(payload.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
        copy.extend_from_slice(payload);
        let made = Bound::new(py, Scalar { kind, payload: copy });
        made.map(Bound::into_any).map_err(|error| table_error(py, &error))
    }

    fn time(&self) -> Option<String> {
        match self.kind {
            ScalarKind::Datetime64 | ScalarKind::Timedelta64 => {
                hookless::array::split_time(&self.payload).map(|(unit, _)| unit.to_string())
            }
            _ => None,
        }
    }
}

#[pymethods]
impl Scalar {
    /// NumPy's `dtype.str`, little-endian; without a size for `S`, `U` and `V`.
    #[getter]
    fn dtype(&self) -> String {
        format!("{}{}", self.kind.dtype(), self.time().unwrap_or_default())
    }

    /// The payload as on the wire: big-endian bits, or the contents.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.payload)
    }

    /// The nearest Python value: bool, int, float, complex, str or bytes; the ticks of a datetime64 or timedelta64.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let raw = self.payload.as_slice();
        let made = match self.kind {
            ScalarKind::Bool => return Ok(pyo3::types::PyBool::new(py, raw == [1]).to_owned().into_any()),
            ScalarKind::Int8 | ScalarKind::Int16 | ScalarKind::Int32 | ScalarKind::Int64 => {
                make::signed(py, signed(raw))
            }
            ScalarKind::UInt8 | ScalarKind::UInt16 | ScalarKind::UInt32 | ScalarKind::UInt64 => {
                make::unsigned(py, raw.iter().fold(0, |n, &byte| (n << 8) | u64::from(byte)))
            }
            ScalarKind::Float16 | ScalarKind::Float32 | ScalarKind::Float64 => make::float(py, float(raw)),
            ScalarKind::Complex64 | ScalarKind::Complex128 => {
                let (re, im) = raw.split_at(raw.len() / 2);
                make::complex(py, float(re), float(im))
            }
            ScalarKind::Datetime64 | ScalarKind::Timedelta64 => {
                make::signed(py, hookless::array::split_time(raw).map_or(0, |(_, ticks)| ticks))
            }
            ScalarKind::Str => chars::utf8(py, raw),
            ScalarKind::Bytes | ScalarKind::Void => make::bytes(py, raw),
        };
        made.map_err(|error| crate::errors::decode_error(py, &error))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast_exact::<Scalar>().is_ok_and(|other| {
            let other = other.get();
            self.kind == other.kind && self.payload == other.payload
        })
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.kind.ext(), PyBytes::new(py, &self.payload)).into_pyobject(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<hookless.Scalar {} {}>", self.dtype(), self.item(py)?.repr()?))
    }
}

fn signed(raw: &[u8]) -> i64 {
    let fill = if raw.first().is_some_and(|&byte| byte >= 0x80) { -1 } else { 0 };
    raw.iter().fold(fill, |n, &byte| (n << 8) | i64::from(byte))
}

fn float(raw: &[u8]) -> f64 {
    match *raw {
        [a, b] => {
            let bits = u16::from_be_bytes([a, b]);
            let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
            let value = match exponent {
                0 => fraction * 2f64.powi(-24),
                0x1f if fraction == 0.0 => f64::INFINITY,
                0x1f => f64::NAN,
                exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            if bits >> 15 == 1 { -value } else { value }
        }
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        _ => raw.first_chunk().map_or(0.0, |bytes| f64::from_be_bytes(*bytes)),
    }
}

/// One entry of the data region, as `encode` hands it out: the array's own memory, not copied.
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct RegionBuffer {
    array: Py<PyUntypedArray>,
    /// Where its elements were when it was encoded, and how many bytes.
    address: usize,
    len: usize,
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
