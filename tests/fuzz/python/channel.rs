//! `Channel`, the session as Python runs it over a socket, against the naive model of `support::session`.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use fuzz::support::session::model::{Model, State};
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
    unsent: Py<PyAny>,
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
                unsent: package.getattr("EncodeError")?.unbind(),
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
        let (tell, said) = mpsc::channel();
        let answers = std::thread::spawn(move || {
            for number in 1..later.len() {
                // The channel is closed: nobody listens.
                if heard_call(&mut peer).and_then(|()| say(&mut peer, &later, number)).is_err() {
                    return;
                }
                let _ = tell.send(());
            }
            // Its CALLs are taken, unread, until it closes.
            drop(tell);
            let _ = std::io::copy(&mut peer, &mut std::io::sink());
        });
        let name = if role == Role::Host { "host" } else { "worker" };
        Python::attach(|py| {
            let settings = [("limits", self.limits.bind(py))].into_py_dict(py).expect("a dict");
            let channel =
                self.class.call(py, (ours.into_raw_fd(), name), Some(&settings)).expect("a channel");
            let channel = channel.bind(py);
            let model = Model::new(role, limits());
            let mut model =
                Expected { model, rest: &[], taken: VecDeque::new(), later: parts.iter(), planted };
            let (mut told, mut idle) = (Vec::new(), true);
            for turn in 0..100 {
                let (real, expected) = match (turn, role, idle) {
                    (0, ..) => (self.hello(channel), model.hello()),
                    (_, Role::Host, true) => (self.begin(channel, &said), model.begin()),
                    (..) => (self.step(channel), model.step(role)),
                };
                if real == Came::OfThisHost {
                    break;
                }
                assert_eq!(real, expected, "channel (left) and model differ after {told:?}");
                // The next call begins when the last one is over, and when nothing more can be heard.
                idle = match &real {
                    Came::Told(Told::Opened(_)) => false,
                    Came::Told(Told::Called(id)) => {
                        let answered = channel.call_method1("result", (*id, py.None()));
                        if answered.is_err_and(|error| self.is_unsent(py, &error)) {
                            break;
                        }
                        model.model.step(Step::Answer(*id, FrameKind::Result.number()));
                        false
                    }
                    Came::Told(Told::Returned(id) | Told::Failed(id)) => *id == model.model.last,
                    Came::Told(Told::Refused(..) | Told::Ready) | Came::End => true,
                    Came::Told(_) | Came::OfThisHost => idle,
                };
                told.push(real);
                // Each end says so once more after its session is over, and that is enough.
                if told.iter().filter(|one| matches!(one, Came::End | Came::Told(Told::Refused(..)))).count()
                    > 2
                {
                    break;
                }
            }
            channel.call_method0("close").expect("it can be closed");
        });
        answers.join().expect("the peer does not fail");
    }

    fn hello(&self, channel: &Bound<'_, PyAny>) -> Came {
        match channel.call_method1("hello", (PATIENCE,)) {
            Ok(_) => Came::Told(Told::Ready),
            Err(error) => self.refused(channel.py(), &error),
        }
    }

    fn begin(&self, channel: &Bound<'_, PyAny>, said: &mpsc::Receiver<()>) -> Came {
        let py = channel.py();
        let arguments = (0, "m:f", py.None(), PyTuple::empty(py), PyDict::new(py));
        let begun = channel.call_method1("begin", arguments);
        match begun.and_then(|id| id.extract()) {
            Ok(id) => {
                // All of its answer is there, or the peer says no more.
                let _ = said.recv();
                Came::Told(Told::Opened(id))
            }
            Err(error) => self.refused(py, &error),
        }
    }

    fn step(&self, channel: &Bound<'_, PyAny>) -> Came {
        let py = channel.py();
        let event = match channel.call_method1("step", (PATIENCE,)) {
            Ok(event) => event,
            Err(error) => return self.refused(py, &error),
        };
        let (kind, id, value, cost): (String, u64, Bound<'_, PyAny>, u64) =
            event.extract().expect("an event");
        channel.call_method1("release", (cost,)).expect("it was handed on");
        Came::Told(match kind.as_str() {
            "result" => Told::Returned(id),
            "error" => Told::Failed(id),
            "cancelled" => Told::Cancelled(id),
            "item" => Told::Item(id),
            "progress" => {
                let (done, total, text): (u64, Option<u64>, String) = value.extract().expect("PROGRESS");
                Told::Progress(id, format!("{done} of {total:?} {text:?}"))
            }
            "log" => {
                type Log = (u16, String, String, f64, String, u32, String);
                let (level, logger, message, created, path, line, function): Log =
                    value.extract().expect("LOG");
                let told = format!("{level} {logger:?} {message:?} {created} {path:?} {line} {function:?}");
                Told::Log(id, told)
            }
            "call" => Told::Called(id),
            "cancel" => Told::Unwanted(id),
            "credit" => Told::Credited(id),
            "shutdown" => Told::Ending,
            "eof" => return Came::End,
            other => panic!("no such event: {other}"),
        })
    }

    /// S17: the peer takes less than this end has to say.
    fn is_unsent(&self, py: Python<'_>, error: &PyErr) -> bool {
        error.value(py).is_instance(self.unsent.bind(py)).unwrap_or_default()
    }

    fn refused(&self, py: Python<'_>, error: &PyErr) -> Came {
        if self.is_unsent(py, error) {
            return Came::OfThisHost;
        }
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
    /// What was told when a call began.
    taken: VecDeque<Told>,
    /// What will be said, after HELLO and after each CALL.
    later: std::slice::Iter<'a, Vec<u8>>,
    planted: bool,
}

impl Expected<'_> {
    /// Reads on to the next thing that it tells.
    fn next(&mut self) -> Option<Told> {
        if let Some(told) = self.taken.pop_front() {
            return Some(told);
        }
        while let Some(byte) = self.rest.split_off_first() {
            // The planted bug: a channel that takes any id.
            match self.model.feed(std::slice::from_ref(byte)).pop() {
                // Nobody is told of these.
                None | Some(Told::Ignored) => {}
                Some(Told::Refused("unknown_call", None)) if self.planted => {
                    return Some(Told::Returned(self.model.last));
                }
                told => return told,
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

    fn begin(&mut self) -> Came {
        // S11: what has come is taken first, and told later; after an error nothing is.
        let mut taken = std::mem::take(&mut self.taken);
        while self.model.state != State::Closed
            && let Some(told) = self.next()
        {
            if let Told::Refused(..) = told {
                self.taken = taken;
                return Came::Told(told);
            }
            taken.push_back(told);
        }
        self.taken = taken;
        let begun = self.model.step(Step::Begin(0));
        if let Told::Opened(_) = begun {
            self.rest = self.later.next().map_or(&[], Vec::as_slice);
        }
        Came::Told(begun)
    }

    fn step(&mut self, role: Role) -> Came {
        if self.taken.is_empty() && self.model.state == State::Closed {
            return Came::Told(Told::Refused("unexpected_frame", None));
        }
        match self.next() {
            Some(told) => Came::Told(told),
            // A host's last call, of which the peer says nothing more.
            None => {
                assert!(role == Role::Worker || self.later.len() == 0, "a part is missing");
                self.model.step(Step::Close);
                Came::End
            }
        }
    }
}
