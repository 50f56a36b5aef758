//! An end of a session that is written by hand, frame by frame.

use bytes::BytesMut;
use hookless::frame::{Frame, FrameKind, OwnedParts};
use hookless::session::{Hello, Role};
use hookless::{Limits, Value};
use hookless_tokio::FrameCodec;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_util::codec::Decoder;

/// The other end of a stream.
#[derive(Debug)]
pub struct Peer {
    /// The stream.
    pub stream: DuplexStream,
    codec: FrameCodec,
    buffer: BytesMut,
}

impl Peer {
    /// Sends bytes.
    ///
    /// # Panics
    /// When nobody takes them.
    pub async fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next frame; none at the end of the stream.
    ///
    /// # Panics
    /// When it is none.
    pub async fn hear(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.codec.decode(&mut self.buffer).unwrap() {
                return Some(frame);
            }
            if self.stream.read_buf(&mut self.buffer).await.unwrap() == 0 {
                return None;
            }
        }
    }

    /// The value of the next frame, which is of this kind and call.
    ///
    /// # Panics
    /// When it is not.
    pub async fn expect(&mut self, kind: FrameKind, id: u64) -> Value {
        let frame = self.hear().await.expect("a frame");
        assert_eq!((frame.kind, frame.call_id), (kind, id), "{:?}", frame.value);
        frame.value
    }
}

/// The HELLO of an end.
///
/// # Panics
/// Never: there is memory for it.
pub fn hello(role: Role, limits: Limits) -> Vec<u8> {
    control(FrameKind::Hello, 0, &Hello::of(role, limits).to_body().unwrap())
}

/// A control frame.
///
/// # Panics
/// Never: there is memory for it.
pub fn control(kind: FrameKind, id: u64, body: &[u8]) -> Vec<u8> {
    OwnedParts::control(kind, id, body).unwrap().start
}

/// A frame of a value without large parts.
///
/// # Panics
/// When it cannot be encoded, or has such parts.
pub fn frame(kind: FrameKind, id: u64, value: Value) -> Vec<u8> {
    let parts = OwnedParts::encode(value, kind, id, &Limits::default()).unwrap();
    assert!(parts.region.is_empty());
    parts.start
}

/// Both ends of a stream that holds so many bytes.
pub fn pair(room: usize) -> (DuplexStream, Peer) {
    let (ours, theirs) = duplex(room);
    (ours, Peer { stream: theirs, codec: FrameCodec::new(Limits::generous()), buffer: BytesMut::new() })
}
