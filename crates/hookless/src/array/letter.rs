//! Letters and byte orders of dtypes: A2, A4.

/// The letter of a dtype: NumPy's `dtype.kind`, but for the last three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Letter {
    /// bool
    Bool = b'b',
    /// signed int
    Int = b'i',
    /// unsigned int
    UInt = b'u',
    /// float
    Float = b'f',
    /// complex
    Complex = b'c',
    /// timedelta64
    Timedelta = b'm',
    /// datetime64
    Datetime = b'M',
    /// fixed-width bytes
    Bytes = b'S',
    /// fixed-width text, four bytes a character
    Str = b'U',
    /// raw bytes
    Void = b'V',
    /// longdouble, in one of the formats of A18
    LongDouble = b'g',
    /// clongdouble, likewise
    LongComplex = b'G',
    /// a type of A19
    Extension = b'x',
}

impl Letter {
    const ALL: [Letter; 13] = [
        Letter::Bool,
        Letter::Int,
        Letter::UInt,
        Letter::Float,
        Letter::Complex,
        Letter::Timedelta,
        Letter::Datetime,
        Letter::Bytes,
        Letter::Str,
        Letter::Void,
        Letter::LongDouble,
        Letter::LongComplex,
        Letter::Extension,
    ];

    /// The letter for its byte.
    pub fn from_byte(byte: u8) -> Option<Letter> {
        Letter::ALL.into_iter().find(|letter| letter.byte() == byte)
    }

    /// Its byte on the wire.
    pub const fn byte(self) -> u8 {
        match self {
            Letter::Bool => b'b',
            Letter::Int => b'i',
            Letter::UInt => b'u',
            Letter::Float => b'f',
            Letter::Complex => b'c',
            Letter::Timedelta => b'm',
            Letter::Datetime => b'M',
            Letter::Bytes => b'S',
            Letter::Str => b'U',
            Letter::Void => b'V',
            Letter::LongDouble => b'g',
            Letter::LongComplex => b'G',
            Letter::Extension => b'x',
        }
    }

    pub(super) const fn is_time(self) -> bool {
        matches!(self, Letter::Datetime | Letter::Timedelta)
    }

    /// Whether the wire gives a number in place of a size (A18, A19).
    pub(super) const fn is_numbered(self) -> bool {
        matches!(self, Letter::LongDouble | Letter::LongComplex | Letter::Extension)
    }

    /// A4: whether elements of this kind and size have a byte order at all.
    pub(super) const fn is_ordered(self, itemsize: u32) -> bool {
        match self {
            Letter::Bool | Letter::Bytes | Letter::Void => false,
            Letter::Int | Letter::UInt | Letter::Extension => itemsize != 1,
            _ => true,
        }
    }
}

/// The byte order of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ByteOrder {
    /// `<`
    Little = b'<',
    /// `>`
    Big = b'>',
    /// `|`: elements of single bytes
    None = b'|',
}

impl ByteOrder {
    /// This machine's order.
    pub const NATIVE: ByteOrder =
        if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };

    /// The order for its character.
    pub fn from_byte(byte: u8) -> Option<ByteOrder> {
        match byte {
            b'<' => Some(ByteOrder::Little),
            b'>' => Some(ByteOrder::Big),
            b'|' => Some(ByteOrder::None),
            _ => None,
        }
    }

    /// Its character.
    pub const fn byte(self) -> u8 {
        match self {
            ByteOrder::Little => b'<',
            ByteOrder::Big => b'>',
            ByteOrder::None => b'|',
        }
    }
}
