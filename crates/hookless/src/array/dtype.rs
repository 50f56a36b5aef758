//! Dtypes: A2–A5, A18, A19.

use std::fmt;

use crate::array::{ByteOrder, ElementCheck, Extension, Letter, LongFormat, Structure, Unit};
use crate::error::{Code, Error, Result};
use crate::memory::Boxed;

/// The largest itemsize and unit count: NumPy keeps them in a C int.
pub(crate) const MAX_SIZE: u32 = u32::MAX >> 1;

/// The type of an array's elements, checked when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dtype {
    letter: Letter,
    order: ByteOrder,
    itemsize: u32,
    unit: Option<Unit>,
    /// What the wire gives in place of a size: the format of a long double (A18), or a type of A19.
    number: u8,
    /// The fields of a structured dtype, whose letter is `V`.
    structure: Option<Boxed<Structure>>,
}

impl Dtype {
    /// A dtype of its parts; the unit for datetime64 and timedelta64, and only for them.
    ///
    /// # Errors
    /// `bad_dtype` when A3, A4 or A5 forbids it.
    pub fn new(letter: Letter, order: ByteOrder, itemsize: u32, unit: Option<Unit>) -> Result<Dtype> {
        let size_ok = match letter {
            Letter::Bool => itemsize == 1,
            Letter::Int | Letter::UInt => matches!(itemsize, 1 | 2 | 4 | 8),
            Letter::Float => matches!(itemsize, 2 | 4 | 8),
            Letter::Complex => matches!(itemsize, 8 | 16),
            Letter::Timedelta | Letter::Datetime => itemsize == 8,
            Letter::Bytes | Letter::Void => itemsize <= MAX_SIZE,
            Letter::Str => itemsize <= MAX_SIZE && itemsize.is_multiple_of(4),
            Letter::LongDouble | Letter::LongComplex | Letter::Extension => false,
        };
        let order_ok = letter.is_ordered(itemsize) == (order != ByteOrder::None);
        if size_ok && order_ok && letter.is_time() == unit.is_some() {
            return Ok(Dtype { letter, order, itemsize, unit, number: 0, structure: None });
        }
        let (letter, order) = (char::from(letter.byte()), char::from(order.byte()));
        Err(Error::new(Code::BadDtype).note(format_args!("{order}{letter} with itemsize {itemsize}")))
    }

    /// A long double or, of two of them, a complex number (A18).
    ///
    /// # Errors
    /// `bad_dtype` without a byte order.
    pub fn long(complex: bool, order: ByteOrder, format: LongFormat) -> Result<Dtype> {
        let letter = if complex { Letter::LongComplex } else { Letter::LongDouble };
        Dtype::numbered(letter, order, format.number())
    }

    /// A type of ml_dtypes (A19).
    ///
    /// # Errors
    /// `bad_dtype` for another byte order than A4 asks for.
    pub fn extension(order: ByteOrder, extension: Extension) -> Result<Dtype> {
        Dtype::numbered(Letter::Extension, order, extension.number())
    }

    fn numbered(letter: Letter, order: ByteOrder, number: u8) -> Result<Dtype> {
        let long = LongFormat::from_number(number).map(LongFormat::size);
        let size = match letter {
            Letter::LongDouble => long,
            Letter::LongComplex => long.map(|size| size.saturating_mul(2)),
            _ => Extension::from_number(number).map(Extension::size),
        };
        match size {
            Some(itemsize) if letter.is_ordered(itemsize) == (order != ByteOrder::None) => {
                Ok(Dtype { letter, order, itemsize, unit: None, number, structure: None })
            }
            _ => Err(Error::new(Code::BadDtype).note(format_args!("number {number}"))),
        }
    }

    /// How a long double, or each part of a long complex number, lies in memory.
    pub fn long_format(&self) -> Option<LongFormat> {
        let long = matches!(self.letter, Letter::LongDouble | Letter::LongComplex);
        if long { LongFormat::from_number(self.number) } else { None }
    }

    /// Which type of ml_dtypes it is.
    pub fn as_extension(&self) -> Option<Extension> {
        if self.letter == Letter::Extension { Extension::from_number(self.number) } else { None }
    }

