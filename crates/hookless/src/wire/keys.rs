//! Key forms (K3–K7): two keys are equal when these bytes are.
//!
//! A form is computed from the encoding of a key, so the reader and the writer share it, whatever the host's objects are.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::array::ScalarKind;
use crate::error::{Code, Error, Result};
use crate::memory::{self, Boxed, Full};
use crate::value::{StandardLeaf, fits_native};
use crate::wire::cursor::{Cursor, Head, skip};
use crate::wire::marker::{Node, leaf};
use crate::wire::raw::Written;
use crate::wire::{raw, size};
pub(crate) use marks::Marks;

mod marks;
mod standard;

/// So many forms are compared one by one, which for the few keys of a record is less work than hashing them.
const FEW: usize = 8;

/// The forms of the keys of one dict, or of the members of one set.
#[derive(Debug, Default)]
pub(crate) struct Forms<'b> {
    few: Vec<Cow<'b, [u8]>>,
    /// All of them, once there are more than a few.
    many: HashSet<Cow<'b, [u8]>>,
}

/// Forms by encodings.
type Inner = HashMap<Box<[u8]>, Box<[u8]>>;

/// Computes forms.
///
/// Each table around a key asks for the forms of all that is in it, so a leaf whose form takes more than reading its bytes is computed
/// once by itself, and once for all the compound keys around it.
#[derive(Debug)]
pub(crate) struct Maker {
    /// L6: how long the ints may be that a decimal is compared with.
    int_bytes: u64,
    /// Forms of such leaves, by their encodings; none before the first of them, as a table is made with random numbers of the thread's.
    inner: Option<Boxed<Inner>>,
}

impl Maker {
    pub(crate) fn new(int_bytes: u64) -> Self {
        Maker { int_bytes, inner: None }
    }

    /// Whether there is nothing that could be let go of.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    /// Lets go of what was kept for a key that no table is around any more.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if self.inner.is_some() {
            self.inner = None;
        }
    }
}

impl<'b> Forms<'b> {
    /// The forms of the first `count` keys of a dict (or members of a set) whose encoding begins at `items`.
    pub(crate) fn of_prior(
        items: &'b [u8],
        count: u64,
        is_map: bool,
        maker: &mut Maker,
    ) -> Result<Forms<'b>> {
        let mut forms = Forms::default();
        each_prior(items, count, is_map, |key| forms.add(key, maker).map(drop))?;
        Ok(forms)
    }

    /// The same where those bytes will not stay where they are: each form has bytes of its own.
    pub(crate) fn of_prior_owned(
        items: &[u8],
        count: u64,
        is_map: bool,
        maker: &mut Maker,
    ) -> Result<Forms<'static>> {
        let mut forms = Forms::default();
        each_prior(items, count, is_map, |key| forms.add_owned(key, maker).map(drop))?;
        Ok(forms)
    }

    /// Adds the form of a key; false when it is there already.
    pub(crate) fn add(&mut self, key: &'b [u8], maker: &mut Maker) -> Result<bool> {
        self.insert(form(key, maker)?)
    }

    /// The same for a key whose bytes will not stay where they are.
    pub(crate) fn add_owned(&mut self, key: &[u8], maker: &mut Maker) -> Result<bool> {
        self.insert(owned(form(key, maker)?)?)
    }

    fn insert(&mut self, form: Cow<'b, [u8]>) -> Result<bool> {
        if self.many.is_empty() {
            if self.few.contains(&form) {
                return Ok(false);
            }
            if self.few.len() < FEW {
                memory::push(&mut self.few, form)?;
                return Ok(true);
            }
            self.many.try_reserve(FEW.saturating_mul(2)).map_err(Full::from)?;
            for form in self.few.drain(..) {
                memory::insert(&mut self.many, form)?;
            }
        }
        Ok(memory::insert(&mut self.many, form)?)
    }
}

/// Whether a float is a NaN, the one float that a host's own table may not find again.
pub(crate) fn is_nan(bits: u64) -> bool {
    f64::from_bits(bits).is_nan()
}

/// Whether a key is a tuple, frozenset, record or enum member, whose bytes are charged once more when it is complete (limits.md).
#[inline]
pub(crate) fn is_compound(key: &[u8]) -> bool {
    matches!(key.first(), Some(0x90..=0x9f | 0xdc | 0xdd))
}

