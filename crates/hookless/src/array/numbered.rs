//! Element types that the wire knows by number: A18, A19.

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $number:literal $text:literal $size:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $text] $variant,)*
        }

        impl $name {
            /// All of them, by number.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The one with a number.
            pub const fn from_number(number: u8) -> Option<$name> {
                match number { $($number => Some($name::$variant),)* _ => None }
            }

            /// Its number on the wire.
            pub const fn number(self) -> u8 {
                match self { $($name::$variant => $number,)* }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// Bytes of one element.
            pub const fn size(self) -> u32 {
                match self { $($name::$variant => $size,)* }
            }
        }
    };
}

numbered! {
    /// A18: how a long double lies in memory.
    LongFormat {
        X87 1 "x87" 16,
        Binary128 2 "binary128" 16,
        DoubleDouble 3 "double-double" 16,
        X87Short 4 "x87-12" 12,
    }
}

numbered! {
    /// A19: a type of the package ml_dtypes.
    Extension {
        Bfloat16 1 "bfloat16" 2,
        Float8E3m4 2 "float8_e3m4" 1,
        Float8E4m3 3 "float8_e4m3" 1,
        Float8E4m3b11fnuz 4 "float8_e4m3b11fnuz" 1,
        Float8E4m3fn 5 "float8_e4m3fn" 1,
        Float8E4m3fnuz 6 "float8_e4m3fnuz" 1,
        Float8E5m2 7 "float8_e5m2" 1,
        Float8E5m2fnuz 8 "float8_e5m2fnuz" 1,
        Float8E8m0fnu 9 "float8_e8m0fnu" 1,
        Float6E2m3fn 10 "float6_e2m3fn" 1,
        Float6E3m2fn 11 "float6_e3m2fn" 1,
        Float4E2m1fn 12 "float4_e2m1fn" 1,
        Int1 13 "int1" 1,
        UInt1 14 "uint1" 1,
        Int2 15 "int2" 1,
        UInt2 16 "uint2" 1,
        Int4 17 "int4" 1,
        UInt4 18 "uint4" 1,
        Complex32 19 "complex32" 4,
        Bcomplex32 20 "bcomplex32" 4,
    }
}

impl LongFormat {
    /// Of so many bytes, counted from the least significant one, as many hold the number; those above are zero.
    pub(crate) const fn used(self) -> usize {
        match self {
            LongFormat::X87 | LongFormat::X87Short => 10,
            LongFormat::Binary128 | LongFormat::DoubleDouble => 16,
        }
    }

    /// What the start of one must be a multiple of in an aligned structure.
    pub(crate) const fn alignment(self) -> u32 {
        match self {
            LongFormat::X87Short => 4,
            LongFormat::X87 | LongFormat::Binary128 | LongFormat::DoubleDouble => 16,
        }
    }
}

impl Extension {
    /// The largest byte that an element can be, where not all of them can: one less than a power of two.
    pub(crate) const fn most(self) -> Option<u8> {
        match self {
            Extension::Int1 | Extension::UInt1 => Some(1),
            Extension::Int2 | Extension::UInt2 => Some(3),
            Extension::Int4 | Extension::UInt4 | Extension::Float4E2m1fn => Some(15),
            Extension::Float6E2m3fn | Extension::Float6E3m2fn => Some(63),
            Extension::Bfloat16
            | Extension::Complex32
            | Extension::Bcomplex32
            | Extension::Float8E3m4
            | Extension::Float8E4m3
            | Extension::Float8E4m3b11fnuz
            | Extension::Float8E4m3fn
            | Extension::Float8E4m3fnuz
            | Extension::Float8E5m2
            | Extension::Float8E5m2fnuz
            | Extension::Float8E8m0fnu => None,
        }
    }

    /// What the start of one must be a multiple of in an aligned structure.
    pub(crate) const fn alignment(self) -> u32 {
        match self {
            Extension::Bfloat16 | Extension::Complex32 | Extension::Bcomplex32 => 2,
            _ => 1,
        }
    }
}
