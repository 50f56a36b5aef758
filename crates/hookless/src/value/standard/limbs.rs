//! Magnitudes of any size as 64-bit limbs, the least one first and none of the last ones zero: what the exact values of keys are
//! computed with. Their work is bounded by the charges of proto/limits.md, and their memory may be refused.

use std::cmp::Ordering;

use crate::memory::{self, Full};

type Result<T> = std::result::Result<T, Full>;

/// 5^27 and 10^19, the largest powers that a limb holds.
const FIVES: (u32, u64) = (27, 7_450_580_596_923_828_125);
const TENS: (usize, u64) = (19, 10_000_000_000_000_000_000);

/// The low and the high limb.
#[inline]
fn split(wide: u128) -> (u64, u64) {
    let low = u64::try_from(wide & u128::from(u64::MAX)).unwrap_or_default();
    (low, u64::try_from(wide >> 64).unwrap_or_default())
}

fn join(high: u64, low: u64) -> u128 {
    (u128::from(high) << 64) | u128::from(low)
}

/// `a × b + c + d`, which two limbs hold.
#[inline]
fn mul_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    split(product.wrapping_add(u128::from(c)).wrapping_add(u128::from(d)))
}

fn trim(limbs: &mut Vec<u64>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

/// Of a big-endian magnitude.
pub(super) fn from_be(magnitude: &[u8]) -> Result<Vec<u64>> {
    let (first, chunks) = magnitude.as_rchunks::<8>();
    let mut limbs = memory::room(chunks.len().saturating_add(1))?;
    for chunk in chunks.iter().rev() {
        memory::push(&mut limbs, u64::from_be_bytes(*chunk))?;
    }
    memory::push(&mut limbs, first.iter().fold(0, |limb, &byte| (limb << 8) | u64::from(byte)))?;
    trim(&mut limbs);
    Ok(limbs)
}

/// The big-endian magnitude, without leading zeros.
pub(super) fn to_be(limbs: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = memory::room(limbs.len().saturating_mul(8))?;
    for limb in limbs.iter().rev() {
        memory::extend(&mut bytes, &limb.to_be_bytes())?;
    }
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    bytes.drain(..zeros);
    Ok(bytes)
}

/// Of decimal digits.
pub(super) fn parse(digits: &str) -> Result<Vec<u64>> {
    let number = |part: &[u8]| {
        part.iter()
            .fold(0u64, |n, &digit| n.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0'))))
    };
    let (first, chunks) = digits.as_bytes().as_rchunks::<{ TENS.0 }>();
    let mut limbs = Vec::new();
    multiply(&mut limbs, 0, number(first))?;
    chunks.iter().try_for_each(|chunk| multiply(&mut limbs, TENS.1, number(chunk)))?;
    Ok(limbs)
}

/// `limbs × by + more`.
fn multiply(limbs: &mut Vec<u64>, by: u64, more: u64) -> Result<()> {
    let mut carry = more;
    for limb in limbs.iter_mut() {
        (*limb, carry) = mul_add(*limb, by, carry, 0);
    }
    if carry != 0 { memory::push(limbs, carry) } else { Ok(()) }
}

/// Times 5^power.
pub(super) fn times_fives(limbs: &mut Vec<u64>, power: u32) -> Result<()> {
    let mut left = power;
    while left >= FIVES.0 {
        multiply(limbs, FIVES.1, 0)?;
        left = left.saturating_sub(FIVES.0);
    }
    multiply(limbs, 5u64.wrapping_pow(left), 0)
}

/// Divides by 5 as often as it goes, at most `most` times: how often.
pub(super) fn take_fives(limbs: &mut Vec<u64>, most: u32) -> u32 {
    let mut taken = 0u32;
    for power in [FIVES.0, 9, 3, 1] {
        while taken.saturating_add(power) <= most
            && !limbs.is_empty()
            && divide(limbs, 5u64.wrapping_pow(power))
        {
            taken = taken.saturating_add(power);
        }
    }
    taken
}

/// Divides by an odd number if nothing is left over, and says whether.
///
/// From the lowest limb up: what each must be times the divisor is known by the divisor's inverse modulo 2^64.
fn divide(limbs: &mut Vec<u64>, by: u64) -> bool {
    // Newton's iteration doubles the bits that are right, of which an odd number's own three are.
    let inverse =
        (0..5).fold(by, |inverse: u64, _| inverse.wrapping_mul(2u64.wrapping_sub(by.wrapping_mul(inverse))));
    let step = |limb: u64, carry: u64| {
        let (rest, borrow) = limb.overflowing_sub(carry);
        let quotient = rest.wrapping_mul(inverse);
        (quotient, mul_add(quotient, by, 0, 0).1.wrapping_add(u64::from(borrow)))
    };
    if limbs.iter().fold(0, |carry, &limb| step(limb, carry).1) != 0 {
        return false;
    }
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        (*limb, carry) = step(*limb, carry);
    }
    trim(limbs);
    true
}

/// How many bits it takes.
pub(super) fn bits(limbs: &[u64]) -> u64 {
    let whole = u64::try_from(limbs.len()).unwrap_or(u64::MAX).saturating_mul(64);
    whole.saturating_sub(limbs.last().map_or(0, |top| u64::from(top.leading_zeros())))
}

/// Zero bits at its low end; of zero none.
pub(super) fn trailing_zeros(limbs: &[u64]) -> u64 {
    let whole = limbs.iter().take_while(|&&limb| limb == 0).count();
    let rest = limbs.get(whole).map_or(0, |limb| u64::from(limb.trailing_zeros()));
    u64::try_from(whole).unwrap_or(u64::MAX).saturating_mul(64).saturating_add(rest)
}

/// Whole limbs and bits of a shift.
fn parts(by: u64) -> (usize, u32) {
    (usize::try_from(by / 64).unwrap_or(usize::MAX), u32::try_from(by % 64).unwrap_or_default())
}

/// Without its low bits.
pub(super) fn shift_right(limbs: &mut Vec<u64>, by: u64) {
    let (whole, bits) = parts(by);
    limbs.drain(..whole.min(limbs.len()));
    let mut carry = 0;
    for limb in limbs.iter_mut().rev() {
        let (high, low) = (
            limb.wrapping_shr(bits),
            if bits == 0 { 0 } else { limb.wrapping_shl(64u32.wrapping_sub(bits)) },
        );
        *limb = high | std::mem::replace(&mut carry, low);
    }
    trim(limbs);
}

/// With so many zero bits below.
pub(super) fn shift_left(limbs: &[u64], by: u64) -> Result<Vec<u64>> {
    let (whole, bits) = parts(by);
    let mut shifted = memory::room(whole.saturating_add(limbs.len()).saturating_add(1))?;
    memory::resize(&mut shifted, whole, 0u64)?;
    let mut carry = 0;
    for &limb in limbs {
        let high = if bits == 0 { 0 } else { limb.wrapping_shr(64u32.wrapping_sub(bits)) };
        memory::push(&mut shifted, limb.wrapping_shl(bits) | std::mem::replace(&mut carry, high))?;
    }
    memory::push(&mut shifted, carry)?;
    trim(&mut shifted);
    Ok(shifted)
}

pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

pub(super) fn add(mut a: Vec<u64>, b: &[u64]) -> Result<Vec<u64>> {
    if a.len() < b.len() {
        memory::resize(&mut a, b.len(), 0)?;
    }
    let mut carry = 0;
    for (index, limb) in a.iter_mut().enumerate() {
        let sum = u128::from(*limb).wrapping_add(u128::from(b.get(index).copied().unwrap_or_default()));
        (*limb, carry) = split(sum.wrapping_add(u128::from(carry)));
    }
    if carry != 0 {
        memory::push(&mut a, carry)?;
    }
    Ok(a)
}

/// `a - b`, which is not below zero.
pub(super) fn subtract(mut a: Vec<u64>, b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    for (index, limb) in a.iter_mut().enumerate() {
        let (less, first) = limb.overflowing_sub(b.get(index).copied().unwrap_or_default());
        let (less, second) = less.overflowing_sub(u64::from(borrow));
        (*limb, borrow) = (less, first | second);
    }
    trim(&mut a);
    a
}

/// `a / b`, rounded down; `b` is not zero. Schoolbook division (Knuth, 4.3.1, algorithm D).
pub(super) fn quotient(a: &[u64], b: &[u64]) -> Result<Vec<u64>> {
    let Some(&top) = b.last() else { return Ok(Vec::new()) };
    if compare(a, b) == Ordering::Less {
        return Ok(Vec::new());
    }
    let shift = u64::from(top.leading_zeros());
    let (mut rest, by) = (shift_left(a, shift)?, shift_left(b, shift)?);
    memory::resize(&mut rest, a.len().saturating_add(1), 0)?;
    let mut found = memory::filled(rest.len().saturating_sub(by.len()), 0u64)?;
    for (start, digit) in found.iter_mut().enumerate().rev() {
        let window = rest.get_mut(start..).unwrap_or_default();
        *digit = one_digit(window, &by);
        // What is above the window's limbs is zero now, and so not looked at again.
    }
    trim(&mut found);
    Ok(found)
}

/// The digit by which `by` goes into the window, of one limb more at most, and takes it out.
fn one_digit(window: &mut [u64], by: &[u64]) -> u64 {
    let limb = |of: &[u64], back: usize, len: usize| {
        len.checked_sub(back).and_then(|at| of.get(at)).copied().unwrap_or_default()
    };
    let len = by.len();
    let (high, low) = (limb(window, 0, len), limb(window, 1, len));
    let divisor = u128::from(limb(by, 1, len));
    let both = join(high, low);
    let mut guess = both.checked_div(divisor).unwrap_or_default().min(u128::from(u64::MAX));
    let mut left = both.wrapping_sub(guess.wrapping_mul(divisor));
    let (second, third) = (u128::from(limb(by, 2, len)), limb(window, 2, len));
    while left <= u128::from(u64::MAX) && guess.wrapping_mul(second) > (left << 64 | u128::from(third)) {
        guess = guess.wrapping_sub(1);
        left = left.wrapping_add(divisor);
    }
    let digit = split(guess).0;
    let (mut carry, mut borrow) = (0, false);
    for (index, limb) in window.iter_mut().take(len.saturating_add(1)).enumerate() {
        let product;
        (product, carry) = mul_add(by.get(index).copied().unwrap_or_default(), digit, carry, 0);
        let (less, first) = limb.overflowing_sub(product);
        let (less, second) = less.overflowing_sub(u64::from(borrow));
        (*limb, borrow) = (less, first | second);
    }
    if !borrow {
        return digit;
    }
    // One too many, which is rare.
    let mut carry = 0;
    for (limb, &more) in window.iter_mut().zip(by.iter().chain(&[0])) {
        let sum = u128::from(*limb).wrapping_add(u128::from(more)).wrapping_add(u128::from(carry));
        (*limb, carry) = split(sum);
    }
    digit.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use num_integer::Integer;

    use super::*;

    /// Limbs that try what division finds hard: all ones, zeros, top bits.
    fn samples() -> Vec<Vec<u64>> {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            match seed % 5 {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 63,
                3 => seed >> (seed % 64),
                _ => seed,
            }
        };
        (0..120)
            .map(|index| {
                let mut limbs: Vec<u64> = (0..index % 9).map(|_| next()).collect();
                trim(&mut limbs);
                limbs
            })
            .collect()
    }

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::from_bytes_be(&to_be(limbs).unwrap())
    }

    fn limbs(big: &BigUint) -> Vec<u64> {
        from_be(&big.to_bytes_be()).unwrap()
    }

    #[test]
    fn two_of_them() {
        for a in &samples() {
            assert_eq!(from_be(&to_be(a).unwrap()).unwrap(), *a);
            for b in &samples() {
                let (x, y) = (big(a), big(b));
                assert_eq!(add(a.clone(), b).unwrap(), limbs(&(&x + &y)));
                assert_eq!(compare(a, b), x.cmp(&y));
                if x >= y {
                    assert_eq!(subtract(a.clone(), b), limbs(&(&x - &y)));
                }
                if y != BigUint::ZERO {
                    assert_eq!(quotient(a, b).unwrap(), limbs(&(&x / &y)), "{x} / {y}");
                    let more = &x * &y;
                    assert_eq!(quotient(&limbs(&more), b).unwrap(), *a);
                    if x > BigUint::ZERO {
                        let less = more - 1u8;
                        assert_eq!(quotient(&limbs(&less), b).unwrap(), limbs(&(&x - 1u8)));
                    }
                }
            }
        }
    }

    #[test]
    fn one_and_a_number() {
        for a in &samples() {
            let x = big(a);
            assert_eq!(parse(&x.to_string()).unwrap(), *a);
            assert_eq!((bits(a), trailing_zeros(a)), (x.bits(), x.trailing_zeros().unwrap_or_default()));
            for by in [0, 1, 7, 63, 64, 65, 200] {
                assert_eq!(shift_left(a, by).unwrap(), limbs(&(&x << by)));
                let mut less = a.clone();
                shift_right(&mut less, by);
                assert_eq!(less, limbs(&(&x >> by)));
            }
            for power in [0u32, 1, 2, 3, 8, 26, 27, 28, 63, 200] {
                let mut more = a.clone();
                times_fives(&mut more, power).unwrap();
                let five = BigUint::from(5u8);
                assert_eq!(more, limbs(&(&x * five.pow(power))));
                if a.is_empty() {
                    continue;
                }
                let own = (0..).take_while(|&n| x.is_multiple_of(&five.pow(n + 1))).count() as u32;
                for most in [0, 1, power / 2, power, u32::MAX] {
                    let (mut less, wanted) = (more.clone(), most.min(power + own));
                    assert_eq!(take_fives(&mut less, most), wanted);
                    assert_eq!(big(&less) * five.pow(wanted), big(&more));
                }
            }
        }
    }
}