/// The int of at most 64 bits that a key's encoding is.
#[inline(always)]
pub(crate) fn int_of(key: &[u8]) -> Option<i128> {
    // Most are short text.
    if let Some(0xa0..=0xbf) = key.first() { None } else { any_int_of(key) }
}

#[inline(never)]
fn any_int_of(key: &[u8]) -> Option<i128> {
    match Cursor::new(key, 0).head() {
        Ok(Head::Unsigned(number)) => Some(number.into()),
        Ok(Head::Negative(number)) => Some(number.into()),
        _ => None,
    }
}

/// Shows the first `count` keys of a dict (or members of a set) whose encoding begins at `items`.
fn each_prior<'b>(
    items: &'b [u8],
    count: u64,
    is_map: bool,
    mut show: impl FnMut(&'b [u8]) -> Result<()>,
) -> Result<()> {
    let mut cursor = Cursor::new(items, 0);
    for _ in 0..count {
        show(skip(&mut cursor)?)?;
        if is_map {
            skip(&mut cursor)?;
        }
    }
    Ok(())
}

/// The form of one checked, keyable value.
fn form<'b>(key: &'b [u8], maker: &mut Maker) -> Result<Cow<'b, [u8]>> {
    let mut cursor = Cursor::new(key, 0);
    Ok(match cursor.head()? {
        Head::Nil | Head::Unsigned(_) | Head::Negative(_) | Head::Str(_) | Head::Bin(_) => Cow::Borrowed(key),
        Head::Bool(value) => number(|out| raw::unsigned(out, u64::from(value)))?,
        Head::Float(bits) => number(|out| real(out, f64::from_bits(bits)))?,
        Head::Ext(ext, len) => leaf_form(key, ext, cursor.take(len)?, maker.int_bytes)?,
        Head::Array(_) => {
            let mut out = memory::room(key.len())?;
            compound(&mut Cursor::new(key, 0), &mut out, maker)?;
            Cow::Owned(out)
        }
        Head::Map(_) => return Err(Error::new(Code::NotKeyable)),
    })
}

/// A form with bytes of its own.
fn owned(form: Cow<'_, [u8]>) -> std::result::Result<Cow<'static, [u8]>, Full> {
    Ok(Cow::Owned(match form {
        Cow::Borrowed(bytes) => memory::copied(bytes)?,
        Cow::Owned(bytes) => bytes,
    }))
}

fn number(write: impl FnOnce(&mut Vec<u8>) -> Written) -> Result<Cow<'static, [u8]>> {
    let mut out = memory::room(9)?;
    write(&mut out)?;
    Ok(Cow::Owned(out))
}

fn leaf_form<'b>(key: &'b [u8], ext: u8, payload: &'b [u8], int_bytes: u64) -> Result<Cow<'b, [u8]>> {
    if ext == leaf::COMPLEX {
        return number(|out| complex(out, double(payload), double(payload.get(8..).unwrap_or_default())));
    }
    if let Some(kind) = ScalarKind::from_ext(ext) {
        return number(|out| scalar(out, kind, payload));
    }
    match StandardLeaf::from_ext(ext) {
        Some(leaf) => standard::form(key, leaf, payload, int_bytes),
        None => Ok(Cow::Borrowed(key)),
    }
}

/// K4: the exact value. A float that is an int takes the form of that int.
fn real(out: &mut Vec<u8>, value: f64) -> Written {
    if value.is_nan() || value.is_infinite() || value.fract() != 0.0 {
        return raw::float(out, value);
    }
    // An integral float is mantissa × 2^shift.
    let bits = value.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    let mantissa = (bits & ((1 << 52) - 1)) | if exponent == 0 { 0 } else { 1 << 52 };
    let negative = bits >> 63 == 1;
    match exponent.checked_sub(1075) {
        Some(shift @ 12..) => {
            // Past 64 bits: the mantissa's bytes, then zeros.
            let (bytes, bits) = (shift / 8, shift % 8);
            let bits = u32::try_from(bits).unwrap_or_default();
            let mut magnitude = memory::copied(&u128::from(mantissa).wrapping_shl(bits).to_be_bytes())?;
            let bytes = usize::try_from(bytes).unwrap_or_default();
            let len = magnitude.len().saturating_add(bytes);
            memory::resize(&mut magnitude, len, 0)?;
            integer(out, negative, &magnitude)
        }
        Some(shift) => integer(out, negative, &(mantissa << shift).to_be_bytes()),
        // Integral, so the bits below one are all zero.
        None => {
            let shift = 1075u64.saturating_sub(exponent);
            integer(
                out,
                negative,
                &mantissa.checked_shr(u32::try_from(shift).unwrap_or(64)).unwrap_or_default().to_be_bytes(),
            )
        }
    }
}

