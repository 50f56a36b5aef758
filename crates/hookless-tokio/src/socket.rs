//! A socket that tells apart what has come from what the reactor has announced.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;

/// A connected socket. Reading it is pending only where the kernel holds nothing for it, which S11 asks of a host that begins a call.
///
/// It is read without a control buffer, so descriptors that a child sends along are dropped by the kernel.
#[derive(Debug)]
pub(crate) struct Socket(pub(crate) UnixStream);

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.0).poll_read(cx, buf);
        if polled.is_ready() || rustix::io::ioctl_fionread(&self.0).unwrap_or_default() == 0 {
            return polled;
        }
        // It is there, and the reactor has yet to say so.
        match recv(&self.0, buf.initialize_unfilled(), RecvFlags::DONTWAIT) {
            Ok((count, _)) => {
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
            Err(_) => Poll::Pending,
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
