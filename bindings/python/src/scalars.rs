//! Big ints and NumPy scalars, both ways.

use hookless::array::{Letter, split_time};
use hookless::wire::Writer;
use hookless::{ByteOrder, Code, Dtype, Error, Result, ScalarKind, TextRef};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};

use crate::errors::is_busy;
use crate::ffi::fallible::{self, Str, Unsigned};
use crate::ffi::{chars, make, ndarray};
use crate::imports::explains;
use crate::warm::Numpy;

/// The typed error for an exception that a host's own constructor or table raised.
#[cold]
pub(crate) fn table_error(py: Python<'_>, error: &PyErr) -> Error {
    // A module of the values, in the midst of whose import this decode began.
    if is_busy(py, error) || explains(py, error).unwrap_or(false) {
        return Error::new(Code::Busy).note("a module that the value needs is still being imported");
    }
    let memory = error.is_instance_of::<pyo3::exceptions::PyMemoryError>(py);
    make::keep_interrupt(py, error);
    Error::new(if memory { Code::OutOfMemory } else { Code::KeyError })
}

/// An int beyond 64 bits.
pub(crate) fn big_int<'py>(py: Python<'py>, negative: bool, magnitude: &[u8]) -> Result<Bound<'py, PyAny>> {
    let bytes = make::bytes(py, magnitude)?;
    let made = py.get_type::<PyInt>().call_method1(Str("from_bytes"), (bytes, Str("big")));
    let made = if negative { made.and_then(|int| int.neg()) } else { made };
    made.map_err(|error| table_error(py, &error))
}

/// Writes an int that a `u64` and an `i64` do not hold.
pub(crate) fn write_big_int(
    int: &Bound<'_, PyAny>,
    writer: &mut Writer<'_>,
    most: u64,
) -> PyResult<Result<()>> {
    let bits: u64 = int.call_method0(Str("bit_length"))?.extract()?;
    let len = bits.div_ceil(8);
    if len > most {
        let note = format!("{len} bytes asked for, {most} allowed");
        return Ok(Err(Error::new(Code::IntLimit).note(note)));
    }
    let negative = int.lt(0)?;
    let magnitude =
        int.abs()?.call_method1(Str("to_bytes"), (Unsigned(len), Str("big")))?.cast_into::<PyBytes>()?;
    Ok(writer.big_int(negative, magnitude.as_bytes()))
}

/// A NumPy scalar of its checked wire payload.
pub(crate) fn from_payload<'py>(
    py: Python<'py>,
    numpy: &Numpy,
    kind: ScalarKind,
    payload: &[u8],
) -> Result<Bound<'py, PyAny>> {
    match kind {
        ScalarKind::Str | ScalarKind::Bytes => {
            let contents = match kind {
                ScalarKind::Str => chars::utf8(py, payload)?,
                _ => make::bytes(py, payload)?,
            };
            let scalar_type =
                numpy.scalar_type(py, kind).ok_or_else(|| Error::new(Code::DtypeUnsupported))?;
            scalar_type.call1((contents,)).map_err(|error| table_error(py, &error))
        }
        ScalarKind::Void => {
            let size = u32::try_from(payload.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
            let descr = numpy.descr(py, &Dtype::new(Letter::Void, ByteOrder::None, size, None)?)?;
            ndarray::scalar(&descr, payload)
        }
        ScalarKind::Datetime64 | ScalarKind::Timedelta64 => {
            let (unit, ticks) = split_time(payload).ok_or_else(|| Error::new(Code::BadDtype))?;
            let letter = if kind == ScalarKind::Datetime64 { Letter::Datetime } else { Letter::Timedelta };
            let descr = numpy.descr(py, &Dtype::new(letter, ByteOrder::NATIVE, 8, Some(unit))?)?;
            ndarray::scalar(&descr, &ticks.to_ne_bytes())
        }
        _ => {
            let descr = fixed_descr(py, numpy, kind)?;
            let mut bits = [0u8; 16];
            let bits = bits.get_mut(..payload.len()).ok_or_else(|| Error::new(Code::BadPayload))?;
            bits.copy_from_slice(payload);
            swap(kind, bits);
            ndarray::scalar(&descr, bits)
        }
    }
}

fn fixed_descr<'py>(py: Python<'py>, numpy: &Numpy, kind: ScalarKind) -> Result<Bound<'py, PyArrayDescr>> {
    let little = Dtype::parse(kind.dtype()).ok_or_else(|| Error::new(Code::DtypeUnsupported))?;
    let order = if little.order() == ByteOrder::None { ByteOrder::None } else { ByteOrder::NATIVE };
    let size = u32::try_from(little.itemsize()).map_err(|_| Error::new(Code::DtypeUnsupported))?;
    numpy.descr(py, &Dtype::new(little.letter(), order, size, None)?)
}

/// Turns big-endian bits into native ones, or back: each part of a complex number by itself.
fn swap(kind: ScalarKind, bits: &mut [u8]) {
    if cfg!(target_endian = "big") {
        return;
    }
    match kind {
        ScalarKind::Complex64 | ScalarKind::Complex128 => {
            let (re, im) = bits.split_at_mut(bits.len() / 2);
            re.reverse();
            im.reverse();
        }
        _ => bits.reverse(),
    }
}

/// Writes a NumPy scalar by its raw bits; false when it has none that the wire knows (a structured void).
pub(crate) fn write(
    scalar: &Bound<'_, PyAny>,
    numpy: &Numpy,
    kind: ScalarKind,
    writer: &mut Writer<'_>,
) -> PyResult<Result<bool>> {
    let written = match kind {
        ScalarKind::Str => {
            let mut text = Vec::new();
            let Some(found) = chars::of(scalar) else { return Ok(Ok(false)) };
            found.append_to(&mut text);
            match TextRef::from_generalised(&text) {
                Some(_) => writer.scalar(kind, &text),
                None => Err(Error::new(Code::BadUtf8)),
            }
        }
        ScalarKind::Bytes => match make::bytes_contents(scalar) {
            Some(bytes) => writer.scalar(kind, bytes),
            None => return Ok(Ok(false)),
        },
        ScalarKind::Void => {
            if !scalar.getattr(fallible::interned!(scalar.py(), c"dtype")?)?.getattr(Str("names"))?.is_none()
            {
                return Ok(Ok(false));
            }
            let bytes = scalar.call_method0(Str("tobytes"))?.cast_into::<PyBytes>()?;
            writer.scalar(kind, bytes.as_bytes())
        }
        ScalarKind::Datetime64 | ScalarKind::Timedelta64 => {
            let Some(unit) = numpy.unit(&scalar.getattr(fallible::interned!(scalar.py(), c"dtype")?)?)?
            else {
                return Ok(Ok(false));
            };
            let Some(mut ticks) = ndarray::bits_of(scalar, kind) else { return Ok(Ok(false)) };
            swap(kind, &mut ticks);
            let mut payload = vec![unit.number()];
            payload.extend_from_slice(&unit.count().to_be_bytes());
            payload.extend_from_slice(&ticks);
            writer.scalar(kind, &payload)
        }
        _ => match ndarray::bits_of(scalar, kind) {
            Some(mut bits) => {
                swap(kind, &mut bits);
                writer.scalar(kind, &bits)
            }
            None => return Ok(Ok(false)),
        },
    };
    Ok(written.map(|()| true))
}
