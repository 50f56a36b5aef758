//! What a handler is given.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{collections::VecDeque, pin::pin};

use hookless::frame::{FrameKind, OwnedParts};
use hookless::session::{self, EMPTY_BODY, End, Worker as Machine};
use hookless::{Limits, Value, from_value, to_value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::convert::IntoValue;
use crate::packet::Packet;
use crate::worker::failure::Failure;

/// Progress of one call is sent no more often than this, but for the first.
const PROGRESS: Duration = Duration::from_millis(50);

/// Frames that may wait to be sent before progress and logs are dropped, and before items wait.
const QUEUED: usize = 256;

/// What the handlers and the driver share.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) machine: Machine,
    pub(crate) limits: Limits,
    pub(crate) outbox: VecDeque<Packet>,
    pub(crate) driver: Option<Waker>,
}

#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Post>>);

impl Shared {
    pub(crate) fn new(limits: Limits) -> Shared {
        let machine = Machine::new(limits.clone());
        Shared(Arc::new(Mutex::new(Post { machine, limits, outbox: VecDeque::new(), driver: None })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Post> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A value as a frame, under the smaller limits of both ends (S17).
    fn encode(&self, kind: FrameKind, id: u64, value: Value) -> hookless::Result<OwnedParts> {
        let (own, limits) = {
            let post = self.lock();
            (post.limits.clone(), post.machine.peer_limits(&post.limits))
        };
        OwnedParts::encode(value, kind, id, &limits).map_err(|error| self.lock().machine.blame(&own, error))
    }
}

impl Post {
    pub(crate) fn push(&mut self, parts: OwnedParts) {
        self.outbox.push_back(Packet::new(parts, false));
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }
}

/// What is known of one call while it is open.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    pub(crate) is_cancelled: AtomicBool,
    pub(crate) cancelled: Notify,
    /// Credit has come, or the outbox has room again.
    pub(crate) room: Notify,
    progressed: Mutex<Option<Instant>>,
}

/// One call, as its handler sees it.
#[derive(Debug, Clone)]
pub struct Context {
    pub(crate) shared: Shared,
    pub(crate) id: u64,
    pub(crate) signals: Arc<Signals>,
}

/// The level of a record of the log, as Python's logging numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Level {
    Debug = 10,
    Info = 20,
    Warning = 30,
    Error = 40,
}

impl Context {
    /// Whether the host no longer wants the call. An asynchronous handler is dropped then; one that blocks should ask, and return
    /// [`Failure::cancelled`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.signals.is_cancelled.load(Ordering::SeqCst)
    }

    /// Waits until the host no longer wants the call.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn cancelled(&self) {
        let mut told = pin!(self.signals.cancelled.notified());
        told.as_mut().enable();
        if !self.is_cancelled() {
            told.await;
        }
    }

    /// Tells the host how far the call is, in units of the call's own (S15): once in 50 ms at most, and nothing while much waits to be sent.
    pub fn progress(&self, done: u64, total: Option<u64>, text: &str) {
        let mut last = self.signals.progressed.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < PROGRESS) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        self.say(FrameKind::Progress, session::Progress { done, total, text }.to_body());
    }

    /// Sends a record to the host's log (S15); dropped while much waits to be sent.
    pub fn log(&self, level: Level, logger: &str, message: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let log = session::Log {
            level: level as u16,
            logger,
            message,
            created: since.as_secs_f64(),
            path: "",
            line: 0,
            function: "",
        };
        self.say(FrameKind::Log, log.to_body());
    }

    fn say(&self, kind: FrameKind, body: hookless::Result<Vec<u8>>) {
        let frame = body.and_then(|body| OwnedParts::control(kind, self.id, &body));
        let mut post = self.shared.lock();
        if let (Ok(frame), true) = (frame, post.outbox.len() < QUEUED && post.machine.is_open(self.id)) {
            post.push(frame);
        }
    }

    /// S6: the one answer.
    pub(crate) fn finish(&self, outcome: Result<Value, Failure>) {
        let is_cancelled = matches!(&outcome, Err(failure) if failure.is_cancelled);
        if is_cancelled && self.is_cancelled() {
            return self.end(End::Cancelled, OwnedParts::control(FrameKind::Cancelled, self.id, EMPTY_BODY));
        }
        let failure = match outcome.map(|value| self.shared.encode(FrameKind::Result, self.id, value)) {
            Ok(Ok(frame)) => return self.end(End::Result, Ok(frame)),
            Ok(Err(error)) => Failure::unsendable(&error),
            Err(failure) => failure,
        };
        let frame = self.shared.encode(FrameKind::Error, self.id, failure.into_value());
        // The host's limits may be tight.
        let short = || {
            let failure = Failure::new("the failure cannot be sent");
            self.shared.encode(FrameKind::Error, self.id, failure.into_value())
        };
        self.end(End::Error, frame.or_else(|_| short()));
    }

    fn end(&self, end: End, frame: hookless::Result<OwnedParts>) {
        let mut post = self.shared.lock();
        match frame {
            Ok(frame) if post.machine.end_call(self.id, end).is_ok() => post.push(frame),
            // The session is over, or no answer can be sent, and then it has to be.
            Ok(_) => {}
            Err(_) => post.machine.close(),
        }
    }
}

/// Where the handler of a stream sends its items (S12).
#[derive(Debug)]
pub struct Items(pub(crate) Context);

impl Items {
    /// Sends an item, once the host has given credit for it (S13). Large buffers are moved out of it, and sent from where they lie.
    ///
    /// # Errors
    /// A failure that the handler should pass on: the item cannot be encoded, or the session is over.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready drops the item, which is not sent.
    pub async fn send(&mut self, item: impl IntoValue) -> Result<(), Failure> {
        let context = &self.0;
        let encoded = context.shared.encode(FrameKind::Item, context.id, item.into_value());
        let frame = encoded.map_err(|error| Failure::unsendable(&error))?;
        loop {
            let mut room = pin!(context.signals.room.notified());
            room.as_mut().enable();
            {
                let mut post = context.shared.lock();
                if post.machine.credit(context.id) > 0 && post.outbox.len() < QUEUED {
                    post.machine.item(context.id).map_err(Failure::from)?;
                    post.push(frame);
                    return Ok(());
                }
                post.machine.check_open(context.id).map_err(Failure::from)?;
            }
            room.await;
        }
    }

    /// Sends an item of a type of serde's: see [`Items::send`].
    ///
    /// # Errors
    /// Those of [`Items::send`], and of [`to_value`].
    ///
    /// # Cancel safety
    /// As [`Items::send`].
    pub async fn send_typed<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Failure> {
        let value = to_value(item)?;
        self.send(value).await
    }
}

/// What a call was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// By position.
    pub args: Vec<Value>,
    /// By name.
    pub kwargs: Vec<(Value, Value)>,
}

impl Arguments {
    /// The positional arguments as a tuple of types of serde's: `let (x, order): (f64, u8) = arguments.typed()?`.
    ///
    /// # Errors
    /// `type_mismatch`, with the path.
    pub fn typed<T: DeserializeOwned>(self) -> hookless::Result<T> {
        from_value(Value::Tuple(self.args))
    }

    /// A keyword argument, taken out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let wanted = |(key, _): &(Value, Value)| matches!(key, Value::Str(key) if key == name);
        let place = self.kwargs.iter().position(wanted)?;
        Some(self.kwargs.swap_remove(place).1)
    }
}
