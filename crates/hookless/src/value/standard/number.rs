//! Decimals, fractions, ranges, and the exact values by which they are compared as keys: D9–D11, K4, K7.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;

use super::bad_value;
use super::coprime::coprime;
use super::fields::{Fields, bad};
use crate::error::{Code, Error, Result};
use crate::value::Int;

/// The exponents that libmpdec, CPython's decimals, can hold.
const EMAX: i64 = 999_999_999_999_999_999;
const ETINY: i64 = -1_999_999_999_999_999_997;

/// D9: a decimal number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decimal {
    /// digits × 10^exponent
    Finite {
        /// Below zero, or −0.
        negative: bool,
        /// ASCII, without a leading zero unless it is the only one.
        digits: String,
        /// Power of ten.
        exponent: i64,
    },
    /// An infinity.
    Infinity {
        /// Below zero.
        negative: bool,
    },
    /// Not a number.
    NaN {
        /// Its sign bit.
        negative: bool,
        /// Raises when it is used.
        signalling: bool,
        /// ASCII digits of the payload, without a leading zero; may be empty.
        digits: String,
    },
}

impl Decimal {
    /// A finite number.
    ///
    /// # Errors
    /// `bad_payload` for digits or an exponent that a decimal cannot have, `not_canonical` for a leading zero.
    pub fn finite(negative: bool, digits: &str, exponent: i64) -> Result<Decimal> {
        check_digits(digits)?;
        if digits.is_empty() {
            return Err(bad_value("a finite decimal has digits"));
        }
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(Error::new(Code::NotCanonical).note("digits begin with zero"));
        }
        let more = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_sub(1);
        if exponent < ETINY || exponent.saturating_add(more) > EMAX {
            return Err(bad(format!("exponent {exponent}")));
        }
        Ok(Decimal::Finite { negative, digits: digits.to_owned(), exponent })
    }

    /// A NaN, with the digits of its payload.
    ///
    /// # Errors
    /// As [`Decimal::finite`].
    pub fn nan(negative: bool, signalling: bool, digits: &str) -> Result<Decimal> {
        check_digits(digits)?;
        if digits.starts_with('0') {
            return Err(Error::new(Code::NotCanonical).note("a payload begins with zero"));
        }
        Ok(Decimal::NaN { negative, signalling, digits: digits.to_owned() })
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Decimal> {
        let class = fields.u8("class")?;
        let negative = class & 4 != 0;
        let exponent = if class & 3 == 0 { fields.i64("exponent")? } else { 0 };
        if class > 7 {
            return Err(bad(format!("class {class} is past 7")));
        }
        if class & 3 == 1 {
            return Ok(Decimal::Infinity { negative });
        }
        let digits = fields.all();
        fields.check_int(digits.len())?;
        let digits = std::str::from_utf8(digits).map_err(|_| bad_value("digits are ASCII"))?;
        match class & 3 {
            0 => Decimal::finite(negative, digits, exponent),
            kind => Decimal::nan(negative, kind == 3, digits),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let sign = |negative: bool| if negative { 4 } else { 0 };
        match self {
            Decimal::Finite { negative, digits, exponent } => {
                out.push(sign(*negative));
                out.extend_from_slice(&exponent.to_be_bytes());
                out.extend_from_slice(digits.as_bytes());
            }
            Decimal::Infinity { negative } => out.push(1 | sign(*negative)),
            Decimal::NaN { negative, signalling, digits } => {
                out.push(sign(*negative) | if *signalling { 3 } else { 2 });
                out.extend_from_slice(digits.as_bytes());
            }
        }
    }

    /// How many digits the number takes when it is written out, without zeros at its end; none when these are too many for it to equal
    /// an int, a fraction or a float of at most `int_bytes` bytes.
    pub(crate) fn written_out(&self, int_bytes: u64) -> Option<u64> {
        let Decimal::Finite { digits, exponent, .. } = self else { return Some(0) };
        let (digits, exponent) = stripped(digits, *exponent);
        let count = u64::try_from(digits.len()).unwrap_or(u64::MAX).saturating_add(exponent.unsigned_abs());
        (count <= int_bytes.saturating_mul(5).saturating_add(4096)).then_some(count)
    }
}

fn check_digits(digits: &str) -> Result<()> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { Ok(()) } else { Err(bad_value("digits are ASCII")) }
}

