//! The stream itself: a socket, or two pipes. Nothing here waits, and nothing touches a Python object.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hookless::frame::Want;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write, writev};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};

use super::ahead::Ahead;
use super::gate::locked;
use super::packet::{Cursor, Parts};
use crate::ffi::descriptor;
use crate::inbox::Inbox;

/// Bytes received into an array before the clock and signals are looked at.
pub(super) const TURN: usize = 64 << 20;

/// Both directions of a stream.
pub(super) struct Link {
    reader: OwnedFd,
    /// Where the stream is two pipes: the one that is written to.
    writer: Option<OwnedFd>,
}

/// How far a frame came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pushed {
    /// All of it is gone.
    All,
    /// No more is taken for now.
    Blocked,
    /// The peer is gone, and takes nothing any more; what it said before can still be read.
    Gone,
    /// As much is gone as was allowed.
    Spent,
}

impl Link {
    /// Takes over the descriptors; none for -1. Pipes are made non-blocking; a socket may be what it is.
    pub(super) fn new(reader: RawFd, writer: Option<RawFd>) -> Result<Option<Link>, Errno> {
        let (reader, writer) = (descriptor::take(reader), writer.and_then(descriptor::take));
        if let (Some(reader), Some(writer)) = (&reader, &writer) {
            rustix::io::ioctl_fionbio(reader, true)?;
            rustix::io::ioctl_fionbio(writer, true)?;
        }
        Ok(reader.map(|reader| Link { reader, writer }))
    }

    pub(super) fn reader(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// What is written to, if it is not the same.
    pub(super) fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.writer.as_ref().map(OwnedFd::as_fd)
    }

    /// Sends as much of a frame as is taken, and as `most` allows.
    pub(super) fn push(
        &self,
        mut parts: Parts<'_>,
        cursor: &mut Cursor,
        most: &mut usize,
    ) -> Result<Pushed, Errno> {
        while !parts.is_gone(*cursor) {
            let (slices, count) = parts.slices(*cursor, *most)?;
            if count == 0 {
                if *most == 0 {
                    return Ok(Pushed::Spent);
                }
                // Only empty parts are left.
                parts.advance(cursor, 0);
                continue;
            }
            let sent = match &self.writer {
                Some(writer) => writev(writer, &slices[..count]),
                None => {
                    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                    sendmsg(&self.reader, &slices[..count], &mut SendAncillaryBuffer::default(), flags)
                }
            };
            match sent {
                Ok(count) => {
                    parts.advance(cursor, count);
                    *most = most.saturating_sub(count);
                }
                Err(Errno::AGAIN) => return Ok(Pushed::Blocked),
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(Pushed::Gone),
                Err(error) => return Err(error),
            }
        }
        Ok(Pushed::All)
    }

    /// Receives at most `most` bytes; 0 at the stream's end. Where a frame begins they go into `ahead`, which is empty then, and otherwise
    /// straight to where they belong. There is no room for control messages, so descriptors that a child sends along are dropped by the
    /// kernel.
    pub(super) fn receive(&self, inbox: &mut Inbox, ahead: &mut Ahead, most: usize) -> Result<usize, Errno> {
        match inbox.assembler.want() {
            Want::Slot { index, from, .. } => {
                let space = inbox.targets.space(index, from);
                let (mut got, most) = (0, space.len().min(TURN).min(most));
                while got < most {
                    let space = &mut space[got..most];
                    let received = match &self.writer {
                        Some(_) => read(&self.reader, space).map(|(filled, _)| filled.len()),
                        None => recv(&self.reader, space, RecvFlags::DONTWAIT).map(|((_, _), count)| count),
                    };
                    match received {
                        Ok(0) => break,
                        Ok(count) => got += count,
                        Err(Errno::INTR) => {}
                        Err(_) if got > 0 => break,
                        Err(error) => return Err(error),
                    }
                }
                Ok(got)
            }
            _ if inbox.assembler.head().is_none() => {
                let count = self.receive_into(ahead.space(), most)?;
                ahead.fill(count);
                Ok(count)
            }
            _ => self.receive_into(inbox.assembler.space().map_err(|_| Errno::NOMEM)?, most),
        }
    }

    fn receive_into(&self, space: &mut [u8], most: usize) -> Result<usize, Errno> {
        let len = space.len().min(most);
        match &self.writer {
            Some(_) => read(&self.reader, &mut space[..len]),
            None => recv(&self.reader, &mut space[..len], RecvFlags::DONTWAIT).map(|(count, _)| count),
        }
    }
}

/// Has a thread that waits inside look up.
pub(super) struct Alarm {
    /// None once the channel is closed: an error keeps its traceback, and with that the channel, as long as somebody keeps the error.
    bell: Mutex<Option<Arc<OwnedFd>>>,
    /// Whether it has rung since it was last looked at: once is enough.
    rung: AtomicBool,
    /// Whether `wake` was called, which the caller of `step` is to be told.
    woken: AtomicBool,
}

impl Alarm {
    pub(super) fn new() -> Result<Alarm, Errno> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Mutex::new(Some(Arc::new(descriptor)));
        Ok(Alarm { bell, rung: AtomicBool::new(false), woken: AtomicBool::new(false) })
    }

    /// For a packet that was queued, or since the channel is to be closed.
    pub(super) fn ring(&self) {
        if !self.rung.swap(true, Ordering::SeqCst)
            && let Some(bell) = self.bell()
        {
            // It fails when it is full, and then it is ringing.
            let _ = write(&*bell, &1_u64.to_ne_bytes());
        }
    }

    /// For the caller of `step`.
    pub(super) fn wake(&self) {
        self.woken.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// What can be waited for; none once it is closed.
    pub(super) fn bell(&self) -> Option<Arc<OwnedFd>> {
        locked(&self.bell).clone()
    }

    /// Gives its descriptor back.
    pub(super) fn close(&self) {
        *locked(&self.bell) = None;
    }

    /// Makes it quiet. In this order: who rings between the two is heard by a later look, if by none here.
    pub(super) fn answer(&self) {
        self.rung.store(false, Ordering::SeqCst);
        if let Some(bell) = self.bell() {
            let _ = read(&*bell, &mut [0_u8; 8]);
        }
    }

    /// Whether `wake` was called since it was last asked.
    pub(super) fn was_woken(&self) -> bool {
        self.woken.swap(false, Ordering::SeqCst)
    }
}
