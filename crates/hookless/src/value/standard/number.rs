//! Decimals, fractions, ranges: D9–D11.

use super::bad_value;
use super::coprime::coprime;
use super::fields::{Fields, bad};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
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
            return Err(bad(format_args!("exponent {exponent}")));
        }
        Ok(Decimal::Finite { negative, digits: memory::text(digits)?, exponent })
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
        Ok(Decimal::NaN { negative, signalling, digits: memory::text(digits)? })
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Decimal> {
        let class = fields.u8("class")?;
        let negative = class & 4 != 0;
        let exponent = if class & 3 == 0 { fields.i64("exponent")? } else { 0 };
        if class > 7 {
            return Err(bad(format_args!("class {class} is past 7")));
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

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        match self {
            Decimal::Finite { negative, digits, exponent } => {
                Decimal::write_finite(out, *negative, digits, *exponent)
            }
            Decimal::Infinity { negative } => memory::push(out, 1 | Decimal::sign(*negative)),
            Decimal::NaN { negative, signalling, digits } => {
                memory::push(out, Decimal::sign(*negative) | if *signalling { 3 } else { 2 })?;
                memory::extend(out, digits.as_bytes())
            }
        }
    }

    /// The payload of a finite number.
    pub(crate) fn write_finite(
        out: &mut Vec<u8>,
        negative: bool,
        digits: &str,
        exponent: i64,
    ) -> std::result::Result<(), Full> {
        memory::push(out, Decimal::sign(negative))?;
        memory::extend(out, &exponent.to_be_bytes())?;
        memory::extend(out, digits.as_bytes())
    }

    const fn sign(negative: bool) -> u8 {
        if negative { 4 } else { 0 }
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
pub(super) fn stripped(digits: &str, exponent: i64) -> (&str, i64) {
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
        if numerator.first() == Some(&0) || (negative && numerator.is_empty()) {
            return Err(Error::new(Code::NotCanonical).note("a leading zero, or a zero below zero"));
        }
        match denominator.first() {
            None => return Err(bad_value("the denominator is zero")),
            Some(0) => return Err(Error::new(Code::NotCanonical).note("a leading zero")),
            Some(_) => {}
        }
        if !coprime(numerator, denominator)? {
            return Err(Error::new(Code::NotCanonical).note("not in lowest terms"));
        }
        Ok(Fraction {
            negative,
            numerator: memory::copied(numerator)?,
            denominator: memory::copied(denominator)?,
        })
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

    /// Of parts that have no common divisor.
    pub(super) fn of_parts(negative: bool, numerator: Vec<u8>, denominator: Vec<u8>) -> Fraction {
        Fraction { negative, numerator, denominator }
    }

    /// Of a payload that has been checked: a common divisor is not looked for again.
    pub(crate) fn of_checked(payload: &[u8]) -> Result<Fraction> {
        let (negative, numerator, denominator) = Fraction::terms(&mut Fields::over(payload, u64::MAX))?;
        Ok(Fraction {
            negative,
            numerator: memory::copied(numerator)?,
            denominator: memory::copied(denominator)?,
        })
    }

    fn terms<'b>(fields: &mut Fields<'b>) -> Result<(bool, &'b [u8], &'b [u8])> {
        fields.check_ints(|ahead| {
            sign(ahead)?;
            ahead.skip_magnitude()?;
            let denominator = ahead.all();
            ahead.check_int(denominator.len())
        })?;
        let negative = sign(fields)?;
        let len = fields.len32("length")?;
        let numerator = fields.magnitude(len, "numerator")?;
        Ok((negative, numerator, fields.all()))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::push(out, u8::from(self.negative))?;
        push_magnitude(out, &self.numerator)?;
        memory::extend(out, &self.denominator)
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
        self.parts().into_iter().map(|part| part.magnitude(&mut [0; 8]).len()).max().unwrap_or_default()
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Range> {
        fields.check_ints(|ahead| {
            (0..3).try_for_each(|_| {
                sign(ahead)?;
                ahead.skip_magnitude()
            })
        })?;
        let (start, stop) = (int(fields, "start")?, int(fields, "stop")?);
        Range::new(start, stop, int(fields, "step")?)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        for part in self.parts() {
            push_int(out, part)?;
        }
        Ok(())
    }
}

fn sign(fields: &mut Fields<'_>) -> Result<bool> {
    match fields.u8("sign")? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(bad(format_args!("sign {other} is not 0 or 1"))),
    }
}

fn int(fields: &mut Fields<'_>, what: &str) -> Result<Int> {
    let negative = sign(fields)?;
    let len = fields.len32(what)?;
    let magnitude = fields.magnitude(len, what)?;
    if negative && magnitude.is_empty() {
        return Err(Error::new(Code::NotCanonical).note(format_args!("{what} is zero below zero")));
    }
    Ok(Int::of_parts(negative, magnitude)?)
}

fn push_magnitude(out: &mut Vec<u8>, magnitude: &[u8]) -> std::result::Result<(), Full> {
    memory::extend(out, &u32::try_from(magnitude.len()).unwrap_or(u32::MAX).to_be_bytes())?;
    memory::extend(out, magnitude)
}

/// A part of a range, as in the payload.
pub(super) fn push_int(out: &mut Vec<u8>, int: &Int) -> std::result::Result<(), Full> {
    push_parts(out, int.is_negative(), int.magnitude(&mut [0; 8]))
}

/// The same by sign and magnitude.
pub(super) fn push_parts(
    out: &mut Vec<u8>,
    negative: bool,
    magnitude: &[u8],
) -> std::result::Result<(), Full> {
    memory::push(out, u8::from(negative))?;
    push_magnitude(out, magnitude)
}
