//! What holds for any bytes at all. The fuzz targets and `tests/mutation.rs` run these checks; each panics with what it found.
//!
//! `planted` has a check look at a decoder with a planted bug instead of hookless's: a check that does not find it is none.

pub mod session;
pub mod stream;
pub mod typed;
pub mod value;

use hookless::{Error, Limits};

use crate::mutate::Dice;

/// What two decoders have to agree on.
pub type Place = (&'static str, Option<u64>);

/// Code and offset of an error.
pub fn place(error: &Error) -> Place {
    (error.code().as_str(), error.offset())
}

/// Limits that a small frame runs into, chosen by its bytes: the same frame always has the same.
pub fn tight(frame: &[u8]) -> Limits {
    let mut dice =
        Dice(frame.iter().fold(0, |sum: u64, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())));
    let mut limits = Limits::default();
    let few = |dice: &mut Dice, most: usize| dice.below(most) as u64;
    // Two at once: then their order counts too.
    for _ in 0..=dice.below(2) {
        match dice.below(8) {
            0 => limits.memory = few(&mut dice, 4000),
            1 => limits.nodes = few(&mut dice, 12),
            2 => limits.depth = few(&mut dice, 5),
            3 => {
                limits.text = few(&mut dice, 8);
                limits.int_bytes = few(&mut dice, 12);
            }
            4 => limits.undelivered = few(&mut dice, 4000),
            5 => {
                limits.chain = few(&mut dice, 3);
                limits.group_depth = few(&mut dice, 2);
                limits.exceptions = few(&mut dice, 3);
                limits.frames = few(&mut dice, 2);
            }
            6 => limits.descriptor = few(&mut dice, 400),
            _ => {
                limits.dtype_fields = few(&mut dice, 4);
                limits.dtype_depth = few(&mut dice, 3);
            }
        }
    }
    limits
}
