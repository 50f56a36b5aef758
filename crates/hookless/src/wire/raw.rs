//! MessagePack's shortest forms, appended without any check but that there is memory: the writer and the key forms build on them.

use crate::memory::{self, Full};
use crate::wire::marker::*;

pub(crate) type Written = Result<(), Full>;

/// The longest text whose length is in its marker.
pub(crate) const FIXSTR: usize = 31;

/// A float with its marker.
const FLOAT_LEN: usize = 9;

/// The low bytes of a number that is known to fit.
macro_rules! low {
    ($type:ty, $value:expr) => {
        <$type>::try_from($value).unwrap_or(<$type>::MAX)
    };
}

/// The form of an int: its marker, which bits of the int's lowest byte are part of it, and how many bytes follow.
#[derive(Clone, Copy)]
struct IntForm {
    marker: u8,
    mask: u8,
    len: u8,
}

/// Forms of ints that are not negative, by the number of their significant bits (V2).
const UNSIGNED: [IntForm; 65] = int_forms([
    (7, 0, 0xff, 0),
    (8, UINT8, 0, 1),
    (16, UINT16, 0, 2),
    (32, UINT32, 0, 4),
    (64, UINT64, 0, 8),
]);

/// Forms of negative ints, by the number of significant bits of their complement, which is not negative (V2).
const NEGATIVE: [IntForm; 65] =
    int_forms([(5, 0, 0xff, 0), (7, INT8, 0, 1), (15, INT16, 0, 2), (31, INT32, 0, 4), (64, INT64, 0, 8)]);

/// A table of rows that each hold up to so many bits.
#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a mistake here does not compile"
)]
const fn int_forms(rows: [(usize, u8, u8, u8); 5]) -> [IntForm; 65] {
    let mut table = [IntForm { marker: 0, mask: 0, len: 0 }; 65];
    let (mut bits, mut row) = (0, 0);
    while bits < table.len() {
        let (most, marker, mask, len) = rows[row];
        if bits > most {
            row += 1;
            continue;
        }
        table[bits] = IntForm { marker, mask, len };
        bits += 1;
    }
    table
}

/// The form of an int of which `bits` are its value in two's complement, and `significant` tells the size: sixteen bytes, and how many of them
/// it takes. One path for all sizes, without a branch: which of them comes next nobody can predict.
#[inline(always)]
fn int(table: &[IntForm; 65], bits: u64, significant: u64) -> (u128, usize) {
    let count = u64::BITS.wrapping_sub(significant.leading_zeros());
    let form = usize::try_from(count).ok().and_then(|count| table.get(count));
    let IntForm { marker, mask, len } = form.copied().unwrap_or(IntForm { marker: INT64, mask: 0, len: 8 });
    let [.., low] = bits.to_be_bytes();
    let unused = u64::BITS.wrapping_sub(u32::from(len).wrapping_mul(8));
    (marked(marker | low & mask, bits.wrapping_shl(unused)), usize::from(len).wrapping_add(1))
}

/// A marker and the eight bytes of `word`, then seven zeros.
#[inline(always)]
fn marked(marker: u8, word: u64) -> u128 {
    // In two halves: a shift over both is slow on some processors.
    let (high, low) = (u64::from(marker) << 56 | word >> 8, word << 56);
    u128::from(high) << 64 | u128::from(low)
}

/// What an int of either sign takes.
#[inline(always)]
fn signed_form(value: i64) -> (u128, usize) {
    let table = if value < 0 { &NEGATIVE } else { &UNSIGNED };
    int(table, value.cast_unsigned(), (value ^ value >> 63).cast_unsigned())
}

#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, value: u64) -> Written {
    let (form, len) = int(&UNSIGNED, value, value);
    memory::extend_part(out, form, len)
}

/// An int of either sign.
#[inline]
pub(crate) fn signed(out: &mut Vec<u8>, value: i64) -> Written {
    let (form, len) = signed_form(value);
    memory::extend_part(out, form, len)
}

/// V8; the magnitude has no leading zero and is past the native range.
pub(crate) fn big_int(out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) -> Written {
    ext_head(out, leaf::BIG_INT, low!(u32, magnitude.len().saturating_add(1)))?;
    memory::push(out, u8::from(negative))?;
    memory::extend(out, magnitude)
}

#[inline]
pub(crate) fn nil(out: &mut Vec<u8>) -> Written {
    memory::push(out, NIL)
}

#[inline]
pub(crate) fn float(out: &mut Vec<u8>, value: f64) -> Written {
    memory::extend_part(out, marked(FLOAT64, value.to_bits()), FLOAT_LEN)
}

