//! `Channel`: a session over a private stream, with the GIL released while it waits.
//!
//! ```text
//! any thread          one thread at a time: `gate`
//! begin, cancel, … -> outbox -> io.current -> link      sends; at once, from the encoder's buffer, where nobody is inside
//! step             <- io.ready <- inbox    <- link      receives, builds, asks the session (`end`) what it means
//! ```

mod ahead;
mod event;
mod gate;
mod io;
mod link;
mod machine;
mod packet;
mod post;
mod step;
mod wait;
mod worker;

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use hookless::frame::FrameKind;
use hookless::session::{Credit, EMPTY_BODY, Host, Verb, Worker};
use hookless::{Code, Error, Limits as Core};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rustix::fs::OFlags;

use crate::errors::decode_error;
use crate::failure::Failure;
use crate::ffi::fallible::{self, Unsigned};
use crate::inbox::Inbox;
use crate::limits::{Limits, chosen};
use gate::{Gate, Purpose, locked};
use io::{Io, Outbox, Shared, Wish};
use link::{Alarm, Link, TURN};
use machine::End;
use step::from_now;
use wait::Watch;

/// One end of a session. It owns its descriptors.
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct Channel {
    shared: Shared,
    /// For the thread that is inside (`Shared::gate`).
    io: Mutex<Io>,
    /// The limits with which it decodes, and with which it encodes once the peer has said its own (S17).
    limits: Core,
    agreed: OnceLock<Core>,
    stall: Duration,
    /// The process that made it: a fork has a copy of the descriptor, and of a lock that nobody may ever open.
    process: u32,
    descriptor: AtomicI32,
    /// Bytes of the frame under way that were missing when somebody was last inside, and events that were not asked for.
    pending: AtomicU64,
    ready: AtomicU64,
    /// The descriptor's flags as they were when `listen` was first used: no other flag is changed here.
    flags: OnceLock<OFlags>,
}

#[pymethods]
impl Channel {
    #[new]
    #[pyo3(signature = (fd, role, *, limits=None, stall=30.0, write_fd=None))]
    fn new(
        fd: RawFd,
        role: &str,
        limits: Option<&Bound<'_, Limits>>,
        stall: f64,
        write_fd: Option<RawFd>,
    ) -> PyResult<Self> {
        let limits = chosen(limits).clone();
        let end = match role {
            "host" => End::Host(Host::new(limits.clone())),
            "worker" => End::Worker(Worker::new(limits.clone())),
            _ => return Err(PyValueError::new_err("role is \"host\" or \"worker\"")),
        };
        let stall = seconds(stall)?;
        let link = Link::new(fd, write_fd).map_err(std::io::Error::from)?;
        let alarm = Alarm::new().map_err(std::io::Error::from)?;
        let descriptor = link.as_ref().map_or(-1, |link| link.reader().as_raw_fd());
        Ok(Channel {
            shared: Shared {
                end: Mutex::new(end),
                outbox: Mutex::new(Outbox::default()),
                sent: AtomicU64::new(0),
                released: AtomicU64::new(0),
                alarm,
                gate: Gate::default(),
                closing: AtomicBool::new(false),
            },
            io: Mutex::new(Io::new(link, Inbox::of_session(limits.clone(), role == "worker"))),
            limits,
            agreed: OnceLock::new(),
            stall,
            process: std::process::id(),
            descriptor: AtomicI32::new(descriptor),
            pending: AtomicU64::new(0),
            ready: AtomicU64::new(0),
            flags: OnceLock::new(),
        })
    }

    /// Sends this end's HELLO and waits for the peer's.
    #[pyo3(signature = (deadline=None))]
    fn hello(&self, py: Python<'_>, deadline: Option<f64>) -> PyResult<()> {
        self.greet(py, deadline.map(seconds).transpose()?.and_then(from_now))
    }

