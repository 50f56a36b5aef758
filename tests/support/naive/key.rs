//! K3–K8: what two keys are compared by.

use std::collections::BTreeSet;

use num_bigint::{BigInt, BigUint};

use super::body::{Body, Verdict, refuse};
use super::number::Exact;

/// The key form of a keyable value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    None,
    Number(Exact),
    Infinity(bool),
    NaN(u64),
    /// One that is not its real part.
    Complex(Box<[Form; 2]>),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
    Tuple(Vec<Form>),
    FrozenSet(BTreeSet<Form>),
    /// R5: kind, texts, values.
    Record(u8, Vec<Vec<u8>>, Vec<Form>),
    /// K7: length, start, step.
    Range(BigUint, Option<BigInt>, Option<BigInt>),
    /// K7: whether it is of Windows; drive, root and parts.
    Path(bool, Vec<Vec<u8>>),
    /// Only itself: a leaf by its number and what counts of its payload.
    Leaf(u8, Vec<u8>),
}

/// K8: what the keys of one table hold.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Table {
    numpy: bool,
    decimal: bool,
}

impl Body<'_> {
    /// K8: a NumPy scalar, or a Decimal, in key position.
    pub(super) fn beside(&mut self, numpy: bool, at: usize) -> Verdict<()> {
        if numpy {
            self.table.numpy = true;
        } else {
            self.table.decimal = true;
        }
        if self.table.numpy && self.table.decimal { refuse("not_keyable", at) } else { Ok(()) }
    }
}

/// K7: text of a Windows path in lower case. Surrogates have none.
pub(super) fn lower(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for piece in text.utf8_chunks() {
        found.extend(piece.valid().to_lowercase().bytes());
        found.extend(piece.invalid());
    }
    found
}
