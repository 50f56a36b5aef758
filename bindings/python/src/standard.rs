//! Values of the standard library, both ways (`proto/standard.md`).
//!
//! Their modules are imported when a process meets the first such value, from a list that is fixed here: whoever sends numbers and arrays
//! does not pay for them, and no name of the wire is ever imported. `hookless.warm_up()` does it beforehand.

mod make;
mod read;
mod shelf;

pub(crate) use make::{from_standard, swap, typed_array};
pub(crate) use read::{Unreadable, is_malformed, read, typed_array_parts};
pub(crate) use shelf::{Calm, Kind, calm, kind_of, shelf, warm_up};
