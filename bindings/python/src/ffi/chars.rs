//! Text between CPython's three widths and UTF-8.

use hookless::{Result, TextRef};
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

/// The UTF-8 that a str has made of itself for somebody, and keeps: pickle, json and others ask for it. Nothing is made here.
///
/// The gain: two fifths of the instructions of a document in Japanese that has been pickled before.
pub(crate) fn known_utf8<'a>(text: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    let object = text.as_ptr();
    // SAFETY: the GIL is held. A compact str has these fields, and if the pointer is not null, it is to so many bytes of UTF-8 without
    // surrogates, CPython's own, which stay as they are while the str lives.
    unsafe {
        if ffi::PyUnicode_Check(object) == 0
            || ffi::PyUnicode_READY(object) != 0
            || ffi::PyUnicode_IS_COMPACT(object) == 0
            || ffi::PyUnicode_IS_ASCII(object) != 0
        {
            return None;
        }
        let compact = object.cast::<ffi::PyCompactUnicodeObject>();
        let (start, len) = ((*compact).utf8, usize::try_from((*compact).utf8_length).ok()?);
        if start.is_null() {
            return None;
        }
        Some(std::str::from_utf8_unchecked(std::slice::from_raw_parts(start.cast(), len)))
    }
}

impl Chars<'_> {
    /// The text as the wire has it, put into `out` alone.
    pub(crate) fn written_to(self, out: &mut Vec<u8>) -> TextRef<'_> {
        out.clear();
        if self.append_to(out) {
            return TextRef::Surrogates(out);
        }
        // SAFETY: these bytes are UTF-8 of characters and of nothing else: `append_to` says of any other unit that it was there. To check
        // them took a fifth of the instructions of a document in Japanese.
        TextRef::Str(unsafe { std::str::from_utf8_unchecked(out) })
    }

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

/// Units that are written at a time.
const RUN: usize = 64;

fn transcode<T: Copy + Into<u32>>(out: &mut Vec<u8>, units: &[T]) -> bool {
    out.reserve(units.len() * 2);
    let mut surrogate = false;
    // Each unit is written as four bytes, of which the next one overwrites those that are not its own.
    let mut part = [0; 4 * RUN];
    for run in units.chunks(RUN) {
        let mut at = 0;
        for &unit in run {
            let unit = unit.into();
            surrogate |= unit & 0x1f_f800 == 0xd800;
            let (bytes, len) = encoded(unit);
            // There always is: no unit takes more than four.
            if let Some(room) = part.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                *room = bytes.to_le_bytes();
            }
            at += len;
        }
        out.extend_from_slice(&part[..at]);
    }
    surrogate
}

/// Generalised UTF-8 of one unit: the bytes, the first one lowest, and how many of them.
#[inline(always)]
fn encoded(unit: u32) -> (u32, usize) {
    // The lowest six bits, above whatever was there before.
    let low = |above: u32, shift: u32| above << 8 | 0x80 | unit >> shift & 0x3f;
    match unit {
        0x800..=0xffff => (low(low(0, 0), 6) << 8 | 0xe0 | unit >> 12, 3),
        0..=0x7f => (unit, 1),
        0x80..=0x7ff => (low(0, 0) << 8 | 0xc0 | unit >> 6, 2),
        _ => (low(low(low(0, 0), 6), 12) << 8 | 0xf0 | unit >> 18 & 0x07, 4),
    }
}

/// A str of bytes that are all below 0x80.
#[inline(never)]
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
        let data = text.as_ptr().cast::<ffi::PyASCIIObject>().add(1).cast::<u8>();
        copy(bytes, std::slice::from_raw_parts_mut(data, bytes.len()));
        Ok(text)
    }
}

/// Copies bytes to as many others; short ones without a call, by words that overlap.
#[inline]
fn copy(from: &[u8], to: &mut [u8]) {
    match from.len() {
        2..=3 => copy_ends::<2>(from, to),
        4..=7 => copy_ends::<4>(from, to),
        8..=16 => copy_ends::<8>(from, to),
        17..=32 => copy_ends::<16>(from, to),
        _ => to.copy_from_slice(from),
    }
}

/// Copies the first and the last bytes.
#[inline]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
        if let Some(to) = to.first_chunk_mut() {
            *to = *first;
        }
        if let Some(to) = to.last_chunk_mut() {
            *to = *last;
        }
    }
}

/// A str of text.
pub(crate) fn text<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyAny>> {
    utf8(py, text.as_bytes())
}

