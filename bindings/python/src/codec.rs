//! `dumps`, `encode`: values to whole frames.

use std::cell::Cell;

use hookless::frame::{FrameKind, HEAD_LEN, Head, padding};
use hookless::wire::{BytesKind, Writer};
use hookless::{Error, Limits as Core};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{decode_error, encode_error, encode_memory};
use crate::ffi::fallible;
use crate::ffi::make;
use crate::ffi::targets::Targets;
use crate::limits::{Limits, chosen};
use crate::region::{Entry, Gathered};
use crate::walk::Walker;
use crate::warm::Loaded;

thread_local! {
    /// The buffer that bodies are written into, kept from one call to the next.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A scratch buffer larger than this is given back.
const KEPT: usize = 4 << 20;

/// How a frame is encoded.
pub(crate) struct Encoding<'a, 'py> {
    pub(crate) kind: FrameKind,
    pub(crate) call_id: u64,
    pub(crate) limits: &'a Core,
    pub(crate) default: Option<&'a Bound<'py, PyAny>>,
    /// What is done to an error before it is raised: in a session it may say that the limit is the peer's (S17).
    pub(crate) blame: &'a dyn Fn(Error) -> Error,
}

impl<'a, 'py> Encoding<'a, 'py> {
    /// As a VALUE frame.
    fn of_value(limits: &'a Core, default: Option<&'a Bound<'py, PyAny>>) -> Self {
        Encoding { kind: FrameKind::Value, call_id: 0, limits, default, blame: &|error| error }
    }
}

/// Encodes one frame and hands it to `use_it`: head and body, which it may keep, then the buffers of the region, each to be preceded by
/// [`padding`] zero bytes.
pub(crate) fn with_encoded<'py, R>(
    value: &Bound<'py, PyAny>,
    how: &Encoding<'_, 'py>,
    use_it: impl FnOnce(&mut Vec<u8>, &[Bound<'py, PyAny>]) -> PyResult<R>,
) -> PyResult<R> {
    with_body(value, how, |head, frame, region| {
        frame[..HEAD_LEN].copy_from_slice(&head);
        use_it(frame, region)
    })
}

/// The same with the head apart; there is room for it before the body.
#[inline]
fn with_body<'py, R>(
    value: &Bound<'py, PyAny>,
    how: &Encoding<'_, 'py>,
    use_it: impl FnOnce([u8; HEAD_LEN], &mut Vec<u8>, &[Bound<'py, PyAny>]) -> PyResult<R>,
) -> PyResult<R> {
    let py = value.py();
    let Encoding { kind, call_id, limits, default, blame } = *how;
    let loaded = Loaded::now(py).map_err(|error| encode_memory(py, error))?;
    let mut out = SCRATCH.take();
    out.clear();
    out.resize(HEAD_LEN, 0);
    // What is as large as these is made where it stays: to move it costs as much as all else of a small call.
    let mut writer = match Writer::new(out, limits, true) {
        Ok(writer) => writer,
        Err(error) => return Err(encode_error(py, &error, None)),
    };
    let mut region = Vec::new();
    let mut walker = Walker::new(py, loaded, &mut writer, &mut region, limits, default.cloned());
    if let Err(error) = walker.value(value) {
        let Walker { type_name, raised, cause, .. } = walker;
        SCRATCH.set(kept(writer.into_buffer()));
        let error = blame(error.within(|path| path.push('$')));
        return Err(raised.unwrap_or_else(|| refused(py, &error, type_name.as_deref(), cause)));
    }
    drop(walker);
    let (mut frame, data_len) = match writer.end() {
        Ok(finished) => finished,
        Err(error) => {
            return Err(encode_error(py, &blame(error.within(|path| path.push('$'))), None));
        }
    };
    let body_len = (frame.len() - HEAD_LEN) as u64;
    let head = Head { kind, call_id, body_len, data_len }.to_bytes();
    let used = use_it(head, &mut frame, &region);
    SCRATCH.set(kept(frame));
    match used {
        Ok(used) => Ok(used),
        Err(error) => Err(encode_memory(py, error)),
    }
}

#[cold]
fn refused(py: Python<'_>, error: &Error, type_name: Option<&str>, cause: Option<PyErr>) -> PyErr {
    let refused = encode_error(py, error, type_name);
    if cause.is_some() {
        refused.set_cause(py, cause);
    }
    refused
}

fn kept(buffer: Vec<u8>) -> Vec<u8> {
    if buffer.capacity() > KEPT { Vec::new() } else { buffer }
}

/// Encodes a value as one frame.
///
/// value: anything of the closed set. limits: where to stop (proto/limits.md). default: called with each object outside the closed set;
/// what it returns is sent in the object's place, and counts as a level of `Limits.depth`.
/// Raises EncodeError with the path to what cannot be sent, and as its cause what `default` raised; nothing has been written then.
#[pyfunction]
#[pyo3(signature = (value, *, limits=None, default=None))]
pub(crate) fn dumps<'py>(
    value: &Bound<'py, PyAny>,
    limits: Option<&Bound<'py, Limits>>,
    default: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    with_body(value, &Encoding::of_value(chosen(limits), default), |head, frame, region| {
        let bytes = match region.is_empty() {
            true => make::framed(py, head, &frame[HEAD_LEN..]),
            false => {
                frame[..HEAD_LEN].copy_from_slice(&head);
                joined(py, frame, region)
            }
        };
        Ok(bytes.map_err(|error| encode_error(py, &error, None))?.cast_into::<PyBytes>()?)
    })
}

/// One bytes object of a frame and its region.
fn joined<'py>(
    py: Python<'py>,
    frame: &[u8],
    region: &[Bound<'py, PyAny>],
) -> hookless::Result<Bound<'py, PyAny>> {
    let mut len = frame.len() as u64;
    for entry in region {
        len += padding(len) + entry_len(entry);
    }
    let mut targets = Targets::default();
    let bytes = targets.reserve_bytes(py, BytesKind::Bytes, len)?;
    targets.put(0, 0, frame);
    let mut at = frame.len();
    for found in region {
        let gap = padding(at as u64) as usize;
        targets.put(0, at, &[0; 64][..gap]);
        let entry = Entry::of(found)?;
        entry.put(&mut targets, 0, at + gap);
        at += gap + entry.len();
    }
    Ok(bytes)
}

fn entry_len(entry: &Bound<'_, PyAny>) -> u64 {
    entry.len().unwrap_or_default() as u64
}

/// Encodes a value as a list of buffers that are, joined, exactly what `dumps` gives.
///
/// Arrays, bytes and bytearrays of 16 384 bytes and more are not copied: the list holds their own memory, so they must not change before it
/// has been sent. Two sorts of arrays are copied once, to bytes, since no buffer can be made of them as they are: those that are neither C nor
/// F contiguous, and those with padding between fields or in long doubles. Made for `os.writev`, `socket.sendmsg` and 0MQ multipart messages. `default` is as in `dumps`.
#[pyfunction]
#[pyo3(signature = (value, *, limits=None, default=None))]
pub(crate) fn encode<'py>(
    value: &Bound<'py, PyAny>,
    limits: Option<&Bound<'py, Limits>>,
    default: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = value.py();
    with_encoded(value, &Encoding::of_value(chosen(limits), default), |frame, region| {
        let parts = fallible::list(py)?;
        let mut filled = frame.len() as u64;
        let mut head = frame.as_slice();
        for entry in region {
            let gap = padding(filled);
            if head.len() as u64 + gap > 0 {
                parts.append(padded(py, head, gap)?)?;
            }
            head = &[];
            parts.append(lent(entry)?)?;
            filled += gap + entry_len(entry);
        }
        if !head.is_empty() {
            parts.append(fallible::bytes(py, head)?)?;
        }
        Ok(parts)
    })
}

