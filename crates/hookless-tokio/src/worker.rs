//! The sandboxed end, for children that are written in Rust.

mod context;
mod driver;
mod failure;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;

use hookless::{Limits, Value};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::unconstrained;

pub use context::{Arguments, Context, Items, Level};
pub use failure::Failure;

use crate::convert::IntoValue;
use crate::error::Error;
use crate::socket::Socket;
use context::Shared;
use driver::Driver;

type Answer = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

type AsyncFn = dyn Fn(Context, Arguments) -> Answer + Send + Sync;
type BlockingFn = dyn Fn(&Context, Arguments) -> Result<Value, Failure> + Send + Sync;
type StreamFn = dyn Fn(Context, Arguments, Items) -> Answer + Send + Sync;

/// A function that a host may call.
#[derive(Clone)]
pub(crate) enum Handler {
    Async(Arc<AsyncFn>),
    Blocking(Arc<BlockingFn>),
    Stream(Arc<StreamFn>),
}

pub(crate) type Functions = HashMap<String, Handler>;

/// A child that is written in Rust: functions by name, which a host may call.
///
/// It serves any host: this crate's, or Python's by `hookless.Worker.attach`. Asynchronous functions run side by side, those that block
/// one after the other. A call that is cancelled has its future dropped; one that blocks is told, and waited for.
///
/// ```no_run
/// use hookless_tokio::{Arguments, Context, Failure, Items, Worker};
///
/// async fn add(_: Context, arguments: Arguments) -> Result<i64, Failure> {
///     let (a, b): (i64, i64) = arguments.typed()?;
///     a.checked_add(b).ok_or_else(|| Failure::builtin("OverflowError", "past 64 bits"))
/// }
///
/// async fn count(_: Context, arguments: Arguments, mut items: Items) -> Result<(), Failure> {
///     let (last,): (i64,) = arguments.typed()?;
///     for number in 0..last {
///         items.send(number).await?;
///     }
///     Ok(())
/// }
///
/// fn main() -> Result<(), hookless_tokio::Error> {
///     Worker::new().function("add", add).stream("count", count).strict().run()
/// }
/// ```
#[derive(Default)]
#[must_use]
pub struct Worker {
    functions: Functions,
    limits: Limits,
    #[cfg(feature = "sandbox")]
    lockdown: Option<hookless_sandbox::Lockdown>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("functions", &self.functions.keys()).finish_non_exhaustive()
    }
}

impl Worker {
    /// A worker without functions, which gives nothing up.
    pub fn new() -> Worker {
        Worker::default()
    }

    /// With which the worker decodes, and encodes.
    pub fn limits(mut self, limits: Limits) -> Worker {
        self.limits = limits;
        self
    }

    /// Adds an asynchronous function. Its future is dropped when the call is cancelled, at any of its awaits.
    pub fn function<F, R, T>(mut self, name: &str, run: F) -> Worker
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, Failure>> + Send + 'static,
        T: IntoValue,
    {
        let handler = Handler::Async(Arc::new(move |context, arguments| {
            let answer = run(context, arguments);
            Box::pin(async move { answer.await.map(T::into_value) })
        }));
        self.functions.insert(name.to_owned(), handler);
        self
    }

    /// Adds a function that blocks: it runs in a thread of its own, and no two do at once. It should ask [`Context::is_cancelled`] from
    /// time to time.
    pub fn blocking<F, T>(mut self, name: &str, run: F) -> Worker
    where
        F: Fn(&Context, Arguments) -> Result<T, Failure> + Send + Sync + 'static,
        T: IntoValue,
    {
        let handler =
            Handler::Blocking(Arc::new(move |context, arguments| run(context, arguments).map(T::into_value)));
        self.functions.insert(name.to_owned(), handler);
        self
    }

    /// Adds a function that makes a stream: it sends items, and what it returns comes after the last.
    pub fn stream<F, R, T>(mut self, name: &str, run: F) -> Worker
    where
        F: Fn(Context, Arguments, Items) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, Failure>> + Send + 'static,
        T: IntoValue,
    {
        let handler = Handler::Stream(Arc::new(move |context, arguments, items| {
            let answer = run(context, arguments, items);
            Box::pin(async move { answer.await.map(T::into_value) })
        }));
        self.functions.insert(name.to_owned(), handler);
        self
    }

