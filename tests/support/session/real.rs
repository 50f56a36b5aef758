//! One end of a real session, put together as a Rust program would: a decoder, and a state machine that is asked at each head and each
//! frame.

use hookless::frame::{Decoder, FrameKind, HEAD_LEN, Head};
use hookless::session::{End as Ending, Host, HostEvent, Role, Verb, Worker, WorkerEvent};
use hookless::{Error, Limits};

use super::{Step, Told};

/// One end.
#[derive(Debug)]
pub struct Real {
    decoder: Decoder,
    end: End,
    limits: Limits,
    /// The frame that has begun to arrive, and its head.
    bytes: Vec<u8>,
    head: Option<Head>,
    /// The call that the host opened last.
    opened: u64,
    planted: bool,
}

#[derive(Debug)]
enum End {
    Host(Host),
    Worker(Worker),
}

fn refused(error: &Error) -> Told {
    Told::Refused(error.code().as_str(), error.offset())
}

impl Real {
    /// An end to which nothing has been said. The planted bug: answers of earlier calls are taken for those of the open one.
    pub fn new(role: Role, limits: Limits, planted: bool) -> Real {
        let end = match role {
            Role::Host => End::Host(Host::new(limits.clone())),
            Role::Worker => End::Worker(Worker::new(limits.clone())),
        };
        let decoder = Decoder::new(limits.clone());
        Real { decoder, end, limits, bytes: Vec::new(), head: None, opened: 0, planted }
    }

    /// Takes bytes as they come.
    pub fn feed(&mut self, mut chunk: &[u8]) -> Vec<Told> {
        if self.is_closed() {
            return vec![self.after_the_end()];
        }
        let mut told = Vec::new();
        while !chunk.is_empty() {
            // Cut only where the state machine has to be asked: the decoder is given what is left in one piece.
            let end = self.head.map_or(HEAD_LEN, |head| HEAD_LEN + head.body_len as usize);
            let (now, later) = chunk.split_at((end - self.bytes.len()).min(chunk.len()));
            match self.piece(now) {
                Ok(event) => told.extend(event),
                Err(error) => {
                    self.step(Step::Close);
                    let of_the_wire = error.offset().is_some();
                    assert!(!of_the_wire || self.decoder.feed(b"").is_err(), "a decoder outlives {error}");
                    told.push(refused(&error));
                    break;
                }
            }
            chunk = later;
        }
        told
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<Option<Told>, Error> {
        self.bytes.extend(bytes);
        let frames = self.decoder.feed(bytes)?;
        if let (None, Some(head)) = (self.head, self.bytes.first_chunk()) {
            let mut head = Head::parse(head, &self.limits)?;
            if let End::Host(host) = &mut self.end {
                if self.planted && head.call_id < self.opened {
                    head.call_id = self.opened;
                }
                host.check_head(&head)?;
            }
            self.head = Some(head);
        }
        let (Some(head), [frame]) = (self.head, &frames[..]) else {
            assert!(frames.is_empty(), "{} frames at once", frames.len());
            return Ok(None);
        };
        assert_eq!(frame.kind, head.kind);
        let body = self.bytes.split_off(HEAD_LEN);
        self.bytes.clear();
        self.head = None;
        self.handle(&head, &body).map(Some)
    }

    fn handle(&mut self, head: &Head, body: &[u8]) -> Result<Told, Error> {
        Ok(match &mut self.end {
            End::Host(host) => match host.handle(head, body)? {
                HostEvent::Ready => Told::Ready,
                HostEvent::Returned(id) => Told::Returned(id),
                HostEvent::Failed(id) => Told::Failed(id),
                other => panic!("{other:?}"),
            },
            End::Worker(worker) => match worker.handle(head, body)? {
                WorkerEvent::Ready => Told::Ready,
                WorkerEvent::Call(id) => Told::Called(id),
                other => panic!("{other:?}"),
            },
        })
    }

    /// The stream ends.
    pub fn end(&mut self) -> Told {
        if self.is_closed() {
            return self.after_the_end();
        }
        self.decoder.finish().map_or_else(|error| refused(&error), |()| Told::Ended)
    }

    /// Does something on the driver's account.
    pub fn step(&mut self, step: Step) -> Option<Told> {
        match (&mut self.end, step) {
            (End::Host(host), Step::Act) => {
                let opened = host.begin_call(Verb::Function);
                self.opened = *opened.as_ref().unwrap_or(&self.opened);
                Some(opened.map_or_else(|error| refused(&error), Told::Opened))
            }
            (End::Worker(worker), Step::Act) => Some(
                worker
                    .end_call(self.opened, Ending::Result)
                    .map_or_else(|error| refused(&error), |()| Told::Answered(0)),
            ),
            (End::Host(host), Step::Undo) => {
                host.cancel_unsent(self.opened);
                None
            }
            (End::Worker(_), Step::Undo) => None,
            (End::Host(host), Step::Close) => {
                host.close();
                None
            }
            (End::Worker(worker), Step::Close) => {
                worker.close();
                None
            }
        }
    }

    fn is_closed(&self) -> bool {
        match &self.end {
            End::Host(host) => host.is_closed(),
            End::Worker(worker) => worker.is_closed(),
        }
    }

    /// S9: what a closed state machine says to a frame that would have been good.
    fn after_the_end(&mut self) -> Told {
        let kind = FrameKind::Hello;
        let head = Head { kind, call_id: 0, body_len: 1, data_len: 0 };
        let told = self.handle(&head, b"\xc0").unwrap_or_else(|error| refused(&error));
        assert!(self.is_closed(), "a session that has ended has begun again");
        told
    }
}
