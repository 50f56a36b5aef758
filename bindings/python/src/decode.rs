//! `loads`, `decode`: whole frames to values.

use hookless::frame::{Split, check_region, slice, split};
use hookless::wire::{Plan, read_into};
use hookless::{Error, Limits as Core};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::build::{PyBuilder, Source};
use crate::errors::{decode_error, decode_memory};
use crate::ffi::buffer;
use crate::ffi::fallible::{self, Str};
use crate::ffi::mapped::Mapped;
use crate::ffi::targets::Targets;
use crate::inbox::{Inbox, check_value, copied};
use crate::limits::{Limits, chosen};
use crate::typed::converted;
use crate::warm::{Loaded, warm};

/// Decodes one VALUE frame.
///
/// data: the bytes of exactly one frame. copy: if False, large arrays are read-only views of `data`, which must be bytes (or a memoryview of
/// bytes) then; otherwise arrays own their memory and are writable. type: what the value is converted to once it is decoded, see `convert`.
/// Raises DecodeError (LimitExceeded, Truncated) with code, offset and path; runs, imports and opens nothing that the bytes choose.
#[pyfunction]
#[pyo3(name = "loads", signature = (data, *, r#type=None, limits=None, copy=true))]
pub(crate) fn py_loads<'py>(
    data: &Bound<'py, PyAny>,
    r#type: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, Limits>>,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    converted(py, r#type, || loads(data, limits, copy)).map_err(|error| decode_memory(py, error))
}

pub(crate) fn loads<'py>(
    data: &Bound<'py, PyAny>,
    limits: Option<&Bound<'py, Limits>>,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    if let Ok(bytes) = data.cast_exact::<PyBytes>() {
        return load_slice(py, bytes.as_bytes(), chosen(limits), (!copy).then(|| Views::of(bytes)));
    }
    if let Some((owner, start, len)) = view_of_bytes(data)? {
        let part = owner.as_bytes().get(start..start + len).unwrap_or_default();
        return load_slice(py, part, chosen(limits), (!copy).then(|| Views::of(&owner)));
    }
    if !copy {
        return Err(PyValueError::new_err(
            "copy=False needs bytes, or a memoryview of bytes: other buffers can change",
        ));
    }
    load_slice(py, &buffer::copied(data)?, chosen(limits), None)
}

/// The bytes that a memoryview looks at, where in them it begins, and its length.
fn view_of_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyBytes>, usize, usize)>> {
    let Ok(view) = data.cast_exact::<PyMemoryView>() else { return Ok(None) };
    let Ok(owner) = view.getattr(Str("obj"))?.cast_into_exact::<PyBytes>() else { return Ok(None) };
    // Views of other items than bytes are copied, like every other buffer.
    let Ok(found) = pyo3::buffer::PyBuffer::<u8>::get(view) else { return Ok(None) };
    if !found.is_c_contiguous() {
        return Ok(None);
    }
    let start = (found.buf_ptr() as usize).checked_sub(owner.as_bytes().as_ptr() as usize);
    let (len, whole) = (found.len_bytes(), owner.as_bytes().len());
    Ok(start
        .filter(|start| start.checked_add(len).is_some_and(|end| end <= whole))
        .map(|start| (owner, start, len)))
}

/// Decodes one VALUE frame that lies in a read-only mapping, between two offsets, with arrays that are views of it. See `hookless.load`.
///
/// Raises as `loads`, and ValueError for a buffer that can be written to.
#[pyfunction]
#[pyo3(signature = (map, start, end, *, limits=None))]
pub(crate) fn view_mapped<'py>(
    map: &Bound<'py, PyAny>,
    start: usize,
    end: usize,
    limits: Option<&Bound<'py, Limits>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = map.py();
    let owner = Bound::new(py, Mapped::of(map)?).map_err(|error| decode_memory(py, error))?;
    let data = owner.get().bytes().get(start..end).unwrap_or_default();
    let views = Views { owner: owner.as_any().clone(), shared: true };
    load_slice(py, data, chosen(limits), Some(views)).map_err(|error| decode_memory(py, error))
}

/// What arrays are views of.
struct Views<'py> {
    owner: Bound<'py, PyAny>,
    /// Whether somebody else may write to it.
    shared: bool,
}

impl<'py> Views<'py> {
    fn of(owner: &Bound<'py, PyBytes>) -> Self {
        Views { owner: owner.as_any().clone(), shared: false }
    }
}

