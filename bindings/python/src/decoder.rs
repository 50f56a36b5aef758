//! `hookless.Decoder`: frames from a stream, for any event loop.

use std::sync::{Mutex, MutexGuard};

use hookless::{Code, Error};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{decode_error, decode_memory};
use crate::ffi::buffer;
use crate::ffi::fallible::{self, Owned, Str, Unsigned};
use crate::inbox::{Failed, Inbox};
use crate::limits::{Limits, chosen};

/// A frame that has arrived: kind, call id and value.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Frame {
    kind: &'static str,
    call_id: u64,
    /// Its value.
    #[pyo3(get)]
    value: Py<PyAny>,
}

#[pymethods]
impl Frame {
    /// `value`, `hello`, `call`, `result` or `error`.
    #[getter]
    fn kind(&self) -> Str<'static> {
        Str(self.kind)
    }

    /// The call it belongs to; 0 for none.
    #[getter]
    fn call_id(&self) -> Unsigned {
        Unsigned(self.call_id)
    }

    fn __repr__(&self) -> Owned {
        Owned(format!("<hookless.Frame {} call_id={}>", self.kind, self.call_id))
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
            state: Mutex::new(State {
                inbox: Inbox::new(chosen(limits).clone()),
                ready: Vec::new(),
                dead: None,
            }),
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
            return state.given(py);
        }
        state.inbox.assembler.delivered();
        loop {
            match state.inbox.feed(py, &mut bytes) {
                Ok(Some(arrived)) => {
                    let (kind, call_id) = (arrived.head.kind.name(), arrived.head.call_id);
                    let frame = Py::new(py, Frame { kind, call_id, value: arrived.value });
                    match frame {
                        Ok(frame) => state.ready.push(frame),
                        // It is lost, and the stream with it.
                        Err(raised) => {
                            state.dead = Some(Error::new(Code::OutOfMemory));
                            return Err(decode_memory(py, raised));
                        }
                    }
                }
                Ok(None) => break,
                Err(Failed::Python(raised)) if raised.is_instance_of::<PyMemoryError>(py) => {
                    state.dead = Some(Error::new(Code::OutOfMemory));
                    return Err(decode_memory(py, raised));
                }
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
        state.given(py)
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

impl State {
    /// The frames that are complete; they stay when there is no memory for a list of them.
    fn given<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = fallible::list_of(py, self.ready.iter().map(|frame| frame.bind(py).clone()));
        let list = list.map_err(|error| decode_memory(py, error))?;
        self.ready.clear();
        Ok(list)
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
            again.value(py).call_method1(Str("add_note"), (Str(text),))?;
            return Err(again);
        }
        Ok(state)
    }
}
