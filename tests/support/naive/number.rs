//! K4, K5: numbers by their exact value.

use num_bigint::BigUint;

use super::key::Form;

/// ± num / den × 2^two × 5^five, where neither num nor den has a factor 2 or 5, nor one in common. Zero has no sign and no factors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::naive) struct Exact {
    negative: bool,
    num: BigUint,
    den: BigUint,
    two: i128,
    five: i128,
}

/// Takes all factors 5 out of a number.
fn fives(number: &mut BigUint) -> i128 {
    let mut count = 0;
    while &*number % 5u32 == BigUint::ZERO {
        *number /= 5u32;
        count += 1;
    }
    count
}

/// The exact value of ± num / den × 2^two × 5^five, with no common factor of num and den but 2 and 5.
pub(in crate::naive) fn exact(negative: bool, num: BigUint, den: BigUint, two: i128, five: i128) -> Form {
    let (mut num, mut den, mut two, mut five) = (num, den, two, five);
    if num == BigUint::ZERO {
        let one = BigUint::from(1u8);
        return Form::Number(Exact { negative: false, num, den: one, two: 0, five: 0 });
    }
    for (number, sign) in [(&mut num, 1), (&mut den, -1)] {
        let zeros = number.trailing_zeros().unwrap_or_default();
        *number >>= zeros;
        two += sign * i128::from(zeros);
        five += sign * fives(number);
    }
    Form::Number(Exact { negative, num, den, two, five })
}

impl Form {
    pub(in crate::naive) fn int(value: i128) -> Form {
        exact(value < 0, value.unsigned_abs().into(), 1u8.into(), 0, 0)
    }

    pub(in crate::naive) fn magnitude(negative: bool, bytes: &[u8]) -> Form {
        exact(negative, BigUint::from_bytes_be(bytes), 1u8.into(), 0, 0)
    }

    pub(in crate::naive) fn float(value: f64) -> Form {
        if value.is_nan() {
            return Form::NaN(value.to_bits());
        }
        if value.is_infinite() {
            return Form::Infinity(value < 0.0);
        }
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i128, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        exact(value.is_sign_negative(), mantissa.into(), 1u8.into(), exponent, 0)
    }

    /// A float of `size` bytes, big-endian, widened; NaNs keep sign and payload, shifted left (K5).
    pub(in crate::naive) fn narrow(bytes: &[u8]) -> Form {
        let bits = bytes.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        let (exponent_bits, fraction_bits) = match bytes.len() {
            2 => (5, 10),
            4 => (8, 23),
            _ => return Form::float(f64::from_bits(bits)),
        };
        let negative = bits >> (exponent_bits + fraction_bits) == 1;
        let fraction = bits & ((1 << fraction_bits) - 1);
        let exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
        if exponent == (1 << exponent_bits) - 1 {
            return match fraction {
                0 => Form::Infinity(negative),
                _ => Form::NaN(u64::from(negative) << 63 | 0x7ff << 52 | fraction << (52 - fraction_bits)),
            };
        }
        let bias = (1i128 << (exponent_bits - 1)) - 1 + i128::from(fraction_bits);
        let (mantissa, exponent) = match exponent {
            0 => (fraction, 1 - bias),
            _ => (fraction | 1 << fraction_bits, i128::from(exponent) - bias),
        };
        exact(negative, mantissa.into(), 1u8.into(), exponent, 0)
    }

    pub(in crate::naive) fn complex(re: Form, im: Form) -> Form {
        let nan = matches!(re, Form::NaN(_)) || matches!(im, Form::NaN(_));
        if !nan && im == Form::int(0) { re } else { Form::Complex(Box::new([re, im])) }
    }
}
