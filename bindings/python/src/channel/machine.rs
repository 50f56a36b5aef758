//! The session of `hookless::session`, of either end.

use hookless::frame::Head;
use hookless::session::{Hello, Host, HostEvent, Verb, Worker, WorkerEvent};
use hookless::{Code, Error, Limits, Result};

pub(super) enum End {
    Host(Host),
    Worker(Worker),
}

/// What a frame meant.
pub(super) enum Told<'b> {
    Host(HostEvent<'b>),
    Worker(WorkerEvent),
}

impl End {
    pub(super) fn hello(&self) -> Result<Vec<u8>> {
        let hello: &Hello = match self {
            End::Host(host) => host.hello(),
            End::Worker(worker) => worker.hello(),
        };
        hello.to_body()
    }

    pub(super) fn host(&mut self) -> Result<&mut Host> {
        match self {
            End::Host(host) => Ok(host),
            End::Worker(_) => Err(wrong_end()),
        }
    }

    pub(super) fn worker(&mut self) -> Result<&mut Worker> {
        match self {
            End::Worker(worker) => Ok(worker),
            End::Host(_) => Err(wrong_end()),
        }
    }

    /// S11: the first byte of a frame is there.
    pub(super) fn frame_begins(&mut self) {
        if let End::Host(host) = self {
            host.frame_begins();
        }
    }

    pub(super) fn check_head(&mut self, head: &Head) -> Result<()> {
        match self {
            End::Host(host) => host.check_head(head),
            // It trusts the host, and looks at the whole frame.
            End::Worker(_) => Ok(()),
        }
    }

    pub(super) fn handle<'b>(&mut self, head: &Head, body: &'b [u8]) -> Result<Told<'b>> {
        match self {
            End::Host(host) => host.handle(head, body).map(Told::Host),
            End::Worker(worker) => worker.handle(head, body).map(Told::Worker),
        }
    }

    /// Opens a call, and allows its stream so many items.
    pub(super) fn begin(&mut self, verb: Verb, credit: u32) -> Result<u64> {
        let host = self.host()?;
        let id = host.begin_call(verb)?;
        if credit > 0
            && let Err(error) = host.credit(id, credit)
        {
            host.cancel_unsent(id);
            return Err(error);
        }
        Ok(id)
    }

    /// A call of which no byte has left is as if it had not been; false where others have begun since.
    pub(super) fn undo(&mut self, id: u64) -> bool {
        self.host().is_ok_and(|host| host.cancel_unsent(id))
    }

    pub(super) fn peer_limits(&self, own: &Limits) -> Limits {
        match self {
            End::Host(host) => host.peer_limits(own),
            End::Worker(worker) => worker.peer_limits(own),
        }
    }

    pub(super) fn blame(&self, own: &Limits, error: Error) -> Error {
        match self {
            End::Host(host) => host.blame(own, error),
            End::Worker(worker) => worker.blame(own, error),
        }
    }

    pub(super) fn open(&self) -> usize {
        match self {
            End::Host(host) => host.open(),
            End::Worker(worker) => worker.open(),
        }
    }

    pub(super) fn close(&mut self) {
        match self {
            End::Host(host) => host.close(),
            End::Worker(worker) => worker.close(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            End::Host(host) => host.is_closed(),
            End::Worker(worker) => worker.is_closed(),
        }
    }

    /// Whether the peer may have its reasons for not reading: a worker at work on another call than the one that is being sent.
    pub(super) fn may_be_busy(&self, sending_call: bool) -> bool {
        matches!(self, End::Host(host) if host.open() > usize::from(sending_call))
    }
}

#[cold]
fn wrong_end() -> Error {
    Error::new(Code::UnexpectedFrame).note("this is the other end's part")
}
