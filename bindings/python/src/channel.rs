//! `Channel`: the session of one host and one worker over a private socket, with the GIL released while it waits.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hookless::frame::{FrameKind, Head, padding};
use hookless::session::{End as Ending, Host, HostEvent, Verb, Worker, WorkerEvent};
use hookless::{Code, Error, Limits as Core};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rustix::io::Errno;

use crate::codec::with_frame;
use crate::errors::{decode_error, raise};
use crate::failure::Failure;
use crate::ffi::descriptor;
use crate::ffi::fallible::{self, Str, Unsigned};
use crate::inbox::{Arrived, Failed, Inbox};
use crate::limits::{Limits, chosen};
use crate::wait::{Ends, Outgoing, Patience, Turn, is_early, ready_output, turn};

/// One end of a session. It owns its descriptor.
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct Channel {
    state: Mutex<State>,
    limits: Core,
    stall: Duration,
    /// The process that made it: a fork has a copy of the descriptor, and of a lock that nobody may ever open.
    process: u32,
}

struct State {
    socket: Option<OwnedFd>,
    inbox: Inbox,
    end: End,
    /// Worker: the open call.
    call: Option<u64>,
}

enum End {
    Host(Host),
    Worker(Worker),
}

/// Where the child's output goes while the host waits.
struct Outputs<'a, 'py> {
    descriptors: Vec<RawFd>,
    callback: Option<&'a Bound<'py, PyAny>>,
    /// Tells of the child's end; -1 for none.
    life: RawFd,
}

/// The most that is read from the pipes after an answer: what a pipe can hold, so that a child that never stops writing cannot hold up its
/// own result.
const DRAIN: usize = 1 << 20;

#[pymethods]
impl Channel {
    #[new]
    #[pyo3(signature = (fd, role, *, limits=None, stall=30.0))]
    fn new(fd: RawFd, role: &str, limits: Option<&Bound<'_, Limits>>, stall: f64) -> PyResult<Self> {
        let end = match role {
            "host" => End::Host(Host::new(chosen(limits))),
            "worker" => End::Worker(Worker::new(chosen(limits))),
            _ => return Err(PyValueError::new_err("role is \"host\" or \"worker\"")),
        };
        let (limits, stall) = (chosen(limits), seconds(stall)?);
        let socket = descriptor::take(fd);
        let state = State { socket, inbox: Inbox::new(limits.clone()), end, call: None };
        Ok(Channel { state: Mutex::new(state), limits, stall, process: std::process::id() })
    }

