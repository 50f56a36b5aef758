//! The trusted end: starts a child, or is attached to one, and calls it.

mod call;
mod driver;
mod event;
mod launch;
mod mailbox;
mod output;
mod post;
mod process;
mod request;
mod scratch;

use std::future::poll_fn;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use hookless::frame::{FrameKind, OwnedParts};
use hookless::{Limits, Value};
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{JoinHandle, unconstrained};

pub use call::{Call, Stream};
pub use event::{Event, Log, Output};
pub use launch::{Isolation, Launch};
pub use request::Request;

use crate::error::Error;
use driver::{Driver, Times};
use post::{Closing, Shared};
use process::Process;

/// The trusted end of a session with one child.
///
/// Any task may call at any time, through a shared reference; up to 1024 calls are open at once (L11), and each gets its own answer. One
/// host is one domain of trust: a later call may be falsified by an earlier one.
///
/// A task of the runtime moves the bytes. Dropping the host kills the child at once, and has it reaped; so does the end of the runtime.
///
/// ```no_run
/// # async fn example() -> Result<(), hookless_tokio::Error> {
/// use hookless_tokio::{Launch, Request};
///
/// let host = Launch::python("/usr/bin/python3").path("src").start().await?;
/// let root = host.call("math:sqrt", [2.0.into()], []).await?;
/// let mut steps = host.stream(Request::function("analysis:steps").arg(10))?;
/// while let Some(step) = steps.next().await {
///     println!("{:?}", step?);
/// }
/// host.close().await;
/// # let _ = root;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Host {
    shared: Shared,
    process: Option<Process>,
    task: Option<JoinHandle<Option<ExitStatus>>>,
}

/// How a session without a process of its own is held.
#[derive(Debug, Clone)]
pub struct Settings {
    /// With which the host decodes, and encodes.
    pub limits: Limits,
    /// How long a frame that has begun may stand still: 30 s.
    pub stall: Duration,
    /// How long the child may take to say HELLO: 30 s.
    pub start_timeout: Duration,
    /// How long the child may take to end a cancelled call: 2 s.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limits: Limits::default(),
            stall: Duration::from_secs(30),
            start_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(2),
        }
    }
}

impl Host {
    /// Attaches to a child that somebody else has started, on any stream. There is no process to end: the stream ends with the session.
    ///
    /// Where the stream is no socket of [`Launch`], what the runtime has not yet announced as readable counts as coming after a call
    /// that is begun now (S11).
    ///
    /// # Errors
    /// [`Error::DeadlineExceeded`] without HELLO in time, [`Error::Died`] if the stream ends, [`Error::Protocol`].
    ///
    /// # Cancel safety
    /// Dropping the future drops the stream.
    pub async fn attach<S>(stream: S, settings: Settings) -> Result<Host, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let shared = Shared::new(settings.limits.clone());
        let times = Times { stall: settings.stall, grace: settings.grace };
        let driver = Driver::new(stream, shared.clone(), times);
        Host::begin(driver, shared, None, settings.start_timeout).await
    }

    async fn begin<S>(
        driver: Driver<S>,
        shared: Shared,
        process: Option<Process>,
        start_timeout: Duration,
    ) -> Result<Host, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        shared.lock().greet().map_err(Error::Protocol)?;
        // It has a measure of its own for its turns, and must see what the kernel holds (S11).
        let task = Some(tokio::spawn(unconstrained(driver.run())));
        let host = Host { shared, process, task };
        let ready = poll_fn(|cx| {
            let mut post = host.shared.lock();
            match &post.verdict {
                Some(error) => Poll::Ready(Err(error.clone())),
                None if post.is_ready => Poll::Ready(Ok(())),
                None => {
                    post.wait_for_start(cx);
                    Poll::Pending
                }
            }
        });
        match tokio::time::timeout(start_timeout, ready).await {
            Ok(ready) => ready.map(|()| host),
            Err(_) => Err(Error::DeadlineExceeded { after: start_timeout, acknowledged: false }),
        }
    }

    /// Calls a function with positional and keyword arguments: see [`Host::request`].
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready cancels the call, and the session goes on.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn call<A, K>(&self, function: &str, args: A, kwargs: K) -> Result<Value, Error>
    where
        A: IntoIterator<Item = Value>,
        K: IntoIterator<Item = (String, Value)>,
    {
        let mut request = Request::function(function).args(args);
        request.kwargs.extend(kwargs.into_iter().map(|(name, value)| (Value::Str(name), value)));
        self.request(request)?.await
    }

    /// Makes a call: it is sent whether or not anybody polls. Large buffers are moved out of the arguments, and sent from where they lie.
    ///
    /// # Errors
    /// [`Error::Refused`] if an argument cannot be encoded; the error that ended the session.
    ///
    /// # Panics
    /// With a deadline, outside of a runtime of tokio.
    pub fn request(&self, request: impl Into<Request>) -> Result<Call, Error> {
        self.open(request.into(), false)
    }

    /// Makes a call of a generator, whose items come one by one. The child runs ahead by a few items ([`Request::window`]), and then waits.
    ///
    /// # Errors
    /// As [`Host::request`], and [`Error::Refused`] for a script.
    pub fn stream(&self, request: impl Into<Request>) -> Result<Stream, Error> {
        let request = request.into();
        if request.source.is_some() {
            let error = hookless::Error::new(hookless::Code::BadCall).note("a script is no stream");
            return Err(Error::Refused(error));
        }
        self.open(request, true).map(Stream::new)
    }

    fn open(&self, request: Request, is_stream: bool) -> Result<Call, Error> {
        let (own, limits) = {
            let post = self.shared.lock();
            (post.limits.clone(), post.machine.peer_limits(&post.limits))
        };
        let (verb, deadline) = (request.verb(is_stream), request.deadline);
        let (events, window) = (request.events, request.window);
        // Its id is known when its turn comes (S5).
        let encoded = OwnedParts::encode(request.into_value(verb), FrameKind::Call, 1, &limits);
        let mut post = self.shared.lock();
        let parts = encoded.map_err(|error| Error::Refused(post.machine.blame(&own, error)))?;
        if let Some(verdict) = &post.verdict {
            return Err(verdict.clone());
        }
        let ticket = post.queue(verb, parts, events, window);
        drop(post);
        Ok(Call::new(self.shared.clone(), ticket, deadline))
    }

    /// The process of the child; none of one that somebody else has started.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// The last that the child wrote to its standard output and error, together: raw, 64 KiB at most.
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        self.shared.lock().kept.iter().copied().collect()
    }

    /// Why the session is over; none while calls can be made.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.shared.lock().verdict.clone()
    }

    /// Ends the session in order: open calls are cancelled, the child may finish, is asked to by SIGTERM after 2 s, and made to by
    /// SIGKILL a second later. How it ended, unless it had to be stopped.
    ///
    /// # Cancel safety
    /// Dropping the future drops the host: the child is killed, and reaped.
    pub async fn close(mut self) -> Option<ExitStatus> {
        self.end_by(Closing::Orderly);
        let task = self.task.as_mut()?;
        let status = task.await.ok().flatten();
        self.task = None;
        status
    }

    fn end_by(&self, closing: Closing) {
        let mut post = self.shared.lock();
        post.closing = Some(closing);
        post.wake_driver();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.task.is_none() {
            return;
        }
        self.end_by(Closing::Dropped);
        if let Some(process) = &self.process {
            process.signal(Signal::KILL);
        }
    }
}
