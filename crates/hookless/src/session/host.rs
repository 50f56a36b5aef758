//! The trusted end: S1 to S6, S9, S11 to S17.

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, Head};
use crate::limits::Limits;
use crate::session::call::check_control;
use crate::session::calls::{Call, Calls, unknown};

use crate::session::peer::Peer;
use crate::session::{Hello, Log, Progress, Role, State, Verb};

/// What an accepted frame means to the host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HostEvent<'b> {
    /// The worker said HELLO: calls may begin.
    Ready,
    /// The call returned, and is over: the frame's value is the result, or what the generator of a stream returned.
    Returned(u64),
    /// The call failed, and is over: the frame's value is the exception.
    Failed(u64),
    /// The call ended because of CANCEL, and is over.
    Cancelled(u64),
    /// The frame's value is an item of this stream. It took one credit.
    Item(u64),
    /// How far this call is.
    Progress(u64, Progress<'b>),
    /// A record of the worker's log, of this call or, with 0, of none.
    Log(u64, Log<'b>),
}

/// The host's side of one session.
#[derive(Debug, PartialEq, Eq)]
pub struct Host {
    state: State,
    calls: Calls,
    peer: Peer,
    /// S11: the id of the last call when the first byte of the frame under way came.
    begun: Option<u64>,
}

impl Host {
    /// A session in which nothing has been said; `limits` are those with which the host decodes, as its [`Host::hello`] says.
    pub fn new(limits: Limits) -> Host {
        Host {
            state: State::Start,
            calls: Calls::default(),
            peer: Peer::new(Role::Host, limits),
            begun: None,
        }
    }

    /// What the host says first, on the driver's account.
    pub fn hello(&self) -> &Hello {
        self.peer.hello()
    }

    /// Opens a call: its id.
    ///
    /// # Errors
    /// `unexpected_frame` before HELLO, after SHUTDOWN and after the session has closed; `open_call_limit` (L11); `out_of_memory`.
    /// Nothing has changed then.
    pub fn begin_call(&mut self, verb: Verb) -> Result<u64> {
        self.check_ready("CALL")?;
        self.calls.check_room()?;
        self.calls.begin(verb)
    }

    /// The call that began last could not be sent: no byte of it has left, and the next call takes its id (S5). False where that is
    /// another call, or none that is open.
    pub fn cancel_unsent(&mut self, id: u64) -> bool {
        let undone = self.calls.undo(id);
        if undone {
            // The next call of this id begins after the frame under way.
            self.begun = self.begun.map(|begun| begun.min(self.calls.last()));
        }
        undone
    }

    /// S14: whether CANCEL is to be sent; not for a call that is over, or was cancelled before.
    pub fn cancel(&mut self, id: u64) -> bool {
        match self.calls.get_mut(id) {
            Some(call) => !std::mem::replace(&mut call.cancelled, true),
            None => false,
        }
    }

    /// S13: allows a stream more items; whether CREDIT is to be sent, which is not so for a call that is over.
    ///
    /// # Errors
    /// `unexpected_frame` for 0 items, for a call that is no stream, and past L12. Nothing has changed then.
    pub fn credit(&mut self, id: u64, items: u32) -> Result<bool> {
        let Some(call) = self.calls.get_mut(id) else { return Ok(false) };
        if items == 0 {
            return Err(Error::new(Code::UnexpectedFrame).note("CREDIT of no items"));
        }
        call.allow(items).map(|()| true)
    }

    /// S16: SHUTDOWN is to be sent, and no further call begins.
    ///
    /// # Errors
    /// `unexpected_frame` before HELLO, while calls are open, a second time, and after the session has closed.
    pub fn shutdown(&mut self) -> Result<()> {
        self.check_ready("SHUTDOWN")?;
        if self.calls.len() > 0 {
            return Err(Error::new(Code::UnexpectedFrame)
                .note(format_args!("SHUTDOWN while {} calls are open", self.calls.len())));
        }
        self.state = State::Ending;
        Ok(())
    }

    fn check_ready(&self, what: &str) -> Result<()> {
        let when = match self.state {
            State::Ready => return Ok(()),
            State::Start => "before the worker's HELLO",
            State::Ending => "after SHUTDOWN",
            State::Closed => "in a closed session",
        };
        Err(Error::new(Code::UnexpectedFrame).note(format_args!("{what} {when}")))
    }

    /// S11: the first byte of a frame is there. The driver says so when its assembler is no longer idle; what the worker has sent
    /// before a call begins cannot answer that call.
    pub fn frame_begins(&mut self) {
        self.begun.get_or_insert(self.calls.last());
    }

    /// Checks the head of a frame, before its body is read.
    ///
    /// # Errors
    /// `unexpected_frame`, `unknown_call`, `no_credit`; the session is closed then.
    pub fn check_head(&mut self, head: &Head) -> Result<()> {
        let checked = self.judge(head);
        if checked.is_err() {
            self.close();
        }
        checked
    }

    fn judge(&self, head: &Head) -> Result<()> {
        match (self.state, head.kind) {
            (State::Start, FrameKind::Hello) => return Ok(()),
            (State::Ready | State::Ending, _) => {}
            (State::Start | State::Closed, _) => return Err(out_of_turn(head.kind)),
        }
        match head.kind {
            FrameKind::Log if head.call_id == 0 => Ok(()),
            FrameKind::Result | FrameKind::Error | FrameKind::Progress | FrameKind::Log => {
                self.call_of(head).map(|_| ())
            }
            FrameKind::Cancelled => self.call_of(head)?.check_cancelled(),
            FrameKind::Item => self.call_of(head)?.check_item(),
            FrameKind::Value
            | FrameKind::Hello
            | FrameKind::Call
            | FrameKind::Cancel
            | FrameKind::Credit
            | FrameKind::Shutdown => Err(out_of_turn(head.kind)),
        }
    }

    /// S6, S11: the open call that a frame is of.
    fn call_of(&self, head: &Head) -> Result<&Call> {
        let (id, name) = (head.call_id, head.kind.name());
        let call = self.calls.get(id).ok_or_else(|| unknown(name, id, self.calls.last()))?;
        if self.begun.is_some_and(|begun| id > begun) {
            return Err(Error::new(Code::UnexpectedFrame)
                .note(format_args!("{name} for call {id}, whose first byte came before that call began")));
        }
        Ok(call)
    }

    /// Takes a frame that is complete; `body` is looked at only in control frames.
    ///
    /// # Errors
    /// As [`Host::check_head`], and those of the control body; the session is closed then.
    pub fn handle<'b>(&mut self, head: &Head, body: &'b [u8]) -> Result<HostEvent<'b>> {
        let event = match self.state {
            State::Closed => Err(out_of_turn(head.kind)),
            // The turn was looked at when the head came. F10 comes before what has changed since.
            _ => check_control(head.kind, body)
                .and_then(|()| self.judge(head))
                .and_then(|()| self.take(head, body)),
        };
        self.begun = None;
        if event.is_err() {
            self.close();
        }
        event
    }

    /// A frame of which [`Host::judge`] approves.
    fn take<'b>(&mut self, head: &Head, body: &'b [u8]) -> Result<HostEvent<'b>> {
        let id = head.call_id;
        Ok(match head.kind {
            FrameKind::Item => {
                if let Some(call) = self.calls.get_mut(id) {
                    call.credit = call.credit.saturating_sub(1);
                }
                HostEvent::Item(id)
            }
            FrameKind::Progress => HostEvent::Progress(id, Progress::parse(body)?),
            FrameKind::Log => HostEvent::Log(id, Log::parse(body)?),
            FrameKind::Cancelled => {
                self.calls.end(id);
                HostEvent::Cancelled(id)
            }
            FrameKind::Error => {
                self.calls.end(id);
                HostEvent::Failed(id)
            }
            FrameKind::Result => {
                self.calls.end(id);
                HostEvent::Returned(id)
            }
            // HELLO: no other kind is approved of.
            _ => {
                self.peer.take(body)?;
                self.state = State::Ready;
                HostEvent::Ready
            }
        })
    }

    /// S17: what the host may send: `own`, an encoder's limits, and where the worker's are smaller those.
    pub fn peer_limits(&self, own: &Limits) -> Limits {
        self.peer.limits(own)
    }

    /// S17: an encoder's error under [`Host::peer_limits`], which says so where a limit of the worker's was met.
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

    /// S13: the items that a stream may send and has not sent; 0 for any other call.
    pub fn credit_of(&self, id: u64) -> u32 {
        self.calls.get(id).map_or(0, |call| call.credit)
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
    Error::new(Code::UnexpectedFrame).note(format_args!("{} from the worker", kind.name()))
}
