//! The model: two tables, and a look at the bytes after each byte.

use std::collections::BTreeMap;

use hookless::session::Role;
use hookless::{Limits, Value, decode};

use super::kind::*;
use super::{Step, Told, bodies};
use crate::vectors::wrap;

/// The states of the session's diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing has been said.
    Start,
    /// Calls may begin.
    Ready,
    /// SHUTDOWN was said.
    Ending,
    /// It is over.
    Closed,
}

/// One thing that a frame or a step needs of the session. They are looked at in order, and the first that is lacking says the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// S6, at the host and in steps: its call is open.
    Open,
    /// S15: the same, or its id is 0.
    OpenOrNone,
    /// S11: its first byte came after its call began.
    Later,
    /// S14: its call was cancelled.
    Cancelled,
    /// S12: its call is a stream, or over.
    Stream,
    /// S13: its call has credit.
    Credit,
    /// S13: its call, if that is not over, may have more by so much.
    Below,
    /// S14: its id has been a call's.
    Known,
    /// S5: its id is the next.
    Next,
    /// S5: fewer calls are open than may be.
    Room,
    /// S16: no call is open.
    NoneOpen,
}

use Need::{Below, Cancelled, Credit, Known, Later, Next, NoneOpen, Open, OpenOrNone, Room, Stream};
use Role::{Host, Worker};
use State::{Closed, Ending, Ready, Start};

const LIVE: &[State] = &[Ready, Ending];
const ANY: &[State] = &[Start, Ready, Ending];

/// Which frames an end takes, when, and what they need. Any other is `unexpected_frame`.
const FRAMES: &[(Role, &[State], u8, &[Need])] = &[
    (Host, &[Start], HELLO, &[]),
    (Host, LIVE, RESULT, &[Open, Later]),
    (Host, LIVE, ERROR, &[Open, Later]),
    (Host, LIVE, CANCELLED, &[Open, Later, Cancelled]),
    (Host, LIVE, ITEM, &[Open, Later, Stream, Credit]),
    (Host, LIVE, PROGRESS, &[Open, Later]),
    (Host, LIVE, LOG, &[OpenOrNone, Later]),
    (Worker, &[Start], HELLO, &[]),
    (Worker, &[Ready], CALL, &[Next, Room]),
    (Worker, LIVE, CANCEL, &[Known]),
    (Worker, LIVE, CREDIT, &[Known, Stream, Below]),
    (Worker, &[Ready], SHUTDOWN, &[]),
];

/// One open call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// 2 is a stream.
    pub verb: u8,
    /// Whether CANCEL was said.
    pub cancelled: bool,
    /// Items that may be sent.
    pub credit: u32,
    /// When it began.
    began: u64,
}

/// One end.
#[derive(Debug)]
pub struct Model {
    /// Which.
    pub end: Role,
    /// Where it is.
    pub state: State,
    /// The id of the last call.
    pub last: u64,
    /// The calls that are open.
    pub calls: BTreeMap<u64, Call>,
    /// S17: what the peer's HELLO named.
    pub peer: Vec<u64>,
    /// The frame that has begun to arrive, and when.
    bytes: Vec<u8>,
    began: u64,
    /// Goes on with each call and each first byte.
    now: u64,
    limits: Limits,
}

/// The fields of a head, of which [`Model::head`] approves.
#[derive(Debug, Clone, Copy)]
struct Head {
    kind: u8,
    call_id: u64,
    body: usize,
}