/// Decodes a frame that lies in memory that cannot change, or in `views`, of which its arrays are views then.
fn load_slice<'py>(
    py: Python<'py>,
    data: &[u8],
    limits: &Core,
    views: Option<Views<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let refuse = |error: Error| decode_error(py, &error);
    // Warmed up before a byte is looked at.
    let loaded = Loaded::now(py)?;
    let mut targets = Targets::default();
    let frame = match split(data, limits) {
        Ok(frame) => frame,
        Err(error) => return Err(refuse(error)),
    };
    check_value(&frame.head).map_err(refuse)?;
    let own;
    let (body, source) = match views {
        Some(Views { owner, shared }) => {
            // What decides the shape of a value is looked at more than once.
            own = if shared { copied(frame.body).map_err(refuse)? } else { Vec::new() };
            let body = if shared { own.as_slice() } else { frame.body };
            (body, Source::View { owner, region: frame.region, targets: &mut targets })
        }
        None => (frame.body, Source::Fill(&mut targets)),
    };
    let mut builder = PyBuilder::new(py, loaded, source);
    let mut plan = Plan::default();
    let built = read_into(body, &frame.head, limits, &mut builder, &mut plan);
    if let Some(interrupt) = builder.interrupted.take() {
        return Err(interrupt);
    }
    match built {
        Ok(value) => {
            // A body without entries has used up the region, which is empty then.
            if !plan.slots().is_empty() {
                fill(py, &frame, &plan, &mut targets).map_err(refuse)?;
            }
            Ok(value)
        }
        Err(error) => Err(refuse(error)),
    }
}

/// Checks the region, and puts its entries where they belong.
#[inline(never)]
fn fill(py: Python<'_>, frame: &Split<'_>, plan: &Plan, targets: &mut Targets) -> hookless::Result<()> {
    check_region(frame, plan)?;
    for (index, slot) in plan.slots().iter().enumerate() {
        targets.put(index, 0, slice(frame.region, slot));
    }
    targets.complete(py)
}

/// Decodes one VALUE frame that comes in parts, split anywhere.
///
/// parts: bytes-like objects. type, copy: as in `loads`.
#[pyfunction]
#[pyo3(name = "decode", signature = (parts, *, r#type=None, limits=None, copy=true))]
pub(crate) fn py_decode<'py>(
    parts: &Bound<'py, PyAny>,
    r#type: Option<&Bound<'py, PyAny>>,
    limits: Option<&Bound<'py, Limits>>,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = parts.py();
    converted(py, r#type, || decode(parts, limits, copy)).map_err(|error| decode_memory(py, error))
}

fn decode<'py>(
    parts: &Bound<'py, PyAny>,
    limits: Option<&Bound<'py, Limits>>,
    copy: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = parts.py();
    let parts: Vec<Bound<'py, PyAny>> = parts.try_iter()?.collect::<PyResult<_>>()?;
    if let [one] = parts.as_slice() {
        return loads(one, limits, copy);
    }
    if !copy {
        let whole = fallible::bytes(py, b"")?.call_method1(Str("join"), (fallible::list_of(py, parts)?,))?;
        return loads(&whole, limits, false);
    }
    let mut inbox = Inbox::new(chosen(limits).clone());
    warm(py)?;
    // Both lengths are compared with what is there before anything is built (F14).
    let mut total = 0u64;
    let mut held = Vec::with_capacity(parts.len());
    for part in &parts {
        let bytes = match part.cast_exact::<PyBytes>() {
            Ok(bytes) => Held::Borrowed(bytes.as_bytes()),
            Err(_) => Held::Owned(buffer::copied(part)?),
        };
        total += bytes.as_slice().len() as u64;
        held.push(bytes);
    }
    inbox.expect_exactly(total);
    let mut found = None;
    for part in &held {
        let mut bytes = part.as_slice();
        if found.is_none() {
            found = inbox.feed(py, &mut bytes).map_err(|failed| failed.raised(py))?;
        }
    }
    match found {
        Some(frame) => Ok(frame.value.into_bound(py)),
        None => Err(decode_error(py, &inbox.truncated())),
    }
}

enum Held<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

impl Held<'_> {
    fn as_slice(&self) -> &[u8] {
        match self {
            Held::Borrowed(bytes) => bytes,
            Held::Owned(bytes) => bytes,
        }
    }
}