    /// A dtype of the payload of its leaf: A2.
    pub(crate) fn from_payload(payload: &[u8]) -> Result<Dtype> {
        let bad = || Error::new(Code::BadDtype);
        let (letter, order) = match payload {
            [letter, order, ..] => (*letter, *order),
            _ => return Err(Error::new(Code::BadPayload)),
        };
        let long = match (payload.len(), letter) {
            (4, b'b' | b'i' | b'u' | b'f' | b'c' | b'g' | b'G' | b'x') => false,
            (8, b'S' | b'U' | b'V' | b'm' | b'M') => true,
            (
                4 | 8,
                b'b' | b'i' | b'u' | b'f' | b'c' | b'S' | b'U' | b'V' | b'm' | b'M' | b'g' | b'G' | b'x',
            ) => {
                return Err(Error::new(Code::BadPayload));
            }
            (4 | 8, _) => return Err(bad().note(format_args!("letter {letter:#04x}"))),
            _ => return Err(Error::new(Code::BadPayload)),
        };
        let letter = Letter::from_byte(letter).ok_or_else(bad)?;
        let order = ByteOrder::from_byte(order).ok_or_else(bad)?;
        match *payload {
            [_, _, number, 0] if letter.is_numbered() => Dtype::numbered(letter, order, number),
            [_, _, _, _] if letter.is_numbered() => Err(bad()),
            [_, _, a, b] if !long => Dtype::new(letter, order, u32::from(u16::from_be_bytes([a, b])), None),
            [_, _, unit, 0, a, b, c, d] if letter.is_time() => {
                let unit = Unit::new(unit, u32::from_be_bytes([a, b, c, d])).ok_or_else(bad)?;
                Dtype::new(letter, order, 8, Some(unit))
            }
            [_, _, 0, 0, a, b, c, d] if !letter.is_time() => {
                Dtype::new(letter, order, u32::from_be_bytes([a, b, c, d]), None)
            }
            _ => Err(bad()),
        }
    }

