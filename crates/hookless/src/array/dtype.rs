//! Dtypes: A2–A5.

use std::fmt;
use std::sync::Arc;

use crate::array::Structure;
use crate::error::{Code, Error, Result};

/// The letter of a dtype, as NumPy's `dtype.kind`.
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
}

impl Letter {
    const ALL: [Letter; 10] = [
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
    ];

    /// The letter for NumPy's `dtype.kind`.
    pub fn from_byte(byte: u8) -> Option<Letter> {
        Letter::ALL.into_iter().find(|letter| letter.byte() == byte)
    }

    /// NumPy's `dtype.kind`.
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
        }
    }

    const fn is_time(self) -> bool {
        matches!(self, Letter::Datetime | Letter::Timedelta)
    }

    /// A4: whether elements of this kind and size have a byte order at all.
    const fn is_ordered(self, itemsize: u32) -> bool {
        match self {
            Letter::Bool | Letter::Bytes | Letter::Void => false,
            Letter::Int | Letter::UInt => itemsize != 1,
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

/// Units of datetime64 and timedelta64, by wire number (A5).
pub const UNITS: [&str; 14] =
    ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];

/// A5: a unit number and its count, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit {
    number: u8,
    count: u32,
}

impl Unit {
    /// A unit by wire number, and how many of them make one step.
    pub fn new(number: u8, count: u32) -> Option<Unit> {
        let known = usize::from(number) < UNITS.len();
        let counted = if number == 0 { count == 1 } else { (1..=MAX_SIZE).contains(&count) };
        (known && counted).then_some(Unit { number, count })
    }

    /// A unit by NumPy's name, as `numpy.datetime_data` gives it.
    pub fn by_name(name: &str, count: u32) -> Option<Unit> {
        let number = UNITS.iter().position(|unit| *unit == name)?;
        Unit::new(u8::try_from(number).ok()?, count)
    }

    /// NumPy's name, and the count.
    pub fn name(self) -> (&'static str, u32) {
        (UNITS.get(usize::from(self.number)).copied().unwrap_or_default(), self.count)
    }

    /// The wire number.
    pub fn number(self) -> u8 {
        self.number
    }

    /// How many units make one step.
    pub fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Unit {
    /// `[25s]`, `[D]`, or nothing for the generic unit, as in NumPy's `dtype.str`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            ("generic", _) => Ok(()),
            (unit, 1) => write!(f, "[{unit}]"),
            (unit, count) => write!(f, "[{count}{unit}]"),
        }
    }
}

/// The largest itemsize and unit count: NumPy keeps them in a C int.
pub(crate) const MAX_SIZE: u32 = i32::MAX as u32;

/// The type of an array's elements, checked when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dtype {
    letter: Letter,
    order: ByteOrder,
    itemsize: u32,
    unit: Option<Unit>,
    /// The fields of a structured dtype, whose letter is `V`.
    structure: Option<Arc<Structure>>,
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
        };
        let order_ok = letter.is_ordered(itemsize) == (order != ByteOrder::None);
        if size_ok && order_ok && letter.is_time() == unit.is_some() {
            return Ok(Dtype { letter, order, itemsize, unit, structure: None });
        }
        let (letter, order) = (char::from(letter.byte()), char::from(order.byte()));
        Err(Error::new(Code::BadDtype).note(format!("{order}{letter} with itemsize {itemsize}")))
    }

    /// A dtype of the payload of its leaf: A2.
    pub(crate) fn from_payload(payload: &[u8]) -> Result<Dtype> {
        let bad = || Error::new(Code::BadDtype);
        let (letter, order) = match payload {
            [letter, order, ..] => (*letter, *order),
            _ => return Err(Error::new(Code::BadPayload)),
        };
        let long = match (payload.len(), letter) {
            (4, b'b' | b'i' | b'u' | b'f' | b'c') => false,
            (8, b'S' | b'U' | b'V' | b'm' | b'M') => true,
            (4 | 8, b'b' | b'i' | b'u' | b'f' | b'c' | b'S' | b'U' | b'V' | b'm' | b'M') => {
                return Err(Error::new(Code::BadPayload));
            }
            (4 | 8, _) => return Err(bad().note(format!("letter {letter:#04x}"))),
            _ => return Err(Error::new(Code::BadPayload)),
        };
        let letter = Letter::from_byte(letter).ok_or_else(bad)?;
        let order = ByteOrder::from_byte(order).ok_or_else(bad)?;
        match *payload {
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

    /// Writes the payload of its leaf: A2.
    pub(crate) fn payload(&self) -> ([u8; 8], usize) {
        let [a, b, c, d] = self.itemsize.to_be_bytes();
        let (letter, order) = (self.letter.byte(), self.order.byte());
        if let Some(unit) = self.unit {
            let [a, b, c, d] = unit.count.to_be_bytes();
            return ([letter, order, unit.number, 0, a, b, c, d], 8);
        }
        match self.letter {
            Letter::Bytes | Letter::Str | Letter::Void => ([letter, order, 0, 0, a, b, c, d], 8),
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
    pub(crate) fn of_structure(itemsize: u32, structure: Arc<Structure>) -> Dtype {
        let (letter, order) = Dtype::STRUCTURE;
        Dtype { letter, order, itemsize, unit: None, structure: Some(structure) }
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
    /// NumPy's `dtype.str`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, letter) = (char::from(self.order.byte()), char::from(self.letter.byte()));
        let size = if self.letter == Letter::Str { self.itemsize / 4 } else { self.itemsize };
        write!(f, "{order}{letter}{size}")?;
        self.unit.map_or(Ok(()), |unit| write!(f, "{unit}"))
    }
}
