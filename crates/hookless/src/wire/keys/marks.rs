//! What a table's keys hold that decides how they are compared: K8, and what a host's own table sees otherwise.

use crate::error::{Code, Error, Result};
use crate::value::Standard;

/// What lies in the keys of a table, and decides how they are compared.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    /// A NaN, a NumPy scalar or a path: a host's own table may not see what K4 to K7 see.
    pub(crate) odd: bool,
    /// A NumPy scalar (K8).
    numpy: bool,
    /// A Decimal (K8).
    decimal: bool,
}

impl Marks {
    /// Of a NaN.
    pub(crate) const ODD: Marks = Marks { odd: true, numpy: false, decimal: false };
    /// Of a NumPy scalar.
    pub(crate) const NUMPY: Marks = Marks { odd: true, numpy: true, decimal: false };

    /// Of a value of the standard library.
    pub(crate) fn of(value: &Standard) -> Marks {
        Marks { odd: value.is_odd(), numpy: false, decimal: matches!(value, Standard::Decimal(_)) }
    }

    /// Both together.
    pub(crate) const fn and(self, other: Marks) -> Marks {
        Marks {
            odd: self.odd | other.odd,
            numpy: self.numpy | other.numpy,
            decimal: self.decimal | other.decimal,
        }
    }

    /// Whether there is nothing to be marked.
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        !self.odd && !self.numpy && !self.decimal
    }

    /// K8.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.numpy && self.decimal {
            return Err(
                Error::new(Code::NotKeyable).note("a NumPy scalar and a Decimal in the keys of one table")
            );
        }
        Ok(())
    }
}
