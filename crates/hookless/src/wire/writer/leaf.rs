//! Values without items.

use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge, over};
use crate::memory;
use crate::value::TextRef;
use crate::wire::marker::{FALSE, NIL, TRUE, leaf};
use crate::wire::{BytesKind, raw, wide};

use super::{Placed, Writer};

impl Writer<'_> {
    /// None.
    #[inline]
    pub fn none(&mut self) -> Result<()> {
        self.budget.charge(charge::ATOM)?;
        memory::push(&mut self.out, NIL)?;
        Ok(())
    }

    /// A bool.
    #[inline]
    pub fn bool(&mut self, value: bool) -> Result<()> {
        self.budget.charge(charge::ATOM)?;
        memory::push(&mut self.out, if value { TRUE } else { FALSE })?;
        Ok(())
    }

    /// An int from 0 to 2^64-1 (V2).
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> Result<()> {
        self.budget.charge(charge::INT)?;
        raw::unsigned(&mut self.out, value)?;
        Ok(())
    }

    /// An int that an `i64` holds (V2).
    #[inline]
    pub fn signed(&mut self, value: i64) -> Result<()> {
        self.budget.charge(charge::INT)?;
        raw::signed(&mut self.out, value)?;
        Ok(())
    }

    /// An int beyond 64 bits: sign and magnitude without leading zeros (V8). Smaller ones take their native form.
    pub fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<()> {
        let zeros = magnitude.iter().take_while(|&&byte| byte == 0).count();
        let magnitude = magnitude.get(zeros..).unwrap_or_default();
        if let (true, Some(small)) =
            (crate::value::fits_native(negative, magnitude), crate::value::to_u64(magnitude))
        {
            return if negative {
                self.signed(0i64.wrapping_sub_unsigned(small))
            } else {
                self.unsigned(small)
            };
        }
        let len = wide(magnitude.len());
        if len > self.limits.int_bytes {
            return Err(over(Code::IntLimit, len, self.limits.int_bytes));
        }
        self.budget.charge(charge::big_int(len.saturating_add(1)))?;
        self.room(magnitude.len())?;
        raw::big_int(&mut self.out, negative, magnitude)?;
        Ok(())
    }

    /// A float (V5).
    #[inline]
    pub fn float(&mut self, value: f64) -> Result<()> {
        self.budget.charge(charge::FLOAT)?;
        self.marks.odd |= self.in_key && value.is_nan();
        raw::float(&mut self.out, value)?;
        Ok(())
    }

    /// So many numbers are written at a time, by [`Writer::ints`] and [`Writer::floats`].
    pub const RUN: usize = raw::RUN;

    /// Ints, one after another (V2). Writes none of them, and says so, where they are more than [`Writer::RUN`], or would go past a limit: they are
    /// to be written one by one then, so that the error has its place.
    #[inline]
    pub fn ints(&mut self, values: &[i64]) -> Result<bool> {
        if values.len() > raw::RUN || !self.budget.charge_all(charge::INT, wide(values.len())) {
            return Ok(false);
        }
        raw::ints(&mut self.out, values)?;
        Ok(true)
    }

    /// Floats outside key position (V5), in the same way.
    #[inline]
    pub fn floats(&mut self, values: &[f64]) -> Result<bool> {
        if self.in_key
            || values.len() > raw::RUN
            || !self.budget.charge_all(charge::FLOAT, wide(values.len()))
        {
            return Ok(false);
        }
        raw::floats(&mut self.out, values)?;
        Ok(true)
    }

    /// A complex number (V9).
    pub fn complex(&mut self, re: f64, im: f64) -> Result<()> {
        self.budget.charge(charge::COMPLEX)?;
        self.marks.odd |= self.in_key && (re.is_nan() || im.is_nan());
        raw::complex(&mut self.out, re, im)?;
        Ok(())
    }

    /// Text without surrogates.
    #[inline]
    pub fn str(&mut self, text: &str) -> Result<()> {
        self.utf8(text, text.is_ascii())
    }

    /// Text of ASCII, as the caller knows.
    #[inline(always)]
    pub fn ascii(&mut self, text: &str) -> Result<()> {
        if text.len() > raw::FIXSTR {
            return self.utf8(text, true);
        }
        self.budget.charge(charge::text(wide(text.len()), true))?;
        Ok(raw::short_str(&mut self.out, text)?)
    }

    /// The same where the caller knows whether it is ASCII.
    pub fn utf8(&mut self, text: &str, ascii: bool) -> Result<()> {
        self.budget.charge(charge::text(wide(text.len()), ascii))?;
        if text.len() > 64 {
            self.check_length(text.len())?;
            self.room(text.len())?;
        }
        raw::str(&mut self.out, text)?;
        Ok(())
    }

    /// Text with surrogates, or without: generalised UTF-8 (V7).
    pub fn text(&mut self, text: TextRef<'_>) -> Result<()> {
        match text {
            TextRef::Str(text) => self.str(text),
            TextRef::Surrogates(bytes) => {
                self.budget.charge(charge::text(wide(bytes.len()), false))?;
                self.check_length(bytes.len())?;
                self.room(bytes.len())?;
                raw::ext(&mut self.out, leaf::SURROGATES, bytes)?;
                Ok(())
            }
        }
    }

    /// bytes or bytearray with these contents (V10, V11).
    pub fn bytes(&mut self, kind: BytesKind, contents: &[u8]) -> Result<Placed> {
        if self.in_key && kind == BytesKind::ByteArray {
            return Err(Error::new(Code::NotKeyable));
        }
        if wide(contents.len()) >= REGION_THRESHOLD && !self.in_key {
            self.region_bytes(kind, contents.len())?;
            return Ok(Placed::Region);
        }
        self.budget.charge(charge::bytes(wide(contents.len())))?;
        self.check_length(contents.len())?;
        self.room(contents.len())?;
        match kind {
            BytesKind::Bytes => raw::bin(&mut self.out, contents)?,
            BytesKind::ByteArray => raw::ext(&mut self.out, leaf::BYTEARRAY, contents)?,
        }
        Ok(Placed::Inline)
    }

    /// bytes or bytearray of `len` bytes, 16 384 or more, outside key position: the caller sends them in the data region.
    pub fn region_bytes(&mut self, kind: BytesKind, len: usize) -> Result<()> {
        if self.in_key || wide(len) < REGION_THRESHOLD {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(charge::bytes(0))?;
        self.region.next(wide(len))?;
        let leaf = match kind {
            BytesKind::Bytes => leaf::REGION_BYTES,
            BytesKind::ByteArray => leaf::REGION_BYTEARRAY,
        };
        raw::ext(&mut self.out, leaf, &wide(len).to_be_bytes())?;
        Ok(())
    }
}