/// Digits without the zeros at their end, which the exponent takes over; zero is `0` and 0.
fn stripped(digits: &str, exponent: i64) -> (&str, i64) {
    let short = digits.trim_end_matches('0');
    if short.is_empty() {
        return ("0", 0);
    }
    let zeros = digits.len().saturating_sub(short.len());
    (short, exponent.saturating_add(i64::try_from(zeros).unwrap_or(i64::MAX)))
}

/// D10: a fraction in lowest terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fraction {
    negative: bool,
    numerator: Vec<u8>,
    denominator: Vec<u8>,
}

impl Fraction {
    /// A fraction of its sign and two big-endian magnitudes without leading zeros.
    ///
    /// # Errors
    /// `bad_payload` for a denominator of zero, `not_canonical` when not in lowest terms.
    pub fn new(negative: bool, numerator: &[u8], denominator: &[u8]) -> Result<Fraction> {
        if denominator.is_empty() {
            return Err(bad_value("the denominator is zero"));
        }
        if numerator.first() == Some(&0)
            || denominator.first() == Some(&0)
            || (negative && numerator.is_empty())
        {
            return Err(Error::new(Code::NotCanonical).note("a leading zero, or a zero below zero"));
        }
        if !coprime(numerator, denominator)? {
            return Err(Error::new(Code::NotCanonical).note("not in lowest terms"));
        }
        Ok(Fraction { negative, numerator: numerator.to_vec(), denominator: denominator.to_vec() })
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Magnitude of the numerator, big-endian; empty for zero.
    pub fn numerator(&self) -> &[u8] {
        &self.numerator
    }

    /// The denominator, big-endian.
    pub fn denominator(&self) -> &[u8] {
        &self.denominator
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Fraction> {
        let (negative, numerator, denominator) = Fraction::terms(fields)?;
        Fraction::new(negative, numerator, denominator)
    }

    /// Of a payload that has been checked: a common divisor is not looked for again.
    pub(crate) fn of_checked(payload: &[u8]) -> Result<Fraction> {
        let (negative, numerator, denominator) = Fraction::terms(&mut Fields::over(payload, u64::MAX))?;
        Ok(Fraction { negative, numerator: numerator.to_vec(), denominator: denominator.to_vec() })
    }

    fn terms<'b>(fields: &mut Fields<'b>) -> Result<(bool, &'b [u8], &'b [u8])> {
        let negative = sign(fields)?;
        let len = fields.len32("length")?;
        let numerator = fields.magnitude(len, "numerator")?;
        let denominator = fields.all();
        fields.check_int(denominator.len())?;
        Ok((negative, numerator, denominator))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.negative));
        push_magnitude(out, &self.numerator);
        out.extend_from_slice(&self.denominator);
    }
}

/// D11: a range, whose numbers may be of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    start: Int,
    stop: Int,
    step: Int,
}

impl Range {
    /// A range of its three numbers.
    ///
    /// # Errors
    /// `bad_payload` for a step of zero.
    pub fn new(start: Int, stop: Int, step: Int) -> Result<Range> {
        if step == Int::from(0u64) {
            return Err(bad_value("step is zero"));
        }
        Ok(Range { start, stop, step })
    }

    /// Start, stop, step.
    pub fn parts(&self) -> [&Int; 3] {
        [&self.start, &self.stop, &self.step]
    }

    /// Bytes of the longest magnitude.
    pub(super) fn longest(&self) -> usize {
        self.parts().into_iter().map(|part| part.magnitude_be().len()).max().unwrap_or_default()
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Range> {
        let (start, stop) = (int(fields, "start")?, int(fields, "stop")?);
        Range::new(start, stop, int(fields, "step")?)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for part in self.parts() {
            push_int(out, part);
        }
    }
}

fn sign(fields: &mut Fields<'_>) -> Result<bool> {
    match fields.u8("sign")? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(bad(format!("sign {other} is not 0 or 1"))),
    }
}

fn int(fields: &mut Fields<'_>, what: &str) -> Result<Int> {
    let negative = sign(fields)?;
    let len = fields.len32(what)?;
    let magnitude = fields.magnitude(len, what)?;
    if negative && magnitude.is_empty() {
        return Err(Error::new(Code::NotCanonical).note(format!("{what} is zero below zero")));
    }
    Ok(Int::from_sign_magnitude(negative, magnitude))
}