    /// Sends this end's HELLO and waits for the peer's.
    #[pyo3(signature = (deadline=None))]
    fn hello(&self, py: Python<'_>, deadline: Option<f64>) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let hello = match &state.end {
            End::Host(host) => host.hello(),
            End::Worker(worker) => worker.hello(),
        };
        let body = hello.to_body().map_err(|error| decode_error(py, &error))?;
        let head = Head { kind: FrameKind::Hello, call_id: 0, body_len: body.len() as u64, data_len: 0 };
        let parts = [head.to_bytes().to_vec(), body];
        let outgoing = Outgoing::new(parts.iter().map(Vec::as_slice).collect());
        let arrived = self.exchange(py, &mut state, outgoing, true, &Outputs::none(), deadline)?;
        let Some(arrived) = arrived else {
            return Err(decode_error(
                py,
                &Error::new(Code::Truncated).note("the peer closed the stream before HELLO"),
            ));
        };
        state.end.handle(&arrived).map(|_| ()).map_err(|error| decode_error(py, &error))
    }

    /// Host: sends a call and waits for its answer.
    #[expect(clippy::too_many_arguments, reason = "the parts of a CALL, and how to wait")]
    #[pyo3(signature = (verb, name, source, args, kwargs, *, deadline, life, outputs, on_output))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        verb: u8,
        name: Bound<'py, PyAny>,
        source: Option<Bound<'py, PyAny>>,
        args: Bound<'py, PyTuple>,
        kwargs: Bound<'py, PyDict>,
        deadline: Option<f64>,
        life: RawFd,
        outputs: Vec<RawFd>,
        on_output: Bound<'py, PyAny>,
    ) -> PyResult<(&'static str, Py<PyAny>)> {
        let mut state = self.lock(py)?;
        let call_id = match &mut state.end {
            // One call at a time: the driver of this channel waits for its answer.
            End::Host(host) => host.begin_call(asked(verb)?).map_err(|error| decode_error(py, &error))?,
            End::Worker(_) => return Err(wrong_end(py)),
        };
        // What came while no call was open is no answer to this one.
        if state.socket.as_ref().is_some_and(|socket| is_early(socket.as_fd())) {
            state.end.close();
            let note = "bytes from the worker while no call was open";
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note(note)));
        }
        let outputs = Outputs { descriptors: outputs, callback: Some(&on_output), life };
        let body = fallible::list_of(py, [Unsigned(verb.into()).into_pyobject(py)?.into_any()])?;
        body.append(name)?;
        body.append(source)?;
        body.append(args)?;
        body.append(kwargs)?;
        let sent =
            with_frame(body.as_any(), FrameKind::Call, call_id, &self.limits, None, |frame, region| {
                let held = Held::of(region)?;
                Ok(self.exchange(py, &mut state, held.outgoing(frame), true, &outputs, deadline))
            });
        let arrived = match sent {
            Ok(Ok(arrived)) => arrived,
            // S9: whatever went wrong, no later frame is read.
            Ok(Err(error)) => {
                state.end.close();
                return Err(error);
            }
            // Nothing has been written, so the session goes on.
            Err(error) => {
                state.end.cancel_unsent(call_id);
                return Err(error);
            }
        };
        // The session first: whatever `on_output` raises, the call is over.
        let event = arrived.as_ref().map(|arrived| state.end.handle(arrived));
        drain(py, &outputs)?;
        let (Some(arrived), Some(event)) = (arrived, event) else { return Ok(("eof", py.None())) };
        match event.map_err(|error| decode_error(py, &error))? {
            Event::Failed => Ok(("error", arrived.value)),
            Event::Returned => Ok(("result", arrived.value)),
            Event::Ready | Event::Call(_) | Event::Other => {
                state.end.close();
                Err(decode_error(py, &Error::new(Code::UnexpectedFrame)))
            }
        }
    }

    /// Host: reads what the pipes hold, without waiting.
    fn drain<'py>(&self, py: Python<'py>, outputs: Vec<RawFd>, on_output: Bound<'py, PyAny>) -> PyResult<()> {
        drain(py, &Outputs { descriptors: outputs, callback: Some(&on_output), life: -1 })
    }

    /// Worker: waits for the next call; none at the end of the stream.
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut state = self.lock(py)?;
        let outgoing = Outgoing::nothing();
        let Some(arrived) = self.exchange(py, &mut state, outgoing, true, &Outputs::none(), None)? else {
            return Ok(None);
        };
        match state.end.handle(&arrived).map_err(|error| decode_error(py, &error))? {
            Event::Call(id) => {
                state.call = Some(id);
                // The list of S4, whose shape is checked, after the call's id.
                let call = fallible::list_of(py, [Unsigned(id).into_pyobject(py)?])?;
                call.call_method1(Str("extend"), (arrived.value,))?;
                Ok(Some(call.to_tuple()))
            }
            _ => {
                state.end.close();
                Err(decode_error(py, &Error::new(Code::UnexpectedFrame)))
            }
        }
    }

    /// Worker: answers the open call with a value. EncodeError when it cannot be sent; nothing is written then.
    fn reply(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.answer(py, FrameKind::Result, value)
    }

    /// Worker: answers the open call with a failure.
    fn fail(&self, py: Python<'_>, failure: &Bound<'_, Failure>) -> PyResult<()> {
        self.answer(py, FrameKind::Error, failure.as_any())
    }

    /// The descriptor.
    fn fileno(&self, py: Python<'_>) -> PyResult<RawFd> {
        let state = self.lock(py)?;
        state.socket.as_ref().map(AsRawFd::as_raw_fd).ok_or_else(|| closed(py))
    }

    /// Closes the descriptor. Waits for a call in another thread to end.
    fn close(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        let state =
            py.detach(|| self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).socket.take());
        drop(state);
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.socket.is_none())
    }
}

