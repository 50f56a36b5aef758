//! Ints of any size.

use crate::memory::{self, Full};

/// An int of any size. Two equal ints are the same `Int`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// 0 to 2^64-1.
    Unsigned(u64),
    /// Below 0, to -2^63.
    Negative(i64),
    /// Beyond both: sign, and magnitude without leading zeros.
    Big { negative: bool, magnitude: Box<[u8]> },
}

/// An [`Int`] seen as the wire writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntForm<'a> {
    /// A native MessagePack int, not negative.
    Unsigned(u64),
    /// A native MessagePack int below zero.
    Negative(i64),
    /// The big int leaf: sign and big-endian magnitude.
    Big(bool, &'a [u8]),
}

impl Int {
    /// An int from its sign and big-endian magnitude; leading zeros are dropped.
    ///
    /// Ends the process when there is no memory for it.
    pub fn from_sign_magnitude(negative: bool, magnitude: &[u8]) -> Int {
        match Int::small(negative, magnitude) {
            Ok(int) => int,
            Err(magnitude) => Int(Repr::Big { negative, magnitude: magnitude.into() }),
        }
    }

    /// The same where memory may be refused.
    pub(crate) fn of_parts(negative: bool, magnitude: &[u8]) -> Result<Int, Full> {
        match Int::small(negative, magnitude) {
            Ok(int) => Ok(int),
            Err(magnitude) => Ok(Int(Repr::Big { negative, magnitude: memory::slice(magnitude)? })),
        }
    }

    /// An int that needs no memory of its own, or else its magnitude without leading zeros.
    fn small(negative: bool, magnitude: &[u8]) -> Result<Int, &[u8]> {
        let significant = match magnitude.iter().position(|&b| b != 0) {
            Some(first) => magnitude.get(first..).unwrap_or_default(),
            None => &[],
        };
        if let Some(small) = to_u64(significant) {
            if !negative {
                return Ok(Int(Repr::Unsigned(small)));
            }
            if let Some(value) = 0i64.checked_sub_unsigned(small) {
                return Ok(Int::from(value));
            }
        }
        Err(significant)
    }

    /// How the wire writes it.
    pub fn form(&self) -> IntForm<'_> {
        match &self.0 {
            Repr::Unsigned(value) => IntForm::Unsigned(*value),
            Repr::Negative(value) => IntForm::Negative(*value),
            Repr::Big { negative, magnitude } => IntForm::Big(*negative, magnitude),
        }
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        matches!(self.0, Repr::Negative(_) | Repr::Big { negative: true, .. })
    }

    /// The absolute value, big-endian, without leading zeros; empty for 0.
    ///
    /// Ends the process when there is no memory for it.
    pub fn magnitude_be(&self) -> Vec<u8> {
        self.magnitude(&mut [0; 8]).into()
    }

    /// The same, in a buffer where it is small.
    pub(crate) fn magnitude<'m>(&'m self, buffer: &'m mut [u8; 8]) -> &'m [u8] {
        let small = match &self.0 {
            Repr::Unsigned(value) => *value,
            Repr::Negative(value) => value.unsigned_abs(),
            Repr::Big { magnitude, .. } => return magnitude,
        };
        *buffer = small.to_be_bytes();
        let zeros = small.leading_zeros() / 8;
        buffer.get(usize::try_from(zeros).unwrap_or_default()..).unwrap_or_default()
    }

    /// The value, where an `i64` holds it.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Unsigned(value) => i64::try_from(value).ok(),
            Repr::Negative(value) => Some(value),
            Repr::Big { .. } => None,
        }
    }

    /// The value, where a `u64` holds it.
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Unsigned(value) => Some(value),
            _ => None,
        }
    }
}

/// The number of a big-endian magnitude of at most eight bytes.
pub(crate) fn to_u64(magnitude: &[u8]) -> Option<u64> {
    (magnitude.len() <= 8).then(|| magnitude.iter().fold(0u64, |n, &b| (n << 8) | u64::from(b)))
}

/// V8: whether sign and magnitude fit the native forms, and so may not be a big int leaf.
pub(crate) fn fits_native(negative: bool, magnitude: &[u8]) -> bool {
    match to_u64(magnitude) {
        Some(small) => !negative || small <= 1 << 63,
        None => false,
    }
}

impl From<u64> for Int {
    fn from(value: u64) -> Int {
        Int(Repr::Unsigned(value))
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Int {
        match u64::try_from(value) {
            Ok(value) => Int(Repr::Unsigned(value)),
            Err(_) => Int(Repr::Negative(value)),
        }
    }
}
