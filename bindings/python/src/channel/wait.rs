//! To wait for the channel, for the child's output and its end.

use std::os::fd::{AsFd, RawFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::link::{Alarm, Link};
use crate::ffi::descriptor::borrow;

/// Bytes of output read at once: a pipe's usual capacity.
const OUTPUT: usize = 65_536;

/// What is looked at beside the channel.
pub(super) struct Watch {
    /// Descriptors of the child's output, by index; -1 for one that has ended.
    pub(super) outputs: Vec<RawFd>,
    /// Ready once the peer's process has ended (a pidfd); -1 for none. Whoever else holds the other end of the channel then, such as a fork
    /// that the peer has made, keeps it open, and this side waiting, for as long as it likes.
    pub(super) life: RawFd,
}

impl Default for Watch {
    fn default() -> Self {
        Watch { outputs: Vec::new(), life: -1 }
    }
}

impl Watch {
    pub(super) fn is_empty(&self) -> bool {
        self.life < 0 && self.outputs.iter().all(|output| *output < 0)
    }
}

/// What was seen.
pub(super) enum Looked {
    /// The channel may be ready, or the time is over.
    Channel,
    /// The alarm.
    Rang,
    /// The peer's process has ended.
    Ended,
    /// A signal came.
    Interrupted,
    /// Bytes of an output; none at its end.
    Output(usize, Vec<u8>),
}

/// Waits until something is ready, at most `until`.
pub(super) fn look(
    link: &Link,
    alarm: &Alarm,
    watch: &mut Watch,
    reads: bool,
    blocked: bool,
    until: Option<Instant>,
) -> Result<Looked, Errno> {
    // The caller finds that the channel is closed.
    let Some(bell) = alarm.bell() else { return Ok(Looked::Rang) };
    let mut all = Vec::with_capacity(4 + watch.outputs.len());
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, reads);
    flags.set(PollFlags::OUT, blocked && link.writer().is_none());
    all.push(PollFd::from_borrowed_fd(bell.as_fd(), PollFlags::IN));
    // A pipe whose writer is gone is ready whatever is asked of it.
    if !flags.is_empty() {
        all.push(PollFd::from_borrowed_fd(link.reader(), flags));
    }
    let first = all.len();
    let watched = [watch.life].into_iter().chain(watch.outputs.iter().copied());
    let open: Vec<(usize, RawFd)> = watched.enumerate().filter(|(_, descriptor)| *descriptor >= 0).collect();
    for (_, descriptor) in &open {
        all.push(PollFd::from_borrowed_fd(borrow(descriptor), PollFlags::IN));
    }
    if let (true, Some(writer)) = (blocked, link.writer()) {
        all.push(PollFd::from_borrowed_fd(writer, PollFlags::OUT));
    }
    let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut all, timeout.as_ref()) {
        Err(Errno::INTR) => return Ok(Looked::Interrupted),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    if !all[0].revents().is_empty() {
        return Ok(Looked::Rang);
    }
    for ((place, descriptor), polled) in open.iter().zip(&all[first..]) {
        if polled.revents().is_empty() {
            continue;
        }
        match place.checked_sub(1) {
            None => return Ok(Looked::Ended),
            Some(index) => match read_output(descriptor) {
                Ok(bytes) => {
                    if bytes.is_empty() {
                        watch.outputs[index] = -1;
                    }
                    return Ok(Looked::Output(index, bytes));
                }
                // Somebody else was first.
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error),
            },
        }
    }
    Ok(Looked::Channel)
}

/// What an output that is ready holds; nothing at its end.
fn read_output(output: &RawFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(OUTPUT).map_err(|_| Errno::NOMEM)?;
    bytes.resize(OUTPUT, 0);
    let count = match rustix::io::read(borrow(output), &mut bytes) {
        Ok(count) => count,
        Err(error @ (Errno::INTR | Errno::AGAIN)) => return Err(error),
        Err(_) => 0,
    };
    bytes.truncate(count);
    Ok(bytes)
}