impl Channel {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        if self.process != std::process::id() {
            let note = "this channel belongs to the process that made it, not to its fork";
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note(note)));
        }
        self.state.try_lock().map_err(|_| decode_error(py, &Error::new(Code::Busy)))
    }

    fn answer(&self, py: Python<'_>, kind: FrameKind, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let End::Worker(worker) = &state.end else { return Err(wrong_end(py)) };
        let Some(call_id) = state.call else {
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note("no call is open")));
        };
        let how = if kind == FrameKind::Error { Ending::Error } else { Ending::Result };
        worker.check_end(call_id, how).map_err(|error| decode_error(py, &error))?;
        let sent = with_frame(value, kind, call_id, &self.limits, None, |frame, region| {
            let held = Held::of(region)?;
            Ok(self.exchange(py, &mut state, held.outgoing(frame), false, &Outputs::none(), None))
        })?;
        if let Err(error) = sent {
            // A part of it may be gone: nothing can follow.
            state.end.close();
            return Err(error);
        }
        // The state moves on only when the answer could be encoded.
        state.call = None;
        match &mut state.end {
            End::Worker(worker) => worker.end_call(call_id, how).map_err(|error| decode_error(py, &error)),
            End::Host(_) => Ok(()),
        }
    }

    /// Sends a frame and, where the caller `reads`, waits for one; none at the end of the stream.
    fn exchange(
        &self,
        py: Python<'_>,
        state: &mut State,
        mut outgoing: Outgoing<'_>,
        reads: bool,
        outputs: &Outputs<'_, '_>,
        deadline: Option<f64>,
    ) -> PyResult<Option<Arrived>> {
        let State { socket, inbox, end, .. } = state;
        let Some(channel) = socket.as_ref() else { return Err(closed(py)) };
        if reads && end.is_closed() {
            return Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note("the session is closed")));
        }
        let now = Instant::now();
        let deadline = deadline.map(seconds).transpose()?.and_then(|wait| now.checked_add(wait));
        let mut patience = Patience { deadline, stall: self.stall, moved: now };
        let mut descriptors = outputs.descriptors.clone();
        loop {
            // Looked at here too: a peer that is never silent cannot put the deadline off.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(raise(py, "DeadlineExceeded", "the deadline is over"));
            }
            let ends = Ends { channel: channel.as_fd(), outputs: &descriptors, life: outputs.life, reads };
            let happened = py.detach(|| turn(&ends, &mut outgoing, inbox, &mut patience));
            match happened {
                Ok(Turn::Received(count)) => {
                    if let Some(arrived) = receive(py, inbox, end, count)? {
                        return Ok(Some(arrived));
                    }
                }
                Ok(Turn::Sent) => return Ok(None),
                // S10: nothing more can come.
                Ok(Turn::Eof) => {
                    end.close();
                    return Ok(None);
                }
                Ok(Turn::Output(index, bytes)) => {
                    if bytes.is_empty() {
                        descriptors[index] = -1;
                    } else {
                        outputs.hand_over(py, index, &bytes)?;
                    }
                }
                Ok(Turn::Interrupted) | Err(Errno::INTR) => py.check_signals()?,
                Ok(Turn::Deadline) => {
                    return Err(raise(py, "DeadlineExceeded", "the deadline is over"));
                }
                Ok(Turn::Stalled) => {
                    let text = format!("a frame made no progress for {:?}", self.stall);
                    return Err(raise(py, "Stalled", &text));
                }
                Err(error) => return Err(PyOSError::new_err((error.raw_os_error(), error.to_string()))),
            }
        }
    }
}

/// Puts received bytes to use. An error of the wire or of the session closes that (S9); what Python raises on its own account (Ctrl-C)
/// does not, for no byte is lost by it.
fn receive(py: Python<'_>, inbox: &mut Inbox, end: &mut End, count: usize) -> PyResult<Option<Arrived>> {
    take(py, inbox, end, count).map_err(|failed| {
        if let Failed::Wire(_) = failed {
            end.close();
        }
        failed.raised(py)
    })
}

/// Checks a head against the session as soon as it is there, builds, checks, and hands out a whole frame.
fn take(py: Python<'_>, inbox: &mut Inbox, end: &mut End, count: usize) -> Result<Option<Arrived>, Failed> {
    use hookless::frame::Want;
    match inbox.assembler.want() {
        Want::Slot { .. } => inbox.assembler.advance_slot(count as u64),
        _ => {
            let had_head = inbox.assembler.head().is_some();
            inbox.advance(count)?;
            if let (false, Some(head), End::Host(host)) = (had_head, inbox.assembler.head(), end) {
                host.check_head(&head)?;
            }
        }
    }
    loop {
        match inbox.assembler.want() {
            Want::Bytes | Want::Slot { .. } => return Ok(None),
            Want::Build | Want::Check { .. } | Want::Done => {
                if let Some(arrived) = inbox.settle(py)? {
                    // L10: a session holds one frame at a time.
                    inbox.assembler.delivered();
                    return Ok(Some(arrived));
                }
            }
        }
    }
}

/// What a driver of one call at a time has to know.
enum Event {
    Ready,
    Call(u64),
    Returned,
    Failed,
    Other,
}

