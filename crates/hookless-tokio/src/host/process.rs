//! The child's process: signalled, waited for and reaped without a handler of SIGCHLD, by a descriptor of it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::host::scratch::Scratch;

/// A handle of the process. Once the last is gone, the process is killed and reaped, and its folder removed.
#[derive(Debug, Clone)]
pub(crate) struct Process(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pid: Pid,
    /// Ready once it has ended.
    life: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// None once it has been reaped: its number may be that of another then.
    child: Option<Child>,
    status: Option<ExitStatus>,
    scratch: Option<Scratch>,
}

impl Process {
    /// Takes over a child that was just started.
    pub(crate) fn new(mut child: Child, scratch: Scratch) -> io::Result<Process> {
        let opened = Pid::from_raw(child.id().cast_signed())
            .ok_or(io::ErrorKind::InvalidInput.into())
            .and_then(|pid| Ok((pid, pidfd_open(pid, PidfdFlags::empty())?)));
        match opened {
            Ok((pid, life)) => {
                let state = State { child: Some(child), status: None, scratch: Some(scratch) };
                Ok(Process(Arc::new(Inner { pid, life, state: Mutex::new(state) })))
            }
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// What is ready once it has ended.
    #[expect(
        deprecated,
        reason = "it takes what is no OwnedFd as well; the unsafe one that replaces it buys nothing here"
    )]
    pub(crate) fn life(&self) -> io::Result<AsyncFd<OwnedFd>> {
        AsyncFd::with_interest(self.0.life.try_clone()?, Interest::READABLE)
    }

    /// Sends a signal to the process and its group, unless it has been reaped.
    pub(crate) fn signal(&self, signal: Signal) {
        self.0.signal(signal);
    }

    /// Sends a signal to the process alone.
    pub(crate) fn nudge(&self, signal: Signal) {
        let _ = pidfd_send_signal(self.0.life.as_fd(), signal);
    }

    /// Reaps a process that has ended, and what it has started; waits for one that has not.
    pub(crate) fn reap(&self) -> Option<ExitStatus> {
        self.0.reap()
    }

    /// Its folder, to be removed.
    pub(crate) fn take_scratch(&self) -> Option<Scratch> {
        self.0.lock().scratch.take()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let state = self.lock();
        if state.child.is_some() {
            // Nobody may be left who could take it.
            let _ = pidfd_send_signal(self.life.as_fd(), signal);
            // It leads a group of its number, or there is none yet.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    fn reap(&self) -> Option<ExitStatus> {
        // The number of its group is not free before it is reaped.
        self.signal(Signal::KILL);
        let mut state = self.lock();
        if let Some(mut child) = state.child.take() {
            state.status = child.wait().ok();
        }
        state.status
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.reap();
    }
}
