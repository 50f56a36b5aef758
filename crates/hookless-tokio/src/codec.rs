//! Frames for `tokio_util::codec`.

use std::collections::VecDeque;
use std::io;

use bytes::{BufMut, BytesMut};
use hookless::frame::{self, Frame};
use hookless::{Limits, Value, encode_parts};
use tokio_util::codec::{Decoder, Encoder};

/// What [`FrameCodec`] fails with.
#[derive(Debug)]
pub enum CodecError {
    /// The bytes break a rule of the wire, or a value cannot be encoded.
    Frame(hookless::Error),
    /// The stream itself failed.
    Io(io::Error),
}

impl std::fmt::Display for CodecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CodecError::Frame(error) => error.fmt(f),
            CodecError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CodecError::Frame(error) => Some(error),
            CodecError::Io(error) => Some(error),
        }
    }
}

impl From<io::Error> for CodecError {
    fn from(error: io::Error) -> CodecError {
        CodecError::Io(error)
    }
}

impl From<hookless::Error> for CodecError {
    fn from(error: hookless::Error) -> CodecError {
        CodecError::Frame(error)
    }
}

/// Frames of any kind, for `Framed`, `FramedRead` and `FramedWrite`. It knows no session: see [`Host`](crate::Host) for that.
///
/// Nothing is reserved on the word of a head: what is held grows with what has arrived, and what one read completes is bounded by
/// `Limits::undelivered` (L10). After an error the decoder is dead, and says so again; frames that were complete before it come first.
/// The traits want bytes to go through a buffer: large arrays are copied into it once, which a [`Host`](crate::Host) does not do.
///
/// ```
/// use bytes::BytesMut;
/// use hookless::{Limits, Value};
/// use hookless_tokio::FrameCodec;
/// use tokio_util::codec::{Decoder, Encoder};
///
/// let mut codec = FrameCodec::new(Limits::default());
/// let mut bytes = BytesMut::new();
/// codec.encode(&Value::from("two"), &mut bytes)?;
/// assert_eq!(codec.decode(&mut bytes)?.map(|frame| frame.value), Some(Value::from("two")));
/// # Ok::<(), hookless_tokio::CodecError>(())
/// ```
#[derive(Debug)]
pub struct FrameCodec {
    decoder: frame::Decoder,
    ready: VecDeque<Frame>,
    limits: Limits,
}

impl FrameCodec {
    /// A codec at the start of a stream, with these limits in both directions.
    #[must_use]
    pub fn new(limits: Limits) -> FrameCodec {
        FrameCodec { decoder: frame::Decoder::new(limits.clone()), ready: VecDeque::new(), limits }
    }

    fn put(
        &self,
        value: &Value,
        kind: frame::FrameKind,
        call_id: u64,
        to: &mut BytesMut,
    ) -> Result<(), CodecError> {
        let mut region = Vec::new();
        let start = encode_parts(value, kind, call_id, &self.limits, &mut region)?;
        let mut len = start.len();
        to.put_slice(&start);
        for part in region {
            let gap = usize::try_from(frame::padding(len as u64)).unwrap_or_default();
            to.put_bytes(0, gap);
            to.put_slice(part);
            len += gap + part.len();
        }
        Ok(())
    }
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = CodecError;

    /// Takes all bytes, and gives the next frame, if one is complete.
    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, CodecError> {
        if self.ready.is_empty() {
            // Also without bytes: the error that came after the frames is told next.
            self.ready.extend(self.decoder.feed(bytes)?);
            bytes.clear();
        }
        Ok(self.ready.pop_front())
    }

    /// The same at the end of the stream, which is `truncated` inside a frame.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, CodecError> {
        let frame = self.decode(bytes)?;
        if frame.is_none() {
            self.decoder.finish()?;
        }
        Ok(frame)
    }
}

/// A frame of any kind that carries a value. Control frames are the session's.
impl Encoder<&Frame> for FrameCodec {
    type Error = CodecError;

    fn encode(&mut self, frame: &Frame, to: &mut BytesMut) -> Result<(), CodecError> {
        if !(frame.kind.carries_value() && frame.kind.takes_call_id(frame.call_id)) {
            let note = format!("a {} frame with call id {}", frame.kind.name(), frame.call_id);
            return Err(hookless::Error::new(hookless::Code::BadCallId).note(note).into());
        }
        self.put(&frame.value, frame.kind, frame.call_id, to)
    }
}

/// As that of `&Frame`.
impl Encoder<Frame> for FrameCodec {
    type Error = CodecError;

    fn encode(&mut self, frame: Frame, to: &mut BytesMut) -> Result<(), CodecError> {
        self.encode(&frame, to)
    }
}

/// A value as a VALUE frame.
impl Encoder<&Value> for FrameCodec {
    type Error = CodecError;

    fn encode(&mut self, value: &Value, to: &mut BytesMut) -> Result<(), CodecError> {
        self.put(value, frame::FrameKind::Value, 0, to)
    }
}