/// An int in its one encoding.
fn integer(out: &mut Vec<u8>, negative: bool, magnitude: &[u8]) -> Written {
    let zeros = magnitude.iter().take_while(|&&byte| byte == 0).count();
    let magnitude = magnitude.get(zeros..).unwrap_or_default();
    if !fits_native(negative, magnitude) {
        return raw::big_int(out, negative, magnitude);
    }
    let small = crate::value::to_u64(magnitude).unwrap_or_default();
    if negative && small != 0 {
        raw::signed(out, 0i64.wrapping_sub_unsigned(small))
    } else {
        raw::unsigned(out, small)
    }
}

/// K4 and K5 for complex numbers.
fn complex(out: &mut Vec<u8>, re: f64, im: f64) -> Written {
    if im == 0.0 && !re.is_nan() {
        return real(out, re);
    }
    let unsigned_zero = |part: f64| if part == 0.0 { 0.0 } else { part };
    raw::complex(out, unsigned_zero(re), unsigned_zero(im))
}

fn scalar(out: &mut Vec<u8>, kind: ScalarKind, payload: &[u8]) -> Written {
    use ScalarKind::*;
    match kind {
        Bool | UInt8 | UInt16 | UInt32 | UInt64 => integer(out, false, payload),
        Int8 | Int16 | Int32 | Int64 => {
            let negative = payload.first().is_some_and(|&byte| byte >= 0x80);
            let fill = if negative { 0xff } else { 0 };
            let mut wide = [fill; 8];
            let start = wide.len().saturating_sub(payload.len());
            wide.get_mut(start..).into_iter().for_each(|low| low.copy_from_slice(payload));
            integer(out, negative, &i64::from_be_bytes(wide).unsigned_abs().to_be_bytes())
        }
        Float16 => real(out, half(payload)),
        Float32 => real(out, single(payload)),
        Float64 => real(out, double(payload)),
        Complex64 => complex(out, single(payload), single(payload.get(4..).unwrap_or_default())),
        Complex128 => complex(out, double(payload), double(payload.get(8..).unwrap_or_default())),
        Bytes => raw::bin(out, payload),
        Str => match std::str::from_utf8(payload) {
            Ok(text) => raw::str(out, text),
            Err(_) => raw::ext(out, leaf::SURROGATES, payload),
        },
        // Not keyable, so never asked for.
        Datetime64 | Timedelta64 | Void => raw::ext(out, kind.ext(), payload),
    }
}

fn double(payload: &[u8]) -> f64 {
    payload.first_chunk().map_or(0.0, |bytes| f64::from_be_bytes(*bytes))
}

/// A float 32 as float 64, the payload of a NaN shifted rather than quieted (K5).
fn single(payload: &[u8]) -> f64 {
    let bits = payload.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    widen(u64::from(bits >> 31), u64::from((bits >> 23) & 0xff), u64::from(bits & 0x7f_ffff), 8, 23)
}

/// A float 16 as float 64, likewise.
fn half(payload: &[u8]) -> f64 {
    let bits = payload.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes));
    widen(u64::from(bits >> 15), u64::from((bits >> 10) & 0x1f), u64::from(bits & 0x3ff), 5, 10)
}

/// Rebuilds a narrower IEEE 754 number as float 64 from sign, exponent and fraction.
fn widen(sign: u64, exponent: u64, fraction: u64, exponent_bits: u32, fraction_bits: u32) -> f64 {
    let shift = 52u32.saturating_sub(fraction_bits);
    let top = (1u64 << exponent_bits).wrapping_sub(1);
    let bias = top >> 1;
    let wide_exponent = match exponent {
        e if e == top => 0x7ff,
        0 => {
            // Zero or subnormal: an exact product.
            let scale = 1023u64.wrapping_sub(bias).wrapping_add(1).wrapping_sub(u64::from(fraction_bits));
            let unit = f64::from_bits(scale << 52);
            let digits = u32::try_from(fraction).map_or(0.0, f64::from);
            return if sign == 1 { -(digits * unit) } else { digits * unit };
        }
        e => e.wrapping_add(1023).wrapping_sub(bias),
    };
    f64::from_bits((sign << 63) | (wide_exponent << 52) | (fraction << shift))
}

