//! Whole frames: a value whose encoding is the frame, or an error that stands inside of it, for no more memory than promised.

use hookless::{Code, Error, Limits, Value, decode, encode};

use crate::counting::peak;

/// Checks one frame.
///
/// # Panics
/// With what is wrong.
pub fn check(frame: &[u8], planted: bool) {
    let limits = Limits::default();
    let (verdict, held) = peak(|| subject(frame, &limits, planted));
    let most = promised(frame.len(), &limits);
    assert!(held <= most, "{held} bytes held for a frame of {}, promised {most}", frame.len());
    match verdict {
        Ok(value) => {
            let again = encode(&value, &limits).expect("what was decoded can be encoded");
            assert!(again == frame, "accepted, and encodes to other bytes");
        }
        Err(error) => {
            assert!(error.offset().is_some_and(|at| at <= frame.len() as u64), "{error}");
        }
    }
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
