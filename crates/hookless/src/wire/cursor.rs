//! A cursor over a body that knows its offset, and the heads of MessagePack values.

use crate::error::{Code, Error, Result};
use crate::wire::{marker::*, size, wide};

/// The bytes still to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'b> {
    pub(crate) rest: &'b [u8],
    end: u64,
}

/// The head of one value: all that precedes its items or its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    Float(u64),
    Str(u32),
    Bin(u32),
    Ext(u8, u32),
    Array(u32),
    Map(u32),
}

impl<'b> Cursor<'b> {
    /// A cursor at the start of `body`, which begins `base` bytes into its frame.
    pub(crate) fn new(body: &'b [u8], base: u64) -> Self {
        Cursor { rest: body, end: base.saturating_add(wide(body.len())) }
    }

    /// A cursor over the same body where only this is left of it.
    #[inline]
    pub(crate) fn with(&self, rest: &'b [u8]) -> Self {
        Cursor { rest, end: self.end }
    }

    /// Where the cursor stands, from the frame's first byte.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset_of(self.rest)
    }

    /// Where a rest that the cursor had earlier begins.
    #[inline]
    pub(crate) fn offset_of(&self, rest: &[u8]) -> u64 {
        self.end.saturating_sub(wide(rest.len()))
    }

    /// Whether a node marker is next (V12).
    #[inline]
    pub(crate) fn at_marker(&self) -> bool {
        self.rest.starts_with(&[FIXEXT1, leaf::NODE])
    }

    #[cold]
    pub(crate) fn truncated(&self) -> Error {
        truncated(self.end)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<N>() else { return Err(self.truncated()) };
        self.rest = rest;
        Ok(*bytes)
    }

    #[inline]
    pub(crate) fn take(&mut self, len: u32) -> Result<&'b [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(size(len)) else {
            return Err(self.truncated());
        };
        self.rest = rest;
        Ok(bytes)
    }

    /// A head in its shortest form: V2, V3, V4. After an error the cursor stands where it stood.
    pub(crate) fn head(&mut self) -> Result<Head> {
        self.head_in_loop()
    }

    /// The same for the one loop that every value goes through: there the kind is told once, not once here and once by the caller.
    #[inline(always)]
    pub(crate) fn head_in_loop(&mut self) -> Result<Head> {
        let mut rest = Rest { bytes: self.rest, end: self.end };
        let head = rest.head()?;
        self.rest = rest.bytes;
        Ok(head)
    }

    /// What is left, to be read in registers.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Rest<'b> {
        Rest { bytes: self.rest, end: self.end }
    }
}

/// The bytes still to be read, while they are: its methods are all part of their callers, so that it lies in registers. A cursor in memory that
/// is written in halves and copied as a whole keeps the processor waiting for each value.
pub(crate) struct Rest<'b> {
    pub(crate) bytes: &'b [u8],
    end: u64,
}

