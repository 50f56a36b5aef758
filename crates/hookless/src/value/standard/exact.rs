//! The exact values by which numbers are compared as keys, and the form of a range: K4, K7.

use std::cmp::Ordering;

use super::limbs;
use super::number::{Decimal, Fraction, Range, push_int, push_parts, stripped};
use crate::error::Result;
use crate::memory::Full;
use crate::value::Int;

/// K4: the exact value of a number, in the one form that all kinds of numbers share.
pub(crate) enum Exact<'d> {
    /// Sign and magnitude.
    Int(bool, Vec<u8>),
    /// A float that is no int, an infinity among them.
    Float(f64),
    /// A fraction that is neither.
    Fraction(Fraction),
    /// A decimal that is too long to equal any of those: sign, digits without zeros at the end, exponent.
    Decimal(bool, &'d str, i64),
}

/// K4 for a fraction.
pub(crate) fn exact_fraction(number: &Fraction) -> Result<Exact<'static>> {
    let numerator = limbs::from_be(number.numerator())?;
    Ok(exact(number.is_negative(), &numerator, &limbs::from_be(number.denominator())?)?)
}

/// K4 for a decimal; none for a NaN.
pub(crate) fn exact_decimal(number: &Decimal, int_bytes: u64) -> Result<Option<Exact<'_>>> {
    let (negative, digits, exponent) = match number {
        Decimal::Finite { negative, digits, exponent } => (*negative, digits, *exponent),
        Decimal::Infinity { negative: true } => return Ok(Some(Exact::Float(f64::NEG_INFINITY))),
        Decimal::Infinity { negative: false } => return Ok(Some(Exact::Float(f64::INFINITY))),
        Decimal::NaN { .. } => return Ok(None),
    };
    let (digits, power) = stripped(digits, exponent);
    if number.written_out(int_bytes).is_none() {
        return Ok(Some(Exact::Decimal(negative, digits, power)));
    }
    let count = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
    let mut value = limbs::parse(digits)?;
    if power >= 0 {
        limbs::times_fives(&mut value, count)?;
        return Ok(Some(exact(negative, &limbs::shift_left(&value, u64::from(count))?, &[1])?));
    }
    // value / 10^count: the twos and fives that both have are taken out.
    let twos = limbs::trailing_zeros(&value).min(u64::from(count));
    limbs::shift_right(&mut value, twos);
    let fives = limbs::take_fives(&mut value, count);
    let mut denominator = limbs::from_be(&[1])?;
    limbs::times_fives(&mut denominator, count.saturating_sub(fives))?;
    let denominator = limbs::shift_left(&denominator, u64::from(count).saturating_sub(twos))?;
    Ok(Some(exact(negative, &value, &denominator)?))
}

/// The form of numerator / denominator, which are in lowest terms.
fn exact(
    negative: bool,
    numerator: &[u64],
    denominator: &[u64],
) -> std::result::Result<Exact<'static>, Full> {
    if denominator == [1] || numerator.is_empty() {
        return Ok(Exact::Int(negative, limbs::to_be(numerator)?));
    }
    // An odd numerator over a power of two, of which a float holds 53 bits down to 2^-1074.
    let twos = limbs::trailing_zeros(denominator);
    if limbs::bits(denominator) == twos.saturating_add(1)
        && twos <= 1074
        && let &[odd] = numerator
        && odd >> 53 == 0
    {
        return Ok(Exact::Float(scaled(odd, twos, negative)));
    }
    Ok(Exact::Fraction(Fraction::of_parts(negative, limbs::to_be(numerator)?, limbs::to_be(denominator)?)))
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

/// K7: length, start and step, as far as they count, each as in the payload.
pub(crate) fn range_form(range: &Range) -> Result<Vec<u8>> {
    let [start, stop, step] = range.parts();
    let (from, to) = if step.is_negative() { (stop, start) } else { (start, stop) };
    let mut out = Vec::new();
    let Some(span) = difference(to, from)? else {
        push_parts(&mut out, false, &[])?;
        return Ok(out);
    };
    // One for the first, and one more for each step that stays inside.
    let more = limbs::quotient(&limbs::subtract(span, &[1]), &magnitude(step)?)?;
    let several = !more.is_empty();
    push_parts(&mut out, false, &limbs::to_be(&limbs::add(more, &[1])?)?)?;
    push_int(&mut out, start)?;
    if several {
        push_int(&mut out, step)?;
    }
    Ok(out)
}

fn magnitude(int: &Int) -> std::result::Result<Vec<u64>, Full> {
    limbs::from_be(int.magnitude(&mut [0; 8]))
}

/// `a - b`, where it is above zero.
fn difference(a: &Int, b: &Int) -> std::result::Result<Option<Vec<u64>>, Full> {
    let (x, y) = (magnitude(a)?, magnitude(b)?);
    let (more, less) = match (a.is_negative(), b.is_negative()) {
        (true, false) => return Ok(None),
        (false, true) => return limbs::add(x, &y).map(Some),
        (false, false) => (x, y),
        (true, true) => (y, x),
    };
    Ok((limbs::compare(&more, &less) == Ordering::Greater).then(|| limbs::subtract(more, &less)))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use num_integer::Integer;

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
            let part = |of: BigUint| limbs::from_be(&(of / &divisor).to_bytes_be()).unwrap();
            match exact(true, &part(value), &part(scale)).unwrap() {
                Exact::Float(found) => assert_eq!(found.to_bits(), (-float).to_bits(), "{bits:#x}"),
                _ => panic!("{bits:#x} is a float"),
            }
        }
    }

    #[test]
    fn k4_decimals_are_written_out() {
        let exact = |digits: &str, exponent| {
            let number = Decimal::finite(false, digits, exponent).unwrap();
            match exact_decimal(&number, 16384).unwrap() {
                Some(Exact::Int(false, magnitude)) => format!("{magnitude:?}"),
                Some(Exact::Float(float)) => format!("{float:?}"),
                Some(Exact::Fraction(number)) => {
                    format!("{:?}/{:?}", number.numerator(), number.denominator())
                }
                Some(Exact::Decimal(false, digits, exponent)) => format!("{digits}E{exponent}"),
                _ => panic!("below zero, or no number"),
            }
        };
        assert_eq!(exact("100", -2), "[1]");
        assert_eq!(exact("5", -1), "0.5");
        assert_eq!(exact("1", -1), "[1]/[10]");
        assert_eq!(exact("15", -2), "[3]/[20]");
        assert_eq!(exact("0", 70_000_000), "[]");
        assert_eq!(exact("10", 100_000), "1E100001");
        assert_eq!(exact("7", 30), format!("{:?}", (BigUint::from(10u8).pow(30) * 7u8).to_bytes_be()));
    }
}
