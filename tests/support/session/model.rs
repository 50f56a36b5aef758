//! The model: two tables, and a look at the bytes after each byte.

use hookless::session::Role;
use hookless::{Limits, Value, decode};

use super::{Step, Told, bodies};
use crate::vectors::wrap;

const HELLO: u8 = 2;
const CALL: u8 = 3;
const RESULT: u8 = 4;
const ERROR: u8 = 5;

/// The states of S1 to S6's diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing has been said.
    Start,
    /// No call is open.
    Idle,
    /// A call is open.
    Open,
    /// It is over.
    Closed,
}

/// The call id of a frame, compared with the last one: that of the open call, the one after it, or another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    Any,
    Last,
    Next,
}

use Role::{Host, Worker};
use State::{Closed, Idle, Open, Start};

/// Where a frame is taken: end, state, kind, id; and where it leads (S1, S5, S6).
const TAKEN: &[(Role, State, u8, Id, State)] = &[
    (Host, Start, HELLO, Id::Any, Idle),
    (Host, Open, RESULT, Id::Last, Idle),
    (Host, Open, ERROR, Id::Last, Idle),
    (Worker, Start, HELLO, Id::Any, Idle),
    (Worker, Idle, CALL, Id::Next, Open),
];

/// Where a frame of the same place and another id is `unknown_call`: all rows of [`TAKEN`] that look at the id. Any other frame is
/// `unexpected_frame`.
fn refusal(end: Role, state: State, kind: u8) -> &'static str {
    let other_id = TAKEN.iter().any(|&(of, at, what, ..)| (of, at, what) == (end, state, kind));
    if other_id { "unknown_call" } else { "unexpected_frame" }
}

/// Where a step of the driver's is possible, and where it leads. [`Step::Close`] always is.
const STEPS: &[(Role, State, Step, State)] =
    &[(Host, Idle, Step::Act, Open), (Host, Open, Step::Undo, Idle), (Worker, Open, Step::Act, Idle)];

/// One end.
#[derive(Debug)]
pub struct Model {
    end: Role,
    /// Where it is.
    pub state: State,
    /// The id of the open call, or of the last one.
    pub last: u64,
    /// The frame that has begun to arrive.
    bytes: Vec<u8>,
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

impl Model {
    /// An end to which nothing has been said.
    pub fn new(end: Role, limits: Limits) -> Model {
        Model { end, state: Start, last: 0, bytes: Vec::new(), limits }
    }

    /// Takes bytes as they come.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Told> {
        if self.state == Closed {
            return vec![Told::Refused("unexpected_frame", None)];
        }
        let mut told = Vec::new();
        for &byte in chunk {
            self.bytes.push(byte);
            match self.look() {
                Ok(event) => told.extend(event),
                // S9.
                Err((code, offset)) => {
                    self.state = Closed;
                    told.push(Told::Refused(code, offset));
                    break;
                }
            }
        }
        told
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

    /// Does something on the driver's account.
    pub fn step(&mut self, step: Step) -> Option<Told> {
        if step == Step::Close {
            self.state = Closed;
            return None;
        }
        let row = STEPS.iter().find(|&&(end, at, what, _)| (end, at, what) == (self.end, self.state, step));
        let Some(&(.., next)) = row else {
            return (step == Step::Act).then_some(Told::Refused("unexpected_frame", None));
        };
        self.state = next;
        match (self.end, step) {
            (Host, Step::Act) => {
                self.last += 1;
                Some(Told::Opened(self.last))
            }
            // The next call takes its id.
            (Host, _) => {
                self.last -= 1;
                None
            }
            (Worker, _) => Some(Told::Answered(self.last)),
        }
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
            self.turn(head)?;
        }
        if len < 32 + head.body {
            return Ok(None);
        }
        let body = self.bytes.split_off(32);
        self.bytes.clear();
        self.body(head, &body)?;
        self.take(head, &body).map(Some)
    }

    /// F2 to F9.
    fn head(&self) -> Result<Head, Refusal> {
        let at = |from: usize| u64::from_be_bytes(self.bytes[from..from + 8].try_into().expect("eight"));
        let (kind, call_id, body, data) = (self.bytes[5], at(8), at(16), at(24));
        let control = kind == HELLO;
        let most = if control { self.limits.body.min(65_536) } else { self.limits.body };
        let refused = [
            (self.bytes[4] != 1, "bad_version", 4),
            (!(1..=5).contains(&kind), "unknown_frame_kind", 5),
            (self.bytes[6..8] != [0, 0], "bad_flags", 6),
            ((call_id != 0) != (CALL..=ERROR).contains(&kind), "bad_call_id", 8),
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

    /// Whether a frame comes in its turn; the state that it leads to.
    fn turn(&self, head: Head) -> Result<State, Refusal> {
        let fits = |id: Id| match id {
            Id::Any => true,
            Id::Last => head.call_id == self.last,
            Id::Next => head.call_id == self.last + 1,
        };
        let row = TAKEN.iter().find(|&&(end, at, kind, id, _)| {
            (end, at, kind) == (self.end, self.state, head.kind) && fits(id)
        });
        match row {
            Some(&(.., next)) => Ok(next),
            None => Err((refusal(self.end, self.state, head.kind), None)),
        }
    }

    /// F10: what a body is, by its kind alone.
    fn body(&self, head: Head, body: &[u8]) -> Result<(), Refusal> {
        let bad = |code: &'static str, at: u64| Err((code, Some(at)));
        if head.kind == HELLO {
            return if bodies::hello(body).is_some() { Ok(()) } else { bad("bad_control", 32) };
        }
        if head.kind == ERROR && !bodies::begins_as_exception(body) {
            return bad("bad_type", 32);
        }
        let value = match decode(&wrap(body, &[]), &self.limits) {
            Ok(value) => value,
            Err(error) => return Err((error.code().as_str(), error.offset())),
        };
        match head.kind {
            CALL => bodies::not_a_call(&value).map_or(Ok(()), |at| bad("bad_call", at)),
            ERROR => {
                assert!(matches!(value, Value::Exception(_)), "S7: {value:?}");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A frame that is complete.
    fn take(&mut self, head: Head, body: &[u8]) -> Result<Told, Refusal> {
        let next = self.turn(head)?;
        if let Some(hello) = bodies::hello(body).filter(|_| head.kind == HELLO) {
            // S3: version 1 is the only one of this end.
            if hello.role == self.end {
                return Err(("bad_role", None));
            }
            if hello.versions != (hello.versions.0.min(1), hello.versions.1.max(1)) {
                return Err(("version_mismatch", None));
            }
        }
        self.state = next;
        if head.kind == CALL {
            self.last = head.call_id;
        }
        Ok(match head.kind {
            HELLO => Told::Ready,
            CALL => Told::Called(self.last),
            RESULT => Told::Returned(self.last),
            _ => Told::Failed(self.last),
        })
    }
}
