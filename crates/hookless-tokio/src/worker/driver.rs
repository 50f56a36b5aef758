//! Moves the bytes of a worker's session, and runs handlers.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as Task, Poll};

use hookless::frame::{FrameKind, OwnedParts, Whole};
use hookless::session::{Verb, WorkerEvent};
use hookless::{Code, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::link::{Link, Received};
use crate::worker::context::{Arguments, Context, Items, Shared, Signals};
use crate::worker::failure::Failure;
use crate::worker::{Functions, Handler};

/// Reads of one turn of the task, before others have theirs.
const READS: usize = 64;

/// The session of one worker.
pub(crate) struct Driver<S> {
    link: Link<S>,
    shared: Shared,
    functions: Functions,
    open: HashMap<u64, Arc<Signals>>,
    tasks: JoinSet<()>,
    /// Handlers that block run one after the other.
    turn: Arc<Mutex<()>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    pub(crate) fn new(stream: S, shared: Shared, functions: Functions) -> Driver<S> {
        let link = Link::new(stream, shared.lock().limits.clone());
        let turn = Arc::default();
        Driver { link, shared, functions, open: HashMap::new(), tasks: JoinSet::new(), turn }
    }

    /// Runs to the end of the stream, or of the session. Handlers that are at work then are dropped.
    pub(crate) async fn run(mut self) -> hookless::Result<()> {
        {
            let mut post = self.shared.lock();
            let body = post.machine.hello().to_body()?;
            post.push(OwnedParts::control(FrameKind::Hello, 0, &body)?);
        }
        let over = poll_fn(|cx| self.poll(cx)).await;
        self.shared.lock().machine.close();
        // One that blocks can only be told.
        self.open.values().for_each(|signals| cancel(signals));
        if over.is_ok() {
            poll_fn(|cx| self.link.poll_shutdown(cx)).await;
        }
        over
    }

    fn poll(&mut self, cx: &mut Task<'_>) -> Poll<hookless::Result<()>> {
        self.shared.lock().driver = Some(cx.waker().clone());
        while let Poll::Ready(Some(_)) = self.tasks.poll_join_next(cx) {}
        for reads in 0.. {
            if reads == READS {
                cx.waker().wake_by_ref();
                break;
            }
            match self.link.poll_receive(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(Received::Bytes(count))) => self.feed(count)?,
                // S10.
                Poll::Ready(Ok(Received::End)) if self.link.intake.is_idle() => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(Received::End)) => {
                    let at = self.link.intake.received();
                    return Poll::Ready(Err(hookless::Error::at(Code::Truncated, at)));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        let Driver { link, shared, open, .. } = self;
        let before = shared.lock().outbox.len();
        let is_blocked = link.poll_send(cx, || shared.lock().outbox.pop_front()).is_pending();
        let post = shared.lock();
        open.retain(|id, _| post.machine.is_open(*id));
        if post.outbox.len() < before {
            open.values().for_each(|signals| signals.room.notify_waiters());
        }
        let is_last = post.machine.is_ending() && post.machine.open() == 0;
        if post.machine.is_closed() || is_last && !is_blocked && post.outbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    }

    fn feed(&mut self, count: usize) -> hookless::Result<()> {
        self.link.intake.advance(count)?;
        if !self.link.intake.is_done() {
            return Ok(());
        }
        let Whole { head, body, value, cost } = self.link.intake.take()?;
        self.link.intake.release(cost);
        let event = self.shared.lock().machine.handle(&head, &body)?;
        match event {
            WorkerEvent::Call(id) => self.begin(id, Verb::of_body(&body)?, value),
            WorkerEvent::Cancel(id) => {
                if let Some(signals) = self.open.get(&id) {
                    cancel(signals);
                }
            }
            WorkerEvent::Credit(id) => {
                if let Some(signals) = self.open.get(&id) {
                    signals.room.notify_waiters();
                }
            }
            WorkerEvent::Ready | WorkerEvent::Shutdown | WorkerEvent::Ignored => {}
        }
        Ok(())
    }

    fn begin(&mut self, id: u64, verb: Verb, value: Value) {
        let signals = Arc::<Signals>::default();
        self.open.insert(id, Arc::clone(&signals));
        let context = Context { shared: self.shared.clone(), id, signals };
        if verb == Verb::Script {
            return context.finish(Err(unfit("this worker runs no scripts")));
        }
        let found = match taken_apart(value) {
            Some((name, arguments)) => {
                self.functions.get(&name).cloned().map(|handler| (handler, arguments)).ok_or(name)
            }
            None => Err("a call without a name".to_owned()),
        };
        match found {
            Ok((handler, arguments)) => {
                let turn = Arc::clone(&self.turn);
                let make = context.clone();
                self.tasks.spawn(serve(context, move || work(handler, verb, make, arguments, turn)));
            }
            Err(name) => {
                context
                    .finish(Err(Failure::builtin("LookupError", format!("there is no function {name:?}"))));
            }
        }
    }
}

fn cancel(signals: &Signals) {
    signals.is_cancelled.store(true, Ordering::SeqCst);
    signals.cancelled.notify_waiters();
}

/// Name and arguments of the list of S4, whose shape the intake has checked.
fn taken_apart(value: Value) -> Option<(String, Arguments)> {
    let Value::List(parts) = value else { return None };
    let [_, Value::Str(name), _, Value::Tuple(args), Value::Dict(kwargs)] =
        <[Value; 5]>::try_from(parts).ok()?
    else {
        return None;
    };
    Some((name, Arguments { args, kwargs }))
}

type Work = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

/// What is to be done for a call, if its verb fits.
fn work(handler: Handler, verb: Verb, context: Context, arguments: Arguments, turn: Arc<Mutex<()>>) -> Work {
    match (verb, handler) {
        (Verb::Function, Handler::Async(run)) => {
            let answer = run(context.clone(), arguments);
            Box::pin(async move { race(&context, answer).await? })
        }
        (Verb::Stream, Handler::Stream(run)) => {
            let answer = run(context.clone(), arguments, Items(context.clone()));
            Box::pin(async move { race(&context, answer).await? })
        }
        // It goes on when its call is cancelled: it is told, and waited for.
        (Verb::Function, Handler::Blocking(run)) => Box::pin(async move {
            let _turn = race(&context, turn.lock()).await?;
            let ran = tokio::task::spawn_blocking(move || run(&context, arguments)).await;
            ran.unwrap_or_else(|_| Err(panicked()))
        }),
        (Verb::Function, Handler::Stream(_)) => {
            refuse("this function makes a stream: it is to be asked for one")
        }
        _ => refuse("this function makes no stream"),
    }
}

fn refuse(why: &'static str) -> Work {
    Box::pin(std::future::ready(Err(unfit(why))))
}

fn unfit(why: &str) -> Failure {
    Failure::builtin("TypeError", why)
}

fn panicked() -> Failure {
    Failure::of("hookless_tokio", "Panic", &["builtins.RuntimeError"], "the handler panicked")
}

/// Waits for something, unless the call is cancelled first.
async fn race<T>(context: &Context, work: impl Future<Output = T>) -> Result<T, Failure> {
    let (mut work, mut cancelled) = (pin!(work), pin!(context.cancelled()));
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        cancelled.as_mut().poll(cx).map(|()| Err(Failure::cancelled()))
    })
    .await
}

/// Runs a handler to its answer: its own, or that it was cancelled, or that it panicked.
async fn serve(context: Context, work: impl FnOnce() -> Work + Send) {
    struct Answer(Option<Context>);
    impl Drop for Answer {
        fn drop(&mut self) {
            if let Some(context) = &self.0
                && std::thread::panicking()
            {
                context.finish(Err(panicked()));
            }
        }
    }
    let mut answer = Answer(Some(context.clone()));
    let outcome = work().await;
    answer.0 = None;
    context.finish(outcome);
}
