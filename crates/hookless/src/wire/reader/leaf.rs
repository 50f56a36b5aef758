//! Leaves: text, bytes, big ints, complex numbers, NumPy scalars.

use crate::array::ElementCheck;
use crate::array::ScalarKind;
use crate::error::{Code, Error, Result};
use crate::limits::{Budget, REGION_THRESHOLD, charge, over};
use crate::memory;
use crate::value::{StandardLeaf, fits_native, generalised};
use crate::wire::cursor::Rest;
use crate::wire::marker::leaf;
use crate::wire::{Build, BytesKind, Characters, Data, keys, wide};

use super::{Reader, Slot};

/// V6: takes so many bytes of text, and charges for them.
#[inline(always)]
pub(super) fn characters<'b>(rest: &mut Rest<'b>, budget: &mut Budget, len: u32) -> Result<Characters<'b>> {
    let bytes = rest.take(len)?;
    let ascii = is_ascii(bytes);
    budget.charge(charge::text(u64::from(len), ascii))?;
    if ascii {
        return Ok(Characters::Ascii(bytes));
    }
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Ok(Characters::Utf8(text)),
        Err(_) => Err(bad_utf8(rest.offset(), bytes)),
    }
}

/// The error at the bad sequence of text that ends at this offset.
#[cold]
fn bad_utf8(end: u64, bytes: &[u8]) -> Error {
    let start = end.saturating_sub(wide(bytes.len()));
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    Error::at(Code::BadUtf8, start.saturating_add(wide(at)))
}

/// The highest bit of each byte of a long word.
const HIGH: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;

/// Whether all bytes are below 0x80: as the standard library's, which looks at short text and at the end of long text byte by byte. Here a few
/// words are looked at, which overlap.
#[inline(always)]
pub(super) fn is_ascii(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let ends = u128::from_le_bytes(*first) | u128::from_le_bytes(*last);
        return ends & HIGH == 0 && (bytes.len() <= 32 || is_long_ascii(bytes));
    }
    let bits = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from_le_bytes(*first) | u64::from_le_bytes(*last)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first) | u32::from_le_bytes(*last))
    } else {
        u64::from(bytes.iter().fold(0, |all, byte| all | byte))
    };
    u128::from(bits) & HIGH == 0
}

/// The same, where the last 16 bytes are known to be.
#[inline(never)]
fn is_long_ascii(bytes: &[u8]) -> bool {
    let high = |part: &[u8; 16]| u128::from_le_bytes(*part) & HIGH;
    let (long, rest) = bytes.as_chunks::<64>();
    long.iter().all(|long| long.as_chunks().0.iter().fold(0, |all, part| all | high(part)) == 0)
        && rest.as_chunks().0.iter().all(|part| high(part) == 0)
}

impl<B: Build> Reader<'_, '_, B> {
    /// The error at the bad sequence of a payload that was just taken.
    #[cold]
    pub(crate) fn bad_utf8(&self, bytes: &[u8], at: usize) -> Error {
        let start = self.cursor.offset().saturating_sub(wide(bytes.len()));
        Error::at(Code::BadUtf8, start.saturating_add(wide(at)))
    }

    /// V10, in the body.
    pub(super) fn bin(&mut self, len: u32) -> Result<B::Value> {
        let bytes = self.cursor.take(len)?;
        if u64::from(len) >= REGION_THRESHOLD && !self.in_key {
            return Err(Error::new(Code::NotCanonical).note("bytes of this length go into the data region"));
        }
        self.budget.charge(charge::bytes(u64::from(len)))?;
        self.build.bytes(BytesKind::Bytes, Data::Inline(bytes))
    }