    /// The dtype of little-endian numbers, or of single bytes, that [`Dtype::from_payload`] gives for these four bytes; none for others.
    /// Nothing is made, and so nothing is moved, which takes most of the time of reading a small array.
    #[inline]
    pub(crate) fn number(payload: [u8; 4]) -> Option<&'static Dtype> {
        /// One that [`Dtype::new`] allows.
        const fn of(letter: Letter, itemsize: u32) -> Dtype {
            let order = if itemsize == 1 { ByteOrder::None } else { ByteOrder::Little };
            Dtype { letter, order, itemsize, unit: None, number: 0, structure: None }
        }
        Some(match &payload {
            b"f<\0\x08" => const { &of(Letter::Float, 8) },
            b"f<\0\x04" => const { &of(Letter::Float, 4) },
            b"f<\0\x02" => const { &of(Letter::Float, 2) },
            b"i<\0\x08" => const { &of(Letter::Int, 8) },
            b"i<\0\x04" => const { &of(Letter::Int, 4) },
            b"i<\0\x02" => const { &of(Letter::Int, 2) },
            b"i|\0\x01" => const { &of(Letter::Int, 1) },
            b"u<\0\x08" => const { &of(Letter::UInt, 8) },
            b"u<\0\x04" => const { &of(Letter::UInt, 4) },
            b"u<\0\x02" => const { &of(Letter::UInt, 2) },
            b"u|\0\x01" => const { &of(Letter::UInt, 1) },
            b"c<\0\x10" => const { &of(Letter::Complex, 16) },
            b"c<\0\x08" => const { &of(Letter::Complex, 8) },
            b"b|\0\x01" => const { &of(Letter::Bool, 1) },
            _ => return None,
        })
    }

    /// Writes the payload of its leaf: A2.
    pub(crate) fn payload(&self) -> ([u8; 8], usize) {
        let [a, b, c, d] = self.itemsize.to_be_bytes();
        let (letter, order) = (self.letter.byte(), self.order.byte());
        if let Some(unit) = self.unit {
            let [a, b, c, d] = unit.count().to_be_bytes();
            return ([letter, order, unit.number(), 0, a, b, c, d], 8);
        }
        match self.letter {
            Letter::Bytes | Letter::Str | Letter::Void => ([letter, order, 0, 0, a, b, c, d], 8),
            Letter::LongDouble | Letter::LongComplex | Letter::Extension => {
                ([letter, order, self.number, 0, 0, 0, 0, 0], 4)
            }
            _ => ([letter, order, c, d, 0, 0, 0, 0], 4),
        }
    }

    /// Parses NumPy's `dtype.str`, such as `<f8`, `|V3` or `<M8[25s]`.
    pub fn parse(text: &str) -> Option<Dtype> {
        let mut chars = text.bytes();
        let order = ByteOrder::from_byte(chars.next()?)?;
        let letter = Letter::from_byte(chars.next()?)?;
        let rest = text.get(2..)?;
        let (size, unit) = match (letter.is_time(), rest.split_once('[')) {
            (true, None) => (rest, Some(Unit::new(0, 1)?)),
            (true, Some((size, unit))) => {
                let unit = unit.strip_suffix(']')?;
                let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
                let (count, name) = unit.split_at_checked(digits)?;
                let count = if count.is_empty() { 1 } else { count.parse().ok()? };
                (size, Some(Unit::by_name(name, count)?))
            }
            (false, None) => (rest, None),
            (false, Some(_)) => return None,
        };
        let size: u32 = size.parse().ok()?;
        let itemsize = if letter == Letter::Str { size.checked_mul(4)? } else { size };
        Dtype::new(letter, order, itemsize, unit).ok()
    }

    /// A structured dtype of checked parts.
    pub(crate) fn of_structure(itemsize: u32, structure: Boxed<Structure>) -> Dtype {
        let (letter, order) = Dtype::STRUCTURE;
        Dtype { letter, order, itemsize, unit: None, number: 0, structure: Some(structure) }
    }

    /// Where the first element that NumPy could not hold starts in these bytes, which are whole elements (A10).
    ///
    /// # Errors
    /// `out_of_memory`.
    #[inline]
    pub fn find_bad(&self, bytes: &[u8]) -> Result<Option<u64>> {
        // Told first, and nothing made: these are most.
        match self.letter {
            Letter::Int | Letter::UInt | Letter::Float | Letter::Complex => Ok(None),
            _ => Ok(ElementCheck::of(self)?.find_bad(bytes)),
        }
    }

    /// The fields, of a structured dtype.
    pub fn fields(&self) -> Option<&Structure> {
        self.structure.as_deref()
    }

    /// The letter.
    pub fn letter(&self) -> Letter {
        self.letter
    }

    /// The byte order.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes of one element.
    pub fn itemsize(&self) -> u64 {
        u64::from(self.itemsize)
    }

    /// Unit and count of datetime64 and timedelta64.
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }
}

impl fmt::Display for Dtype {
    /// NumPy's `dtype.str`; `<g[x87]` for a long double, `<bfloat16` for a type of A19.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = char::from(self.order.byte());
        if let Some(format) = self.long_format() {
            return write!(f, "{order}{}[{}]", char::from(self.letter.byte()), format.name());
        }
        if let Some(extension) = self.as_extension() {
            return write!(f, "{order}{}", extension.name());
        }
        let letter = char::from(self.letter.byte());
        let size = if self.letter == Letter::Str { self.itemsize / 4 } else { self.itemsize };
        write!(f, "{order}{letter}{size}")?;
        self.unit.map_or(Ok(()), |unit| write!(f, "{unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_its_payload_says() {
        let mut found = 0;
        for letter in 0..=u8::MAX {
            for order in *b"<>|=" {
                for (high, size) in (0..=33).map(|size| (0, size)).chain([(1, 8)]) {
                    let payload = [letter, order, high, size];
                    if let Some(dtype) = Dtype::number(payload) {
                        assert_eq!(Dtype::from_payload(&payload).as_ref(), Ok(dtype));
                        assert_eq!(dtype.payload(), ([letter, order, high, size, 0, 0, 0, 0], 4));
                        found += 1;
                    }
                }
            }
        }
        assert_eq!(found, 14);
    }
}
