//! The hex notation of `proto/vectors/README.md`.

use std::fmt::Write;

/// The bytes of a text of hex tokens: `hh…`, `hh…*N` for N times, `aa…..bb…` for each number from the first to the last.
///
/// # Panics
/// When the text is not in this notation.
pub fn expand(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for token in text.split_whitespace() {
        if let Some((first, last)) = token.split_once("..") {
            out.extend(range(first, last));
        } else if let Some((unit, times)) = token.split_once('*') {
            let times = times.parse().unwrap_or_else(|_| panic!("not a count in hex token {token}"));
            out.extend(plain(unit).repeat(times));
        } else {
            out.extend(plain(token));
        }
    }
    out
}

/// Lower-case hex of bytes, without spaces.
pub fn of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every byte");
        text
    })
}

fn plain(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "odd number of hex digits in {digits}");
    let pair =
        |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap_or_else(|_| panic!("not hex: {digits}"));
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn range(first: &str, last: &str) -> impl Iterator<Item = u8> {
    assert!(
        first.len() == last.len() && first.len() <= 16,
        "a range of numbers of two widths: {first}..{last}"
    );
    let number = |digits| u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("not hex: {digits}"));
    let (width, span) = (first.len() / 2, number(first)..=number(last));
    span.flat_map(move |n| n.to_be_bytes().into_iter().skip(8 - width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        assert_eq!(expand("c4 03 00*3"), [0xc4, 3, 0, 0, 0]);
        assert_eq!(expand("0102*2 ff"), [1, 2, 1, 2, 0xff]);
        assert_eq!(expand("ccfe..cd01"), [0xcc, 0xfe, 0xcc, 0xff, 0xcd, 0x00, 0xcd, 0x01]);
        assert_eq!(expand(""), [0u8; 0]);
        assert_eq!(of(&[0, 0xab]), "00ab");
    }
}
