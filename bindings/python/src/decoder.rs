//! `hookless.Decoder`: frames from a stream, for any event loop.

use std::sync::{Mutex, MutexGuard};

use hookless::{Code, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::decode_error;
use crate::ffi::buffer;
use crate::inbox::Inbox;
use crate::limits::{Limits, chosen};

/// A frame that has arrived: kind, call id and value.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Frame {
    /// `value`, `hello`, `call`, `result` or `error`.
    #[pyo3(get)]
    kind: &'static str,
    /// The call it belongs to; 0 for none.
    #[pyo3(get)]
    call_id: u64,
    /// Its value.
    #[pyo3(get)]
    value: Py<PyAny>,
}

#[pymethods]
impl Frame {
    fn __repr__(&self) -> String {
        format!("<hookless.Frame {} call_id={}>", self.kind, self.call_id)
    }
}

/// Takes bytes as they come and gives whole frames. One decoder serves one stream.
///
/// After an error it has lost its place, reads nothing more and says so.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Decoder {
    state: Mutex<State>,
}

struct State {
    inbox: Inbox,
    dead: Option<PyErr>,
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (*, limits=None))]
    fn new(limits: Option<&Bound<'_, Limits>>) -> Self {
        Decoder { state: Mutex::new(State { inbox: Inbox::new(chosen(limits)), dead: None }) }
    }

    /// Takes the next bytes; gives the frames that they complete, in order.
    ///
    /// Frames that were complete before an error are given first, and the error on the next call.
    fn feed<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let owned;
        let mut bytes = match chunk.cast_exact::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes(),
            Err(_) => {
                owned = buffer::copied(chunk)?;
                owned.as_slice()
            }
        };
        // Warmed up before a byte is looked at.
        crate::warm::warm(py)?;
        let mut state = self.lock(py)?;
        let frames = PyList::empty(py);
        loop {
            match state.inbox.feed(py, &mut bytes) {
                Ok(Some(arrived)) => {
                    let (kind, call_id) = (arrived.head.kind.name(), arrived.head.call_id);
                    frames.append(Frame { kind, call_id, value: arrived.value }.into_pyobject(py)?)?;
                }
                Ok(None) => return Ok(frames),
                Err(error) => {
                    let again = error.clone_ref(py);
                    if !frames.is_empty() {
                        state.dead = Some(again);
                        return Ok(frames);
                    }
                    // What later calls raise: the same class and fields, with a note that says why nothing was read.
                    let text = "this decoder is dead: it met an earlier error and has lost its place";
                    error.value(py).call_method1("add_note", (text,))?;
                    state.dead = Some(again);
                    return Err(error);
                }
            }
        }
    }

    /// Says that the stream has ended: raises Truncated inside a frame.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.lock(py)?;
        match state.inbox.assembler.is_idle() {
            true => Ok(()),
            false => Err(decode_error(py, &state.inbox.truncated())),
        }
    }
}

impl Decoder {
    /// The state, unless the decoder is busy or dead.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        let Ok(state) = self.state.try_lock() else {
            return Err(decode_error(py, &Error::new(Code::Busy)));
        };
        if let Some(cause) = &state.dead {
            return Err(cause.clone_ref(py));
        }
        Ok(state)
    }
}