/// A region entry as it is handed out: what has to be gathered is copied here, for nobody can be asked for it later.
fn lent<'py>(entry: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !entry.is_exact_instance_of::<Gathered>() {
        return Ok(entry.clone());
    }
    let refuse = |error: Error| encode_error(entry.py(), &error, None);
    let found = Entry::of(entry).map_err(refuse)?;
    let mut targets = Targets::default();
    let bytes = targets.reserve_bytes(entry.py(), BytesKind::Bytes, found.len() as u64).map_err(refuse)?;
    found.put(&mut targets, 0, 0);
    Ok(bytes)
}

/// bytes with these contents, and so many zeros after them.
fn padded<'py>(py: Python<'py>, contents: &[u8], gap: u64) -> PyResult<Bound<'py, PyAny>> {
    let refuse = |error: Error| encode_error(py, &error, None);
    let mut targets = Targets::default();
    let len = contents.len() as u64 + gap;
    let bytes = targets.reserve_bytes(py, BytesKind::Bytes, len).map_err(refuse)?;
    targets.put(0, 0, contents);
    targets.put(0, contents.len(), &[0; 64][..gap as usize]);
    Ok(bytes)
}

/// Whether `value` can be sent as it is, in a body of at most `max_bytes` bytes and without a data region.
#[pyfunction]
pub(crate) fn encodable(value: &Bound<'_, PyAny>, max_bytes: u64) -> PyResult<bool> {
    let limits = Core { body: max_bytes, region: 0, depth: 32, ..Core::default() };
    match with_encoded(value, &Encoding::of_value(&limits, None), |_, _| Ok(())) {
        Ok(()) => Ok(true),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Decodes a VALUE frame by the Rust host's builder and encodes it again: what a Rust program would make of the same bytes.
///
/// Raises as `loads`. Made for tests that hold both hosts to the same verdicts.
#[pyfunction]
#[pyo3(signature = (data, *, limits=None))]
pub(crate) fn through_rust<'py>(
    py: Python<'py>,
    data: &[u8],
    limits: Option<&Bound<'py, Limits>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let limits = chosen(limits);
    let value = hookless::decode(data, limits).map_err(|error| decode_error(py, &error))?;
    let again = hookless::encode(&value, limits).map_err(|error| encode_error(py, &error, None))?;
    fallible::bytes(py, &again)
}
