//! Frames received straight to where they stay, and sent from where they lie: the same bytes and verdicts as by the other ways.

use hookless::frame::{Decoder, FrameKind, Intake, OwnedParts, Place, padding};
use hookless::{Code, Limits, Value, decode};
use support::vectors::{accept, reject};

/// Frames by kind, call and value, and the error that ended it by code and offset.
type Verdict = (Vec<(FrameKind, u64, Value)>, Option<(Code, Option<u64>)>);

/// What an intake makes of bytes that come at most `step` at once: its frames, and the error that ended it.
fn receive(mut bytes: &[u8], step: usize, limits: &Limits) -> Verdict {
    let (mut intake, mut frames, mut held) = (Intake::new(limits.clone()), Vec::new(), 0);
    loop {
        let count = match intake.place() {
            Ok(Place::Bytes(space)) => {
                let count = space.len().min(step).min(bytes.len());
                space[..count].copy_from_slice(&bytes[..count]);
                count
            }
            Ok(Place::Array { data, most }) => {
                assert!(data.capacity() - data.len() >= most, "there is room for what may come");
                assert!(most <= data.len().max(256 * 1024), "room grows with what has arrived");
                let count = most.min(step).min(bytes.len());
                data.extend_from_slice(&bytes[..count]);
                count
            }
            Ok(Place::Done) => {
                let whole = intake.take().unwrap();
                held += whole.cost;
                assert_eq!(intake.held(), held);
                frames.push((whole.head.kind, whole.head.call_id, whole.value));
                continue;
            }
            Err(error) => return (frames, Some((error.code(), error.offset()))),
        };
        bytes = &bytes[count..];
        if count == 0 {
            let cut = (!intake.is_idle()).then_some((Code::Truncated, Some(intake.received())));
            return (frames, cut);
        }
        if let Err(error) = intake.advance(count) {
            return (frames, Some((error.code(), error.offset())));
        }
    }
}

#[test]
fn every_vector_is_received_as_the_decoder_decodes_it() {
    let mut seen = 0;
    for vector in accept().iter().chain(&reject()) {
        let mut decoder = Decoder::new(vector.limits.clone());
        let (frames, error) = match decoder.feed(&vector.frame) {
            Ok(frames) => (frames, decoder.finish().err()),
            Err(error) => (Vec::new(), Some(error)),
        };
        let error = error.map(|error| (error.code(), error.offset()));
        // A session reads control frames by itself: their bodies are not judged here, and are no values.
        let kind = vector.frame.get(5).and_then(|number| FrameKind::from_number(*number));
        if kind.is_some_and(|kind| !kind.carries_value()) {
            continue;
        }
        let frames: Vec<_> = frames.into_iter().map(|one| (one.kind, one.call_id, one.value)).collect();
        for step in [1, 7, 4096, usize::MAX] {
            if step < 4096 && vector.frame.len() > 100_000 {
                continue;
            }
            let found = receive(&vector.frame, step, &vector.limits);
            assert_eq!(found, (frames.clone(), error), "{} in steps of {step}", vector.name);
            seen += 1;
        }
    }
    assert!(seen > 2000, "only {seen}: the vectors were not found");
}

/// What is sent, in one piece.
fn joined(parts: OwnedParts) -> Vec<u8> {
    let mut bytes = parts.start;
    for part in parts.region {
        bytes.resize(bytes.len() + padding(bytes.len() as u64) as usize, 0);
        bytes.extend(part);
    }
    bytes
}

#[test]
fn every_value_is_taken_apart_into_its_frame() {
    let mut with_region = 0;
    for vector in accept().into_iter().filter(|vector| vector.for_decode()) {
        let Ok(value) = decode(&vector.frame, &vector.limits) else { continue };
        let parts = OwnedParts::encode(value, FrameKind::Value, 0, &vector.limits).unwrap();
        with_region += usize::from(!parts.region.is_empty());
        assert!(joined(parts) == vector.frame, "{}", vector.name);
    }
    assert!(with_region > 10, "only {with_region} vectors have a region");
}

#[test]
fn the_memory_of_an_array_is_the_one_that_is_sent() {
    let bytes = vec![7u8; 16_384];
    let place = bytes.as_ptr();
    let small = Value::Bytes(vec![1; 16_383]);
    let value = Value::Tuple(vec![small, Value::Bytes(bytes)]);
    let mut parts = OwnedParts::encode(value, FrameKind::Result, 1, &Limits::default()).unwrap();
    assert_eq!((parts.region.len(), parts.region[0].as_ptr()), (1, place));
    parts.set_call_id(0x0102_0304_0506_0708);
    assert_eq!(parts.start[8..16], [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn what_is_not_complete_cannot_be_taken() {
    let mut intake = Intake::new(Limits::default());
    assert_eq!(intake.take().unwrap_err().code(), Code::UnexpectedFrame);
}
