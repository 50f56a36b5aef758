//! The body of a frame: one [`read()`]er and one [`Writer`], which serve Rust and Python alike.
//!
//! The reader walks a body once, without recursion, checks everything, and drives a [`Build`]er, which makes values of the
//! host's own kind straight away. Whoever encodes walks its values and calls the writer, which has one method per kind.

mod build;
mod cursor;
mod encode;
mod keys;
mod links;
mod marker;
pub(crate) mod raw;
mod reader;
mod tree;
mod writer;

pub use build::{
    ArrayParts, Build, BytesKind, Characters, Data, EntryHead, EntryParts, FrameParts, MapKind, MaskedParts,
    RecordNames, SequenceKind, SetKind, StringParts,
};
pub(crate) use cursor::{Cursor, Head, skip};
pub(crate) use encode::write_value;
pub(crate) use marker::Node;
pub use marker::{HIGHEST_LEAF, HIGHEST_NODE};
pub use reader::{Plan, Slot, push_name, read, read_into};
pub(crate) use reader::{push_index, push_text};
pub(crate) use tree::Tree;
pub use writer::{MapScope, Placed, ReportScope, SetScope, Writer};

/// A count of the wire as one of memory. No platform that this crate supports has a `usize` below 32 bits.
#[inline]
pub(crate) fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A size of memory as a number of the wire.
#[inline]
pub fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
