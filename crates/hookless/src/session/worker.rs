//! The sandboxed end: S1 to S6, S9, S12 to S17. It trusts the host, and still takes only what the rules allow.
//!
//! Whoever drives it answers a value that cannot be encoded by a failure (S8), arguments that it cannot hold likewise (S18), and exits at the end of the stream (S10) or when no call
//! is open after SHUTDOWN (S16).

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, Head};
use crate::limits::Limits;
use crate::session::call::check_control;
use crate::session::calls::{Call, Calls, unknown};
use crate::session::peer::Peer;
use crate::session::{Credit, Hello, Role, State, Verb};

/// What an accepted frame means to the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEvent {
    /// The host said HELLO.
    Ready,
    /// A call of this id begins: the frame's value is the list of S4.
    Call(u64),
    /// The host no longer wants this call, which is open.
    Cancel(u64),
    /// This stream may send more items: [`Worker::credit`].
    Credit(u64),
    /// No further call begins; the stream is to end when none is open.
    Shutdown,
    /// S14: CANCEL or CREDIT for a call that is over, whose answer was under way, or a second CANCEL.
    Ignored,
}

/// How a call ends (S6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// RESULT.
    Result,
    /// ERROR.
    Error,
    /// CANCELLED, which only a call may be that was cancelled.
    Cancelled,
}

impl End {
    /// The frame that says so.
    pub const fn kind(self) -> FrameKind {
        match self {
            End::Result => FrameKind::Result,
            End::Error => FrameKind::Error,
            End::Cancelled => FrameKind::Cancelled,
        }
    }
}

/// The worker's side of one session.
#[derive(Debug, PartialEq, Eq)]
pub struct Worker {
    state: State,
    calls: Calls,
    peer: Peer,
}

impl Worker {
    /// A session in which nothing has been said; `limits` are those with which the worker decodes, as its [`Worker::hello`] says.
    pub fn new(limits: Limits) -> Worker {
        Worker { state: State::Start, calls: Calls::default(), peer: Peer::new(Role::Worker, limits) }
    }

    /// What the worker says first, on the driver's account.
    pub fn hello(&self) -> &Hello {
        self.peer.hello()
    }

    /// Takes a frame that is complete. `body` is looked at in control frames, and of a CALL the first two bytes, which tell its verb.
    ///
    /// # Errors
    /// `unexpected_frame`, `unknown_call`, those of the control body, `out_of_memory`; the session is closed then.
    pub fn handle(&mut self, head: &Head, body: &[u8]) -> Result<WorkerEvent> {
        let event = match self.state {
            State::Closed => Err(out_of_turn(head.kind)),
            // F10 comes before the turn.
            _ => check_control(head.kind, body).and_then(|()| self.judge(head, body)),
        };
        if event.is_err() {
            self.close();
        }
        event
    }

    fn judge(&mut self, head: &Head, body: &[u8]) -> Result<WorkerEvent> {
        match (self.state, head.kind) {
            (State::Start, FrameKind::Hello) => {
                self.peer.take(body)?;
                self.state = State::Ready;
                Ok(WorkerEvent::Ready)
            }
            (State::Ready, FrameKind::Call) => self.begin(head.call_id, body),
            (State::Ready, FrameKind::Shutdown) => {
                self.state = State::Ending;
                Ok(WorkerEvent::Shutdown)
            }
            (State::Ready | State::Ending, FrameKind::Cancel) => Ok(match self.meant(head)? {
                Some(call) if !call.cancelled => {
                    call.cancelled = true;
                    WorkerEvent::Cancel(head.call_id)
                }
                _ => WorkerEvent::Ignored,
            }),
            (State::Ready | State::Ending, FrameKind::Credit) => {
                let items = Credit::parse(body)?.items;
                let Some(call) = self.meant(head)? else { return Ok(WorkerEvent::Ignored) };
                call.allow(items)?;
                Ok(WorkerEvent::Credit(head.call_id))
            }
            (_, kind) => Err(out_of_turn(kind)),
        }
    }

