//! Whether two large ints have a common divisor: Lehmer's algorithm, in place, on memory that is asked for once.
//!
//! The quotients of Euclid's algorithm follow from the leading 128 bits as long as Collins' condition holds, so about 60 bits of both numbers
//! go in one pass over them, where one division after the other takes a pass for every two bits. T. Jebelean, "A double-digit
//! Lehmer-Euclid algorithm for finding the GCD of long integers" (1995), section 4.2.

use std::cmp::Ordering;
use std::iter::repeat;
use std::mem::swap;

use crate::error::Result;
use crate::memory;

/// Coefficients are at most this, so that the difference of two products, and a carry, fit an `i128`.
const MOST: u64 = 1 << 62;

/// Whether 1 is the only common divisor of two big-endian magnitudes; every number divides 0.
///
/// # Errors
/// `out_of_memory`.
pub(super) fn coprime(one: &[u8], other: &[u8]) -> Result<bool> {
    let len = one.len().max(other.len()).div_ceil(8);
    let (mut a, mut b) = (limbs(one, len)?, limbs(other, len)?);
    let even = |limbs: &[u64]| limbs.first().is_none_or(|low| low & 1 == 0);
    if even(&a) && even(&b) {
        return Ok(false);
    }
    loop {
        trim(&mut a);
        trim(&mut b);
        if compare(&a, &b) == Ordering::Less {
            swap(&mut a, &mut b);
        }
        if a.len() <= 2 {
            return Ok(small(window(&a, 2, 0), window(&b, 2, 0)) == 1);
        }
        if b.is_empty() {
            return Ok(false);
        }
        match Steps::of(&a, &b) {
            Some(steps) => {
                // Both were made with room for the longer one.
                memory::resize(&mut b, a.len(), 0)?;
                steps.take(&mut a, &mut b);
            }
            None => reduce(&mut a, &b),
        }
    }
}

/// Limbs of a magnitude, the lowest first, with room for `len` of them.
fn limbs(bytes: &[u8], len: usize) -> Result<Vec<u64>> {
    let mut found = memory::room(len)?;
    let limb = |chunk: &[u8]| chunk.iter().fold(0u64, |limb, &byte| (limb << 8) | u64::from(byte));
    bytes.rchunks(8).try_for_each(|chunk| memory::push(&mut found, limb(chunk)))?;
    Ok(found)
}

fn trim(limbs: &mut Vec<u64>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Zero bits at the top of the highest limb.
fn zeros(limbs: &[u64]) -> u32 {
    limbs.last().map_or(0, |top| top.leading_zeros())
}

/// The 128 bits that begin `shift` (below 64) bits under the top of limb `len` - 1.
fn window(limbs: &[u64], len: usize, shift: u32) -> u128 {
    let limb = |below: usize| {
        let limb = len.checked_sub(below).and_then(|index| limbs.get(index));
        u128::from(limb.copied().unwrap_or_default())
    };
    let top = (limb(1) << 64) | limb(2);
    top.wrapping_shl(shift) | limb(3).wrapping_shl(shift) >> 64
}

/// The greatest common divisor of two small numbers.
fn small(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or_default());
    }
    a
}

fn low(value: u128) -> u64 {
    value.to_le_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a).wrapping_mul(u128::from(b))
}

/// Several steps of Euclid's algorithm at once: `(a, b)` becomes `(u0 a - v0 b, v1 b - u1 a)`, or the negative of both after an odd number.
struct Steps {
    u: (u64, u64),
    v: (u64, u64),
    even: bool,
}

impl Steps {
    /// As many as follow from the leading bits of `a >= b`; none when it is not even one.
    fn of(a: &[u64], b: &[u64]) -> Option<Steps> {
        let shift = zeros(a);
        let (mut x, mut y) = (window(a, a.len(), shift), window(b, a.len(), shift));
        let (mut u0, mut u1, mut u2) = (0u64, 1u64, 0u64);
        let (mut v0, mut v1, mut v2) = (0u64, 0u64, 1u64);
        let mut even = false;
        while u2 <= MOST
            && v2 <= MOST
            && y >= u128::from(v2)
            && x.wrapping_sub(y) >= u128::from(v1.wrapping_add(v2))
        {
            let (quotient, rest) = divide(x, y);
            let next = |one: u64, two: u64| quotient.checked_mul(two)?.checked_add(one);
            let (Some(u), Some(v)) = (next(u1, u2), next(v1, v2)) else { break };
            (x, y) = (y, rest);
            (u0, u1, u2) = (u1, u2, u);
            (v0, v1, v2) = (v1, v2, v);
            even = !even;
        }
        (v0 != 0).then_some(Steps { u: (u0, u1), v: (v0, v1), even })
    }

    /// Takes them, on two numbers of as many limbs.
    fn take(&self, a: &mut [u64], b: &mut [u64]) {
        let (u, v) = (self.u, self.v);
        let (mut first, mut second) = (0i128, 0i128);
        for (a, b) in a.iter_mut().zip(b) {
            let (x, y) = if self.even { (*a, *b) } else { (*b, *a) };
            let ((p, q), (r, s)) =
                if self.even { ((u.0, v.0), (v.1, u.1)) } else { ((v.0, u.0), (u.1, v.1)) };
            first = first.wrapping_add(difference(p, x, q, y));
            second = second.wrapping_add(difference(r, y, s, x));
            (*a, *b) = (low(first.cast_unsigned()), low(second.cast_unsigned()));
            (first, second) = (first >> 64, second >> 64);
        }
    }
}

