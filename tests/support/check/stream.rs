//! Streams of frames: the same frames, and the same error at the same byte, however the bytes are cut; each frame is what it is alone.

use hookless::frame::{Decoder, Frame, FrameKind};
use hookless::{Code, Limits, decode};

use super::{Place, place, tight};
use crate::craft::split;
use crate::mutate::Dice;

/// What a stream gave: its frames, and how it ended.
type Outcome = (Vec<Frame>, Result<(), Place>);

/// Checks one stream, with the default limits and with tight ones.
///
/// # Panics
/// With what is wrong.
pub fn check(stream: &[u8], planted: bool) {
    for limits in [Limits::default(), tight(stream)] {
        let whole = decoded(&limits, [stream], false);
        // A byte at a time is slow for what is large, where steps of an odd size do as well.
        let step = if stream.len() > 4096 { 61 } else { 1 };
        let stepped = decoded(&limits, stream.chunks(step), planted);
        same(&stepped, &whole, &format!("left: in steps of {step}; right: all at once; with {limits:?}"));
        let cut = decoded(&limits, cut_at_random(stream), false);
        same(&cut, &whole, &format!("left: cut at random; right: all at once; with {limits:?}"));
        each_alone(stream, &limits, &whole);
    }
}

/// The same frames and the same end. L10 alone depends on how a stream is cut: then one has the frames that the other begins with.
fn same(left: &Outcome, right: &Outcome, what: &str) {
    let stopped = |one: &Outcome| one.1.as_ref().is_err_and(|found| found.0 == "undelivered_limit");
    if stopped(left) || stopped(right) {
        let most = left.0.len().min(right.0.len());
        assert_eq!(left.0[..most], right.0[..most], "{what}");
        assert!(stopped(left) || left.0.len() >= right.0.len(), "{what}");
        assert!(stopped(right) || right.0.len() >= left.0.len(), "{what}");
        return;
    }
    assert_eq!(left, right, "{what}");
}

/// The push decoder, until the first error or the end. The planted one takes any padding.
fn decoded<'s>(limits: &Limits, chunks: impl IntoIterator<Item = &'s [u8]>, planted: bool) -> Outcome {
    let mut decoder = Decoder::new(limits.clone());
    let mut frames = Vec::new();
    let mut end = Ok(());
    for chunk in chunks {
        match decoder.feed(chunk) {
            Ok(more) => frames.extend(more),
            Err(error) => {
                let again = decoder.feed(&[]).map(|_| ()).map_err(|error| place(&error));
                assert_eq!(again, Err(place(&error)), "a dead decoder says why");
                end = again;
                break;
            }
        }
    }
    let finished = decoder.finish().map_err(|error| place(&error));
    // What a feed found after whole frames is said by the next call.
    let end = end.and(finished);
    (frames, end.or_else(|found| if planted && found.0 == "bad_padding" { Ok(()) } else { Err(found) }))
}

fn cut_at_random(stream: &[u8]) -> Vec<&[u8]> {
    let mut dice = Dice(stream.len() as u64);
    let (mut rest, mut found) = (stream, Vec::new());
    while !rest.is_empty() {
        let (now, later) = rest.split_at(1 + dice.below(rest.len().min(300)));
        found.push(now);
        rest = later;
    }
    found
}

/// Each frame but the last, which may be cut short, is what `decode` makes of it. What only sessions send is left to their checks.
fn each_alone(stream: &[u8], limits: &Limits, (frames, end): &Outcome) {
    let mut found = frames.iter();
    for bytes in split(stream) {
        let Some(&[_, _, _, _, 1, kind @ (1 | 4), ..]) = bytes.first_chunk::<32>() else { return };
        let mut alone = bytes.to_vec();
        if kind == 4 {
            // A RESULT has any value, too.
            alone[5] = 1;
            if alone[8..16] == [0; 8] {
                return;
            }
            alone[8..16].fill(0);
        }
        match (decode(&alone, limits), found.next()) {
            (Ok(value), Some(frame)) => {
                let kinds = if kind == 1 { FrameKind::Value } else { FrameKind::Result };
                assert_eq!((&frame.value, frame.kind), (&value, kinds), "a frame in a stream, and alone");
            }
            // L10 is about frames together, and comes before what is wrong with the next one.
            (_, None) if end.as_ref().is_err_and(|found| found.0 == "undelivered_limit") => return,
            // A stream does not know yet where the frame ends.
            (Err(error), None) if matches!(error.code(), Code::Truncated | Code::TrailingBytes) => return,
            (Err(error), None) => {
                assert_eq!(*end, Err(place(&error)), "left: in a stream; right: alone; with {limits:?}");
                return;
            }
            (alone, in_stream) => panic!("alone {alone:?}, in a stream {in_stream:?}, which ends {end:?}"),
        }
    }
}