/// K6: a tuple of the forms of its items, a frozenset of the sorted forms of its members; R5: a record of its texts, each its own
/// form, and the forms of its values.
///
/// Goes through the key once, so that its cost is that of its bytes, which are charged (limits.md).
fn compound(cursor: &mut Cursor<'_>, out: &mut Vec<u8>, maker: &mut Maker) -> Result<()> {
    let Head::Array(count) = cursor.head()? else { return Err(Error::new(Code::NotKeyable)) };
    let marker: [u8; 3] = cursor.array()?;
    raw::array(out, count)?;
    memory::extend(out, &marker)?;
    if marker != Node::FrozenSet.marker() {
        return (1..count).try_for_each(|_| append(cursor, out, maker));
    }
    let start = out.len();
    let mut members = memory::room(size(count))?;
    for _ in 1..count {
        let from = out.len();
        append(cursor, out, maker)?;
        memory::push(&mut members, from..out.len())?;
    }
    let bytes = |range: &Range<usize>| out.get(range.clone()).unwrap_or_default();
    if members.is_sorted_by(|a, b| bytes(a) <= bytes(b)) {
        return Ok(());
    }
    members.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
    let mut sorted = memory::room(out.len().saturating_sub(start))?;
    members.iter().try_for_each(|member| memory::extend(&mut sorted, bytes(member)))?;
    out.truncate(start);
    Ok(memory::extend(out, &sorted)?)
}

/// Appends the form of the next value. Forms are encodings, none a prefix of another, so they can be joined as they are.
fn append(cursor: &mut Cursor<'_>, out: &mut Vec<u8>, maker: &mut Maker) -> Result<()> {
    if is_compound(cursor.rest) {
        return compound(cursor, out, maker);
    }
    let key = skip(cursor)?;
    if let Some(known) = maker.inner.as_ref().and_then(|inner| inner.get(key)) {
        return Ok(memory::extend(out, known)?);
    }
    let form = form(key, maker)?;
    memory::extend(out, &form)?;
    if is_slow(key) {
        let inner = match &mut maker.inner {
            Some(inner) => inner,
            none => none.insert(memory::boxed(Inner::new())?),
        };
        memory::put(inner, memory::slice(key)?, memory::slice(&form)?)?;
    }
    Ok(())
}

