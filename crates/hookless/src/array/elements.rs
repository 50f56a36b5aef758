//! Elements that NumPy could not hold are refused: A10.

use crate::array::{ByteOrder, Dtype, Letter};

/// What has to be looked for in the bytes of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementCheck {
    /// Every byte pattern is an element.
    Free,
    /// Each byte is 0 or 1.
    Bool,
    /// Each four bytes, in this order, are a code point.
    CodePoints(ByteOrder),
}

impl ElementCheck {
    pub(crate) fn of(dtype: Dtype) -> ElementCheck {
        match dtype.letter() {
            Letter::Bool => ElementCheck::Bool,
            Letter::Str => ElementCheck::CodePoints(dtype.order()),
            Letter::Int
            | Letter::UInt
            | Letter::Float
            | Letter::Complex
            | Letter::Timedelta
            | Letter::Datetime
            | Letter::Bytes
            | Letter::Void => ElementCheck::Free,
        }
    }

    /// Where the first bad element starts, in bytes.
    pub(crate) fn find_bad(self, data: &[u8]) -> Option<u64> {
        let bad = match self {
            ElementCheck::Free => None,
            ElementCheck::Bool => {
                // The sum over a block is branch-free, so the compiler can make it wide.
                let clean = data.iter().fold(0u8, |seen, &byte| seen | byte) <= 1;
                if clean { None } else { data.iter().position(|&byte| byte > 1) }
            }
            ElementCheck::CodePoints(order) => {
                let (units, _) = data.as_chunks::<4>();
                let read = |unit: [u8; 4]| match order {
                    ByteOrder::Big => u32::from_be_bytes(unit),
                    ByteOrder::Little | ByteOrder::None => u32::from_le_bytes(unit),
                };
                let largest = units.iter().fold(0u32, |seen, &unit| seen.max(read(unit)));
                let clean = largest <= 0x10_ffff;
                let index = if clean { None } else { units.iter().position(|&unit| read(unit) > 0x10_ffff) };
                index.map(|index| index.saturating_mul(4))
            }
        };
        bad.and_then(|at| u64::try_from(at).ok())
    }
}
