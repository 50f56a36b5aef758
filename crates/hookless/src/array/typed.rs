//! `array.array` of the standard library: D18.

use crate::array::{ByteOrder, ElementCheck};
use crate::error::{Code, Error, Result};

/// A type code and the size that its C type has where the array was made, checked when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeCode {
    letter: u8,
    itemsize: u8,
}

impl TypeCode {
    /// Each type code with the itemsizes that it can have.
    pub const TABLE: [(u8, &'static [u8]); 14] = [
        (b'b', &[1]),
        (b'B', &[1]),
        (b'u', &[2, 4]),
        (b'w', &[4]),
        (b'h', &[2]),
        (b'H', &[2]),
        (b'i', &[2, 4]),
        (b'I', &[2, 4]),
        (b'l', &[4, 8]),
        (b'L', &[4, 8]),
        (b'q', &[8]),
        (b'Q', &[8]),
        (b'f', &[4]),
        (b'd', &[8]),
    ];

    /// A type code by its letter.
    ///
    /// # Errors
    /// `bad_dtype` for an unknown letter, or an itemsize that it cannot have.
    pub fn new(letter: u64, itemsize: u64) -> Result<TypeCode> {
        for (known, sizes) in TypeCode::TABLE {
            let size = sizes.iter().copied().find(|size| u64::from(*size) == itemsize);
            if let (true, Some(itemsize)) = (u64::from(known) == letter, size) {
                return Ok(TypeCode { letter: known, itemsize });
            }
        }
        Err(Error::new(Code::BadDtype).note(format_args!("type code {letter} with itemsize {itemsize}")))
    }

    /// Its ASCII letter.
    pub fn letter(self) -> u8 {
        self.letter
    }

    /// Bytes of one element.
    pub fn itemsize(self) -> u64 {
        u64::from(self.itemsize)
    }

    /// What its elements may not be: a character past the last code point.
    pub(crate) fn check(self) -> ElementCheck {
        match (self.letter, self.itemsize) {
            (b'u' | b'w', 4) => ElementCheck::CodePoints(ByteOrder::Little),
            _ => ElementCheck::Free,
        }
    }

    /// Bytes of so many elements, below 2^63.
    ///
    /// # Errors
    /// `bad_shape`
    pub fn nbytes(self, count: u64) -> Result<u64> {
        match count.checked_mul(self.itemsize()) {
            Some(bytes) if bytes < 1 << 63 => Ok(bytes),
            _ => Err(Error::new(Code::BadShape).note(format_args!("{count} elements reach 2^63 bytes"))),
        }
    }
}

/// An `array.array`: its elements are little-endian here, whatever the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedArray {
    code: TypeCode,
    data: Vec<u8>,
}

impl TypedArray {
    /// An array of the little-endian bytes of its elements.
    ///
    /// # Errors
    /// `bad_data_length` for a part of an element, `bad_element` for a character past the last code point.
    pub fn new(code: TypeCode, data: Vec<u8>) -> Result<TypedArray> {
        let len = u64::try_from(data.len()).unwrap_or(u64::MAX);
        if !len.is_multiple_of(code.itemsize()) {
            return Err(Error::new(Code::BadDataLength).note("not a whole number of elements"));
        }
        if code.check().find_bad(&data).is_some() {
            return Err(Error::new(Code::BadElement));
        }
        Ok(TypedArray { code, data })
    }

    /// The same where the reader has checked, or will check, the bytes.
    pub(crate) fn trusted(code: TypeCode, data: Vec<u8>) -> TypedArray {
        TypedArray { code, data }
    }

    /// Type code and itemsize.
    pub fn code(&self) -> TypeCode {
        self.code
    }

    /// The elements' bytes, little-endian.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }
}
