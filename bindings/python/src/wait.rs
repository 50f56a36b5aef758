//! The blocking I/O of one turn: send what can be sent, receive what is there, drain the child's output, else wait.
//!
//! Nothing here touches a Python object, so it runs with the GIL released.

use std::io::IoSlice;
use std::os::fd::{BorrowedFd, RawFd};
use std::time::{Duration, Instant};

use hookless::frame::Want;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};

use crate::inbox::Inbox;

/// The kernel takes at most this many slices at once (IOV_MAX).
const SLICES: usize = 1024;
/// Bytes received into an array in one turn.
const TURN: usize = 64 << 20;
/// Bytes of output read at once: a pipe's usual capacity.
const OUTPUT: usize = 65_536;

/// A frame on its way out.
pub(crate) struct Outgoing<'a> {
    parts: Vec<&'a [u8]>,
    /// The first part that is not yet gone, and how much of it is.
    next: usize,
    gone: usize,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(parts: Vec<&'a [u8]>) -> Self {
        Outgoing { parts, next: 0, gone: 0 }
    }

    pub(crate) fn nothing() -> Self {
        Outgoing::new(Vec::new())
    }

    fn is_gone(&self) -> bool {
        self.next == self.parts.len()
    }

    fn slices(&self) -> Vec<IoSlice<'a>> {
        let mut skip = self.gone;
        let left = self.parts.get(self.next..).unwrap_or_default().iter().take(SLICES);
        left.map(|part| IoSlice::new(&part[std::mem::take(&mut skip)..])).collect()
    }

    /// Each byte leaves exactly once: what a short write took is not sent again.
    fn advance(&mut self, mut count: usize) {
        while let Some(part) = self.parts.get(self.next) {
            let left = part.len() - self.gone;
            if count < left {
                self.gone += count;
                return;
            }
            count -= left;
            self.next += 1;
            self.gone = 0;
        }
    }
}

/// Until when to wait.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// The end of the caller's deadline.
    pub(crate) deadline: Option<Instant>,
    /// How long a frame may make no progress.
    pub(crate) stall: Duration,
    /// When bytes last moved.
    pub(crate) moved: Instant,
}

/// What one turn came to.
pub(crate) enum Turn {
    /// So many bytes are in the assembler's space, or in its slot.
    Received(usize),
    /// All of the frame is gone, and the caller waits for nothing else.
    Sent,
    /// Bytes of one of the outputs; none at its end.
    Output(usize, Vec<u8>),
    /// The peer has closed the stream.
    Eof,
    /// A signal came.
    Interrupted,
    /// The deadline is over.
    Deadline,
    /// A frame made no progress for too long.
    Stalled,
}

/// One end of the channel for the length of a turn.
pub(crate) struct Ends<'a> {
    pub(crate) channel: BorrowedFd<'a>,
    /// Descriptors of the child's output, by index; a closed one is -1.
    pub(crate) outputs: &'a [RawFd],
    /// Ready once the peer's process has ended (a pidfd); -1 for none. Whoever else holds the other end of the channel then, such as a fork
    /// that the peer has made, keeps it open, and this side waiting, for as long as it likes.
    pub(crate) life: RawFd,
    pub(crate) reads: bool,
}

/// Goes on until something happens that needs the caller.
pub(crate) fn turn(
    ends: &Ends<'_>,
    outgoing: &mut Outgoing<'_>,
    inbox: &mut Inbox,
    patience: &mut Patience,
) -> Result<Turn, Errno> {
    let mut ended = false;
    loop {
        let mut blocked = send(ends.channel, outgoing, patience)?;
        if outgoing.is_gone() && !ends.reads {
            return Ok(Turn::Sent);
        }
        if ends.reads {
            match receive(ends.channel, inbox) {
                Ok(0) => return Ok(Turn::Eof),
                Ok(count) => {
                    patience.moved = Instant::now();
                    return Ok(Turn::Received(count));
                }
                // What it wrote before it ended has been read.
                Err(Errno::AGAIN) if ended => return Ok(Turn::Eof),
                Err(Errno::AGAIN) => {}
                Err(Errno::INTR) => return Ok(Turn::Interrupted),
                Err(Errno::CONNRESET | Errno::PIPE) => return Ok(Turn::Eof),
                Err(error) => return Err(error),
            }
        }
        blocked &= !outgoing.is_gone();
        match wait(ends, blocked, !inbox.assembler.is_idle(), patience)? {
            Waited::Ready => {}
            Waited::Ended => ended = true,
            Waited::Turn(turn) => return Ok(turn),
        }
    }
}

