//! `Channel`, the session as Python runs it over a socket, against the naive model of `support::session`.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;

use fuzz::support::session::model::Model;
use fuzz::support::session::play::peer_parts;
use fuzz::support::session::{Step, Told, limits};
use hookless::frame::FrameKind;
use hookless::session::Role;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};

use crate::{start, stays_of_this_host};

/// Seconds that nothing here takes: the peer does not think.
const PATIENCE: f64 = 15.0;

/// Python, with hookless imported.
#[derive(Debug)]
pub struct Channels {
    class: Py<PyAny>,
    limits: Py<PyAny>,
    refusal: Py<PyAny>,
    nothing: Py<PyAny>,
}

/// What a step of one end came to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Came {
    Told(Told),
    /// The stream ended where the end waited for a frame.
    End,
    /// Refused, for a reason that another host need not have.
    OfThisHost,
}

impl Channels {
    /// Starts Python in this process.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn new() -> Channels {
        Python::initialize();
        let load = |py: Python<'_>| {
            let package = start(py, false)?;
            let ours = limits();
            let chosen = [("region", ours.region), ("body", ours.body)].into_py_dict(py)?;
            Ok(Channels {
                class: py.import("hookless._hookless")?.getattr("Channel")?.unbind(),
                limits: package.getattr("Limits")?.call((), Some(&chosen))?.unbind(),
                refusal: package.getattr("HooklessError")?.unbind(),
                nothing: py.eval(c"lambda *parts: None", None, None)?.unbind(),
            })
        };
        Python::attach(|py| load(py).unwrap_or_else(|error: PyErr| panic!("Python cannot be used: {error}")))
    }

    /// Checks one session: the peer says what `input` decides, and then no more.
    ///
    /// # Panics
    /// With what is wrong.
    pub fn check(&self, input: &[u8], planted: bool) {
        let role = if input.first().is_some_and(|byte| byte % 4 == 0) { Role::Worker } else { Role::Host };
        let parts = peer_parts(role, input);
        let (ours, mut peer) = UnixStream::pair().expect("a pair of sockets");
        // All of it is there before it is looked at.
        say(&mut peer, &parts, 0).expect("a socket takes a few frames");
        let later = parts.clone();
        let answers = std::thread::spawn(move || {
            for number in 1..later.len() {
                // The channel is closed: nobody listens.
                if heard_call(&mut peer).and_then(|()| say(&mut peer, &later, number)).is_err() {
                    return;
                }
            }
            // Its CALLs are taken, unread, until it closes.
            let _ = std::io::copy(&mut peer, &mut std::io::sink());
        });
        let name = if role == Role::Host { "host" } else { "worker" };
        Python::attach(|py| {
            let settings = [("limits", self.limits.bind(py))].into_py_dict(py).expect("a dict");
            let channel =
                self.class.call(py, (ours.into_raw_fd(), name), Some(&settings)).expect("a channel");
            let model = Model::new(role, limits());
            let mut model = Expected { model, rest: &[], later: parts.iter(), planted };
            let mut told = Vec::new();
            for turn in 0..40 {
                let (real, expected) = match (turn, role) {
                    (0, _) => (self.hello(channel.bind(py)), model.hello()),
                    (_, Role::Host) => (self.call(channel.bind(py)), model.call()),
                    (_, Role::Worker) => (self.receive(channel.bind(py)), model.receive()),
                };
                if real == Came::OfThisHost {
                    break;
                }
                assert_eq!(real, expected, "channel (left) and model differ after {told:?}");
                told.push(real);
                // Each end says so once more after its session is over, and that is enough.
                if told.iter().filter(|one| matches!(one, Came::End | Came::Told(Told::Refused(..)))).count()
                    > 2
                {
                    break;
                }
            }
            channel.call_method0(py, "close").expect("it can be closed");
        });
        answers.join().expect("the peer does not fail");
    }

    fn hello(&self, channel: &Bound<'_, PyAny>) -> Came {
        match channel.call_method1("hello", (PATIENCE,)) {
            Ok(_) => Came::Told(Told::Ready),
            Err(error) => self.refused(channel.py(), &error),
        }
    }

    fn call(&self, channel: &Bound<'_, PyAny>) -> Came {
        let py = channel.py();
        let arguments = (0, "m:f", py.None(), PyTuple::empty(py), PyDict::new(py));
        let waiting = PyDict::new(py);
        let set = || {
            waiting.set_item("deadline", PATIENCE)?;
            // No child, whose end would be watched for.
            waiting.set_item("life", -1)?;
            waiting.set_item("outputs", PyTuple::empty(py))?;
            waiting.set_item("on_output", &self.nothing)
        };
        set().expect("a dict");
        let outcome = channel.call_method("call", arguments, Some(&waiting));
        match outcome.and_then(|outcome| outcome.get_item(0)?.extract::<String>()).as_deref() {
            Ok("result") => Came::Told(Told::Returned(0)),
            Ok("error") => Came::Told(Told::Failed(0)),
            Ok(_) => Came::End,
            Err(error) => self.refused(py, error),
        }
    }

    fn receive(&self, channel: &Bound<'_, PyAny>) -> Came {
        let py = channel.py();
        let call = match channel.call_method0("receive") {
            Ok(call) if call.is_none() => return Came::End,
            Ok(call) => call,
            Err(error) => return self.refused(py, &error),
        };
        channel.call_method1("reply", (py.None(),)).expect("an open call can be answered");
        Came::Told(Told::Called(call.get_item(0).and_then(|id| id.extract()).expect("an id")))
    }

    fn refused(&self, py: Python<'_>, error: &PyErr) -> Came {
        let raised = error.value(py);
        let known = raised.is_instance(self.refusal.bind(py)).unwrap_or_default();
        let code = raised.getattr("code").and_then(|code| code.extract::<String>());
        let (true, Ok(code)) = (known, code) else { panic!("none of a session's errors: {error}") };
        let Some(code) = hookless::Code::ALL.iter().find(|one| one.as_str() == code) else {
            panic!("no such code: {code}")
        };
        if stays_of_this_host(*code) {
            return Came::OfThisHost;
        }
        let offset = raised.getattr("offset").and_then(|offset| offset.extract()).unwrap_or_default();
        Came::Told(Told::Refused(code.as_str(), offset))
    }
}

