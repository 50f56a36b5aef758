//! The containers that the reader has open, and the path that they spell.

use std::collections::HashSet;

use crate::array::Shape;
use crate::error::Result;
use crate::memory::{self, Boxed, Steps};
use crate::value::TextRef;
use crate::wire::cursor::{Cursor, Head};
use crate::wire::links::Links;
use crate::wire::reader::record::RecordState;
use crate::wire::{Build, EntryHead, EntryParts, MapKind, keys, size, wide};

/// One open container.
pub(crate) struct Open<'b, B: Build> {
    /// Elements not yet delivered, the one being read included.
    pub(crate) left: u64,
    /// Elements owed to the containers below (V18).
    pub(crate) below: u64,
    /// Whether the container itself is in key position (K1).
    pub(crate) in_key: bool,
    /// What lies inside in key position, so that those around it know already.
    pub(crate) marks: keys::Marks,
    /// The body from its first element on.
    pub(crate) items: &'b [u8],
    pub(crate) what: What<'b, B>,
}

/// Its tag is a byte of its own, since it is looked at for each value.
#[repr(u8)]
pub(crate) enum What<'b, B: Build> {
    Sequence { list: B::Sequence, len: u64 },
    Objects { list: B::Sequence, shape: Shape, len: u64 },
    Map { kind: MapKind, map: B::Map, key: Option<B::Value>, table: Table<'b> },
    Set { set: B::Set, table: Table<'b>, previous: &'b [u8] },
    Record(Boxed<RecordState<'b, B::Value>>),
    Report(Boxed<ReportState<'b, B::Value>>),
}

/// The keys of a dict or the members of a set, as far as they have been read.
#[derive(Default)]
pub(crate) struct Table<'b> {
    /// The body from the key, or member, being read.
    pub(crate) at: &'b [u8],
    /// Its encoding, once it is complete.
    pub(crate) key: &'b [u8],
    /// Keys admitted.
    pub(crate) done: u64,
    /// What is among them, so that forms may have to be compared.
    pub(crate) marks: keys::Marks,
    pub(crate) forms: Option<Boxed<keys::Forms<'b>>>,
}

/// An exception node being read: its entries are read inline but for their values.
pub(crate) struct ReportState<'b, V> {
    pub(crate) start: &'b [u8],
    pub(crate) entries: Vec<EntryParts<'b, V>>,
    pub(crate) links: Vec<Links>,
    /// The entry whose values are being read.
    pub(crate) head: Option<EntryHead<'b>>,
    pub(crate) args: Vec<V>,
    pub(crate) fields: Vec<(TextRef<'b>, V)>,
    /// The field whose value is being read, and the body from its name on.
    pub(crate) field: Option<(TextRef<'b>, &'b [u8])>,
    /// The names of the entry's fields, to refuse a second one.
    pub(crate) names: HashSet<&'b [u8]>,
    pub(crate) stage: Stage,
    /// Entries not yet begun.
    pub(crate) entries_left: u64,
}

/// How many values of the entry's args, then of its fields, are still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Args(u64),
    Fields(u64),
}

impl<'b> Table<'b> {
    pub(crate) fn starting(at: &'b [u8]) -> Self {
        Table { at, ..Table::default() }
    }

    /// The key's encoding, given what is left of the body after it.
    pub(crate) fn close_key(&mut self, rest: &'b [u8]) -> &'b [u8] {
        self.key = self.at.get(..self.at.len().saturating_sub(rest.len())).unwrap_or_default();
        self.key
    }
}

impl<B: Build> Open<'_, B> {
    /// The step from this container to the element being read, such as `[3]` or `.rows`.
    pub(crate) fn step(&self, path: &mut Steps) {
        match &self.what {
            What::Sequence { len, .. } => push_index(path, len.saturating_sub(self.left)),
            What::Objects { shape, len, .. } => shape.push_step(path, len.saturating_sub(self.left)),
            What::Map { key: Some(_), table, .. } => push_key(path, table.key),
            What::Map { key: None, table, .. } => path.add(format_args!(".keys[{}]", table.done)),
            What::Set { table, .. } => path.add(format_args!("{{{}}}", table.done)),
            What::Record(state) => state.step(path),
            What::Report(state) => state.step(path),
        }
    }
}

impl<'b, V> ReportState<'b, V> {
    /// Takes the value that was being waited for; where the name of its field begins, when the entry has one of that name (K3).
    pub(crate) fn accept(&mut self, value: V) -> Result<Option<&'b [u8]>> {
        match (&mut self.stage, self.field.take()) {
            (Stage::Fields(left), Some((name, at))) => {
                if !memory::insert(&mut self.names, name.as_bytes())? {
                    return Ok(Some(at));
                }
                memory::push(&mut self.fields, (name, value))?;
                *left = left.saturating_sub(1);
            }
            (Stage::Args(left) | Stage::Fields(left), _) => {
                memory::push(&mut self.args, value)?;
                *left = left.saturating_sub(1);
            }
        }
        Ok(None)
    }

    fn step(&self, path: &mut Steps) {
        path.add(format_args!("!{}", self.entries.len()));
        match (self.stage, &self.field) {
            _ if self.head.is_none() => {}
            (Stage::Args(_), _) => path.add(format_args!(".args[{}]", self.args.len())),
            (Stage::Fields(_), Some((name, _))) => push_text(path, name.as_bytes()),
            (Stage::Fields(_), None) => path.push_str(".fields"),
        }
    }
}

/// `[3]`
pub(crate) fn push_index(path: &mut Steps, index: u64) {
    path.add(format_args!("[{index}]"));
}

/// `.name` for an identifier, `["other text"]` shortened and escaped for the rest.
pub fn push_name(path: &mut Steps, name: &str) {
    push_text(path, name.as_bytes());
}

/// The same for text with surrogates, or what there is of text.
pub(crate) fn push_text(path: &mut Steps, name: &[u8]) {
    let lossy = || {
        let replaced = |invalid: &[u8]| (!invalid.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        name.utf8_chunks().flat_map(move |chunk| chunk.valid().chars().chain(replaced(chunk.invalid())))
    };
    let mut chars = lossy();
    let identifier = name.len() <= 64
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if identifier {
        path.push('.');
        lossy().for_each(|one| path.push(one));
        return;
    }
    path.push_str("[\"");
    lossy().take(40).flat_map(char::escape_default).for_each(|one| path.push(one));
    path.push_str(if lossy().nth(40).is_some() { "…\"]" } else { "\"]" });
}

/// The step into a dict by the encoding of its key.
pub(crate) fn push_key(path: &mut Steps, key: &[u8]) {
    let mut cursor = Cursor::new(key, 0);
    match cursor.head() {
        Ok(Head::Str(len)) => {
            let name = cursor.rest.get(..size(len).min(256)).unwrap_or_default();
            push_text(path, name);
        }
        Ok(Head::Unsigned(number)) => push_index(path, number),
        Ok(Head::Negative(number)) => path.add(format_args!("[{number}]")),
        Ok(Head::Nil) => path.push_str("[None]"),
        Ok(Head::Bool(value)) => path.push_str(if value { "[True]" } else { "[False]" }),
        Ok(Head::Float(bits)) => path.add(format_args!("[{:?}]", f64::from_bits(bits))),
        _ => path.add(format_args!("[<key of {} bytes>]", wide(key.len()))),
    }
}
