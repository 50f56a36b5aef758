//! Whole frames: a value whose encoding is the frame, or an error that stands inside of it, for no more memory than promised.

use hookless::{Code, Error, Limits, Value, decode, encode};

use super::{Place, place, tight};
use crate::counting::peak;
use crate::describe::describe;
use crate::naive;

/// Checks one frame, with the default limits and with tight ones. The counting allocator has to be in force.
///
/// # Panics
/// With what is wrong.
pub fn check(frame: &[u8], planted: bool) {
    for limits in [Limits::default(), tight(frame)] {
        let (verdict, held) = peak(|| subject(frame, &limits, planted));
        let most = promised(frame.len(), &limits);
        assert!(held <= most, "{held} bytes held for a frame of {}, promised {most}", frame.len());
        agrees(frame, &limits, &verdict);
        if let Ok(value) = verdict {
            let again = encode(&value, &limits).expect("what was decoded can be encoded");
            assert!(again == frame, "accepted, and encodes to other bytes");
        }
    }
}

/// The naive parser says the same.
fn agrees(frame: &[u8], limits: &Limits, verdict: &Result<Value, Error>) {
    let wanted = naive::judge(frame, limits);
    let found = verdict.as_ref().map(describe).map_err(place);
    let wanted_place = wanted.as_ref().map(|_| ()).map_err(|&(code, at)| -> Place { (code, Some(at)) });
    let found_place = found.as_ref().map(|_| ()).map_err(|&place| place);
    assert_eq!(found_place, wanted_place, "left: the reader; right: the naive parser; with {limits:?}");
    assert_eq!(found.ok(), wanted.ok(), "left: the reader's value; right: the naive parser's");
}

/// `proto/limits.md`: what a frame may take. The bytes of the region are copied once.
fn promised(len: usize, limits: &Limits) -> i64 {
    let bytes = i64::try_from(len).expect("a length");
    let memory = i64::try_from(limits.memory).expect("a limit");
    (160 * bytes).min(memory) + (8 << 20) + bytes
}

/// The decoder under test. The planted one takes sets in any order.
fn subject(frame: &[u8], limits: &Limits, planted: bool) -> Result<Value, Error> {
    match decode(frame, limits) {
        Err(error) if planted && error.code() == Code::UnorderedSet => Ok(Value::Set(Vec::new())),
        verdict => verdict,
    }
}
