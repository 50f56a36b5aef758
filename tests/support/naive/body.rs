//! The values of a body: V1–V18, K1–K8, D15–D17, L1, L4 and L5.

use std::ops::Range;

use hookless::Limits;
use serde_json::{Value as Json, json};

use super::Refusal;
use super::elements::Check;
use super::exception::Report;
use super::key::{Form, Table};
use crate::hex;

/// Stands in a described value for the hex of the next entry of the region. U+0000 keeps it apart from hex.
pub(super) const IN_REGION: &str = "\0 in the region";

/// F12: bytes of the region that a value of the body has claimed.
pub(super) struct Entry {
    from: u64,
    len: u64,
    pub(super) check: Check,
}

impl Entry {
    pub(super) fn bytes(&self) -> Range<usize> {
        self.from as usize..(self.from + self.len) as usize
    }
}

/// What a head says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    Nil,
    Bool(bool),
    Int(i128),
    Float(u64),
    Str,
    Bin,
    Ext(u8),
    Array,
    Map,
}

/// The head of a value: where it begins, what it is, and how much it announces: bytes, items or pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) at: usize,
    pub(super) kind: Kind,
    pub(super) len: usize,
}

/// A value that was read: its description, and its key form if it stands in key position.
pub(super) struct Read {
    pub(super) json: Json,
    pub(super) form: Option<Form>,
}

impl Read {
    pub(super) fn new(json: Json, form: Form) -> Read {
        Read { json, form: Some(form) }
    }

    /// A value that can be no key.
    pub(super) fn keyless(json: Json) -> Read {
        Read { json, form: None }
    }
}

pub(super) type Verdict<T> = Result<T, Refusal>;

/// An error at a byte of the body.
pub(super) fn refuse<T>(code: &'static str, at: usize) -> Verdict<T> {
    Err((code, 32 + at as u64))
}

pub(super) struct Body<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) limits: &'a Limits,
    memory: u64,
    nodes: u64,
    /// V18: what is owed to all open containers.
    pub(super) owed: u64,
    depth: u64,
    region: u64,
    pub(super) cursor: u64,
    pub(super) entries: Vec<Entry>,
    pub(super) report: Report,
    /// K8: what the keys of the outermost table hold so far, while a key of it is read.
    pub(super) table: Table,
}

impl<'a> Body<'a> {
    pub(super) fn new(bytes: &'a [u8], region: u64, limits: &'a Limits) -> Self {
        Body {
            bytes,
            at: 0,
            limits,
            memory: limits.memory,
            nodes: limits.nodes,
            owed: 0,
            depth: 0,
            region,
            cursor: 0,
            entries: Vec::new(),
            report: Report::default(),
            table: Table::default(),
        }
    }

