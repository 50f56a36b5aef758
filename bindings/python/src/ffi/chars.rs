//! Text between CPython's three widths and UTF-8.

use hookless::Result;
use pyo3::ffi;
use pyo3::prelude::*;

use super::make::owned;

/// The characters of a str, where they lie.
#[derive(Clone, Copy)]
pub(crate) enum Chars<'a> {
    /// Below 0x80, and so UTF-8 already.
    Ascii(&'a str),
    /// Below 0x100.
    Latin1(&'a [u8]),
    /// Below 0x10000, surrogates among them.
    Ucs2(&'a [u16]),
    /// Any.
    Ucs4(&'a [u32]),
}

/// The characters of a str, or of a subclass such as `numpy.str_`; none for other objects, or when memory runs out.
#[inline]
pub(crate) fn of<'a>(text: &'a Bound<'_, PyAny>) -> Option<Chars<'a>> {
    let object = text.as_ptr();
    // SAFETY: the GIL is held. A str does not change once it is ready, so the slices live as long as the borrow of `text`; kind and
    // length are CPython's own. ASCII data are valid UTF-8.
    unsafe {
        if ffi::PyUnicode_Check(object) == 0 || ffi::PyUnicode_READY(object) != 0 {
            return None;
        }
        let len = usize::try_from(ffi::PyUnicode_GET_LENGTH(object)).ok()?;
        let data = ffi::PyUnicode_DATA(object);
        if ffi::PyUnicode_IS_ASCII(object) != 0 {
            return Some(Chars::Ascii(std::str::from_utf8_unchecked(std::slice::from_raw_parts(
                data.cast(),
                len,
            ))));
        }
        match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND => Some(Chars::Latin1(std::slice::from_raw_parts(data.cast(), len))),
            ffi::PyUnicode_2BYTE_KIND => Some(Chars::Ucs2(std::slice::from_raw_parts(data.cast(), len))),
            ffi::PyUnicode_4BYTE_KIND => Some(Chars::Ucs4(std::slice::from_raw_parts(data.cast(), len))),
            _ => None,
        }
    }
}

impl Chars<'_> {
    /// Appends generalised UTF-8, as `surrogatepass` writes it; says whether there is a surrogate.
    pub(crate) fn append_to(self, out: &mut Vec<u8>) -> bool {
        match self {
            Chars::Ascii(text) => {
                out.extend_from_slice(text.as_bytes());
                false
            }
            Chars::Latin1(units) => transcode(out, units),
            Chars::Ucs2(units) => transcode(out, units),
            Chars::Ucs4(units) => transcode(out, units),
        }
    }
}

fn transcode<T: Copy + Into<u32>>(out: &mut Vec<u8>, units: &[T]) -> bool {
    out.reserve(units.len() * 2);
    let mut surrogate = false;
    for &unit in units {
        let unit = unit.into();
        match char::from_u32(unit) {
            Some(character) if unit < 0x80 => out.push(character as u8),
            Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                surrogate = true;
                let [high, low] = [(unit >> 6) as u8 & 0x3f, unit as u8 & 0x3f];
                out.extend_from_slice(&[0xe0 | (unit >> 12) as u8 & 0x0f, 0x80 | high, 0x80 | low]);
            }
        }
    }
    surrogate
}

/// A str of bytes that are all below 0x80.
#[inline]
pub(crate) fn ascii<'py>(py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    debug_assert!(bytes.is_ascii());
    let len = bytes.len().cast_signed();
    if len < 2 {
        // SAFETY: the pointer is valid for `len` bytes. CPython shares the empty and one-character strings.
        return unsafe { owned(py, ffi::PyUnicode_FromStringAndSize(bytes.as_ptr().cast(), len)) };
    }
    // SAFETY: a new ASCII str has room for `len` bytes and a terminator that CPython has written; nobody else has seen it.
    unsafe {
        let text = owned(py, ffi::PyUnicode_New(len, 0x7f))?;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), ffi::PyUnicode_DATA(text.as_ptr()).cast(), bytes.len());
        Ok(text)
    }
}

/// A str of checked UTF-8, or of checked generalised UTF-8 with surrogates.
///
/// The width is known beforehand, so the str is made once and never widened by copying.
pub(crate) fn utf8<'py>(py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    // Continuation bytes are 0x80 to 0xbf; the largest lead byte tells the width.
    let count = bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
    let largest = bytes.iter().fold(0u8, |seen, &byte| seen.max(byte));
    let most = match largest {
        0..=0x7f => return ascii(py, bytes),
        0x80..=0xc3 => 0xff,
        0xc4..=0xef => 0xffff,
        0xf0..=0xff => 0x0010_ffff,
    };
    // SAFETY: a new str has room for `count` characters of the width that `most` asks for, at its data; nobody else has seen it. Every
    // character is below `most`, and at least one is above the next smaller bound, as CPython wants it. `decode` writes `count` of them at
    // the most, and stops when the bytes end.
    unsafe {
        let text = owned(py, ffi::PyUnicode_New(count.cast_signed(), most))?;
        let data = ffi::PyUnicode_DATA(text.as_ptr());
        match most {
            0xff => decode(bytes, std::slice::from_raw_parts_mut(data.cast::<u8>(), count), |c| c as u8),
            0xffff => decode(bytes, std::slice::from_raw_parts_mut(data.cast::<u16>(), count), |c| c as u16),
            _ => decode(bytes, std::slice::from_raw_parts_mut(data.cast::<u32>(), count), |c| c),
        }
        Ok(text)
    }
}

/// The characters of checked generalised UTF-8, in order.
fn decode<T>(bytes: &[u8], out: &mut [T], narrow: impl Fn(u32) -> T) {
    let mut rest = bytes;
    let low = |byte: u8| u32::from(byte & 0x3f);
    for to in out {
        let (character, after) = match *rest {
            [a @ 0..=0x7f, ref after @ ..] => (u32::from(a), after),
            [a @ 0xc0..=0xdf, b, ref after @ ..] => (u32::from(a & 0x1f) << 6 | low(b), after),
            [a @ 0xe0..=0xef, b, c, ref after @ ..] => {
                (u32::from(a & 0x0f) << 12 | low(b) << 6 | low(c), after)
            }
            [a, b, c, d, ref after @ ..] => {
                (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), after)
            }
            _ => (0, &[][..]),
        };
        *to = narrow(character);
        rest = after;
    }
}

/// Whether a cached str is these ASCII bytes.
#[inline]
pub(crate) fn is_ascii_text(text: &Bound<'_, PyAny>, bytes: &[u8]) -> bool {
    matches!(of(text), Some(Chars::Ascii(found)) if found.as_bytes() == bytes)
}
