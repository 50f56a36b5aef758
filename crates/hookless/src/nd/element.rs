//! The Rust types that an array's elements may be.

use bytemuck::{CheckedBitPattern, NoUninit};
use num_complex::Complex;

use crate::array::{Dtype, Letter};
use crate::error::Result;

mod sealed {
    /// Keeps the list of element types closed, as that of dtypes is.
    pub trait Sealed {}
}

/// An element: `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, and complex numbers of both.
pub trait Element: NoUninit + CheckedBitPattern + sealed::Sealed {
    /// Its dtype, in this machine's byte order.
    ///
    /// # Errors
    /// Never: each is a dtype of A3.
    fn dtype() -> Result<Dtype>;

    /// The element with the bytes of each of its numbers in the other order.
    #[doc(hidden)]
    fn turned(self) -> Self;
}

macro_rules! elements {
    ($($type:ty, $letter:ident, $itemsize:literal, $turned:expr;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl Element for $type {
                fn dtype() -> Result<Dtype> {
                    super::native(Letter::$letter, $itemsize)
                }

                fn turned(self) -> Self {
                    let turned: fn($type) -> $type = $turned;
                    turned(self)
                }
            }
        )*
    };
}

elements! {
    bool, Bool, 1, |value| value;
    i8, Int, 1, |value| value;
    i16, Int, 2, i16::swap_bytes;
    i32, Int, 4, i32::swap_bytes;
    i64, Int, 8, i64::swap_bytes;
    u8, UInt, 1, |value| value;
    u16, UInt, 2, u16::swap_bytes;
    u32, UInt, 4, u32::swap_bytes;
    u64, UInt, 8, u64::swap_bytes;
    f32, Float, 4, |value| f32::from_bits(value.to_bits().swap_bytes());
    f64, Float, 8, |value| f64::from_bits(value.to_bits().swap_bytes());
    Complex<f32>, Complex, 8, |value| Complex::new(value.re.turned(), value.im.turned());
    Complex<f64>, Complex, 16, |value| Complex::new(value.re.turned(), value.im.turned());
}