impl End {
    fn handle(&mut self, arrived: &Arrived) -> hookless::Result<Event> {
        match self {
            End::Host(host) => host.handle(&arrived.head, &arrived.body).map(|event| match event {
                HostEvent::Ready => Event::Ready,
                HostEvent::Returned(_) => Event::Returned,
                HostEvent::Failed(_) => Event::Failed,
                HostEvent::Cancelled(_)
                | HostEvent::Item(_)
                | HostEvent::Progress(..)
                | HostEvent::Log(..) => Event::Other,
            }),
            End::Worker(worker) => worker.handle(&arrived.head, &arrived.body).map(|event| match event {
                WorkerEvent::Ready => Event::Ready,
                WorkerEvent::Call(id) => Event::Call(id),
                WorkerEvent::Cancel(_)
                | WorkerEvent::Credit(_)
                | WorkerEvent::Shutdown
                | WorkerEvent::Ignored => Event::Other,
            }),
        }
    }

    fn close(&mut self) {
        match self {
            End::Host(host) => host.close(),
            End::Worker(worker) => worker.close(),
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            End::Host(host) => host.is_closed(),
            End::Worker(worker) => worker.is_closed(),
        }
    }

    fn cancel_unsent(&mut self, id: u64) {
        if let End::Host(host) = self {
            host.cancel_unsent(id);
        }
    }
}

impl<'a, 'py> Outputs<'a, 'py> {
    fn none() -> Self {
        Outputs { descriptors: Vec::new(), callback: None, life: -1 }
    }

    fn hand_over(&self, py: Python<'_>, index: usize, bytes: &[u8]) -> PyResult<()> {
        match self.callback {
            Some(callback) => {
                callback.call1((Unsigned(index as u64), fallible::bytes(py, bytes)?)).map(|_| ())
            }
            None => Ok(()),
        }
    }
}

fn drain(py: Python<'_>, outputs: &Outputs<'_, '_>) -> PyResult<()> {
    for (index, output) in outputs.descriptors.iter().enumerate() {
        let mut drained = 0;
        while *output >= 0 && drained < DRAIN {
            match ready_output(output) {
                Some(bytes) if !bytes.is_empty() => {
                    drained += bytes.len();
                    outputs.hand_over(py, index, &bytes)?;
                }
                _ => break,
            }
        }
    }
    Ok(())
}

/// The buffers of a region, held while they are sent from their own memory.
struct Held<'a, 'py> {
    region: &'a [Bound<'py, PyAny>],
    /// Copies of those that another thread could resize.
    copies: Vec<Vec<u8>>,
}

impl<'a, 'py> Held<'a, 'py> {
    fn of(region: &'a [Bound<'py, PyAny>]) -> PyResult<Self> {
        let mut copies = Vec::new();
        for entry in region {
            copies.push(match crate::codec::borrowed(entry) {
                Some(_) => Vec::new(),
                None => crate::ffi::buffer::copied(entry)?,
            });
        }
        Ok(Held { region, copies })
    }

    /// Head and body, then each buffer after its padding.
    fn outgoing<'s>(&'s self, frame: &'s [u8]) -> Outgoing<'s> {
        static ZEROS: [u8; 64] = [0; 64];
        let mut parts = vec![frame];
        let mut filled = frame.len() as u64;
        for (entry, copy) in self.region.iter().zip(&self.copies) {
            let bytes = crate::codec::borrowed(entry).unwrap_or(copy);
            let gap = padding(filled);
            parts.push(&ZEROS[..gap as usize]);
            parts.push(bytes);
            filled += gap + bytes.len() as u64;
        }
        parts.retain(|part| !part.is_empty());
        Outgoing::new(parts)
    }
}

/// The verb of a number; streams need a driver of several frames.
fn asked(verb: u8) -> PyResult<Verb> {
    match Verb::from_number(verb.into()) {
        Some(verb @ (Verb::Function | Verb::Script)) => Ok(verb),
        _ => Err(PyValueError::new_err("verb is 0 for a function, 1 for a script")),
    }
}

fn seconds(wait: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(wait.max(0.0))
        .map_err(|_| PyValueError::new_err("seconds, as a finite number"))
}

#[cold]
fn closed(py: Python<'_>) -> PyErr {
    decode_error(py, &Error::new(Code::UnexpectedFrame).note("the channel is closed"))
}

#[cold]
fn wrong_end(py: Python<'_>) -> PyErr {
    decode_error(py, &Error::new(Code::UnexpectedFrame).note("this is the other end's part"))
}
