//! D1–D14: leaves of the standard library.

use num_bigint::{BigInt, BigUint, Sign};
use serde_json::{Value as Json, json};

use super::body::{Body, Head, Read, Verdict, int_bytes, refuse};
use super::key::Form;
use super::leaf::generalised;
use super::number::exact;
use super::place::{ip, path};
use crate::hex;

pub(super) type Code = &'static str;
pub(super) type Content = Result<(Json, Option<Form>), Code>;

impl Body<'_> {
    pub(super) fn standard(&mut self, head: &Head, number: u8, key: bool) -> Verdict<Read> {
        let at = head.at;
        if key && matches!(number, 14 | 22) {
            return refuse("not_keyable", at);
        }
        let payload = &self.bytes[self.at..self.at + head.len];
        self.charge(charged(number, payload), at)?;
        if sizes(number, payload).into_iter().any(|size| size > self.limits.int_bytes) {
            return refuse("int_limit", at);
        }
        self.at += head.len;
        let (json, form) = match content(number, payload) {
            Ok(found) => found,
            Err(code) => return refuse(code, at),
        };
        if key {
            if form.is_none() {
                return refuse("not_keyable", at);
            }
            if number == 17 {
                self.charge(written_out(payload, self.limits.int_bytes), at)?;
                self.beside(false, at)?;
            }
        }
        Ok(Read { json, form })
    }
}

/// limits.md, Charges.
fn charged(number: u8, payload: &[u8]) -> u64 {
    let len = payload.len() as u64;
    let aware = |naive: u64| 96 + if len > naive { 320 + 4 * (len - naive) } else { 0 };
    match number {
        9 | 16 => 32,
        10 | 13 => 96,
        11 => aware(8),
        12 => aware(12),
        14 => 320 + 4 * len,
        15 => 160,
        17 => 160 + len,
        18 => 192 + 2 * len + len * len / 16,
        19 => 256 + 4 * len + len * len / 1024,
        20 => 4 * len + if matches!(payload.first(), Some(0 | 3)) { 192 } else { 1536 },
        21 => 640 + 16 * len,
        _ => 640 + 4 * len,
    }
}

/// L6: the sizes of magnitudes, and of digits, that a payload announces.
fn sizes(number: u8, payload: &[u8]) -> Vec<u64> {
    let mut rest = payload;
    match number {
        17 if payload.first().is_none_or(|&class| class > 7 || class & 3 == 1) => vec![],
        17 if payload.first().is_some_and(|class| class & 3 == 0) => {
            vec![payload.len().saturating_sub(9) as u64]
        }
        17 => vec![payload.len().saturating_sub(1) as u64],
        18 if payload.len() >= 5 && payload[0] < 2 => {
            let numerator = u32::from_be_bytes(payload[1..5].try_into().expect("four bytes"));
            match (payload.len() as u64 - 5).checked_sub(numerator.into()) {
                Some(denominator) => vec![numerator.into(), denominator],
                None => vec![],
            }
        }
        19 => (0..3).map_while(|_| Some(signed(&mut rest).ok()?.1.len() as u64)).collect(),
        _ => vec![],
    }
}

/// The charge for a Decimal in key position: its digits, written out; nothing when these are more than an int may have.
fn written_out(payload: &[u8], int_bytes: u64) -> u64 {
    if payload[0] & 3 != 0 {
        return 0;
    }
    let exponent = i64::from_be_bytes(payload[1..9].try_into().expect("eight bytes"));
    let digits = &payload[9..];
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    let count = if zeros == digits.len() {
        1
    } else {
        (digits.len() - zeros) as u64 + exponent.saturating_add(zeros as i64).unsigned_abs()
    };
    if count > 5 * int_bytes + 4096 { 0 } else { count * count / 16 }
}

pub(super) fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], Code> {
    let (now, later) = rest.split_at_checked(len).ok_or("bad_payload")?;
    *rest = later;
    Ok(now)
}

fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

pub(super) fn unsigned(rest: &mut &[u8], len: usize) -> Result<u64, Code> {
    take(rest, len).map(number_of)
}

fn long(rest: &mut &[u8]) -> Result<i64, Code> {
    unsigned(rest, 8).map(u64::cast_signed)
}

pub(super) fn ensure(fine: bool, code: Code) -> Result<(), Code> {
    if fine { Ok(()) } else { Err(code) }
}

/// A text of a payload, described.
pub(super) fn text(bytes: &[u8]) -> Result<Json, Code> {
    Ok(match generalised(bytes).map_err(|_| "bad_utf8")? {
        true => json!(["surrogates", hex::of(bytes)]),
        false => json!(["str", std::str::from_utf8(bytes).expect("without surrogates")]),
    })
}

