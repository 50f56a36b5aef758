//! One end of a real session, put together as a Rust program would: a decoder, and a state machine that is asked at each head and each
//! frame.

use hookless::frame::{Decoder, FrameKind, HEAD_LEN, Head};
use hookless::session::{End as Ending, Host, HostEvent, Log, Progress, Role, Verb, Worker, WorkerEvent};
use hookless::{Error, Limits, Result};

use super::{Step, Told, kind};

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

/// What a step came to: whether anything is to be sent.
fn done(step: Result<bool>) -> Told {
    step.map_or_else(|error| refused(&error), Told::Done)
}

impl Real {
    /// An end to which nothing has been said. The planted bug: frames of calls that are over are taken for those of the last one.
    pub fn new(role: Role, limits: Limits, planted: bool) -> Real {
        let end = match role {
            Role::Host => End::Host(Host::new(limits.clone())),
            Role::Worker => End::Worker(Worker::new(limits.clone())),
        };
        let decoder = Decoder::new(limits.clone());
        Real { decoder, end, limits, bytes: Vec::new(), head: None, opened: 0, planted }
    }

    /// The body of the HELLO that this end says.
    pub fn hello(&self) -> Vec<u8> {
        let hello = match &self.end {
            End::Host(host) => host.hello(),
            End::Worker(worker) => worker.hello(),
        };
        hello.to_body().expect("there is memory")
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

    fn piece(&mut self, bytes: &[u8]) -> Result<Option<Told>> {
        if let (End::Host(host), true) = (&mut self.end, self.bytes.is_empty()) {
            host.frame_begins();
        }
        self.bytes.extend(bytes);
        let frames = self.decoder.feed(bytes)?;
        if let (None, Some(head)) = (self.head, self.bytes.first_chunk()) {
            let mut head = Head::parse(head, &self.limits)?;
            if let End::Host(host) = &mut self.end {
                if self.planted && head.call_id != 0 && !host.is_open(head.call_id) {
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

    fn handle(&mut self, head: &Head, body: &[u8]) -> Result<Told> {
        Ok(match &mut self.end {
            End::Host(host) => match host.handle(head, body)? {
                HostEvent::Ready => Told::Ready,
                HostEvent::Returned(id) => Told::Returned(id),
                HostEvent::Failed(id) => Told::Failed(id),
                HostEvent::Cancelled(id) => Told::Cancelled(id),
                HostEvent::Item(id) => Told::Item(id),
                HostEvent::Progress(id, Progress { done, total, text }) => {
                    Told::Progress(id, format!("{done} of {total:?} {text:?}"))
                }
                HostEvent::Log(id, Log { level, logger, message, created, path, line, function }) => {
                    let told =
                        format!("{level} {logger:?} {message:?} {created} {path:?} {line} {function:?}");
                    Told::Log(id, told)
                }
            },
            End::Worker(worker) => match worker.handle(head, body)? {
                WorkerEvent::Ready => Told::Ready,
                WorkerEvent::Call(id) => Told::Called(id),
                WorkerEvent::Cancel(id) => Told::Unwanted(id),
                WorkerEvent::Credit(id) => Told::Credited(id),
                WorkerEvent::Shutdown => Told::Ending,
                WorkerEvent::Ignored => Told::Ignored,
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
    pub fn step(&mut self, step: Step) -> Told {
        let told = match (&mut self.end, step) {
            (End::Host(host), Step::Close) => {
                host.close();
                Told::Done(true)
            }
            (End::Worker(worker), Step::Close) => {
                worker.close();
                Told::Done(true)
            }
            (End::Host(host), step) => host_step(host, step),
            (End::Worker(worker), step) => worker_step(worker, step),
        };
        if let Told::Opened(id) = told {
            self.opened = id;
        }
        told
    }

    fn is_closed(&self) -> bool {
        match &self.end {
            End::Host(host) => host.is_closed(),
            End::Worker(worker) => worker.is_closed(),
        }
    }

    /// How many calls are open.
    pub fn open(&self) -> usize {
        match &self.end {
            End::Host(host) => host.open(),
            End::Worker(worker) => worker.open(),
        }
    }

    /// Of a call: whether it is open, its credit, and whether the worker knows that it was cancelled.
    pub fn call(&self, id: u64) -> (bool, u64, bool) {
        match &self.end {
            End::Host(host) => (host.is_open(id), host.credit_of(id).into(), false),
            End::Worker(worker) => (worker.is_open(id), worker.credit(id), worker.is_cancelled(id)),
        }
    }

    /// S17: what this end may send, where its own limits are those.
    pub fn peer_limits(&self, own: &Limits) -> Limits {
        match &self.end {
            End::Host(host) => host.peer_limits(own),
            End::Worker(worker) => worker.peer_limits(own),
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

fn host_step(host: &mut Host, step: Step) -> Told {
    match step {
        Step::Begin(verb) => {
            let verb = Verb::from_number(verb.into()).expect("a verb");
            host.begin_call(verb).map_or_else(|error| refused(&error), Told::Opened)
        }
        Step::Unsent(id) => Told::Done(host.cancel_unsent(id)),
        Step::Cancel(id) => Told::Done(host.cancel(id)),
        Step::Credit(id, items) => done(host.credit(id, items)),
        Step::Shutdown => done(host.shutdown().map(|()| true)),
        Step::Item(_) | Step::Answer(..) | Step::Note(_) | Step::Close => panic!("{step:?} of a host"),
    }
}

fn worker_step(worker: &mut Worker, step: Step) -> Told {
    let sent = match step {
        Step::Item(id) => worker.item(id),
        Step::Answer(id, kind::RESULT) => worker.end_call(id, Ending::Result),
        Step::Answer(id, kind::ERROR) => worker.end_call(id, Ending::Error),
        Step::Answer(id, _) => worker.end_call(id, Ending::Cancelled),
        Step::Note(id) => worker.check_open(id),
        _ => panic!("{step:?} of a worker"),
    };
    done(sent.map(|()| true))
}