pub(crate) fn complex(out: &mut Vec<u8>, re: f64, im: f64) -> Written {
    memory::extend(out, &[FIXEXT16, leaf::COMPLEX])?;
    memory::extend(out, &re.to_bits().to_be_bytes())?;
    memory::extend(out, &im.to_bits().to_be_bytes())
}

/// Text of at most [`FIXSTR`] bytes.
#[inline(always)]
pub(crate) fn short_str(out: &mut Vec<u8>, text: &str) -> Written {
    memory::push_short(out, 0xa0 | low!(u8, text.len()), text.as_bytes())
}

pub(crate) fn str(out: &mut Vec<u8>, text: &str) -> Written {
    if text.len() <= FIXSTR {
        return short_str(out, text);
    }
    let bytes = text.as_bytes();
    match low!(u32, bytes.len()) {
        len @ 0..=0xff => memory::extend(out, &[STR8, low!(u8, len)]),
        len @ 0x100..=0xffff => with(out, STR16, low!(u16, len).to_be_bytes()),
        len => with(out, STR32, len.to_be_bytes()),
    }?;
    memory::extend(out, bytes)
}

pub(crate) fn bin_head(out: &mut Vec<u8>, len: u32) -> Written {
    match len {
        0..=0xff => memory::extend(out, &[BIN8, low!(u8, len)]),
        0x100..=0xffff => with(out, BIN16, low!(u16, len).to_be_bytes()),
        _ => with(out, BIN32, len.to_be_bytes()),
    }
}

pub(crate) fn bin(out: &mut Vec<u8>, bytes: &[u8]) -> Written {
    bin_head(out, low!(u32, bytes.len()))?;
    memory::extend(out, bytes)
}

#[inline(always)]
pub(crate) fn array(out: &mut Vec<u8>, len: u32) -> Written {
    match len {
        0..=15 => memory::push(out, 0x90 | low!(u8, len)),
        16..=0xffff => with(out, ARRAY16, low!(u16, len).to_be_bytes()),
        _ => with(out, ARRAY32, len.to_be_bytes()),
    }
}

#[inline(always)]
pub(crate) fn map(out: &mut Vec<u8>, len: u32) -> Written {
    match len {
        0..=15 => memory::push(out, 0x80 | low!(u8, len)),
        16..=0xffff => with(out, MAP16, low!(u16, len).to_be_bytes()),
        _ => with(out, MAP32, len.to_be_bytes()),
    }
}

pub(crate) fn ext_head(out: &mut Vec<u8>, ext: u8, len: u32) -> Written {
    match len {
        1 => memory::push(out, FIXEXT1),
        2 => memory::push(out, FIXEXT2),
        4 => memory::push(out, FIXEXT4),
        8 => memory::push(out, FIXEXT8),
        16 => memory::push(out, FIXEXT16),
        0..=0xff => memory::extend(out, &[EXT8, low!(u8, len)]),
        0x100..=0xffff => with(out, EXT16, low!(u16, len).to_be_bytes()),
        _ => with(out, EXT32, len.to_be_bytes()),
    }?;
    memory::push(out, ext)
}

pub(crate) fn ext(out: &mut Vec<u8>, ext: u8, payload: &[u8]) -> Written {
    ext_head(out, ext, low!(u32, payload.len()))?;
    memory::extend(out, payload)
}

/// A marker and its big-endian bytes.
#[inline]
fn with<const N: usize>(out: &mut Vec<u8>, marker: u8, bytes: [u8; N]) -> Written {
    memory::push(out, marker)?;
    memory::extend(out, &bytes)
}

/// So many ints or floats are put together before they are appended.
pub(crate) const RUN: usize = 64;

/// Ints, at most [`RUN`] of them.
#[inline]
pub(crate) fn ints(out: &mut Vec<u8>, values: &[i64]) -> Written {
    run(out, values, |&value| signed_form(value))
}

/// Floats, at most [`RUN`] of them.
#[inline]
pub(crate) fn floats(out: &mut Vec<u8>, values: &[f64]) -> Written {
    run(out, values, |value| (marked(FLOAT64, value.to_bits()), FLOAT_LEN))
}

/// Forms of at most nine bytes each, one after another; each overwrites what the one before has written too much.
#[inline(always)]
fn run<T>(out: &mut Vec<u8>, values: &[T], form: impl Fn(&T) -> (u128, usize)) -> Written {
    let mut part = [0; RUN * FLOAT_LEN + 16];
    let mut at = 0usize;
    for value in values.iter().take(RUN) {
        let (word, len) = form(value);
        if let Some(room) = part.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *room = word.to_be_bytes();
        }
        at = at.wrapping_add(len);
    }
    memory::extend(out, part.get(..at).unwrap_or_default())
}
