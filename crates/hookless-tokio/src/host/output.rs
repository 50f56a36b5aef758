//! What a child writes to its standard output and error.

use std::io;
use std::process::{ChildStderr, ChildStdout};
use std::task::{Context, Poll};

use bytes::Bytes;
use std::os::fd::OwnedFd;
use tokio::net::unix::pipe::Receiver;

use crate::host::event::Output;
use crate::host::post::Shared;

/// Bytes of one read, and of reads in a row: a child that never stops writing does not hold up its own result.
const READ: usize = 64 << 10;
const DRAIN: usize = 1 << 20;

/// The pipes of a child.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    pipes: Vec<(Output, Receiver)>,
}

impl Outputs {
    pub(crate) fn new(stdout: ChildStdout, stderr: ChildStderr) -> io::Result<Outputs> {
        let stdout = Receiver::from_owned_fd(OwnedFd::from(stdout))?;
        let stderr = Receiver::from_owned_fd(OwnedFd::from(stderr))?;
        Ok(Outputs { pipes: vec![(Output::Stdout, stdout), (Output::Stderr, stderr)] })
    }

    /// Takes what is there, so much at most, and has the task woken when more is.
    pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>, shared: &Shared) {
        let mut left = DRAIN;
        self.pipes.retain(|(output, pipe)| {
            loop {
                match pipe.poll_read_ready(cx) {
                    Poll::Pending => return true,
                    Poll::Ready(Err(_)) => return false,
                    Poll::Ready(Ok(())) => {}
                }
                if !read(*output, pipe, shared) {
                    return false;
                }
                left = left.saturating_sub(READ);
                if left == 0 {
                    cx.waker().wake_by_ref();
                    return true;
                }
            }
        });
    }

    /// Takes what the pipes hold now: what a call wrote before its answer belongs to it.
    pub(crate) fn drain_now(&mut self, shared: &Shared) {
        self.pipes.retain(|(output, pipe)| {
            let mut left = DRAIN;
            // The reactor may have yet to announce what is there.
            while left > 0 && rustix::io::ioctl_fionread(pipe).is_ok_and(|waiting| waiting > 0) {
                let mut bytes = vec![0; READ];
                match rustix::io::read(pipe, &mut bytes) {
                    Ok(count) if count > 0 => take(*output, bytes, count, shared),
                    _ => return true,
                }
                left = left.saturating_sub(READ);
            }
            true
        });
    }
}

/// Reads once from a pipe that seems ready; whether more may come.
fn read(output: Output, pipe: &Receiver, shared: &Shared) -> bool {
    let mut bytes = vec![0; READ];
    match pipe.try_read(&mut bytes) {
        Ok(0) => false,
        Ok(count) => {
            take(output, bytes, count, shared);
            true
        }
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
    }
}

fn take(output: Output, mut bytes: Vec<u8>, count: usize, shared: &Shared) {
    bytes.truncate(count);
    // What is kept for long holds no more memory than it has bytes.
    bytes.shrink_to_fit();
    shared.lock().put_output(output, Bytes::from(bytes));
}