impl Default for Channels {
    fn default() -> Self {
        Channels::new()
    }
}

/// Says one part; after the last there is no more.
fn say(peer: &mut UnixStream, parts: &[Vec<u8>], number: usize) -> std::io::Result<()> {
    peer.write_all(&parts[number])?;
    if number + 1 == parts.len() { peer.shutdown(Shutdown::Write) } else { Ok(()) }
}

/// Waits for a CALL, which has no data region here.
fn heard_call(peer: &mut UnixStream) -> std::io::Result<()> {
    let mut head = [0; 32];
    loop {
        peer.read_exact(&mut head)?;
        let len = u64::from_be_bytes(head[16..24].try_into().expect("eight bytes"));
        std::io::copy(&mut Read::by_ref(peer).take(len), &mut std::io::sink())?;
        // HELLO comes before.
        if head[5] == FrameKind::Call.number() {
            return Ok(());
        }
    }
}

/// The model, which reads what the peer has said only while the end waits for a frame.
struct Expected<'a> {
    model: Model,
    /// What has been said and not been read.
    rest: &'a [u8],
    /// What will be said, after HELLO and after each CALL.
    later: std::slice::Iter<'a, Vec<u8>>,
    planted: bool,
}

impl Expected<'_> {
    /// Reads on to the next thing that it tells.
    fn next(&mut self) -> Option<Told> {
        while let Some(byte) = self.rest.split_off_first() {
            // The planted bug: a channel that takes any id.
            if let Some(told) = self.model.feed(std::slice::from_ref(byte)).pop() {
                let planted = self.planted && told == Told::Refused("unknown_call", None);
                return Some(if planted { Told::Returned(self.model.last) } else { told });
            }
        }
        None
    }

    fn hello(&mut self) -> Came {
        self.rest = self.later.next().map_or(&[], Vec::as_slice);
        match self.next() {
            Some(told) => Came::Told(told),
            None => {
                self.model.step(Step::Close);
                Came::Told(Told::Refused("truncated", Some(0)))
            }
        }
    }

    fn call(&mut self) -> Came {
        // S6: nobody has asked for these bytes.
        if !self.rest.is_empty() {
            self.model.step(Step::Close);
        }
        match self.model.step(Step::Begin(0)) {
            Told::Refused(code, offset) => return Came::Told(Told::Refused(code, offset)),
            opened => assert!(matches!(opened, Told::Opened(_)), "{opened:?}"),
        }
        self.rest = self.later.next().map_or(&[], Vec::as_slice);
        match self.next() {
            // The id is the open one's, which Python does not tell.
            Some(Told::Returned(_)) => Came::Told(Told::Returned(0)),
            Some(Told::Failed(_)) => Came::Told(Told::Failed(0)),
            Some(told) => self.only(told),
            None => self.ended(),
        }
    }

    /// The channel knows calls and their answers alone: all else ends its session.
    fn only(&mut self, told: Told) -> Came {
        if let Told::Refused(..) = told {
            return Came::Told(told);
        }
        self.model.step(Step::Close);
        Came::Told(Told::Refused("unexpected_frame", None))
    }

    fn receive(&mut self) -> Came {
        if self.model.state == fuzz::support::session::model::State::Closed {
            return Came::Told(Told::Refused("unexpected_frame", None));
        }
        match self.next() {
            Some(Told::Called(id)) => {
                self.model.step(Step::Answer(id, FrameKind::Result.number()));
                Came::Told(Told::Called(id))
            }
            Some(told) => self.only(told),
            None => self.ended(),
        }
    }

    fn ended(&mut self) -> Came {
        self.model.step(Step::Close);
        Came::End
    }
}
