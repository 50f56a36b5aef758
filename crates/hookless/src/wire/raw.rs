//! MessagePack's shortest forms, appended without any check but that there is memory: the writer and the key forms build on them.

use crate::memory::{self, Full};
use crate::wire::marker::*;

pub(crate) type Written = Result<(), Full>;

/// The low bytes of a number that is known to fit.
macro_rules! low {
    ($type:ty, $value:expr) => {
        <$type>::try_from($value).unwrap_or(<$type>::MAX)
    };
}

#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, value: u64) -> Written {
    match value {
        0..=0x7f => memory::push(out, low!(u8, value)),
        0x80..=0xff => memory::extend(out, &[UINT8, low!(u8, value)]),
        0x100..=0xffff => with(out, UINT16, low!(u16, value).to_be_bytes()),
        0x1_0000..=0xffff_ffff => with(out, UINT32, low!(u32, value).to_be_bytes()),
        _ => with(out, UINT64, value.to_be_bytes()),
    }
}

/// An int below zero.
#[inline]
pub(crate) fn negative(out: &mut Vec<u8>, value: i64) -> Written {
    let bytes = value.to_be_bytes();
    let [.., a, b, c, d] = bytes;
    if value >= -32 {
        memory::push(out, d)
    } else if value >= i64::from(i8::MIN) {
        memory::extend(out, &[INT8, d])
    } else if value >= i64::from(i16::MIN) {
        with(out, INT16, [c, d])
    } else if value >= i64::from(i32::MIN) {
        with(out, INT32, [a, b, c, d])
    } else {
        with(out, INT64, bytes)
    }
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
    with(out, FLOAT64, value.to_bits().to_be_bytes())
}

pub(crate) fn complex(out: &mut Vec<u8>, re: f64, im: f64) -> Written {
    memory::extend(out, &[FIXEXT16, leaf::COMPLEX])?;
    memory::extend(out, &re.to_bits().to_be_bytes())?;
    memory::extend(out, &im.to_bits().to_be_bytes())
}

#[inline]
pub(crate) fn str(out: &mut Vec<u8>, text: &str) -> Written {
    let len = low!(u32, text.len());
    match len {
        0..=31 => memory::push(out, 0xa0 | low!(u8, len)),
        32..=0xff => memory::extend(out, &[STR8, low!(u8, len)]),
        0x100..=0xffff => with(out, STR16, low!(u16, len).to_be_bytes()),
        _ => with(out, STR32, len.to_be_bytes()),
    }?;
    memory::extend(out, text.as_bytes())
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

#[inline]
pub(crate) fn array(out: &mut Vec<u8>, len: u32) -> Written {
    match len {
        0..=15 => memory::push(out, 0x90 | low!(u8, len)),
        16..=0xffff => with(out, ARRAY16, low!(u16, len).to_be_bytes()),
        _ => with(out, ARRAY32, len.to_be_bytes()),
    }
}

#[inline]
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

/// A marker and its big-endian bytes, in one append.
#[inline]
fn with<const N: usize>(out: &mut Vec<u8>, marker: u8, bytes: [u8; N]) -> Written {
    let mut form = [0u8; 9];
    if let Some((first, rest)) = form.split_first_mut() {
        *first = marker;
        if let Some(body) = rest.first_chunk_mut::<N>() {
            *body = bytes;
        }
    }
    memory::extend(out, form.get(..N.saturating_add(1)).unwrap_or_default())
}
