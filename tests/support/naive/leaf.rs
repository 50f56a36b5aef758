//! V7–V11 and A9: leaves, but for those of the standard library.

use serde_json::json;

use super::body::{Body, Head, Read, Verdict, int_bytes, refuse};
use super::elements::Check;
use super::key::Form;
use crate::hex;

/// UTF-8 that admits surrogates (V7): whether there is one, or where it goes wrong.
pub(super) fn generalised(bytes: &[u8]) -> Result<bool, usize> {
    let (mut at, mut found) = (0, false);
    while at < bytes.len() {
        // Of one character's bytes alone, the longest that are one.
        let rest = &bytes[at..];
        let plain = (1..=4.min(rest.len())).find(|&len| std::str::from_utf8(&rest[..len]).is_ok());
        match (plain, rest) {
            (Some(len), _) => at += len,
            (None, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..]) => {
                found = true;
                at += 3;
            }
            _ => return Err(at),
        }
    }
    Ok(found)
}

impl Body<'_> {
    pub(super) fn leaf(&mut self, head: Head, number: u8, key: bool) -> Verdict<Read> {
        let at = head.at;
        match number {
            1 if head.len != 1 => refuse("bad_payload", at),
            1 => refuse("misplaced_marker", at),
            2 => self.big_int(&head),
            3 => {
                if head.len != 16 {
                    return refuse("bad_payload", at);
                }
                self.charge(48, at)?;
                let parts = self.payload(&head);
                let form = Form::complex(Form::narrow(&parts[..8]), Form::narrow(&parts[8..]));
                Ok(Read::new(json!(["complex", hex::of(&parts[..8]), hex::of(&parts[8..])]), form))
            }
            4 => {
                let (json, bytes) = self.text_content(&head)?;
                Ok(Read::new(json, Form::Text(bytes)))
            }
            5 => {
                if key {
                    return refuse("not_keyable", at);
                }
                if head.len >= 16_384 {
                    return refuse("not_canonical", at);
                }
                self.charge(96 + head.len as u64, at)?;
                Ok(Read::keyless(json!(["bytearray", hex::of(self.payload(&head))])))
            }
            6 | 7 => self.in_region(&head, number, key),
            8 => refuse("bad_type", at),
            9..=22 => self.standard(&head, number, key),
            32..=50 => self.scalar(&head, number, key),
            _ => refuse("unknown_ext", at),
        }
    }

    /// V8
    fn big_int(&mut self, head: &Head) -> Verdict<Read> {
        let at = head.at;
        if head.len < 2 {
            return refuse("bad_payload", at);
        }
        if head.len as u64 - 1 > self.limits.int_bytes {
            return refuse("int_limit", at);
        }
        self.charge(64 + 2 * head.len as u64, at)?;
        let payload = self.payload(head);
        let (sign, magnitude) = (payload[0], &payload[1..]);
        if sign > 1 {
            return refuse("bad_payload", at);
        }
        let mut least = vec![1, 0, 0, 0, 0, 0, 0, 0, 0];
        if sign == 1 {
            least = vec![0x80, 0, 0, 0, 0, 0, 0, 1];
        }
        if magnitude[0] == 0 || (magnitude.len(), magnitude) < (least.len(), &least) {
            return refuse("not_canonical", at);
        }
        let json = json!(["int", int_bytes(sign == 1, magnitude)]);
        Ok(Read::new(json, Form::magnitude(sign == 1, magnitude)))
    }

    /// V10, V11: ext 6 and 7.
    fn in_region(&mut self, head: &Head, number: u8, key: bool) -> Verdict<Read> {
        let at = head.at;
        if key {
            return refuse(if number == 6 { "not_canonical" } else { "not_keyable" }, at);
        }
        if head.len != 8 {
            return refuse("bad_payload", at);
        }
        let len = u64::from_be_bytes(self.payload(head).try_into().expect("eight bytes"));
        if len < 16_384 {
            return refuse("not_canonical", at);
        }
        self.charge(96, at)?;
        let mark = self.entry(len, at, Check::anything())?;
        Ok(Read::keyless(json!([if number == 6 { "bytes" } else { "bytearray" }, mark])))
    }

    /// A9, A11
    fn scalar(&mut self, head: &Head, number: u8, key: bool) -> Verdict<Read> {
        let (at, len) = (head.at, head.len as u64);
        if key && matches!(number, 46 | 47 | 50) {
            return refuse("not_keyable", at);
        }
        let (dtype, size) = match number {
            32 => ("|b1", Some(1)),
            33 => ("|i1", Some(1)),
            34 => ("<i2", Some(2)),
            35 => ("<i4", Some(4)),
            36 => ("<i8", Some(8)),
            37 => ("|u1", Some(1)),
            38 => ("<u2", Some(2)),
            39 => ("<u4", Some(4)),
            40 => ("<u8", Some(8)),
            41 => ("<f2", Some(2)),
            42 => ("<f4", Some(4)),
            43 => ("<f8", Some(8)),
            44 => ("<c8", Some(8)),
            45 => ("<c16", Some(16)),
            46 => ("<M8", Some(13)),
            47 => ("<m8", Some(13)),
            48 => ("S", None),
            49 => ("U", None),
            _ => ("V", None),
        };
        self.charge(
            match number {
                49 => 160 + 8 * len,
                48 | 50 => 128 + 2 * len,
                _ => 96 + len,
            },
            at,
        )?;
        if size.is_some_and(|size| size != len) {
            return refuse("bad_payload", at);
        }
        let start = self.at;
        let data = self.payload(head);
        let mut unit = String::new();
        match number {
            32 if data[0] > 1 => return refuse("bad_payload", at),
            46 | 47 => {
                let count = u32::from_be_bytes(data[1..5].try_into().expect("four bytes"));
                match super::dtype::unit(data[0], count) {
                    Some(found) => unit = found,
                    None => return refuse("bad_dtype", at),
                }
            }
            49 => {
                if let Err(bad) = generalised(data) {
                    return refuse("bad_utf8", start + bad);
                }
            }
            _ => (),
        }
        if key {
            self.beside(true, at)?;
        }
        let json = json!(["scalar", { "dtype": format!("{dtype}{unit}"), "data": hex::of(data) }]);
        Ok(Read { json, form: scalar_form(number, data) })
    }
}

fn scalar_form(number: u8, data: &[u8]) -> Option<Form> {
    let unsigned = || data.iter().fold(0i128, |value, &byte| value << 8 | i128::from(byte));
    Some(match number {
        32 | 37..=40 => Form::int(unsigned()),
        33..=36 => {
            let wrap = if data[0] & 0x80 != 0 { 1i128 << (8 * data.len()) } else { 0 };
            Form::int(unsigned() - wrap)
        }
        41..=43 => Form::narrow(data),
        44 | 45 => {
            let (re, im) = data.split_at(data.len() / 2);
            Form::complex(Form::narrow(re), Form::narrow(im))
        }
        48 => Form::Bytes(data.to_vec()),
        49 => Form::Text(data.to_vec()),
        _ => return None,
    })
}