/// Sends as much as the socket takes; true when it takes no more for now.
fn send(
    channel: BorrowedFd<'_>,
    outgoing: &mut Outgoing<'_>,
    patience: &mut Patience,
) -> Result<bool, Errno> {
    while !outgoing.is_gone() {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match sendmsg(channel, &outgoing.slices(), &mut SendAncillaryBuffer::default(), flags) {
            Ok(count) => {
                outgoing.advance(count);
                patience.moved = Instant::now();
            }
            Err(Errno::AGAIN) => return Ok(true),
            Err(Errno::INTR) => {}
            // The peer is gone; what it said before it went can still be read.
            Err(Errno::PIPE | Errno::CONNRESET) => *outgoing = Outgoing::nothing(),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Receives straight into where the bytes belong. There is no room for control messages, so descriptors that a child sends along are
/// dropped by the kernel.
fn receive(channel: BorrowedFd<'_>, inbox: &mut Inbox) -> Result<usize, Errno> {
    match inbox.assembler.want() {
        Want::Slot { index, from, .. } => {
            let space = inbox.targets.space(index, from);
            let mut got = 0;
            // No further than this before the clock and signals are looked at.
            let most = space.len().min(TURN);
            while got < most {
                match recv(channel, &mut space[got..most], RecvFlags::DONTWAIT) {
                    Ok(((_, _), 0)) => break,
                    Ok(((_, _), count)) => got += count,
                    Err(Errno::INTR) => {}
                    Err(_) if got > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(got)
        }
        _ => {
            let space = inbox.assembler.space().map_err(|_| Errno::NOMEM)?;
            recv(channel, space, RecvFlags::DONTWAIT).map(|(count, _)| count)
        }
    }
}

/// What a wait came to.
enum Waited {
    /// The channel is ready.
    Ready,
    /// The peer's process has ended.
    Ended,
    /// The caller is needed.
    Turn(Turn),
}

/// Waits until the channel or an output is ready.
fn wait(ends: &Ends<'_>, blocked: bool, in_frame: bool, patience: &Patience) -> Result<Waited, Errno> {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, ends.reads);
    flags.set(PollFlags::OUT, blocked);
    let mut all = vec![PollFd::from_borrowed_fd(ends.channel, flags)];
    let open: Vec<usize> = (0..ends.outputs.len()).filter(|&index| ends.outputs[index] >= 0).collect();
    if ends.life >= 0 {
        all.push(PollFd::from_borrowed_fd(crate::ffi::descriptor::borrow(&ends.life), PollFlags::IN));
    }
    for &index in &open {
        all.push(PollFd::from_borrowed_fd(
            crate::ffi::descriptor::borrow(&ends.outputs[index]),
            PollFlags::IN,
        ));
    }
    let now = Instant::now();
    let stall_end = (blocked || in_frame).then(|| patience.moved + patience.stall);
    let until = [patience.deadline, stall_end].into_iter().flatten().min();
    let timeout = until.map(|until| until.saturating_duration_since(now));
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut all, timeout.as_ref()) {
        Err(Errno::INTR) => return Ok(Waited::Turn(Turn::Interrupted)),
        Err(error) => return Err(error),
        Ok(0) if until.is_some_and(|until| Instant::now() >= until) => {
            let late = patience.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            return Ok(Waited::Turn(if late { Turn::Deadline } else { Turn::Stalled }));
        }
        Ok(_) => {}
    }
    let (first, lives) = (1, usize::from(ends.life >= 0));
    if all[first..first + lives].iter().any(|life| !life.revents().is_empty()) {
        return Ok(Waited::Ended);
    }
    for (&index, polled) in open.iter().zip(&all[first + lives..]) {
        if !polled.revents().is_empty() {
            return read_output(&ends.outputs[index]).map(|bytes| Waited::Turn(Turn::Output(index, bytes)));
        }
    }
    Ok(Waited::Ready)
}

/// S6: whether the peer has said something that nobody asked for. At its end, or when that cannot be told, it has not.
pub(crate) fn is_early(channel: BorrowedFd<'_>) -> bool {
    let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
    matches!(recv(channel, &mut [0_u8], flags), Ok((_, 1..)))
}

/// What an output that is ready holds; nothing at its end.
fn read_output(output: &RawFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; OUTPUT];
    let count = match rustix::io::read(crate::ffi::descriptor::borrow(output), &mut bytes) {
        Ok(count) => count,
        Err(Errno::INTR | Errno::AGAIN) => return Err(Errno::INTR),
        Err(_) => 0,
    };
    bytes.truncate(count);
    Ok(bytes)
}

/// What an output holds now; none when it would have to be waited for.
pub(crate) fn ready_output(output: &RawFd) -> Option<Vec<u8>> {
    let mut all = [PollFd::from_borrowed_fd(crate::ffi::descriptor::borrow(output), PollFlags::IN)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut all, Some(&none)) {
        Ok(1..) => read_output(output).ok(),
        _ => None,
    }
}
