//! MessagePack's shortest forms, appended without any check: the writer and the key forms build on them.

use crate::wire::marker::*;

/// The low bytes of a number that is known to fit.
macro_rules! low {
    ($type:ty, $value:expr) => {
        <$type>::try_from($value).unwrap_or(<$type>::MAX)
    };
}

#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0x7f => out.push(low!(u8, value)),
        0x80..=0xff => out.extend_from_slice(&[UINT8, low!(u8, value)]),
        0x100..=0xffff => with(out, UINT16, low!(u16, value).to_be_bytes()),
        0x1_0000..=0xffff_ffff => with(out, UINT32, low!(u32, value).to_be_bytes()),
        _ => with(out, UINT64, value.to_be_bytes()),
    }
}

/// An int below zero.
#[inline]
pub(crate) fn negative(out: &mut Vec<u8>, value: i64) {
    let bytes = value.to_be_bytes();
    let [.., a, b, c, d] = bytes;
    if value >= -32 {
        out.push(d);
    } else if value >= i64::from(i8::MIN) {
        out.extend_from_slice(&[INT8, d]);
    } else if value >= i64::from(i16::MIN) {
        with(out, INT16, [c, d]);
    } else if value >= i64::from(i32::MIN) {
        with(out, INT32, [a, b, c, d]);
    } else {
        with(out, INT64, bytes);
    }
}

/// V8; the magnitude has no leading zero and is past the native range.
pub(crate) fn big_int(out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) {
    ext_head(out, leaf::BIG_INT, low!(u32, magnitude.len().saturating_add(1)));
    out.push(u8::from(negative));
    out.extend_from_slice(magnitude);
}

#[inline]
pub(crate) fn float(out: &mut Vec<u8>, value: f64) {
    with(out, FLOAT64, value.to_bits().to_be_bytes());
}

pub(crate) fn complex(out: &mut Vec<u8>, re: f64, im: f64) {
    out.extend_from_slice(&[FIXEXT16, leaf::COMPLEX]);
    out.extend_from_slice(&re.to_bits().to_be_bytes());
    out.extend_from_slice(&im.to_bits().to_be_bytes());
}

#[inline]
pub(crate) fn str(out: &mut Vec<u8>, text: &str) {
    let len = low!(u32, text.len());
    match len {
        0..=31 => out.push(0xa0 | low!(u8, len)),
        32..=0xff => out.extend_from_slice(&[STR8, low!(u8, len)]),
        0x100..=0xffff => with(out, STR16, low!(u16, len).to_be_bytes()),
        _ => with(out, STR32, len.to_be_bytes()),
    }
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn bin_head(out: &mut Vec<u8>, len: u32) {
    match len {
        0..=0xff => out.extend_from_slice(&[BIN8, low!(u8, len)]),
        0x100..=0xffff => with(out, BIN16, low!(u16, len).to_be_bytes()),
        _ => with(out, BIN32, len.to_be_bytes()),
    }
}

pub(crate) fn bin(out: &mut Vec<u8>, bytes: &[u8]) {
    bin_head(out, low!(u32, bytes.len()));
    out.extend_from_slice(bytes);
}

#[inline]
pub(crate) fn array(out: &mut Vec<u8>, len: u32) {
    match len {
        0..=15 => out.push(0x90 | low!(u8, len)),
        16..=0xffff => with(out, ARRAY16, low!(u16, len).to_be_bytes()),
        _ => with(out, ARRAY32, len.to_be_bytes()),
    }
}

#[inline]
pub(crate) fn map(out: &mut Vec<u8>, len: u32) {
    match len {
        0..=15 => out.push(0x80 | low!(u8, len)),
        16..=0xffff => with(out, MAP16, low!(u16, len).to_be_bytes()),
        _ => with(out, MAP32, len.to_be_bytes()),
    }
}

pub(crate) fn ext_head(out: &mut Vec<u8>, ext: u8, len: u32) {
    match len {
        1 => out.push(FIXEXT1),
        2 => out.push(FIXEXT2),
        4 => out.push(FIXEXT4),
        8 => out.push(FIXEXT8),
        16 => out.push(FIXEXT16),
        0..=0xff => out.extend_from_slice(&[EXT8, low!(u8, len)]),
        0x100..=0xffff => with(out, EXT16, low!(u16, len).to_be_bytes()),
        _ => with(out, EXT32, len.to_be_bytes()),
    }
    out.push(ext);
}

pub(crate) fn ext(out: &mut Vec<u8>, ext: u8, payload: &[u8]) {
    ext_head(out, ext, low!(u32, payload.len()));
    out.extend_from_slice(payload);
}

/// A marker and its big-endian bytes, in one append.
#[inline]
fn with<const N: usize>(out: &mut Vec<u8>, marker: u8, bytes: [u8; N]) {
    let mut form = [0u8; 9];
    if let Some((first, rest)) = form.split_first_mut() {
        *first = marker;
        if let Some(body) = rest.first_chunk_mut::<N>() {
            *body = bytes;
        }
    }
    out.extend_from_slice(form.get(..N.saturating_add(1)).unwrap_or_default());
}