fn content(number: u8, payload: &[u8]) -> Content {
    let itself = Some(Form::Leaf(number, payload.to_vec()));
    let mut rest = payload;
    let (json, form) = match number {
        9 => (json!(["Ellipsis"]), itself),
        10 => (Json::Array([vec![json!("date")], date(&mut rest)?].concat()), itself),
        11 | 12 => return moment(number, payload),
        13 => (timedelta(&mut rest)?, itself),
        14 => return Ok((zone(payload)?, None)),
        15 => return uuid(payload),
        16 => {
            let safety = take(&mut rest, 1)?[0];
            (json!(["SafeUUID", safe(safety)?]), itself)
        }
        17 => return decimal(payload),
        18 => return fraction(payload),
        19 => return range(payload),
        20 => return Ok((ip(payload)?, itself)),
        21 => return path(payload),
        _ => return struct_time(payload),
    };
    ensure(rest.is_empty(), "bad_payload")?;
    Ok((json, form))
}

fn date(rest: &mut &[u8]) -> Result<Vec<Json>, Code> {
    let (year, month, day) = (unsigned(rest, 2)?, unsigned(rest, 1)?, unsigned(rest, 1)?);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let fine = (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=last).contains(&day);
    ensure(fine, "bad_payload")?;
    Ok(vec![json!(year), json!(month), json!(day)])
}

/// D3, D4: the key form leaves out the fold (K7), and there is none for an aware one (K2).
fn moment(number: u8, payload: &[u8]) -> Content {
    let mut rest = payload;
    let mut fields = vec![json!(if number == 11 { "time" } else { "datetime" })];
    if number == 12 {
        fields.extend(date(&mut rest)?);
    }
    let [hour, minute, second, fold] = *take(&mut rest, 4)? else { return Err("bad_payload") };
    let micro = unsigned(&mut rest, 4)?;
    let fine = hour < 24 && minute < 60 && second < 60 && fold < 2 && micro < 1_000_000;
    ensure(fine, "bad_payload")?;
    fields.extend([json!(hour), json!(minute), json!(second), json!(micro), json!(fold)]);
    let naive = rest.is_empty();
    fields.push(if naive { Json::Null } else { zone(rest)? });
    let mut form = payload.to_vec();
    form[if number == 11 { 3 } else { 7 }] = 0;
    Ok((Json::Array(fields), naive.then_some(Form::Leaf(number, form))))
}

fn timedelta(rest: &mut &[u8]) -> Result<Json, Code> {
    let days = (unsigned(rest, 4)? as u32).cast_signed();
    let (seconds, micros) = (unsigned(rest, 4)?, unsigned(rest, 4)?);
    let fine = days.unsigned_abs() <= 999_999_999 && seconds < 86_400 && micros < 1_000_000;
    ensure(fine, "bad_payload")?;
    Ok(json!(["timedelta", days, seconds, micros]))
}

/// D6
fn zone(payload: &[u8]) -> Result<Json, Code> {
    let mut rest = payload;
    let tag = take(&mut rest, 1)?[0];
    match tag {
        0 | 1 => {
            let offset = long(&mut rest)?;
            ensure(offset.unsigned_abs() < 86_400_000_000, "bad_payload")?;
            ensure(tag == 1 || rest.is_empty(), "bad_payload")?;
            let name = if tag == 1 { text(rest)? } else { Json::Null };
            Ok(json!(["timezone", offset, name]))
        }
        2 => {
            ensure((1..=64).contains(&rest.len()), "bad_payload")?;
            let word = |word: &[u8]| {
                !word.is_empty()
                    && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(byte))
            };
            ensure(rest.split(|&byte| byte == b'/').all(word), "bad_payload")?;
            Ok(json!(["ZoneInfo", String::from_utf8_lossy(rest)]))
        }
        _ => Err("bad_payload"),
    }
}

fn safe(safety: u8) -> Result<&'static str, Code> {
    ["unknown", "safe", "unsafe"].get(usize::from(safety)).copied().ok_or("bad_payload")
}

/// D7: the key form leaves out the safety (K7).
fn uuid(payload: &[u8]) -> Content {
    let (bytes, rest) = payload.split_at_checked(16).ok_or("bad_payload")?;
    // Unknown is said by leaving it out.
    let safety = match rest {
        [] => "unknown",
        [0, ..] => return Err("not_canonical"),
        [safety] => safe(*safety)?,
        _ => return Err("bad_payload"),
    };
    Ok((json!(["UUID", hex::of(bytes), safety]), Some(Form::Leaf(15, bytes.to_vec()))))
}