/// Whether the form of a leaf takes longer than reading its bytes.
fn is_slow(key: &[u8]) -> bool {
    let Ok(Head::Ext(ext, _)) = Cursor::new(key, 0).head() else { return false };
    let leaf = StandardLeaf::from_ext(ext);
    matches!(leaf, Some(StandardLeaf::Decimal | StandardLeaf::Range | StandardLeaf::Path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_of(write: impl FnOnce(&mut Vec<u8>) -> Written) -> Vec<u8> {
        let mut key = Vec::new();
        write(&mut key).unwrap();
        form(&key, &mut Maker::new(16_384)).unwrap().into_owned()
    }

    #[test]
    fn k3_an_equal_form_is_found_among_few_and_many() {
        let keys: Vec<Vec<u8>> = (0..3 * FEW).map(|key| vec![0xa2, b'k', key as u8]).collect();
        for count in 1..=keys.len() {
            for again in 0..count {
                let mut maker = Maker::new(16_384);
                let (mut forms, mut owned) = (Forms::default(), Forms::default());
                for key in &keys[..count] {
                    assert!(forms.add(key, &mut maker).unwrap() && owned.add_owned(key, &mut maker).unwrap());
                }
                let key = &keys[again];
                assert!(!forms.add(key, &mut maker).unwrap() && !owned.add_owned(key, &mut maker).unwrap());
                let prior = keys[..count].concat();
                let mut forms = Forms::of_prior_owned(&prior, count as u64, false, &mut maker).unwrap();
                assert!(!forms.add(key, &mut maker).unwrap());
                assert!(keys.get(count).is_none_or(|next| forms.add(next, &mut maker).unwrap()));
            }
        }
    }

    /// A frozenset of these members, in order.
    fn frozen(mut members: Vec<Vec<u8>>) -> Vec<u8> {
        members.sort();
        let mut out = Vec::new();
        raw::array(&mut out, members.len() as u32 + 1).unwrap();
        out.extend_from_slice(&Node::FrozenSet.marker());
        out.extend(members.concat());
        out
    }

    #[test]
    fn k6_the_forms_of_slow_leaves_are_kept_while_a_key_is_read() {
        let leaf = |kind: StandardLeaf, payload: &[u8]| {
            let mut out = Vec::new();
            raw::ext(&mut out, kind.ext(), payload).unwrap();
            out
        };
        let decimal = |digit: u8| leaf(StandardLeaf::Decimal, &[0, 0, 0, 0, 0, 0, 0, 0, 1, digit]);
        let fraction = leaf(StandardLeaf::Fraction, &[0, 0, 0, 0, 1, 1, 3]);
        let path = leaf(StandardLeaf::Path, &[3, 0, 0, 0, 2, b'C', b':', 0, 0, 0, 0]);
        let mut maker = Maker::new(16_384);
        let mut key = frozen(vec![decimal(b'1'), decimal(b'2'), fraction, path]);
        for level in 0..4 {
            let fresh = form(&key, &mut Maker::new(16_384)).unwrap().into_owned();
            assert_eq!(*form(&key, &mut maker).unwrap(), *fresh, "{level}");
            assert_eq!(maker.inner.as_ref().map(|inner| inner.len()), Some(3), "two decimals and a path");
            key = frozen(vec![key, vec![level]]);
        }
        let (ten, plain) = (frozen(vec![decimal(b'1')]), frozen(vec![vec![10]]));
        assert_eq!(form(&ten, &mut maker).unwrap(), form(&plain, &mut maker).unwrap());
        maker.forget();
        assert!(maker.is_empty());
    }

    #[test]
    fn k4_integral_floats_take_the_form_of_the_int() {
        for shift in 0..1024u32 {
            let mut magnitude = vec![1u8 << (shift % 8)];
            magnitude.resize(1 + shift as usize / 8, 0);
            for negative in [false, true] {
                let sign = if negative { -1.0 } else { 1.0 };
                let float = form_of(|out| raw::float(out, sign * 2f64.powi(shift as i32)));
                let mut int = Vec::new();
                integer(&mut int, negative, &magnitude).unwrap();
                assert_eq!(float, int, "2^{shift}");
            }
        }
        let odd = form_of(|out| raw::float(out, 9_007_199_254_740_991.0));
        assert_eq!(odd, form_of(|out| raw::unsigned(out, (1 << 53) - 1)));
        assert_eq!(form_of(|out| raw::float(out, -0.0)), [0]);
        assert_eq!(form_of(|out| raw::float(out, 3.0)), [3]);
    }

    #[test]
    fn k5_narrow_floats_widen_exactly() {
        for bits in 0..=u16::MAX {
            let value = half(&bits.to_be_bytes());
            let (exponent, fraction) = ((bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
            let expected = match exponent {
                0x1f if fraction == 0.0 => f64::INFINITY,
                0x1f => f64::NAN,
                0 => fraction * 2f64.powi(-24),
                e => (1024.0 + fraction) * 2f64.powi(i32::from(e) - 25),
            };
            if expected.is_nan() {
                assert_eq!(value.to_bits() << 12, u64::from(bits & 0x3ff) << 54, "{bits:#06x}");
            } else {
                assert_eq!(value.abs().to_bits(), expected.to_bits(), "{bits:#06x}");
            }
            assert_eq!(value.is_sign_negative(), bits >> 15 == 1, "{bits:#06x}");
        }
        for bits in [1u32, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x3f80_0000, 0x8000_0001] {
            assert_eq!(single(&bits.to_be_bytes()).to_bits(), f64::from(f32::from_bits(bits)).to_bits());
        }
        assert_eq!(single(&0x7f80_0001u32.to_be_bytes()).to_bits(), 0x7ff0_0000_2000_0000);
    }
}
