//! The sandboxed end. It trusts the host, and still takes only what the rules allow.
//!
//! Whoever drives it answers a result that cannot be encoded by a failure (S8), and exits at the end of the stream (S10).

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, Head};
use crate::session::{Hello, Role};

/// What an accepted frame means to the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEvent {
    /// The host said HELLO.
    Ready,
    /// A call of this id begins: the frame's value is the list of S4.
    Call(u64),
}

/// The worker's side of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    state: State,
    last_id: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Idle,
    Open(u64),
    Closed,
}

impl Default for Worker {
    fn default() -> Self {
        Worker::new()
    }
}

impl Worker {
    /// A session in which nothing has been said.
    pub fn new() -> Worker {
        Worker { state: State::Start, last_id: 0 }
    }

    /// Takes a frame that is complete; `body` is looked at only in control frames.
    ///
    /// # Errors
    /// `unexpected_frame`, `unknown_call` for an id that does not rise by one (S5), those of [`Hello`]; the session is closed then.
    pub fn handle(&mut self, head: &Head, body: &[u8]) -> Result<WorkerEvent> {
        let event = self.judge(head, body);
        self.state = match &event {
            Ok(WorkerEvent::Ready) => State::Idle,
            Ok(WorkerEvent::Call(id)) => State::Open(*id),
            Err(_) => State::Closed,
        };
        if let Ok(WorkerEvent::Call(id)) = event {
            self.last_id = id;
        }
        event
    }

    fn judge(&self, head: &Head, body: &[u8]) -> Result<WorkerEvent> {
        match (self.state, head.kind) {
            (State::Start, FrameKind::Hello) => {
                let peer = Hello::parse(body)?;
                Hello::of(Role::Worker).agree(&peer).map(|_| WorkerEvent::Ready)
            }
            (State::Idle, FrameKind::Call) if head.call_id == self.last_id.saturating_add(1) => {
                Ok(WorkerEvent::Call(head.call_id))
            }
            (State::Idle, FrameKind::Call) => Err(Error::new(Code::UnknownCall)
                .note(format_args!("call {} after {}", head.call_id, self.last_id))),
            (_, kind) => {
                Err(Error::new(Code::UnexpectedFrame).note(format_args!("{} from the host", kind.name())))
            }
        }
    }

    /// Ends the open call: the id that its one answer carries.
    ///
    /// # Errors
    /// `unexpected_frame` when no call is open.
    pub fn end_call(&mut self) -> Result<u64> {
        let State::Open(id) = self.state else {
            return Err(Error::new(Code::UnexpectedFrame).note("an answer without a call"));
        };
        self.state = State::Idle;
        Ok(id)
    }

    /// Ends the session: every later step is refused (S9).
    pub fn close(&mut self) {
        self.state = State::Closed;
    }

    /// Whether it has ended.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: FrameKind, call_id: u64) -> Head {
        Head { kind, call_id, body_len: 1, data_len: 0 }
    }

    #[test]
    fn s5_call_ids_rise_by_one() {
        let mut worker = Worker::new();
        let hello = Hello::of(Role::Host).to_body().unwrap();
        assert_eq!(worker.handle(&head(FrameKind::Hello, 0), &hello), Ok(WorkerEvent::Ready));
        assert_eq!(worker.end_call().unwrap_err().code(), Code::UnexpectedFrame);
        assert_eq!(worker.handle(&head(FrameKind::Call, 1), &[]), Ok(WorkerEvent::Call(1)));
        assert_eq!(worker.end_call(), Ok(1));
        assert_eq!(worker.handle(&head(FrameKind::Call, 3), &[]).unwrap_err().code(), Code::UnknownCall);
        assert_eq!(worker.handle(&head(FrameKind::Call, 2), &[]).unwrap_err().code(), Code::UnexpectedFrame);
    }
}
