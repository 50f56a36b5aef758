//! The trusted end: S1 to S6, S9.

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, Head};
use crate::session::{Hello, Role};

/// What an accepted frame means to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostEvent {
    /// The worker said HELLO: calls may begin.
    Ready,
    /// The open call returned: the frame's value is the result.
    Returned,
    /// The open call failed: the frame's value is the exception.
    Failed,
}

/// The host's side of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
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

impl Default for Host {
    fn default() -> Self {
        Host::new()
    }
}

impl Host {
    /// A session in which nothing has been said; the host sends [`Hello::of`] [`Role::Host`] on its own account.
    pub fn new() -> Host {
        Host { state: State::Start, last_id: 0 }
    }

    /// Opens a call: its id.
    ///
    /// # Errors
    /// `unexpected_frame` before HELLO, while a call is open, and after the session has closed.
    pub fn begin_call(&mut self) -> Result<u64> {
        if self.state != State::Idle {
            return Err(Error::new(Code::UnexpectedFrame).note(match self.state {
                State::Start => "CALL before the worker's HELLO",
                State::Open(_) => "CALL while another is open",
                State::Idle | State::Closed => "CALL in a closed session",
            }));
        }
        self.last_id = self.last_id.saturating_add(1);
        self.state = State::Open(self.last_id);
        Ok(self.last_id)
    }

    /// The open call could not be sent: no byte of it has left, and the next call takes its id (S5).
    pub fn cancel_unsent(&mut self) {
        if let State::Open(id) = self.state {
            self.state = State::Idle;
            self.last_id = id.saturating_sub(1);
        }
    }

    /// Checks the head of a frame, before its body is read.
    ///
    /// # Errors
    /// `unexpected_frame`, `unknown_call`; the session is closed then.
    pub fn check_head(&mut self, head: &Head) -> Result<()> {
        let checked = match (self.state, head.kind) {
            (State::Start, FrameKind::Hello) => Ok(()),
            (State::Open(id), FrameKind::Result | FrameKind::Error) if id == head.call_id => Ok(()),
            (State::Open(id), FrameKind::Result | FrameKind::Error) => Err(Error::new(Code::UnknownCall)
                .note(format_args!("call {} answered, {id} is open", head.call_id))),
            (State::Start | State::Idle | State::Open(_) | State::Closed, kind) => {
                Err(Error::new(Code::UnexpectedFrame).note(format_args!("{} from the worker", kind.name())))
            }
        };
        if checked.is_err() {
            self.close();
        }
        checked
    }

    /// Takes a frame that is complete; `body` is looked at only in control frames.
    ///
    /// # Errors
    /// As [`Host::check_head`], and those of [`Hello`]; the session is closed then.
    pub fn handle(&mut self, head: &Head, body: &[u8]) -> Result<HostEvent> {
        self.check_head(head)?;
        let event = match head.kind {
            FrameKind::Hello => {
                let agreed = Hello::parse(body).and_then(|peer| Hello::of(Role::Host).agree(&peer));
                if let Err(error) = agreed {
                    self.close();
                    return Err(error);
                }
                HostEvent::Ready
            }
            FrameKind::Error => HostEvent::Failed,
            FrameKind::Result | FrameKind::Value | FrameKind::Call => HostEvent::Returned,
        };
        self.state = State::Idle;
        Ok(event)
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

    fn hello(role: Role) -> Vec<u8> {
        Hello::of(role).to_body().unwrap()
    }

    fn ready() -> Host {
        let mut host = Host::new();
        let event = host.handle(&head(FrameKind::Hello, 0), &hello(Role::Worker));
        assert_eq!(event, Ok(HostEvent::Ready));
        host
    }

    #[test]
    fn s1_hello_comes_first_and_once() {
        for kind in [FrameKind::Value, FrameKind::Call, FrameKind::Result, FrameKind::Error] {
            let mut host = Host::new();
            let error = host.handle(&head(kind, 0), &[]).unwrap_err();
            assert_eq!(error.code(), Code::UnexpectedFrame);
            assert!(host.is_closed());
        }
        let error = ready().handle(&head(FrameKind::Hello, 0), &hello(Role::Worker)).unwrap_err();
        assert_eq!(error.code(), Code::UnexpectedFrame);
    }

    #[test]
    fn s3_roles_and_versions_are_checked() {
        let error = Host::new().handle(&head(FrameKind::Hello, 0), &hello(Role::Host)).unwrap_err();
        assert_eq!(error.code(), Code::BadRole);
        let future = Hello { min_version: 2, max_version: 9, ..Hello::of(Role::Worker) };
        let error = Host::new().handle(&head(FrameKind::Hello, 0), &future.to_body().unwrap()).unwrap_err();
        assert_eq!(error.code(), Code::VersionMismatch);
    }

    #[test]
    fn s2_hello_has_one_form() {
        let body = hello(Role::Worker);
        assert!(Hello::parse(&body).is_ok());
        let mut longer = body.clone();
        longer.push(0xc0);
        let mut wide = vec![0xdc, 0, 5];
        wide.extend_from_slice(&body[1..]);
        for bad in [&longer[..], &wide, &body[..body.len() - 1], &[], b"\x85", b"\xc0"] {
            assert_eq!(Hello::parse(bad).unwrap_err().code(), Code::BadControl, "{bad:02x?}");
        }
    }

    #[test]
    fn s5_s6_one_call_one_answer() {
        let mut host = ready();
        assert_eq!(host.begin_call(), Ok(1));
        assert_eq!(host.begin_call().unwrap_err().code(), Code::UnexpectedFrame);
        assert_eq!(host.handle(&head(FrameKind::Result, 1), &[]), Ok(HostEvent::Returned));
        assert_eq!(host.begin_call(), Ok(2));
        assert_eq!(host.handle(&head(FrameKind::Error, 2), &[]), Ok(HostEvent::Failed));
        let second = host.handle(&head(FrameKind::Result, 2), &[]).unwrap_err();
        assert_eq!(second.code(), Code::UnexpectedFrame);
        assert_eq!(host.begin_call().unwrap_err().code(), Code::UnexpectedFrame);
    }

    #[test]
    fn s6_s9_another_calls_answer_closes() {
        let mut host = ready();
        host.begin_call().unwrap();
        let error = host.handle(&head(FrameKind::Result, 7), &[]).unwrap_err();
        assert_eq!(error.code(), Code::UnknownCall);
        assert!(host.is_closed());
    }

    #[test]
    fn an_unsent_call_leaves_the_session_usable() {
        let mut host = ready();
        host.begin_call().unwrap();
        host.cancel_unsent();
        assert_eq!(host.begin_call(), Ok(1));
    }
}