    /// V13: an ext by its type.
    pub(super) fn leaf(&mut self, ext: u8, len: u32) -> Result<B::Value> {
        let payload = self.cursor.take(len)?;
        match ext {
            leaf::NODE if len != 1 => Err(Error::new(Code::BadPayload).note("a marker holds one byte")),
            leaf::NODE => Err(Error::new(Code::MisplacedMarker)),
            leaf::BIG_INT => self.big_int(payload),
            leaf::COMPLEX => self.complex(payload),
            leaf::SURROGATES => {
                self.budget.charge(charge::text(u64::from(len), false))?;
                self.check_surrogates(payload)?;
                self.build.text(Characters::Surrogates(payload), self.in_key)
            }
            leaf::BYTEARRAY => {
                self.not_in_key()?;
                if u64::from(len) >= REGION_THRESHOLD {
                    return Err(Error::new(Code::NotCanonical).note("goes into the data region"));
                }
                self.budget.charge(charge::bytes(u64::from(len)))?;
                self.build.bytes(BytesKind::ByteArray, Data::Inline(payload))
            }
            leaf::REGION_BYTES if self.in_key => Err(Error::new(Code::NotCanonical)),
            leaf::REGION_BYTES => self.region_bytes(BytesKind::Bytes, payload),
            leaf::REGION_BYTEARRAY => {
                self.not_in_key()?;
                self.region_bytes(BytesKind::ByteArray, payload)
            }
            leaf::DTYPE => Err(Error::new(Code::BadType).note("a dtype is no value")),
            _ => match (ScalarKind::from_ext(ext), StandardLeaf::from_ext(ext)) {
                (Some(kind), _) => self.scalar(kind, payload),
                (None, Some(leaf)) => self.standard(leaf, payload),
                (None, None) => Err(Error::new(Code::UnknownExt).note(format_args!("ext type {ext}"))),
            },
        }
    }

    /// V7.
    pub(crate) fn check_surrogates(&self, payload: &[u8]) -> Result<()> {
        match generalised(payload) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::new(Code::NotCanonical).note("no surrogate: this is a str")),
            Err(at) => Err(self.bad_utf8(payload, at)),
        }
    }

    /// V8, L6.
    fn big_int(&mut self, payload: &[u8]) -> Result<B::Value> {
        let len = wide(payload.len()).saturating_sub(1);
        if len == 0 {
            return Err(Error::new(Code::BadPayload).note("an int has a sign byte and a magnitude"));
        }
        if len > self.limits.int_bytes {
            return Err(over(Code::IntLimit, len, self.limits.int_bytes));
        }
        self.budget.charge(charge::big_int(wide(payload.len())))?;
        let (negative, magnitude) = match payload.split_first() {
            Some((sign @ (0 | 1), magnitude)) => (*sign == 1, magnitude),
            _ => return Err(Error::new(Code::BadPayload).note("the sign byte is 0 or 1")),
        };
        if magnitude.first() == Some(&0) || fits_native(negative, magnitude) {
            return Err(Error::new(Code::NotCanonical));
        }
        self.build.big_int(negative, magnitude)
    }

    /// V9.
    fn complex(&mut self, payload: &[u8]) -> Result<B::Value> {
        let ([re, im], []) = payload.as_chunks::<8>() else { return Err(Error::new(Code::BadPayload)) };
        self.budget.charge(charge::COMPLEX)?;
        let (re, im) = (f64::from_be_bytes(*re), f64::from_be_bytes(*im));
        if self.in_key && (re.is_nan() || im.is_nan()) {
            self.mark(keys::Marks::ODD)?;
        }
        self.build.complex(re, im)
    }

    /// V10 and V11, in the region.
    fn region_bytes(&mut self, kind: BytesKind, payload: &[u8]) -> Result<B::Value> {
        let Ok(len) = payload.try_into().map(u64::from_be_bytes) else {
            return Err(Error::new(Code::BadPayload));
        };
        if len < REGION_THRESHOLD {
            return Err(Error::new(Code::NotCanonical).note("bytes of this length stay in the body"));
        }
        self.budget.charge(charge::bytes(0))?;
        let offset = self.slot(len, ElementCheck::Free)?;
        self.build.bytes(kind, Data::Region { offset, len })
    }

    /// F12, F13: the next entry of the data region.
    pub(super) fn slot(&mut self, len: u64, check: ElementCheck) -> Result<u64> {
        let offset = self.region.next(len)?;
        memory::push(&mut self.plan.slots, Slot { offset, len, check })?;
        Ok(offset)
    }

    /// A9, A11.
    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<B::Value> {
        if self.in_key && !kind.is_keyable() {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(charge::scalar(wide(payload.len()), kind))?;
        if kind == ScalarKind::Str
            && let Err(at) = generalised(payload)
        {
            return Err(self.bad_utf8(payload, at));
        }
        kind.check(payload)?;
        if self.in_key {
            self.mark(keys::Marks::NUMPY)?;
        }
        self.build.scalar(kind, payload)
    }
}
