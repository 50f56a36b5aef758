//! Every vector of `proto/vectors`, by `decode`, by `encode` and by the push decoder.
//!
//! Each test runs all vectors and then names every one that failed, so that one change shows its whole effect.

use hookless::frame::{Decoder, Frame};
use hookless::{Code, Error, Limits, Value, decode, encode};
use support::describe::{describe, normal};
use support::vectors::{By, Vector, accept, reject};

/// Sizes of the pieces that the push decoder is fed with: byte by byte, an odd size, and all at once.
const CHUNKS: [usize; 3] = [1, 7, usize::MAX];

/// Collects one complaint for each vector that fails.
fn all(vectors: &[Vector], check: impl Fn(&Vector) -> Result<(), String>) {
    let complaints: Vec<_> =
        vectors.iter().filter_map(|v| check(v).err().map(|why| format!("{}: {why}", v.name))).collect();
    let (failed, of) = (complaints.len(), vectors.len());
    assert!(complaints.is_empty(), "{failed} of {of} vectors failed\n{}", complaints.join("\n"));
}

/// The code and offset of an error, which is all that a vector fixes.
fn place(error: &Error) -> (String, Option<u64>) {
    (error.code().as_str().to_owned(), error.offset())
}

fn expect_error<T: std::fmt::Debug>(result: Result<T, Error>, code: &str, offset: u64) -> Result<(), String> {
    match result {
        Ok(value) => Err(format!("accepted as {value:?}, not refused with {code} at {offset}")
            .chars()
            .take(400)
            .collect()),
        Err(error) if place(&error) == (code.to_owned(), Some(offset)) => Ok(()),
        Err(error) => Err(format!("expected {code} at {offset}, found {error}")),
    }
}

/// What the push decoder makes of bytes that come in pieces, with the end of the stream after them.
fn push(vector: &Vector, chunk: usize) -> Result<Vec<Frame>, Error> {
    let mut decoder = Decoder::new(vector.limits.clone());
    let mut frames = Vec::new();
    for piece in vector.frame.chunks(chunk.min(vector.frame.len().max(1))) {
        frames.extend(decoder.feed(piece)?);
    }
    decoder.finish()?;
    Ok(frames)
}

/// That a decoded value is the one described, and encodes to the bytes that it came from.
fn same(vector: &Vector, value: &Value) -> Result<(), String> {
    if let Some(wanted) = vector.value.as_ref().map(normal) {
        let found = describe(value);
        if found != wanted {
            return Err(format!("described as {found}, expected {wanted}").chars().take(2000).collect());
        }
    }
    let mut again =
        encode(value, &vector.limits).map_err(|error| format!("does not encode again: {error}"))?;
    // `encode` writes VALUE frames; kind and call id belong to the frame and not to the value.
    again[5] = vector.frame[5];
    again[8..16].copy_from_slice(&vector.frame[8..16]);
    match again.iter().zip(&vector.frame).position(|(a, b)| a != b) {
        None if again.len() == vector.frame.len() => Ok(()),
        None => Err(format!("encodes again to {} bytes, not {}", again.len(), vector.frame.len())),
        Some(at) => Err(format!("encodes again to other bytes from {at} on")),
    }
}

/// F10 and every rule named by an accept vector: decode, describe, encode again.
#[test]
fn accept_decodes_and_encodes_again() {
    all(&accept(), |vector| {
        if !vector.for_decode() {
            return Ok(());
        }
        let value = decode(&vector.frame, &vector.limits).map_err(|error| format!("refused: {error}"))?;
        same(vector, &value)
    });
}

/// Every rule named by a reject vector: the code, and the byte it stands at.
#[test]
fn reject_has_code_and_offset() {
    all(&reject(), |vector| {
        let (code, offset) = vector.error.as_ref().expect("a reject vector has a code");
        match vector.for_decode() {
            true => expect_error(decode(&vector.frame, &vector.limits), code, *offset),
            false => Ok(()),
        }
    });
}

/// F14: a frame that is cut anywhere is `truncated` where it is cut.
#[test]
fn accept_cut_at_every_offset_is_truncated() {
    all(&accept(), |vector| {
        if !vector.for_decode() {
            return Ok(());
        }
        vector.cuts().try_for_each(|cut| {
            expect_error(decode(&vector.frame[..cut], &vector.limits), "truncated", cut as u64)
        })
    });
}

/// F14 and S10 by the push decoder: it gives nothing before the last byte, and says after each where the stream ended.
#[test]
fn accept_cut_at_every_offset_is_truncated_when_pushed() {
    all(&accept(), |vector| {
        if !vector.for_push() {
            return Ok(());
        }
        let mut decoder = Decoder::new(vector.limits.clone());
        let mut fed = 0;
        for cut in vector.cuts() {
            let frames =
                decoder.feed(&vector.frame[fed..cut]).map_err(|error| format!("refused: {error}"))?;
            fed = cut;
            if !frames.is_empty() {
                return Err(format!("gave a frame after {cut} bytes of {}", vector.frame.len()));
            }
            match cut {
                0 => decoder.finish().map_err(|error| format!("an empty stream: {error}"))?,
                _ => expect_error(decoder.finish(), "truncated", cut as u64)?,
            }
        }
        Ok(())
    });
}

/// The push decoder gives the same value whatever the pieces are.
#[test]
fn accept_in_chunks() {
    all(&accept(), |vector| {
        if !vector.for_push() {
            return Ok(());
        }
        CHUNKS.into_iter().try_for_each(|chunk| {
            let frames =
                push(vector, chunk).map_err(|error| format!("refused in pieces of {chunk}: {error}"))?;
            match &frames[..] {
                [frame] => same(vector, &frame.value),
                other => Err(format!("{} frames in pieces of {chunk}", other.len())),
            }
        })
    });
}

/// The push decoder refuses with the same code at the same byte whatever the pieces are.
#[test]
fn reject_in_chunks() {
    all(&reject(), |vector| {
        let (code, offset) = vector.error.as_ref().expect("a reject vector has a code");
        if !vector.for_push() {
            return Ok(());
        }
        CHUNKS.into_iter().try_for_each(|chunk| {
            expect_error(push(vector, chunk), code, *offset)
                .map_err(|why| format!("in pieces of {chunk}: {why}"))
        })
    });
}

/// L10: what one feed gives is bounded, and one frame a feed is not.
#[test]
fn reject_in_one_feed() {
    let mut vectors = reject();
    vectors.retain(|vector| vector.by == By::Feed);
    assert!(vectors.len() > 5);
    all(&vectors, |vector| {
        let (code, offset) = vector.error.as_ref().expect("a reject vector has a code");
        expect_error(push(vector, usize::MAX), code, *offset)?;
        match push(vector, 1) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("a byte at a time: {error}")),
        }
    });
}

/// What an encoder refuses for its length is what a decoder would refuse.
#[test]
fn l2_is_exact_for_every_kind_of_value() {
    all(&accept(), |vector| {
        let Ok(value) = decode(&vector.frame, &vector.limits) else { return Ok(()) };
        let body = u64::from_be_bytes(vector.frame[16..24].try_into().unwrap());
        let within = |body| encode(&value, &Limits { body, ..vector.limits.clone() });
        match (within(body), within(body - 1)) {
            (Ok(again), Err(error)) if error.code() == Code::BodyLimit && again == vector.frame => Ok(()),
            (at, past) => Err(format!("at the limit {:?}, one past {:?}", at.err(), past.err())),
        }
    });
}