fn push_magnitude(out: &mut Vec<u8>, magnitude: &[u8]) {
    out.extend_from_slice(&u32::try_from(magnitude.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(magnitude);
}

fn push_int(out: &mut Vec<u8>, int: &Int) {
    out.push(u8::from(int.is_negative()));
    push_magnitude(out, &int.magnitude_be());
}

/// K4: the exact value of a number, in the one form that all kinds of numbers share.
pub(crate) enum Exact {
    /// Sign and magnitude.
    Int(bool, Vec<u8>),
    /// A float that is no int, an infinity among them.
    Float(f64),
    /// A fraction that is neither.
    Fraction(Fraction),
    /// A decimal that is too long to equal any of those: sign, digits without zeros at the end, exponent.
    Decimal(bool, String, i64),
}

/// K4 for a fraction.
pub(crate) fn exact_fraction(number: &Fraction) -> Exact {
    let numerator = BigUint::from_bytes_be(&number.numerator);
    exact(number.negative, numerator, BigUint::from_bytes_be(&number.denominator))
}

/// K4 for a decimal; none for a NaN.
pub(crate) fn exact_decimal(number: &Decimal, int_bytes: u64) -> Option<Exact> {
    let (negative, digits, exponent) = match number {
        Decimal::Finite { negative, digits, exponent } => (*negative, digits, *exponent),
        Decimal::Infinity { negative: true } => return Some(Exact::Float(f64::NEG_INFINITY)),
        Decimal::Infinity { negative: false } => return Some(Exact::Float(f64::INFINITY)),
        Decimal::NaN { .. } => return None,
    };
    let (digits, power) = stripped(digits, exponent);
    if number.written_out(int_bytes).is_none() {
        return Some(Exact::Decimal(negative, digits.to_owned(), power));
    }
    let count = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
    let mut value = BigUint::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
    if power >= 0 {
        value *= BigUint::from(10u8).pow(count);
        return Some(exact(negative, value, BigUint::from(1u8)));
    }
    // value / 10^count: the twos and fives that both have are taken out.
    let twos = value.trailing_zeros().unwrap_or_default().min(u64::from(count));
    value >>= twos;
    let fives = take_fives(&mut value, count);
    let denominator =
        BigUint::from(5u8).pow(count.saturating_sub(fives)) << u64::from(count).saturating_sub(twos);
    Some(exact(negative, value, denominator))
}

/// Divides by 5 as often as it goes, at most `most` times, by its squares: how often.
fn take_fives(value: &mut BigUint, most: u32) -> u32 {
    let mut powers = vec![BigUint::from(5u8)];
    while let Some(last) = powers.last()
        && last.bits().saturating_mul(2) <= value.bits()
    {
        powers.push(last * last);
    }
    let mut taken = 0u32;
    for (index, power) in powers.iter().enumerate().rev() {
        let Some(times) = u32::try_from(index).ok().and_then(|index| 1u32.checked_shl(index)) else {
            continue;
        };
        // The largest power may go more than once, each smaller one at most once after it.
        while taken.saturating_add(times) <= most {
            let (quotient, rest) = value.div_rem(power);
            if rest != BigUint::ZERO {
                break;
            }
            *value = quotient;
            taken = taken.saturating_add(times);
        }
    }
    taken
}

/// The form of numerator / denominator, which are in lowest terms.
fn exact(negative: bool, numerator: BigUint, denominator: BigUint) -> Exact {
    if denominator == BigUint::from(1u8) || numerator == BigUint::ZERO {
        return Exact::Int(negative, numerator.to_bytes_be());
    }
    // An odd numerator over a power of two, of which a float holds 53 bits down to 2^-1074.
    let twos = denominator.trailing_zeros().unwrap_or_default();
    if denominator.bits() == twos.saturating_add(1)
        && twos <= 1074
        && numerator.bits() <= 53
        && let Ok(odd) = u64::try_from(&numerator)
    {
        return Exact::Float(scaled(odd, twos, negative));
    }
    let fraction =
        Fraction { negative, numerator: numerator.to_bytes_be(), denominator: denominator.to_bytes_be() };
    Exact::Fraction(fraction)
}

/// odd × 2^-twos, exactly: built from its bits.
fn scaled(odd: u64, twos: u64, negative: bool) -> f64 {
    let bits = u64::from(64u32.saturating_sub(odd.leading_zeros()));
    let sign = if negative { 1u64 << 63 } else { 0 };
    // The exponent of the leading bit, biased: 1023 + bits - 1 - twos.
    match (1022u64.saturating_add(bits)).checked_sub(twos) {
        Some(exponent @ 1..) => {
            let fraction = (odd << 53u64.saturating_sub(bits)) & ((1 << 52) - 1);
            f64::from_bits(sign | (exponent << 52) | fraction)
        }
        // Subnormal: counted in units of 2^-1074.
        _ => f64::from_bits(sign | (odd << 1074u64.saturating_sub(twos))),
    }
}

/// K7: length, start and step, as far as they count.
pub(crate) fn range_form(range: &Range) -> Vec<u8> {
    let [start, stop, step] = range.parts().map(big);
    let (up, span) = match step.sign() {
        Sign::Minus => (-&step, &start - &stop),
        _ => (step.clone(), &stop - &start),
    };
    let len = if span.sign() == Sign::Plus { (span - 1u8) / up + 1u8 } else { BigInt::ZERO };
    let mut out = Vec::new();
    let mut push = |int: &BigInt| {
        let (sign, magnitude) = int.to_bytes_be();
        push_int(&mut out, &Int::from_sign_magnitude(sign == Sign::Minus, &magnitude));
    };
    push(&len);
    if len > BigInt::ZERO {
        push(&start);
    }
    if len > BigInt::from(1u8) {
        push(&step);
    }
    out
}

fn big(int: &Int) -> BigInt {
    let sign = if int.is_negative() { Sign::Minus } else { Sign::Plus };
    BigInt::from_bytes_be(sign, &int.magnitude_be())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k4_dyadic_numbers_take_the_form_of_the_float() {
        for bits in [
            1u64,
            2,
            3,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x3fb9_9999_9999_999a,
            0x3fe0_0000_0000_0000,
        ] {
            let float = f64::from_bits(bits);
            // Every float is mantissa × 2^exponent.
            let exponent = (bits >> 52).max(1);
            let mantissa = (bits & ((1 << 52) - 1)) | if bits >> 52 == 0 { 0 } else { 1 << 52 };
            let (value, scale) = (BigUint::from(mantissa), BigUint::from(1u8) << (1075 - exponent));
            let divisor = value.gcd(&scale);
            match exact(true, value / &divisor, scale / &divisor) {
                Exact::Float(found) => assert_eq!(found.to_bits(), (-float).to_bits(), "{bits:#x}"),
                _ => panic!("{bits:#x} is a float"),
            }
        }
    }

    #[test]
    fn k4_decimals_are_written_out() {
        let exact =
            |digits: &str, exponent| exact_decimal(&Decimal::finite(false, digits, exponent).unwrap(), 16384);
        assert!(matches!(exact("100", -2), Some(Exact::Int(false, one)) if one == [1]));
        assert!(matches!(exact("5", -1), Some(Exact::Float(half)) if half == 0.5));
        assert!(
            matches!(exact("1", -1), Some(Exact::Fraction(f)) if f.numerator() == [1] && f.denominator() == [10])
        );
        assert!(
            matches!(exact("15", -2), Some(Exact::Fraction(f)) if f.numerator() == [3] && f.denominator() == [20])
        );
        assert!(matches!(exact("0", 70_000_000), Some(Exact::Int(false, _))));
        assert!(
            matches!(exact("10", 100_000), Some(Exact::Decimal(false, digits, 100_001)) if digits == "1")
        );
    }

    #[test]
    fn k4_fives_are_taken_out() {
        for power in [0u32, 1, 2, 3, 7, 8, 63, 64, 65, 1000] {
            let mut value = BigUint::from(5u8).pow(power) * 7u8;
            assert_eq!(take_fives(&mut value, u32::MAX), power);
            assert_eq!(value, BigUint::from(7u8));
            let mut value = BigUint::from(5u8).pow(power);
            assert_eq!(take_fives(&mut value, 5), power.min(5));
        }
    }
}