    /// Host: sends a CALL, and with `credit` a CREDIT; the id of the call.
    #[expect(clippy::too_many_arguments, reason = "the parts of a CALL")]
    #[pyo3(signature = (verb, name, source, args, kwargs, credit=0))]
    fn begin<'py>(
        &self,
        py: Python<'py>,
        verb: u8,
        name: Bound<'py, PyAny>,
        source: Option<Bound<'py, PyAny>>,
        args: Bound<'py, PyTuple>,
        kwargs: Bound<'py, PyDict>,
        credit: u32,
    ) -> PyResult<Unsigned> {
        self.check_process(py)?;
        let asked = Verb::from_number(verb.into());
        let asked = asked.ok_or_else(|| PyValueError::new_err("verb is 0, 1 or 2"))?;
        let body = fallible::list_of(py, [Unsigned(verb.into()).into_pyobject(py)?.into_any()])?;
        body.append(name)?;
        body.append(source)?;
        body.append(args)?;
        body.append(kwargs)?;
        let mut assign = |end: &mut End| end.begin(asked, credit).map(Some);
        let follows = if credit > 0 { post::first_credit(credit) } else { Ok(Vec::new()) };
        let mut follows = follows.map_err(|error| decode_error(py, &error))?;
        let posted = self.post_value(body.as_any(), FrameKind::Call, &mut follows, &mut assign)?;
        let id = posted.map_or(0, |posted| posted.call_id);
        // With arrays it goes behind them.
        if !follows.is_empty() {
            self.send_credit(py, id, credit, &mut |_| Ok(Some(id)))?;
        }
        Ok(Unsigned(id))
    }

    /// Host: sends CANCEL; false for a call that is over, or was cancelled before.
    fn cancel(&self, py: Python<'_>, call_id: u64) -> PyResult<bool> {
        self.check_process(py)?;
        let mut assign = |end: &mut End| Ok(end.host()?.cancel(call_id).then_some(call_id));
        Ok(self.post_control(py, FrameKind::Cancel, EMPTY_BODY, &mut assign)?.is_some())
    }

    /// Host: sends CREDIT; false for a call that is over.
    fn credit(&self, py: Python<'_>, call_id: u64, items: u32) -> PyResult<bool> {
        self.check_process(py)?;
        let mut assign = |end: &mut End| Ok(end.host()?.credit(call_id, items)?.then_some(call_id));
        self.send_credit(py, call_id, items, &mut assign)
    }

    /// Host: sends SHUTDOWN.
    fn shutdown(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process(py)?;
        let mut assign = |end: &mut End| end.host()?.shutdown().map(|()| Some(0));
        self.post_control(py, FrameKind::Shutdown, EMPTY_BODY, &mut assign).map(|_| ())
    }

    /// Says that an event of this cost was handed on (L10).
    fn release(&self, cost: u64) {
        self.shared.released.fetch_add(cost, Ordering::SeqCst);
    }

    /// Worker: sends an item of a stream, and waits until it is gone.
    fn item(&self, call_id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.send_item(call_id, value)
    }

    /// Worker: answers a call with a value.
    fn result(&self, call_id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.answer(call_id, FrameKind::Result, value)
    }

    /// Worker: answers a call with a failure.
    fn fail(&self, call_id: u64, failure: &Bound<'_, Failure>) -> PyResult<()> {
        self.answer(call_id, FrameKind::Error, failure.as_any())
    }

    /// Worker: answers a call that was cancelled.
    fn cancelled(&self, py: Python<'_>, call_id: u64) -> PyResult<()> {
        self.acknowledge(py, call_id)
    }

    /// Worker: says how far a call is.
    #[pyo3(signature = (call_id, done, total, text))]
    fn progress(
        &self,
        py: Python<'_>,
        call_id: u64,
        done: u64,
        total: Option<u64>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.send_progress(py, call_id, done, total, text)
    }

    /// Worker: sends a record of the log, of a call or, with 0, of none.
    #[expect(clippy::too_many_arguments, reason = "the parts of a LOG")]
    fn log(
        &self,
        py: Python<'_>,
        call_id: u64,
        level: u16,
        logger: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        created: f64,
        path: &Bound<'_, PyAny>,
        line: u32,
        function: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let texts = [logger, message, path, function];
        self.send_log(py, call_id, level, created, line, texts)
    }

    /// Worker, before it gives up what it may do: has the kernel send SIGURG to this thread, and to no other, while `listen` is on.
    fn listen_setup(&self, py: Python<'_>) -> PyResult<()> {
        self.set_up_signals(py)
    }

    /// Worker: whether bytes that arrive raise SIGURG.
    fn listen(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        self.set_signals(py, on)
    }

    /// Sends and receives until there is an event; none when `seconds` are over, or `most` bytes moved.
    #[pyo3(
        signature = (seconds, *, life=-1, outputs=Vec::new(), most=None, yields=false),
        text_signature = "($self, seconds, *, life=-1, outputs=(), most=None, yields=False)",
    )]
    fn step<'py>(
        &self,
        py: Python<'py>,
        seconds: Option<f64>,
        life: RawFd,
        outputs: Vec<RawFd>,
        most: Option<usize>,
        yields: bool,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mut wish = wish(seconds, most)?;
        wish.watch = Watch { outputs, life };
        wish.yields = yields;
        self.step_with(py, &mut wish)?.map(|event| event.to_tuple(py)).transpose()
    }

    /// Sends what is queued; false when `seconds` are over before all of it is gone.
    fn flush(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<bool> {
        self.flush_with(py, &mut wish(seconds, None)?)
    }

    /// Whether something is queued.
    #[getter]
    fn wants_write(&self) -> bool {
        locked(&self.shared.outbox).accepted != self.shared.sent.load(Ordering::SeqCst)
    }

    /// Bytes of the frame under way that are still missing.
    #[getter]
    fn pending(&self) -> Unsigned {
        Unsigned(self.pending.load(Ordering::SeqCst))
    }

    /// How many events `step` can return without looking at the stream.
    #[getter]
    fn ready(&self) -> Unsigned {
        Unsigned(self.ready.load(Ordering::SeqCst))
    }

    /// Has `step`, in whichever thread, return "woken".
    fn wake(&self) {
        self.shared.alarm.wake();
    }

    /// How many calls are open.
    #[getter]
    fn open_calls(&self) -> Unsigned {
        Unsigned(locked(&self.shared.end).open() as u64)
    }

    /// The limits with which this end encodes (S17).
    #[getter]
    fn peer_limits(&self) -> Limits {
        Limits { core: self.agreed.get().unwrap_or(&self.limits).clone() }
    }

    /// The descriptor that is read from.
    fn fileno(&self, py: Python<'_>) -> PyResult<RawFd> {
        match self.descriptor.load(Ordering::SeqCst) {
            -1 => Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note("the channel is closed"))),
            descriptor => Ok(descriptor),
        }
    }

    /// Closes the descriptors; where a thread is inside, it does so as it leaves, which is at once.
    fn close(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            // The copies of a fork, or the peer would not see the end of the process that it talks to. A lock that another thread
            // held there is never opened here.
            if let Ok(mut io) = self.io.try_lock() {
                let link = io.link.take();
                drop(io);
                drop(link);
                self.descriptor.store(-1, Ordering::SeqCst);
                self.shared.closing.store(true, Ordering::SeqCst);
            }
            return;
        }
        self.shared.closing.store(true, Ordering::SeqCst);
        self.descriptor.store(-1, Ordering::SeqCst);
        locked(&self.shared.end).close();
        match self.shared.gate.enter(Purpose::Send) {
            Ok(inside) => {
                let io = locked(&self.io);
                self.depart(py, inside, io);
            }
            Err(_) => self.shared.alarm.ring(),
        }
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.shared.closing.load(Ordering::SeqCst)
    }
}

