//! How calls fail, and sessions end.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use hookless::RemoteError;
use hookless::display::escape_line;

/// How a call failed, or a session ended. An error that ended the session is that of each later call, too: see [`Error::ends_session`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// The call was not made: an argument cannot be encoded, or 1024 calls are open (L11). Nothing was sent.
    Refused(hookless::Error),
    /// What the call's code raised.
    Remote(RemoteError),
    /// The result is not of the type that was asked for.
    Mismatch(hookless::Error),
    /// The call was cancelled by [`Call::cancel`](crate::Call::cancel), and has ended.
    Cancelled,
    /// No answer within the deadline. The call was cancelled.
    DeadlineExceeded {
        /// The deadline.
        after: Duration,
        /// Whether the child ended the cancelled call in time; otherwise it was stopped, and the session is over.
        acknowledged: bool,
    },
    /// The child broke a rule of the wire or of the session, and was stopped (S9).
    Protocol(hookless::Error),
    /// A frame made no progress for that long, in either direction, and the child was stopped.
    Stalled(Duration),
    /// A cancelled call did not end within the time of grace, and the child was stopped.
    Unresponsive(Duration),
    /// The child ended, or ended its stream, by itself.
    Died(Death),
    /// The host was closed, or dropped.
    Closed,
    /// The system refused something.
    Io(Arc<io::Error>),
    /// The kernel does not confirm that the child's system calls are filtered, as strict isolation promises.
    Isolation,
}

/// How a child came to its end.
#[derive(Debug, Clone)]
pub struct Death {
    /// How the process ended; none where it had to be stopped, or where somebody else had started it.
    pub status: Option<ExitStatus>,
    /// The last that it wrote to its standard output and error, together: raw, 64 KiB at most.
    pub output: Vec<u8>,
}

impl Error {
    /// Whether the session is over with this error; otherwise further calls can be made.
    #[must_use]
    pub fn ends_session(&self) -> bool {
        match self {
            Error::Refused(_) | Error::Remote(_) | Error::Mismatch(_) | Error::Cancelled => false,
            Error::DeadlineExceeded { acknowledged, .. } => !acknowledged,
            Error::Protocol(_)
            | Error::Stalled(_)
            | Error::Unresponsive(_)
            | Error::Died(_)
            | Error::Closed
            | Error::Io(_)
            | Error::Isolation => true,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(Arc::new(error))
    }
}

impl From<rustix::io::Errno> for Error {
    fn from(error: rustix::io::Errno) -> Error {
        io::Error::from(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(error) => write!(f, "the call was not made: {error}"),
            Error::Remote(error) => error.fmt(f),
            Error::Mismatch(error) => write!(f, "the result does not fit: {error}"),
            Error::Cancelled => f.write_str("the call was cancelled"),
            Error::DeadlineExceeded { after, acknowledged: true } => {
                write!(f, "no answer within {after:?}; the call was cancelled")
            }
            Error::DeadlineExceeded { after, acknowledged: false } => {
                write!(
                    f,
                    "no answer within {after:?}, and the cancelled call did not end: the child was stopped"
                )
            }
            Error::Protocol(error) => write!(f, "the child broke a rule, and was stopped: {error}"),
            Error::Stalled(after) => {
                write!(f, "a frame made no progress for {after:?}, and the child was stopped")
            }
            Error::Unresponsive(grace) => {
                write!(f, "a cancelled call did not end within {grace:?}, and the child was stopped")
            }
            Error::Died(death) => death.fmt(f),
            Error::Closed => f.write_str("the host is closed"),
            Error::Io(error) => error.fmt(f),
            Error::Isolation => {
                f.write_str("the kernel does not confirm that the child's system calls are filtered")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Refused(error) | Error::Mismatch(error) | Error::Protocol(error) => Some(error),
            Error::Remote(error) => error.source(),
            Error::Io(error) => Some(&**error),
            _ => None,
        }
    }
}

impl Death {
    /// The exit status of a child that exited.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// The signal that killed it.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code(), self.signal()) {
            (Some(code), _) => write!(f, "the child exited with status {code}")?,
            (_, Some(signal)) => write!(f, "the child was killed by signal {signal}")?,
            _ => f.write_str("the child ended its stream without an answer")?,
        }
        let text = String::from_utf8_lossy(&self.output);
        match text.trim_end().lines().last() {
            Some(last) => write!(f, "; it last wrote: {}", escape_line(last, 500)),
            None => Ok(()),
        }
    }
}