/// A str of checked UTF-8, or of checked generalised UTF-8 with surrogates.
///
/// The width is known beforehand, so the str is made once and never widened by copying.
pub(crate) fn utf8<'py>(py: Python<'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    let (count, largest) = measured(bytes);
    // The largest lead byte tells the width.
    let most = match largest {
        0..=0x7f => return ascii(py, bytes),
        0x80..=0xc3 => 0xff,
        0xc4..=0xef => 0xffff,
        0xf0..=0xff => 0x0010_ffff,
    };
    // SAFETY: a new str has room for `count` characters of the width that `most` asks for, at its data; nobody else has seen it. Every
    // character is below `most`, and at least one is above the next smaller bound, as CPython wants it. `fill` writes all of them.
    unsafe {
        let text = owned(py, ffi::PyUnicode_New(count.cast_signed(), most))?;
        let data = ffi::PyUnicode_DATA(text.as_ptr());
        match most {
            0xff => fill(std::slice::from_raw_parts_mut(data.cast::<u8>(), count), bytes, |c| c as u8),
            0xffff => fill(std::slice::from_raw_parts_mut(data.cast::<u16>(), count), bytes, |c| c as u16),
            _ => fill(std::slice::from_raw_parts_mut(data.cast::<u32>(), count), bytes, |c| c),
        }
        Ok(text)
    }
}

/// How many characters there are, and the largest byte: in one pass, many bytes at a time.
fn measured(bytes: &[u8]) -> (usize, u8) {
    let (mut count, mut largest) = (0, 0);
    // So few that a byte can count them.
    for part in bytes.chunks(192) {
        let mut starts = 0u8;
        for &byte in part {
            // Continuation bytes are 0x80 to 0xbf.
            starts += u8::from(byte.cast_signed() >= -0x40);
            largest = largest.max(byte);
        }
        count += usize::from(starts);
    }
    (count, largest)
}

/// Writes all of `out`; with zeros where there are fewer characters.
#[inline]
fn fill<T>(out: &mut [T], bytes: &[u8], narrow: impl Fn(u32) -> T) {
    let low = |byte: u8| u32::from(byte & 0x3f);
    let three = |a: u8, b: u8, c: u8| u32::from(a & 0x0f) << 12 | low(b) << 6 | low(c);
    let (mut at, mut rest) = (0, bytes);
    while let Some(room) = out.get_mut(at..).filter(|room| !room.is_empty()) {
        // Text in three bytes a character has the most of them, and they come together: four at a time.
        if let (Some((&[a, b, c, d, e, f, g, h, i, j, k, l], after)), Some(to)) =
            (rest.split_first_chunk(), room.first_chunk_mut())
            && (a & d & g & j) >= 0xe0
            && (a | d | g | j) < 0xf0
        {
            *to = [three(a, b, c), three(d, e, f), three(g, h, i), three(j, k, l)].map(&narrow);
            rest = after;
            at += 4;
            continue;
        }
        let (unit, after): (_, &[u8]) = match *rest {
            [a @ 0..=0x7f, ref after @ ..] => (u32::from(a), after),
            [a @ 0xc0..=0xdf, b, ref after @ ..] => (u32::from(a & 0x1f) << 6 | low(b), after),
            [a @ 0xe0..=0xef, b, c, ref after @ ..] => (three(a, b, c), after),
            [a, b, c, d, ref after @ ..] => {
                (u32::from(a & 0x07) << 18 | low(b) << 12 | low(c) << 6 | low(d), after)
            }
            _ => (0, &[]),
        };
        room[0] = narrow(unit);
        rest = after;
        at += 1;
    }
}

/// Whether a str is these ASCII bytes.
pub(crate) fn is_ascii_text(text: &Bound<'_, PyAny>, bytes: &[u8]) -> bool {
    matches!(of(text), Some(Chars::Ascii(found)) if found.as_bytes() == bytes)
}

/// A str that [`ascii`] has made, and so one whose characters lie right behind its head, a byte each.
pub(crate) struct AsciiText(Py<PyAny>);

impl AsciiText {
    /// A str of bytes that are all below 0x80.
    #[inline]
    pub(crate) fn new(py: Python<'_>, bytes: &[u8]) -> Result<Self> {
        ascii(py, bytes).map(|text| AsciiText(text.unbind()))
    }

    /// The str.
    #[inline]
    pub(crate) fn bound<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.0.bind(py).clone()
    }

    /// Lets go of it, without asking whether the interpreter is attached.
    #[inline]
    pub(crate) fn forget(self, py: Python<'_>) {
        self.0.drop_ref(py);
    }

    /// Whether it has these bytes.
    #[inline(always)]
    pub(crate) fn is(&self, bytes: &[u8]) -> bool {
        let object = self.0.as_ptr().cast::<ffi::PyASCIIObject>();
        // SAFETY: an ASCII str made by CPython is a PyASCIIObject and so many bytes behind it, none of which changes while the reference is
        // held; nobody needs to be attached to read them. To ask CPython for kind and place takes 13 instructions more for
        // each key, a sixtieth of those of records.
        let known = unsafe {
            std::slice::from_raw_parts(object.add(1).cast::<u8>(), (*object).length.cast_unsigned())
        };
        equal(known, bytes)
    }
}

/// Whether two slices are the same; short ones without a call.
#[inline(always)]
fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        0..=3 => one.iter().zip(other).all(|(one, other)| one == other),
        4..=7 => same_ends::<4>(one, other),
        8..=16 => same_ends::<8>(one, other),
        17..=32 => same_ends::<16>(one, other),
        _ => one == other,
    }
}

/// Whether the first and the last bytes are the same.
#[inline]
fn same_ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
}