type Refusal = (&'static str, Option<u64>);

/// F8: whether a body is none of a value.
fn is_control(kind: u8) -> bool {
    matches!(kind, HELLO | CANCEL | CANCELLED | CREDIT | PROGRESS | LOG | SHUTDOWN)
}

impl Model {
    /// An end to which nothing has been said.
    pub fn new(end: Role, limits: Limits) -> Model {
        let (calls, peer, bytes) = (BTreeMap::new(), Vec::new(), Vec::new());
        Model { end, state: Start, last: 0, calls, peer, bytes, began: 0, now: 0, limits }
    }

    /// Takes bytes as they come.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Told> {
        if self.state == Closed {
            return vec![Told::Refused("unexpected_frame", None)];
        }
        let mut told = Vec::new();
        for &byte in chunk {
            if self.bytes.is_empty() {
                self.now += 1;
                self.began = self.now;
            }
            self.bytes.push(byte);
            match self.look() {
                Ok(event) => told.extend(event),
                Err((code, offset)) => {
                    self.close();
                    told.push(Told::Refused(code, offset));
                    break;
                }
            }
        }
        told
    }

    /// S9.
    fn close(&mut self) {
        self.state = Closed;
        self.calls.clear();
    }

    /// The stream ends: S10.
    pub fn end(&mut self) -> Told {
        let at = self.bytes.len() as u64;
        match self.state {
            Closed => Told::Refused("unexpected_frame", None),
            _ if at == 0 => Told::Ended,
            _ => Told::Refused("truncated", Some(at)),
        }
    }

    /// What a need comes to, for a frame or a step of this call.
    fn lacks(&self, need: Need, id: u64, items: u32) -> Option<&'static str> {
        let call = self.calls.get(&id);
        let (good, code) = match need {
            Open => (call.is_some(), "unknown_call"),
            OpenOrNone => (id == 0 || call.is_some(), "unknown_call"),
            Later => (call.is_none_or(|call| call.began < self.began), "unexpected_frame"),
            Cancelled => (call.is_some_and(|call| call.cancelled), "unexpected_frame"),
            Stream => (call.is_none_or(|call| call.verb == 2), "unexpected_frame"),
            Credit => (call.is_some_and(|call| call.credit > 0), "no_credit"),
            Below => (call.is_none_or(|call| call.credit + items <= 65_536), "unexpected_frame"),
            Known => (id <= self.last, "unknown_call"),
            Next => (id == self.last + 1, "unknown_call"),
            Room if self.end == Host => (self.calls.len() < 1024, "open_call_limit"),
            Room => (self.calls.len() < 1024, "unexpected_frame"),
            NoneOpen => (self.calls.is_empty(), "unexpected_frame"),
        };
        (!good).then_some(code)
    }

    /// Does something on the driver's account. In a closed session no call is open.
    pub fn step(&mut self, step: Step) -> Told {
        // Which end, when, and what it needs of which call.
        let (end, when, needs, id, items): (_, _, &[Need], _, _) = match step {
            Step::Close => {
                self.close();
                return Told::Done(true);
            }
            Step::Begin(_) => (Host, &[Ready][..], &[Room], 0, 0),
            Step::Shutdown => (Host, &[Ready], &[NoneOpen], 0, 0),
            Step::Credit(id, items) if self.calls.contains_key(&id) => {
                (Host, ANY, &[Stream, Below], id, items)
            }
            Step::Unsent(id) | Step::Cancel(id) | Step::Credit(id, _) => {
                (Host, &[Start, Ready, Ending, Closed], &[], id, 0)
            }
            Step::Item(id) => (Worker, ANY, &[Open, Stream, Credit], id, 0),
            Step::Answer(id, CANCELLED) => (Worker, ANY, &[Open, Cancelled], id, 0),
            Step::Answer(id, _) | Step::Note(id) => (Worker, ANY, &[Open], id, 0),
        };
        assert_eq!(end, self.end, "{step:?}");
        if !when.contains(&self.state) || matches!(step, Step::Credit(id, 0) if self.calls.contains_key(&id))
        {
            return Told::Refused("unexpected_frame", None);
        }
        if let Some(code) = needs.iter().find_map(|need| self.lacks(*need, id, items)) {
            return Told::Refused(code, None);
        }
        self.stepped(step)
    }

    fn stepped(&mut self, step: Step) -> Told {
        let open = |calls: &BTreeMap<u64, Call>, id| calls.contains_key(&id);
        match step {
            Step::Begin(verb) => return Told::Opened(self.begin(verb)),
            Step::Shutdown => self.state = Ending,
            Step::Unsent(id) => {
                let latest = id == self.last && self.calls.remove(&id).is_some();
                self.last -= u64::from(latest);
                return Told::Done(latest);
            }
            Step::Cancel(id) => {
                let first =
                    self.calls.get_mut(&id).is_some_and(|call| !std::mem::replace(&mut call.cancelled, true));
                return Told::Done(first);
            }
            Step::Credit(id, items) => {
                let there = open(&self.calls, id);
                self.calls.entry(id).and_modify(|call| call.credit += items);
                return Told::Done(there);
            }
            Step::Item(id) => {
                self.calls.entry(id).and_modify(|call| call.credit -= 1);
            }
            Step::Answer(id, _) => {
                self.calls.remove(&id);
            }
            Step::Note(_) | Step::Close => {}
        }
        Told::Done(true)
    }

    fn begin(&mut self, verb: u8) -> u64 {
        self.last += 1;
        self.now += 1;
        self.calls.insert(self.last, Call { verb, cancelled: false, credit: 0, began: self.now });
        self.last
    }

    /// What the byte that has just arrived decides.
    fn look(&mut self) -> Result<Option<Told>, Refusal> {
        let len = self.bytes.len();
        // F1.
        if len <= 4 && self.bytes[..] != b"HKLS"[..len] {
            return Err(("bad_magic", Some(0)));
        }
        if len < 32 {
            return Ok(None);
        }
        let head = self.head()?;
        // The host does not read the body of a frame out of turn.
        if len == 32 && self.end == Host {
            self.turn(head, 0)?;
        }
        if len < 32 + head.body {
            return Ok(None);
        }
        let body = self.bytes.split_off(32);
        self.bytes.clear();
        let verb = self.body(head, &body)?;
        self.turn(head, bodies::credit(&body).unwrap_or_default())?;
        self.take(head, &body, verb).map(Some)
    }

    /// F2 to F9.
    fn head(&self) -> Result<Head, Refusal> {
        let at = |from: usize| u64::from_be_bytes(self.bytes[from..from + 8].try_into().expect("eight"));
        let (kind, call_id, body, data) = (self.bytes[5], at(8), at(16), at(24));
        let control = is_control(kind);
        let most = if control { self.limits.body.min(65_536) } else { self.limits.body };
        let id_is_wrong = match kind {
            1 | HELLO | SHUTDOWN => call_id != 0,
            LOG => false,
            _ => call_id == 0,
        };
        let refused = [
            (self.bytes[4] != 1, "bad_version", 4),
            (!(1..=SHUTDOWN).contains(&kind), "unknown_frame_kind", 5),
            (self.bytes[6..8] != [0, 0], "bad_flags", 6),
            (id_is_wrong, "bad_call_id", 8),
            (body == 0, "bad_length", 16),
            (body > most, "body_limit", 16),
            (control && data != 0, "bad_length", 24),
            (data > self.limits.region, "region_limit", 24),
        ];
        match refused.iter().find(|(wrong, ..)| *wrong) {
            Some(&(_, code, offset)) => Err((code, Some(offset))),
            None => Ok(Head { kind, call_id, body: body as usize }),
        }
    }

    /// Whether a frame comes in its turn.
    fn turn(&self, head: Head, items: u32) -> Result<(), Refusal> {
        let row = FRAMES.iter().find(|&&(end, when, kind, _)| {
            (end, kind) == (self.end, head.kind) && when.contains(&self.state)
        });
        let Some((.., needs)) = row else { return Err(("unexpected_frame", None)) };
        match needs.iter().find_map(|need| self.lacks(*need, head.call_id, items)) {
            Some(code) => Err((code, None)),
            None => Ok(()),
        }
    }

    /// F10: what a body is, by its kind alone; the verb of a CALL.
    fn body(&self, head: Head, body: &[u8]) -> Result<u8, Refusal> {
        let bad = |code: &'static str, at: u64| Err((code, Some(at)));
        if is_control(head.kind) {
            return if bodies::is_control(head.kind, body) { Ok(0) } else { bad("bad_control", 32) };
        }
        if head.kind == ERROR && !bodies::begins_as_exception(body) {
            return bad("bad_type", 32);
        }
        let value = match decode(&wrap(body, &[]), &self.limits) {
            Ok(value) => value,
            Err(error) => return Err((error.code().as_str(), error.offset())),
        };
        match head.kind {
            CALL => bodies::call(&value).or_else(|at| bad("bad_call", at)),
            ERROR => {
                assert!(matches!(value, Value::Exception(_)), "S7: {value:?}");
                Ok(0)
            }
            _ => Ok(0),
        }
    }

    /// A frame that is complete, and in its turn.
    fn take(&mut self, head: Head, body: &[u8], verb: u8) -> Result<Told, Refusal> {
        let id = head.call_id;
        if matches!(head.kind, RESULT | ERROR | CANCELLED) {
            self.calls.remove(&id);
        }
        let call = self.calls.get_mut(&id);
        Ok(match head.kind {
            HELLO => return self.greeted(body),
            RESULT => Told::Returned(id),
            ERROR => Told::Failed(id),
            CANCELLED => Told::Cancelled(id),
            PROGRESS => Told::Progress(id, bodies::note(PROGRESS, body).expect("it has its form")),
            LOG => Told::Log(id, bodies::note(LOG, body).expect("it has its form")),
            CALL => Told::Called(self.begin(verb)),
            SHUTDOWN => {
                self.state = Ending;
                Told::Ending
            }
            kind => match (kind, call) {
                (ITEM, Some(call)) => {
                    call.credit -= 1;
                    Told::Item(id)
                }
                (CREDIT, Some(call)) => {
                    call.credit += bodies::credit(body).expect("it has its form");
                    Told::Credited(id)
                }
                (CANCEL, Some(call)) if !call.cancelled => {
                    call.cancelled = true;
                    Told::Unwanted(id)
                }
                _ => Told::Ignored,
            },
        })
    }

    /// S3: version 1 is the only one of this end.
    fn greeted(&mut self, body: &[u8]) -> Result<Told, Refusal> {
        let hello = bodies::hello(body).expect("it has its form");
        if hello.role == self.end {
            return Err(("bad_role", None));
        }
        if !(hello.versions.0 <= 1 && hello.versions.1 >= 1) {
            return Err(("version_mismatch", None));
        }
        (self.state, self.peer) = (Ready, hello.limits);
        Ok(Told::Ready)
    }
}
