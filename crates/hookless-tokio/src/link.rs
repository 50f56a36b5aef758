//! Moves the bytes of frames between a stream and the memory where they stay. Both ends of a session use it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use hookless::frame::{Intake, Place};
use hookless::{Code, Limits};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;
use tokio_util::io::poll_read_buf;

use crate::packet::Packet;

/// A stream with the frames under way in either direction.
#[derive(Debug)]
pub(crate) struct Link<S> {
    stream: S,
    pub(crate) intake: Intake,
    /// The frame that is being sent.
    pub(crate) current: Option<Packet>,
    /// The peer takes nothing any more; what it said before can still be read.
    gone: bool,
    /// When bytes of a frame last came, and when some last went.
    pub(crate) moved_in: Instant,
    pub(crate) moved_out: Instant,
}

/// What a read came to.
#[derive(Debug)]
pub(crate) enum Received {
    /// So many bytes, which are in the intake's place, and of which it has still to be told.
    Bytes(usize),
    /// The end of the stream.
    End,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Link<S> {
    pub(crate) fn new(stream: S, limits: Limits) -> Link<S> {
        let now = Instant::now();
        let intake = Intake::new(limits);
        Link { stream, intake, current: None, gone: false, moved_in: now, moved_out: now }
    }

    /// Reads once, straight to where the bytes belong.
    pub(crate) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<hookless::Result<Received>> {
        let stream = Pin::new(&mut self.stream);
        let received = match self.intake.place()? {
            Place::Bytes(space) => {
                let mut space = ReadBuf::new(space);
                ready!(stream.poll_read(cx, &mut space)).map(|()| space.filled().len())
            }
            Place::Array { data, most } => ready!(poll_read_buf(stream, cx, &mut data.limit(most))),
            Place::Done => {
                let note = "the frame before was not taken";
                return Poll::Ready(Err(hookless::Error::new(Code::UnexpectedFrame).note(note)));
            }
        };
        Poll::Ready(Ok(match received {
            Ok(0) | Err(_) => Received::End,
            Ok(count) => {
                self.moved_in = Instant::now();
                Received::Bytes(count)
            }
        }))
    }

    /// Sends what is queued: pending where the stream takes no more of it for now, ready when all is gone.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        mut next: impl FnMut() -> Option<Packet>,
    ) -> Poll<()> {
        loop {
            if self.current.is_none() {
                self.current = next();
                self.moved_out = Instant::now();
            }
            let Some(packet) = &mut self.current else { return self.poll_flush(cx) };
            if self.gone || packet.is_gone() {
                self.current = None;
                continue;
            }
            let mut room = Packet::room();
            let count = packet.slices(&mut room);
            let slices = room.get(..count).unwrap_or_default();
            match ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices)) {
                Ok(0) => self.gone = true,
                Ok(count) => {
                    packet.advance(count);
                    self.moved_out = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // What the peer said before it went can still be read, and tells more.
                Err(_) => self.gone = true,
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if ready!(Pin::new(&mut self.stream).poll_flush(cx)).is_err() {
            self.gone = true;
        }
        Poll::Ready(())
    }

    /// Ends this direction of the stream.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.stream).poll_shutdown(cx).map(drop)
    }
}