    /// V1: one value, and nothing after it.
    pub(super) fn whole(&mut self) -> Verdict<Json> {
        self.announce(1, 0)?;
        let value = self.value(false)?.json;
        if self.at < self.bytes.len() { refuse("trailing_bytes", self.at) } else { Ok(value) }
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn truncated<T>(&self) -> Verdict<T> {
        refuse("truncated", self.bytes.len())
    }

    /// The next bytes, big-endian.
    fn number(&mut self, size: usize) -> Verdict<u64> {
        if self.left() < size {
            return self.truncated();
        }
        let bytes = &self.bytes[self.at..self.at + size];
        self.at += size;
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// V2–V4: the marker, and the number or length in its one form.
    pub(super) fn form(&mut self) -> Verdict<Head> {
        let at = self.at;
        let marker = self.number(1)? as u8;
        let (kind, len, shortest) = match marker {
            0x00..=0x7f => (Kind::Int(marker.into()), 0, true),
            0x80..=0x8f => (Kind::Map, u64::from(marker - 0x80), true),
            0x90..=0x9f => (Kind::Array, u64::from(marker - 0x90), true),
            0xa0..=0xbf => (Kind::Str, u64::from(marker - 0xa0), true),
            0xc0 => (Kind::Nil, 0, true),
            0xc1 | 0xca => return refuse("bad_marker", at),
            0xc2 | 0xc3 => (Kind::Bool(marker == 0xc3), 0, true),
            0xc4..=0xc6 => self.sized(Kind::Bin, marker - 0xc4, 0)?,
            0xc7..=0xc9 => {
                let (_, len, shortest) = self.sized(Kind::Nil, marker - 0xc7, 0)?;
                if !shortest || [1, 2, 4, 8, 16].contains(&len) {
                    return refuse("not_canonical", at);
                }
                (Kind::Ext(self.number(1)? as u8), len, true)
            }
            0xcb => (Kind::Float(self.number(8)?), 0, true),
            0xcc..=0xcf => {
                let size = 1 << (marker - 0xcc);
                let value = self.number(size)?;
                let least = if size == 1 { 0x80 } else { 1 << (4 * size) };
                (Kind::Int(value.into()), 0, value >= least)
            }
            0xd0..=0xd3 => {
                let size = 1u32 << (marker - 0xd0);
                let bits = self.number(size as usize)?;
                let value = i128::from((bits << (64 - 8 * size)).cast_signed() >> (64 - 8 * size));
                let largest = if size == 1 { -32 } else { -(1i128 << (4 * size - 1)) };
                (Kind::Int(value), 0, value < largest)
            }
            0xd4..=0xd8 => (Kind::Ext(self.number(1)? as u8), 1 << (marker - 0xd4), true),
            0xd9..=0xdb => self.sized(Kind::Str, marker - 0xd9, 32)?,
            0xdc | 0xdd => self.sized(Kind::Array, marker - 0xdb, 16)?,
            0xde | 0xdf => self.sized(Kind::Map, marker - 0xdd, 16)?,
            0xe0..=0xff => (Kind::Int(i128::from(marker) - 256), 0, true),
        };
        if shortest { Ok(Head { at, kind, len: len as usize }) } else { refuse("not_canonical", at) }
    }

    /// V3: a length of 1, 2 or 4 bytes that needs so many, and is past what the marker itself could say.
    fn sized(&mut self, kind: Kind, log: u8, fix: u64) -> Verdict<(Kind, u64, bool)> {
        let len = self.number(1 << log)?;
        let least = match log {
            0 => fix,
            1 if matches!(kind, Kind::Array | Kind::Map) => fix,
            1 => 1 << 8,
            _ => 1 << 16,
        };
        Ok((kind, len, len >= least))
    }

    /// That the bytes of a payload are there; V18 for what an array or a map announces.
    pub(super) fn arrived(&self, head: &Head) -> Verdict<()> {
        let each = match head.kind {
            Kind::Str | Kind::Bin | Kind::Ext(_) if head.len > self.left() => return self.truncated(),
            Kind::Array => 1,
            Kind::Map => 2,
            _ => return Ok(()),
        };
        if each * head.len as u64 + self.owed > self.left() as u64 {
            return refuse("truncated", head.at);
        }
        Ok(())
    }

    pub(super) fn head(&mut self) -> Verdict<Head> {
        let head = self.form()?;
        self.arrived(&head)?;
        Ok(head)
    }

    pub(super) fn payload(&mut self, head: &Head) -> &'a [u8] {
        let payload = &self.bytes[self.at..self.at + head.len];
        self.at += head.len;
        payload
    }

    /// L4
    pub(super) fn charge(&mut self, bytes: u64, at: usize) -> Verdict<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => self.memory = left,
            None => return refuse("memory_limit", at),
        }
        Ok(())
    }

    /// L5
    pub(super) fn announce(&mut self, values: u64, at: usize) -> Verdict<()> {
        match self.nodes.checked_sub(values) {
            Some(left) => self.nodes = left,
            None => return refuse("node_limit", at),
        }
        Ok(())
    }

    /// L1, V17: `inside` runs with one container more open.
    pub(super) fn open<T>(&mut self, at: usize, inside: impl FnOnce(&mut Self) -> Verdict<T>) -> Verdict<T> {
        if self.depth == self.limits.depth {
            return refuse("depth_limit", at);
        }
        self.depth += 1;
        let result = inside(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// F12, F13: the next entry of the region.
    pub(super) fn entry(&mut self, len: u64, at: usize, check: Check) -> Verdict<String> {
        if self.entries.len() as u64 == 65_536 {
            return refuse("region_entry_limit", at);
        }
        let from = self.cursor.next_multiple_of(64);
        if from.checked_add(len).is_none_or(|end| end > self.region) {
            return refuse("region_mismatch", at);
        }
        self.cursor = from + len;
        self.entries.push(Entry { from, len, check });
        Ok(IN_REGION.to_owned())
    }

    /// An element of an open container, of any kind.
    pub(super) fn item(&mut self, key: bool) -> Verdict<Read> {
        self.owed -= 1;
        self.value(key)
    }

    pub(super) fn value(&mut self, key: bool) -> Verdict<Read> {
        let head = self.head()?;
        self.of(head, key)
    }

    /// The rest of a value whose head has been read, and whose bytes are there.
    pub(super) fn of(&mut self, head: Head, key: bool) -> Verdict<Read> {
        let at = head.at;
        match head.kind {
            Kind::Nil => {
                self.charge(32, at)?;
                Ok(Read::new(json!(["none"]), Form::None))
            }
            Kind::Bool(value) => {
                self.charge(32, at)?;
                Ok(Read::new(json!(["bool", value]), Form::int(value.into())))
            }
            Kind::Int(value) => {
                self.charge(40, at)?;
                Ok(Read::new(json!(["int", int_text(value)]), Form::int(value)))
            }
            Kind::Float(bits) => {
                self.charge(40, at)?;
                Ok(Read::new(json!(["float", format!("{bits:016x}")]), Form::float(f64::from_bits(bits))))
            }
            Kind::Str => {
                let text = self.text_content(&head)?;
                Ok(Read::new(text.0, Form::Text(text.1)))
            }
            Kind::Bin => {
                // V10
                if !key && head.len >= 16_384 {
                    return refuse("not_canonical", at);
                }
                self.charge(96 + head.len as u64, at)?;
                let bytes = self.payload(&head).to_vec();
                Ok(Read::new(json!(["bytes", hex::of(&bytes)]), Form::Bytes(bytes)))
            }
            Kind::Ext(number) => self.leaf(head, number, key),
            Kind::Array => match self.marker(&head)? {
                Some(kind) => self.node(head, kind, key),
                None => self.list(head, key),
            },
            Kind::Map => {
                if key {
                    return refuse("not_keyable", at);
                }
                self.open(at, |body| {
                    body.announce(2 * head.len as u64, at)?;
                    body.charge(72 + 160 * head.len as u64, at)?;
                    Ok(Read::keyless(json!(["dict", body.pairs(&head, false)?])))
                })
            }
        }
    }

    /// V6, V7 and the charge of a text; its description and its bytes.
    pub(super) fn text_content(&mut self, head: &Head) -> Verdict<(Json, Vec<u8>)> {
        let payload = self.bytes[self.at..self.at + head.len].to_vec();
        let len = payload.len() as u64;
        let surrogates = head.kind == Kind::Ext(4);
        let plain = payload.is_ascii() && !surrogates;
        self.charge(if plain { 72 + len } else { 112 + 4 * len }, head.at)?;
        let start = self.at;
        self.at += head.len;
        if surrogates {
            return match super::leaf::generalised(&payload) {
                Err(bad) => refuse("bad_utf8", start + bad),
                Ok(false) => refuse("not_canonical", head.at),
                Ok(true) => Ok((json!(["surrogates", hex::of(&payload)]), payload)),
            };
        }
        match std::str::from_utf8(&payload) {
            Ok(text) => Ok((json!(["str", text]), payload)),
            Err(error) => refuse("bad_utf8", start + error.valid_up_to()),
        }
    }

    /// V12: the kind of node that an array is.
    fn marker(&self, head: &Head) -> Verdict<Option<u8>> {
        match self.bytes[self.at..] {
            _ if head.len == 0 => Ok(None),
            [0xd4, 1, kind, ..] => Ok(Some(kind)),
            [0xd4] | [0xd4, 1] => self.truncated(),
            _ => Ok(None),
        }
    }

    /// Whether an array is a node, where a plain one belongs.
    pub(super) fn is_node(&self, head: &Head) -> bool {
        head.len > 0 && self.bytes[self.at..].starts_with(&[0xd4, 1])
    }
}

pub(super) fn jsons(items: Vec<Read>) -> Vec<Json> {
    items.into_iter().map(|item| item.json).collect()
}

/// An int as [`crate::describe`] writes it.
pub(super) fn int_text(value: i128) -> String {
    int_bytes(value < 0, &value.unsigned_abs().to_be_bytes())
}

pub(super) fn int_bytes(negative: bool, magnitude: &[u8]) -> String {
    let first = magnitude.iter().position(|&byte| byte != 0).unwrap_or(magnitude.len());
    format!("{}0x{}", if negative { "-" } else { "" }, hex::of(&magnitude[first..]))
}