    /// What [`Worker::run`] gives up before any function runs, and before any other thread starts.
    #[cfg(feature = "sandbox")]
    pub fn sandbox(mut self, lockdown: hookless_sandbox::Lockdown) -> Worker {
        self.lockdown = Some(lockdown);
        self
    }

    /// Gives up what a strict Python child does: all files but shared libraries and time zones to read and the folder of TMPDIR to write,
    /// all system calls that are not listed, and more than 4 GiB of address space. See [`Worker::sandbox`] for more or less.
    #[cfg(feature = "sandbox")]
    pub fn strict(self) -> Worker {
        let readable = [
            "/lib",
            "/lib64",
            "/usr/lib",
            "/usr/lib64",
            "/etc/ld.so.cache",
            "/etc/localtime",
            "/usr/share/zoneinfo",
            "/dev/urandom",
            "/sys/devices/system/cpu",
        ];
        let barriers = hookless_sandbox::Barriers {
            readable: readable.map(Into::into).into(),
            writable: std::env::var_os("TMPDIR").map(Into::into).into_iter().collect(),
            ..hookless_sandbox::Barriers::default()
        };
        let resources = hookless_sandbox::Resources {
            memory: Some(4 << 30),
            file_size: Some(1 << 30),
            open_files: Some(256),
            ..hookless_sandbox::Resources::default()
        };
        self.sandbox(hookless_sandbox::Lockdown { resources, barriers: Some(barriers) })
    }

    /// Serves the host that started this program, to the end of the session: the whole of its `main`, to be called before any thread is
    /// started. The channel is standard input, a socket, in whose place `/dev/null` is put; then it gives up what it is told to, says HELLO,
    /// and answers calls in a runtime of one thread.
    ///
    /// # Errors
    /// [`Error::Io`] if standard input is no socket, or the sandbox cannot be put in force; [`Error::Protocol`] if the host breaks a rule.
    pub fn run(mut self) -> Result<(), Error> {
        let stream = channel()?;
        self.lock_down()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let served = runtime.block_on(async {
            let stream = Socket(tokio::net::UnixStream::from_std(stream)?);
            self.serve_link(stream).await
        });
        // Functions that block may never come back.
        runtime.shutdown_background();
        served
    }

    #[cfg(feature = "sandbox")]
    fn lock_down(&mut self) -> Result<(), Error> {
        match self.lockdown.take().map(|lockdown| lockdown.apply()) {
            Some(Err(error)) => Err(io::Error::other(error).into()),
            Some(Ok(applied)) => {
                // Standard error is the host's to keep.
                #[expect(
                    clippy::print_stderr,
                    reason = "what a best effort lacks has nowhere else to be told"
                )]
                applied.missing.iter().for_each(|missing| eprintln!("hookless worker: {missing}"));
                Ok(())
            }
            None => Ok(()),
        }
    }

    #[cfg(not(feature = "sandbox"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn lock_down(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Serves a host on any stream, to the end of the session, and gives nothing up.
    ///
    /// # Errors
    /// [`Error::Protocol`] if the host breaks a rule.
    ///
    /// # Cancel safety
    /// Dropping the future ends the session: the host sees the end of the stream. Functions that block go on to their end.
    pub async fn serve<S>(self, stream: S) -> Result<(), Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.serve_link(stream).await
    }

    async fn serve_link<S: AsyncRead + AsyncWrite + Unpin>(self, stream: S) -> Result<(), Error> {
        let shared = Shared::new(self.limits);
        unconstrained(Driver::new(stream, shared, self.functions).run()).await.map_err(Error::Protocol)
    }
}

/// Takes the channel from standard input, and leads a session of its own.
///
/// A descriptor of another number could not be taken without unsafe code: nothing says who owns it. Standard input is this process's.
fn channel() -> Result<UnixStream, Error> {
    let input = io::stdin();
    if FileType::from_raw_mode(fstat(input.as_fd())?.st_mode) != FileType::Socket {
        let text = "standard input is no socket: this program is to be started by a host of hookless";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text).into());
    }
    let stream = UnixStream::from(input.as_fd().try_clone_to_owned()?);
    let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(null)?;
    // The host stops it, and what it has started, by its group; it fails where it leads one already.
    let _ = rustix::process::setsid();
    stream.set_nonblocking(true)?;
    Ok(stream)
}
