//! `FrameCodec`: what a stream holds, however it is torn, and no memory on the word of a head.

use bytes::{BufMut, BytesMut};
use hookless::frame::{Decoder as Pure, Frame, FrameKind, Head};
use hookless::{Code, Limits, Value};
use hookless_tokio::{CodecError, FrameCodec};
use support::allocator::{Counting, peak};
use support::vectors::{By, accept, reject};
use tokio_util::codec::{Decoder, Encoder};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Verdict = (Vec<Frame>, Option<(Code, Option<u64>)>);

/// What a codec makes of a stream that comes in such pieces.
fn decoded<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, limits: &Limits) -> Verdict {
    let (mut codec, mut buffer, mut frames) = (FrameCodec::new(limits.clone()), BytesMut::new(), Vec::new());
    let coded = |error| match error {
        CodecError::Frame(error) => Some((error.code(), error.offset())),
        CodecError::Io(error) => panic!("{error}"),
    };
    for piece in pieces {
        buffer.put_slice(piece);
        loop {
            match codec.decode(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => {
                    let found = coded(error);
                    assert_eq!(codec.decode(&mut buffer).err().and_then(coded), found, "dead, and says so");
                    return (frames, found);
                }
            }
        }
        assert!(buffer.is_empty(), "all bytes are taken");
    }
    loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, coded(error)),
        }
    }
}

fn by_the_decoder(bytes: &[u8], limits: &Limits) -> Verdict {
    let mut decoder = Pure::new(limits.clone());
    let frames = decoder.feed(bytes);
    let error = |error: hookless::Error| (error.code(), error.offset());
    match frames {
        Ok(frames) => (frames, decoder.finish().err().map(error)),
        Err(found) => (Vec::new(), Some(error(found))),
    }
}

#[test]
fn every_vector_torn_at_every_byte() {
    let mut seen = 0;
    for vector in accept().iter().chain(&reject()).filter(|vector| vector.by != By::Decode) {
        let whole = by_the_decoder(&vector.frame, &vector.limits);
        assert_eq!(decoded([&vector.frame[..]], &vector.limits), whole, "{}", vector.name);
        if vector.by == By::Feed {
            continue;
        }
        // Each byte of most, and the first ones and the last of large ones, whose cost is that of their size.
        let len = vector.frame.len();
        let step = match len {
            0..600 => 1,
            600..100_000 => len / 64,
            _ => len,
        };
        for cut in (0..len).step_by(step) {
            let (start, end) = vector.frame.split_at(cut);
            if whole.0.len() <= 1 {
                assert_eq!(decoded([start, end], &vector.limits), whole, "{} at {cut}", vector.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 5_000, "only {seen}: the vectors were not found");
}

#[test]
fn every_accepted_value_is_written_as_its_frame() {
    let mut seen = 0;
    for vector in accept().into_iter().filter(|vector| vector.for_push()) {
        let (frames, error) = by_the_decoder(&vector.frame, &vector.limits);
        assert_eq!(error, None, "{}", vector.name);
        let mut codec = FrameCodec::new(vector.limits.clone());
        let mut bytes = BytesMut::new();
        for frame in frames.iter().filter(|frame| frame.kind.carries_value()) {
            codec.encode(frame, &mut bytes).unwrap();
            seen += 1;
        }
        if frames.iter().all(|frame| frame.kind.carries_value()) {
            assert!(bytes == vector.frame[..], "{}", vector.name);
        }
    }
    assert!(seen > 300, "only {seen}: the vectors were not found");
}

#[test]
fn frames_before_an_error_come_first() {
    let good = hookless::encode(&Value::from(1), &Limits::default()).unwrap();
    let both = [&good[..], &good, b"\x80\x04pickle"].concat();
    let (frames, error) = decoded([&both[..]], &Limits::default());
    assert_eq!((frames.len(), error), (2, Some((Code::BadMagic, Some(0)))));
}

#[test]
fn limits_hold_in_both_directions_at_them_and_past_them() {
    let text = |len: usize| Value::Str("x".repeat(len));
    let limits = Limits { body: 64, ..Limits::default() };
    let mut bytes = BytesMut::new();
    FrameCodec::new(limits.clone()).encode(&text(62), &mut bytes).unwrap();
    let past = FrameCodec::new(limits.clone()).encode(&text(63), &mut bytes).unwrap_err();
    assert!(matches!(past, CodecError::Frame(error) if error.code() == Code::BodyLimit));
    assert_eq!(decoded([&bytes[..]], &limits).0.len(), 1, "what was refused has left nothing in the buffer");
    let frame = hookless::encode(&text(63), &Limits::default()).unwrap();
    assert_eq!(decoded([&frame[..]], &limits).1, Some((Code::BodyLimit, Some(16))));
}

#[test]
fn a_control_frame_or_an_id_that_does_not_fit_is_not_written() {
    let mut codec = FrameCodec::new(Limits::default());
    for (kind, call_id) in [(FrameKind::Cancel, 1), (FrameKind::Value, 1), (FrameKind::Result, 0)] {
        let error =
            codec.encode(Frame { kind, call_id, value: Value::None }, &mut BytesMut::new()).unwrap_err();
        assert!(matches!(error, CodecError::Frame(error) if error.code() == Code::BadCallId), "{kind:?}");
    }
}

#[test]
fn a_head_that_announces_gigabytes_costs_nothing() {
    let head = Head { kind: FrameKind::Value, call_id: 0, body_len: 200 << 20, data_len: 4 << 30 };
    let mut bytes = BytesMut::from(&head.to_bytes()[..]);
    bytes.put_slice(b"\xc0");
    let mut codec = FrameCodec::new(Limits::default());
    let (decoded, most) = peak(|| codec.decode(&mut bytes).map(|frame| frame.is_some()));
    assert!(matches!(decoded, Ok(false)));
    assert!(most < 1 << 20, "{most} bytes for 33");
}
