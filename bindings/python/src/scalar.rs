//! NumPy scalars for hosts that have not loaded NumPy: inert, and encoded again as they came.

use hookless::wire::Writer;
use hookless::{Code, Dtype, Error, Result, ScalarKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::described;
use crate::ffi::fallible::{self, Owned, Str};
use crate::ffi::{chars, make};
use crate::scalars::table_error;

/// A NumPy scalar without NumPy: its dtype and its bytes.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Scalar {
    kind: Kind,
    payload: Vec<u8>,
}

/// Which of the two forms of the wire a scalar has.
#[derive(PartialEq)]
enum Kind {
    /// A leaf (A9).
    Leaf(ScalarKind),
    /// One element of a dtype that has none (A20).
    Element(Dtype),
}

impl Scalar {
    pub(crate) fn of<'py>(py: Python<'py>, kind: ScalarKind, payload: &[u8]) -> Result<Bound<'py, PyAny>> {
        Scalar::made(py, Kind::Leaf(kind), payload)
    }

    pub(crate) fn of_element<'py>(py: Python<'py>, dtype: Dtype, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
        Scalar::made(py, Kind::Element(dtype), bytes)
    }

    fn made<'py>(py: Python<'py>, kind: Kind, payload: &[u8]) -> Result<Bound<'py, PyAny>> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(payload.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
        copy.extend_from_slice(payload);
        let made = Bound::new(py, Scalar { kind, payload: copy });
        made.map(Bound::into_any).map_err(|error| table_error(py, &error))
    }

    /// The same bytes again.
    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<()> {
        match &self.kind {
            Kind::Leaf(kind) => writer.scalar(*kind, &self.payload),
            Kind::Element(dtype) => writer.element(dtype, &self.payload),
        }
    }

    fn name(&self) -> String {
        match &self.kind {
            Kind::Leaf(kind) => format!("{}{}", kind.dtype(), self.time().unwrap_or_default()),
            Kind::Element(dtype) => dtype.to_string(),
        }
    }

    fn time(&self) -> Option<String> {
        match self.kind {
            Kind::Leaf(ScalarKind::Datetime64 | ScalarKind::Timedelta64) => {
                hookless::array::split_time(&self.payload).map(|(unit, _)| unit.to_string())
            }
            _ => None,
        }
    }
}

#[pymethods]
impl Scalar {
    /// NumPy's `dtype.str`, little-endian, without a size for `S` and `U`, and for `V` without fields; of other dtypes as in `Array.dtype`.
    #[getter]
    fn dtype(&self) -> Owned {
        Owned(self.name())
    }

    /// The fields of a structured dtype, or None: as `Array.structure`.
    #[getter]
    fn structure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.kind {
            Kind::Element(dtype) if dtype.fields().is_some() => described(py, dtype).map(Some),
            _ => Ok(None),
        }
    }

    /// The payload as on the wire: big-endian bits, or the contents; one element as in an array for a dtype with fields, a long double, a type
    /// of ml_dtypes.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        fallible::bytes(py, &self.payload)
    }

    /// The nearest Python value: bool, int, float, complex, str or bytes; the ticks of a datetime64 or timedelta64; the bytes of what only
    /// NumPy can read.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let raw = self.payload.as_slice();
        let Kind::Leaf(kind) = self.kind else { return Ok(fallible::bytes(py, raw)?.into_any()) };
        let made = match kind {
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
        let dtype = Str(&self.name()).into_pyobject(py)?.into_any();
        fallible::tuple(py, &[dtype, fallible::bytes(py, &self.payload)?.into_any()])?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<Owned> {
        Ok(Owned(format!("<hookless.Scalar {} {}>", self.name(), self.item(py)?.repr()?)))
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
