//! The fields of a payload, one after the other.

use std::fmt;

use crate::error::{Code, Error, Result};
use crate::limits::over;
use crate::value::{Text, TextRef};

/// What has not been read of a payload.
pub(super) struct Fields<'b> {
    rest: &'b [u8],
    int_bytes: u64,
}

/// `bad_payload`, with the field and what it must be.
#[cold]
pub(super) fn bad(what: impl fmt::Display) -> Error {
    Error::new(Code::BadPayload).note(what)
}

impl<'b> Fields<'b> {
    pub(super) fn over(payload: &'b [u8], int_bytes: u64) -> Self {
        Fields { rest: payload, int_bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything that is left.
    pub(super) fn all(&mut self) -> &'b [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn take(&mut self, len: usize, what: &str) -> Result<&'b [u8]> {
        match self.rest.split_at_checked(len) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(bad(format_args!("{what} is missing or cut"))),
        }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(bad(format_args!("{what} is missing or cut"))),
        }
    }

    pub(super) fn u8(&mut self, what: &str) -> Result<u8> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self, what: &str) -> Result<i32> {
        self.array(what).map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self, what: &str) -> Result<i64> {
        self.array(what).map(i64::from_be_bytes)
    }

    /// L6, which comes before all that may be wrong with other fields: `find` reads on, as far as it finds lengths.
    pub(super) fn check_ints(&self, find: impl FnOnce(&mut Fields<'b>) -> Result<()>) -> Result<()> {
        match find(&mut Fields { ..*self }) {
            // Without memory for the words of an error, it may have been that one.
            Err(error) if matches!(error.code(), Code::IntLimit | Code::OutOfMemory) => Err(error),
            _ => Ok(()),
        }
    }

    /// Steps over a magnitude, in `check_ints`.
    pub(super) fn skip_magnitude(&mut self) -> Result<()> {
        let len = self.len32("length")?;
        self.take(len, "magnitude")?;
        self.check_int(len)
    }

    /// A magnitude of `len` bytes, without a leading zero byte.
    pub(super) fn magnitude(&mut self, len: usize, what: &str) -> Result<&'b [u8]> {
        let bytes = self.take(len, what)?;
        if bytes.first() == Some(&0) {
            return Err(Error::new(Code::NotCanonical).note(format_args!("{what} begins with a zero byte")));
        }
        Ok(bytes)
    }

    /// L6.
    pub(super) fn check_int(&self, len: usize) -> Result<()> {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        if len > self.int_bytes { Err(over(Code::IntLimit, len, self.int_bytes)) } else { Ok(()) }
    }

    pub(super) fn len32(&mut self, what: &str) -> Result<usize> {
        Ok(usize::try_from(self.u32(what)?).unwrap_or(usize::MAX))
    }

    /// Text of these bytes.
    pub(super) fn text(bytes: &[u8], what: &str) -> Result<Text> {
        match TextRef::from_generalised(bytes) {
            Some(text) => Ok(text.try_to_text()?),
            None => Err(Error::new(Code::BadUtf8).note(format_args!("{what} is no text"))),
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(bad(format_args!("{more} bytes more than its fields take"))),
        }
    }
}
