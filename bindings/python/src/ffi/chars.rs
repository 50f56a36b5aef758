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

/// A str of UTF-8, or of generalised UTF-8 with surrogates.
pub(crate) fn utf8<'py>(py: Python<'py>, bytes: &[u8], surrogates: bool) -> Result<Bound<'py, PyAny>> {
    let errors = if surrogates { c"surrogatepass" } else { c"strict" };
    let len = bytes.len().cast_signed();
    // SAFETY: the pointers are valid for `len` bytes and for a terminated string.
    unsafe { owned(py, ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), len, errors.as_ptr())) }
}

/// Whether a cached str is these ASCII bytes.
#[inline]
pub(crate) fn is_ascii_text(text: &Bound<'_, PyAny>, bytes: &[u8]) -> bool {
    matches!(of(text), Some(Chars::Ascii(found)) if found.as_bytes() == bytes)
}
