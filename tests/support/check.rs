//! What holds for any bytes at all. The fuzz targets and `tests/mutation.rs` run these checks; each panics with what it found.
//!
//! `planted` has a check look at a decoder with a planted bug instead of hookless's: a check that does not find it is none.

pub mod session;
pub mod value;

use hookless::Error;

/// What two decoders have to agree on.
pub type Place = (&'static str, Option<u64>);

/// Code and offset of an error.
pub fn place(error: &Error) -> Place {
    (error.code().as_str(), error.offset())
}
