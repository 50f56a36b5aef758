//! `hookless.Decoder`: frames from a stream, for any event loop.

use std::sync::{Mutex, MutexGuard};

use hookless::{Code, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::decode_error;
use crate::ffi::buffer;
use crate::inbox::{Failed, Inbox};
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
    /// Frames that were complete when something was raised, for the next call.
    ready: Vec<Py<Frame>>,
    dead: Option<Error>,
}

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (*, limits=None))]
    fn new(limits: Option<&Bound<'_, Limits>>) -> Self {
        Decoder {
            state: Mutex::new(State { inbox: Inbox::new(chosen(limits)), ready: Vec::new(), dead: None }),
        }
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
        if state.dead.is_some() {
            return PyList::new(py, state.ready.drain(..));
        }
        loop {
            match state.inbox.feed(py, &mut bytes) {
                Ok(Some(arrived)) => {
                    let (kind, call_id) = (arrived.head.kind.name(), arrived.head.call_id);
                    let frame = Py::new(py, Frame { kind, call_id, value: arrived.value })?;
                    state.ready.push(frame);
                }
                Ok(None) => break,
                // Ctrl-C: raised at once. What is complete waits for the next call; the rest of this chunk is lost, and the stream with it.
                Err(Failed::Python(raised)) => {
                    state.dead =
                        Some(Error::new(Code::Busy).note("interrupted while a frame was being decoded"));
                    return Err(raised);
                }
                Err(Failed::Wire(error)) => {
                    let raised = decode_error(py, &error);
                    state.dead = Some(error);
                    if state.ready.is_empty() {
                        return Err(raised);
                    }
                    break;
                }
            }
        }
        PyList::new(py, state.ready.drain(..))
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
        if let Some(error) = &state.dead
            && state.ready.is_empty()
        {
            let again = decode_error(py, error);
            // The same class and fields; the note says why nothing was read.
            let text = "this decoder is dead: it met an earlier error and has lost its place";
            again.value(py).call_method1("add_note", (text,))?;
            return Err(again);
        }
        Ok(state)
    }
}