impl Channel {
    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let note = "this channel belongs to the process that made it, not to its fork";
        Err(decode_error(py, &Error::new(Code::UnexpectedFrame).note(note)))
    }

    fn send_credit(
        &self,
        py: Python<'_>,
        call_id: u64,
        items: u32,
        assign: &mut post::Assign<'_>,
    ) -> PyResult<bool> {
        let refused = Error::new(Code::UnexpectedFrame);
        let body = Credit { items }.to_body().map_err(|error| match error.code() {
            Code::OutOfMemory => error,
            _ => refused.note(format_args!("CREDIT of {items} items for call {call_id}")),
        });
        let body = body.map_err(|error| decode_error(py, &error))?;
        Ok(self.post_control(py, FrameKind::Credit, &body, assign)?.is_some())
    }
}

/// How long to wait, and how much to move: without a time to wait in, what can be done in one turn.
fn wish(seconds_: Option<f64>, most: Option<usize>) -> PyResult<Wish> {
    let wait = seconds_.map(seconds).transpose()?;
    let now = wait.is_some_and(|wait| wait.is_zero());
    let most = most.unwrap_or(if now { TURN } else { usize::MAX }).max(1);
    Ok(Wish { now, most, ..Wish::any(wait.and_then(from_now)) })
}

fn seconds(wait: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(if wait < 0.0 { 0.0 } else { wait })
        .map_err(|_| PyValueError::new_err("seconds, as a finite number"))
}