impl<'b> Rest<'b> {
    #[inline(always)]
    fn byte(&mut self) -> Result<u8> {
        let Some((&byte, rest)) = self.bytes.split_first() else { return Err(truncated(self.end)) };
        self.bytes = rest;
        Ok(byte)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some((bytes, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(truncated(self.end));
        };
        self.bytes = rest;
        Ok(*bytes)
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, len: u32) -> Result<&'b [u8]> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(size(len)) else {
            return Err(truncated(self.end));
        };
        self.bytes = rest;
        Ok(bytes)
    }

    /// Where in the frame the bytes begin.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.end.saturating_sub(wide(self.bytes.len()))
    }

    /// V2, V3, V4.
    #[inline(always)]
    pub(crate) fn head(&mut self) -> Result<Head> {
        let marker = self.byte()?;
        Ok(match marker {
            0x00..=0x7f => Head::Unsigned(u64::from(marker)),
            0x80..=0x8f => Head::Map(u32::from(marker & 0x0f)),
            0x90..=0x9f => Head::Array(u32::from(marker & 0x0f)),
            0xa0..=0xbf => Head::Str(u32::from(marker & 0x1f)),
            NIL => Head::Nil,
            FALSE => Head::Bool(false),
            TRUE => Head::Bool(true),
            FLOAT64 => Head::Float(u64::from_be_bytes(self.array()?)),
            UINT8 => Head::Unsigned(at_least(u64::from(self.byte()?), 0x80)?),
            UINT16 => Head::Unsigned(at_least(u64::from(u16::from_be_bytes(self.array()?)), 1 << 8)?),
            UINT32 => Head::Unsigned(at_least(u64::from(u32::from_be_bytes(self.array()?)), 1 << 16)?),
            UINT64 => Head::Unsigned(at_least(u64::from_be_bytes(self.array()?), 1 << 32)?),
            0xe0..=0xff => Head::Negative(i64::from(i8::from_be_bytes([marker]))),
            INT8 => Head::Negative(below(i64::from(i8::from_be_bytes(self.array()?)), -32)?),
            INT16 => Head::Negative(below(i64::from(i16::from_be_bytes(self.array()?)), i64::from(i8::MIN))?),
            INT32 => {
                Head::Negative(below(i64::from(i32::from_be_bytes(self.array()?)), i64::from(i16::MIN))?)
            }
            INT64 => Head::Negative(below(i64::from_be_bytes(self.array()?), i64::from(i32::MIN))?),
            STR8 => Head::Str(self.length8(32)?),
            STR16 => Head::Str(self.length16()?),
            STR32 => Head::Str(self.length32()?),
            BIN8 => Head::Bin(self.length8(0)?),
            BIN16 => Head::Bin(self.length16()?),
            BIN32 => Head::Bin(self.length32()?),
            ARRAY16 => Head::Array(self.count16()?),
            ARRAY32 => Head::Array(self.length32()?),
            MAP16 => Head::Map(self.count16()?),
            MAP32 => Head::Map(self.length32()?),
            FIXEXT1 => Head::Ext(self.byte()?, 1),
            FIXEXT2 => Head::Ext(self.byte()?, 2),
            FIXEXT4 => Head::Ext(self.byte()?, 4),
            FIXEXT8 => Head::Ext(self.byte()?, 8),
            FIXEXT16 => Head::Ext(self.byte()?, 16),
            EXT8 => {
                let len = self.length8(0)?;
                if matches!(len, 1 | 2 | 4 | 8 | 16) {
                    return Err(Error::new(Code::NotCanonical));
                }
                Head::Ext(self.byte()?, len)
            }
            EXT16 => {
                let len = self.length16()?;
                Head::Ext(self.byte()?, len)
            }
            EXT32 => {
                let len = self.length32()?;
                Head::Ext(self.byte()?, len)
            }
            _ => return Err(bad_marker(marker)),
        })
    }

    #[inline(always)]
    fn length8(&mut self, least: u8) -> Result<u32> {
        let len = self.byte()?;
        if len < least { Err(Error::new(Code::NotCanonical)) } else { Ok(u32::from(len)) }
    }

    #[inline(always)]
    fn length16(&mut self) -> Result<u32> {
        match u16::from_be_bytes(self.array()?) {
            0..=0xff => Err(Error::new(Code::NotCanonical)),
            len => Ok(u32::from(len)),
        }
    }

    #[inline(always)]
    fn count16(&mut self) -> Result<u32> {
        match u16::from_be_bytes(self.array()?) {
            0..=15 => Err(Error::new(Code::NotCanonical)),
            count => Ok(u32::from(count)),
        }
    }

    #[inline(always)]
    fn length32(&mut self) -> Result<u32> {
        match u32::from_be_bytes(self.array()?) {
            0..=0xffff => Err(Error::new(Code::NotCanonical)),
            len => Ok(len),
        }
    }
}

#[cold]
fn bad_marker(marker: u8) -> Error {
    Error::new(Code::BadMarker).note(format_args!("marker {marker:#04x}"))
}

#[cold]
fn truncated(end: u64) -> Error {
    Error::at(Code::Truncated, end)
}

#[inline]
fn at_least(value: u64, least: u64) -> Result<u64> {
    if value < least { Err(Error::new(Code::NotCanonical)) } else { Ok(value) }
}

#[inline]
fn below(value: i64, bound: i64) -> Result<i64> {
    if value >= bound { Err(Error::new(Code::NotCanonical)) } else { Ok(value) }
}

/// Steps over one value of a body that has been checked.
pub(crate) fn skip<'b>(cursor: &mut Cursor<'b>) -> Result<&'b [u8]> {
    let start = cursor.rest;
    let mut pending = 1u64;
    while let Some(left) = pending.checked_sub(1) {
        let items = match cursor.head()? {
            Head::Str(len) | Head::Bin(len) | Head::Ext(_, len) => {
                cursor.take(len)?;
                0
            }
            Head::Array(count) => u64::from(count),
            Head::Map(pairs) => u64::from(pairs).saturating_mul(2),
            Head::Nil | Head::Bool(_) | Head::Unsigned(_) | Head::Negative(_) | Head::Float(_) => 0,
        };
        pending = left.saturating_add(items);
    }
    let used = start.len().saturating_sub(cursor.rest.len());
    start.get(..used).ok_or_else(|| cursor.truncated())
}