/// D9
fn decimal(payload: &[u8]) -> Content {
    let mut rest = payload;
    let class = take(&mut rest, 1)?[0];
    ensure(class < 8, "bad_payload")?;
    let (negative, sign) = (class & 4 != 0, class >> 2);
    let digits = |rest: &[u8]| -> Result<String, Code> {
        ensure(rest.iter().all(u8::is_ascii_digit), "bad_payload")?;
        Ok(String::from_utf8_lossy(rest).into_owned())
    };
    match class & 3 {
        0 => {
            let exponent = long(&mut rest)?;
            let digits = digits(rest)?;
            ensure(!digits.is_empty(), "bad_payload")?;
            ensure(digits == "0" || !digits.starts_with('0'), "not_canonical")?;
            let top = i128::from(exponent) + digits.len() as i128 - 1;
            let fine = exponent >= -1_999_999_999_999_999_997 && top <= 999_999_999_999_999_999;
            ensure(fine, "bad_payload")?;
            let number = digits.parse::<BigUint>().expect("digits");
            let form = exact(negative, number, 1u8.into(), exponent.into(), exponent.into());
            Ok((json!(["Decimal", sign, digits, exponent]), Some(form)))
        }
        1 => {
            ensure(rest.is_empty(), "bad_payload")?;
            Ok((json!(["Decimal", sign, "", "F"]), Some(Form::Infinity(negative))))
        }
        quiet => {
            let digits = digits(rest)?;
            ensure(!digits.starts_with('0'), "not_canonical")?;
            let (exponent, form) = match quiet {
                2 => ("n", Some(Form::Leaf(17, payload.to_vec()))),
                _ => ("N", None),
            };
            Ok((json!(["Decimal", sign, digits, exponent]), form))
        }
    }
}

/// D10
fn fraction(payload: &[u8]) -> Content {
    let mut rest = payload;
    let (negative, numerator) = signed(&mut rest)?;
    check_int(negative, numerator)?;
    let denominator = rest;
    ensure(!denominator.is_empty(), "bad_payload")?;
    ensure(denominator[0] != 0, "not_canonical")?;
    let (num, den) = (BigUint::from_bytes_be(numerator), BigUint::from_bytes_be(denominator));
    ensure(gcd(num.clone(), den.clone()) == BigUint::from(1u8), "not_canonical")?;
    let json = json!(["Fraction", int_bytes(negative, numerator), int_bytes(false, denominator)]);
    Ok((json, Some(exact(negative, num, den, 0, 0))))
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Sign, length and magnitude of an int.
fn signed<'a>(rest: &mut &'a [u8]) -> Result<(bool, &'a [u8]), Code> {
    let sign = take(rest, 1)?[0];
    let len = unsigned(rest, 4)?;
    let magnitude = take(rest, len as usize)?;
    ensure(sign < 2, "bad_payload")?;
    Ok((sign == 1, magnitude))
}

/// No leading zero byte; zero has sign 0.
fn check_int(negative: bool, magnitude: &[u8]) -> Result<(), Code> {
    ensure(magnitude.first() != Some(&0), "not_canonical")?;
    ensure(!(negative && magnitude.is_empty()), "not_canonical")
}

/// D11; K7: its length, its start unless it is empty, its step unless it has fewer than two items.
fn range(payload: &[u8]) -> Content {
    let mut rest = payload;
    let mut parts = Vec::new();
    for _ in 0..3 {
        let (negative, magnitude) = signed(&mut rest)?;
        check_int(negative, magnitude)?;
        parts.push((negative, magnitude));
    }
    ensure(rest.is_empty(), "bad_payload")?;
    ensure(!parts[2].1.is_empty(), "bad_payload")?;
    let texts: Vec<_> = parts.iter().map(|(negative, magnitude)| int_bytes(*negative, magnitude)).collect();
    let [start, stop, step] = [0, 1, 2].map(|index| {
        let (negative, magnitude) = parts[index];
        BigInt::from_bytes_be(if negative { Sign::Minus } else { Sign::Plus }, magnitude)
    });
    let down = step.sign() == Sign::Minus;
    let (span, stride) = if down { (&start - &stop, -&step) } else { (&stop - &start, step.clone()) };
    // Rounded up; nothing when the stop lies the other way.
    let len: BigInt = (span + &stride - 1) / stride;
    let len = len.to_biguint().unwrap_or_default();
    let some = len != BigUint::ZERO;
    let many = len > BigUint::from(1u8);
    let form = Form::Range(len, some.then_some(start), many.then_some(step));
    Ok((json!(["range", texts[0], texts[1], texts[2]]), Some(form)))
}

/// D14
fn struct_time(payload: &[u8]) -> Content {
    let mut rest = payload;
    let fields = (0..9).map(|_| long(&mut rest)).collect::<Result<Vec<_>, _>>()?;
    let flags = take(&mut rest, 1)?[0];
    ensure(flags < 4, "bad_payload")?;
    let gmtoff = (flags & 1 != 0).then(|| long(&mut rest)).transpose()?;
    let zone = if flags & 2 != 0 { text(rest)? } else { Json::Null };
    ensure(flags & 2 != 0 || rest.is_empty(), "bad_payload")?;
    Ok((json!(["struct_time", fields, gmtoff, zone]), None))
}
