//! Who is inside a channel: one thread at a time moves its bytes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// What a thread is inside for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To wait for frames: as long as it likes.
    Step,
    /// To send some: not for long.
    Send,
}

/// A lock that tells who holds it.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    inside: Option<(ThreadId, Purpose)>,
    /// How many wait for it to change: without any, nobody is told, which would be a system call.
    waiting: usize,
}

/// The right to move bytes, until it is dropped.
pub(super) struct Inside<'a>(&'a Gate);

/// Why there is no entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// This very thread is inside: it is a finaliser, or a signal handler, that asks.
    Within,
    /// Another thread waits for frames.
    Stepping,
    /// Another thread sends.
    Sending,
}

/// How long one waits before it looks for signals.
const LOOK: Duration = Duration::from_millis(50);

impl Gate {
    pub(super) fn enter(&self, purpose: Purpose) -> Result<Inside<'_>, Taken> {
        let (mut state, me) = (locked(&self.state), std::thread::current().id());
        match state.inside {
            None => {
                state.inside = Some((me, purpose));
                Ok(Inside(self))
            }
            Some((thread, _)) if thread == me => Err(Taken::Within),
            Some((_, Purpose::Step)) => Err(Taken::Stepping),
            Some((_, Purpose::Send)) => Err(Taken::Sending),
        }
    }

    /// Waits a little for whoever is inside to leave, or for `enough`; to be called without the GIL.
    pub(super) fn wait(&self, enough: impl Fn() -> bool) {
        let mut state = locked(&self.state);
        if state.inside.is_some() && !enough() {
            state.waiting += 1;
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Has those look again who wait.
    pub(super) fn tell(&self) {
        if locked(&self.state).waiting > 0 {
            self.changed.notify_all();
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.0.state);
        state.inside = None;
        if state.waiting > 0 {
            self.0.changed.notify_all();
        }
    }
}

/// No lock here is held over anything that panics.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