/// Quotient and rest of `x >= y`; the quotient is small more often than not, and `u64::MAX` stands for a larger one.
fn divide(x: u128, y: u128) -> (u64, u128) {
    let mut rest = x;
    for quotient in 1..=3 {
        rest = rest.wrapping_sub(y);
        if rest < y {
            return (quotient, rest);
        }
    }
    let quotient = x.checked_div(y).unwrap_or_default();
    (u64::try_from(quotient).unwrap_or(u64::MAX), x.wrapping_sub(quotient.wrapping_mul(y)))
}

/// p x - q y
fn difference(p: u64, x: u64, q: u64, y: u64) -> i128 {
    product(p, x).cast_signed().wrapping_sub(product(q, y).cast_signed())
}

/// Takes from `a >= b` a multiple of `b` that leaves about 64 bits less: for when `a` is much longer, or so alike that the leading bits do not
/// tell.
fn reduce(a: &mut [u64], b: &[u64]) {
    let bits = |limbs: &[u64]| limbs.len().saturating_mul(64).saturating_sub(size(zeros(limbs)));
    let more = bits(a).saturating_sub(bits(b));
    let skipped = more.saturating_sub(1).checked_div(64).unwrap_or_default();
    // What is left of the difference: 0 to 64.
    let more = more.saturating_sub(skipped.saturating_mul(64));
    let above = window(a, a.len(), zeros(a));
    let below = (window(b, b.len(), zeros(b)) >> 64).wrapping_add(1);
    let quotient = above.checked_div(below).unwrap_or_default();
    let quotient = quotient >> 64usize.saturating_sub(more).min(127);
    // Never too much, as `above` is cut off and `below` rounded up; and once it always goes.
    let times = u64::try_from(quotient).unwrap_or(u64::MAX).max(1);
    let mut borrow = 0u128;
    for (limb, other) in a.iter_mut().skip(skipped).zip(b.iter().copied().chain(repeat(0))) {
        let part = product(times, other).wrapping_add(borrow);
        let (rest, under) = limb.overflowing_sub(low(part));
        *limb = rest;
        borrow = (part >> 64).wrapping_add(u128::from(under));
    }
}

fn size(bits: u32) -> usize {
    usize::try_from(bits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use num_integer::Integer;

    use super::coprime;

    fn check(a: &BigUint, b: &BigUint) {
        let expected = a.gcd(b) == BigUint::from(1u8);
        for (one, other) in [(a, b), (b, a)] {
            assert_eq!(coprime(&one.to_bytes_be(), &other.to_bytes_be()).unwrap(), expected, "{one} {other}");
        }
    }

    /// Numbers of up to 300 bytes: any, or with few bits, since long quotients and long carries are where it is easy to be wrong.
    struct Numbers(u64);

    impl Numbers {
        fn word(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }

        fn next(&mut self) -> BigUint {
            let len = self.word() as usize % 300;
            let small = self.word() >> (self.word() % 64);
            match self.word() % 4 {
                0 => (BigUint::from(1u8) << (8 * len)) + small,
                1 => (BigUint::from(small) + 1u8) << (8 * len),
                2 => (BigUint::from(small) << (8 * len)) + u64::MAX - 1u8,
                _ => BigUint::from_bytes_be(&(0..len).map(|_| self.word() as u8).collect::<Vec<_>>()),
            }
        }
    }

    #[test]
    fn d10_any_numbers() {
        let mut numbers = Numbers(0x853c_49e6_748f_ea9b);
        for _ in 0..3000 {
            let (a, b, factor) = (numbers.next(), numbers.next(), numbers.next());
            check(&a, &b);
            check(&(&a * &factor), &(&b * &factor));
            check(&(&a * &b + 1u8), &a);
            check(&(&a + &factor), &a);
            check(&(&a * &b), &b);
        }
    }

    #[test]
    fn d10_neighbours_in_the_fibonacci_sequence() {
        let (mut a, mut b) = (BigUint::from(1u8), BigUint::from(1u8));
        for _ in 0..3000 {
            check(&a, &b);
            (a, b) = (b.clone(), a + b);
        }
        check(&(a * 3u8), &(b * 3u8));
    }

    #[test]
    fn d10_small_and_edges_of_limbs() {
        for a in 0u32..60 {
            for b in 0u32..60 {
                check(&a.into(), &b.into());
            }
        }
        let edges: Vec<BigUint> = (0..5u32)
            .flat_map(|limb| (0..3u32).map(move |more| (BigUint::from(1u8) << (64 * limb)) + more))
            .flat_map(|edge| [&edge - 1u8, edge.clone(), &edge * 3u8])
            .collect();
        edges.iter().for_each(|a| edges.iter().for_each(|b| check(a, b)));
    }
}