    /// S5.
    fn begin(&mut self, id: u64, body: &[u8]) -> Result<WorkerEvent> {
        let last = self.calls.last();
        if last.checked_add(1) != Some(id) {
            return Err(Error::new(Code::UnknownCall).note(format_args!("call {id} after {last}")));
        }
        if self.calls.check_room().is_err() {
            return Err(Error::new(Code::UnexpectedFrame)
                .note(format_args!("call {id} while {} are open", self.calls.len())));
        }
        self.calls.begin(Verb::of_body(body)?).map(WorkerEvent::Call)
    }

    /// S14: the open call that the host means; none where it is over, which the host did not know.
    fn meant(&mut self, head: &Head) -> Result<Option<&mut Call>> {
        let last = self.calls.last();
        if head.call_id > last {
            return Err(unknown(head.kind.name(), head.call_id, last));
        }
        Ok(self.calls.get_mut(head.call_id))
    }

    fn opened(&self, what: &str, id: u64) -> Result<&Call> {
        if self.is_closed() {
            return Err(Error::new(Code::UnexpectedFrame).note(format_args!("{what} in a closed session")));
        }
        self.calls.get(id).ok_or_else(|| unknown(what, id, self.calls.last()))
    }

    /// S15: whether PROGRESS and LOG of this call may be sent.
    ///
    /// # Errors
    /// `unknown_call`; `unexpected_frame` after the session has closed.
    pub fn check_open(&self, id: u64) -> Result<()> {
        self.opened("a frame", id).map(|_| ())
    }

    /// S12, S13: an item is to be sent, which takes one credit.
    ///
    /// # Errors
    /// `no_credit`, `unknown_call`; `unexpected_frame` for a call that is no stream, and after the session has closed. Nothing has
    /// changed then.
    pub fn item(&mut self, id: u64) -> Result<()> {
        self.opened("ITEM", id)?.check_item()?;
        if let Some(call) = self.calls.get_mut(id) {
            call.credit = call.credit.saturating_sub(1);
        }
        Ok(())
    }

    /// Whether a call may end so.
    ///
    /// # Errors
    /// As [`Worker::end_call`].
    pub fn check_end(&self, id: u64, end: End) -> Result<()> {
        let call = self.opened(end.kind().name(), id)?;
        match end {
            End::Result | End::Error => Ok(()),
            End::Cancelled => call.check_cancelled(),
        }
    }

    /// S6: the one answer of a call is to be sent, and it is over.
    ///
    /// # Errors
    /// `unknown_call`; `unexpected_frame` for CANCELLED without CANCEL, and after the session has closed. Nothing has changed then.
    pub fn end_call(&mut self, id: u64, end: End) -> Result<()> {
        self.check_end(id, end)?;
        self.calls.end(id);
        Ok(())
    }

    /// S13: the items that a stream may send now; 0 for any other call.
    pub fn credit(&self, id: u64) -> u64 {
        self.calls.get(id).map_or(0, |call| u64::from(call.credit))
    }

    /// S14: whether the host no longer wants this call.
    pub fn is_cancelled(&self, id: u64) -> bool {
        self.calls.get(id).is_some_and(|call| call.cancelled)
    }

    /// S16: whether the host has said SHUTDOWN.
    pub fn is_ending(&self) -> bool {
        self.state == State::Ending
    }

    /// S17: what the worker may send: `own`, an encoder's limits, and where the host's are smaller those.
    pub fn peer_limits(&self, own: &Limits) -> Limits {
        self.peer.limits(own)
    }

    /// S17: an encoder's error under [`Worker::peer_limits`], which says so where a limit of the host's was met.
    pub fn blame(&self, own: &Limits, error: Error) -> Error {
        self.peer.blame(own, error)
    }

    /// How many calls are open.
    pub fn open(&self) -> usize {
        self.calls.len()
    }

    /// Whether a call is open.
    pub fn is_open(&self, id: u64) -> bool {
        self.calls.get(id).is_some()
    }

    /// Ends the session: no call is open any more, and every later step is refused (S9).
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.calls.clear();
    }

    /// Whether it has ended.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
}

#[cold]
fn out_of_turn(kind: FrameKind) -> Error {
    Error::new(Code::UnexpectedFrame).note(format_args!("{} from the host", kind.name()))
}
