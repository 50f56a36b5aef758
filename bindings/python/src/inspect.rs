//! `inspect`: what lies where in a frame, also in one that is refused. The third builder of the one reader.

use std::fmt::Write as _;

use hookless::array::{ArrayClass, ArrayHead, Shape};
use hookless::frame::{HEAD_LEN, Head, check_region, padding, read_body, split};
use hookless::wire::{
    Build, BytesKind, Characters, Data, EntryParts, MapKind, MaskedParts, RecordNames, SequenceKind, SetKind,
    StringParts,
};
use hookless::{
    Code, Dtype, Error, Limits as Core, Order, RecordKind, Result, ScalarKind, Standard, TextRef, TypeCode,
};
use pyo3::prelude::*;

use crate::limits::{Limits, chosen};
use report::links;

mod record;
mod report;
mod standard;

/// Of text and bytes as much is shown.
const SHOWN: usize = 64;

/// Node kind numbers of the wire that one byte tells before the value has been read.
const UNREAD: [(u8, &str); 14] = [
    (4, "deque"),
    (5, "OrderedDict"),
    (6, "Counter"),
    (8, "slice"),
    (11, "array.array"),
    (16, "ndarray"),
    (17, "masked array"),
    (18, "array of objects"),
    (19, "array of texts"),
    (20, "record"),
    (21, "named record"),
    (22, "enum member"),
    (23, "NumPy scalar"),
    (24, "exception"),
];

/// Offset, end (none where the frame was refused inside), depth, kind, text, label.
type Node = (u64, Option<u64>, usize, &'static str, String, String);

/// Offset, length, zero bytes before it, and whose bytes they are.
type Slot = (u64, u64, u64, String);

/// Code, offset, path and sentence.
type Refusal = (&'static str, u64, String, String);

/// Length of the frame as its head announces it, nodes, number of values, slots, number of slots, error.
type Inspection = (Option<u64>, Vec<Node>, u64, Vec<Slot>, u64, Option<Refusal>);

/// Reads the frame that begins `start` bytes into `data`, and tells what it holds as far as it can be read.
///
/// Raises nothing but what a signal handler raises; at most `most` nodes and slots are told.
#[pyfunction]
#[pyo3(signature = (data, start=0, *, limits=None, most=10_000))]
pub(crate) fn inspect(
    py: Python<'_>,
    data: &[u8],
    start: usize,
    limits: Option<&Bound<'_, Limits>>,
    most: usize,
) -> PyResult<Inspection> {
    let (limits, frame) = (chosen(limits), data.get(start..).unwrap_or_default());
    let head = match parse_head(frame, limits) {
        Ok(head) => head,
        Err(error) => return Ok((None, Vec::new(), 0, Vec::new(), 0, Some(refusal(&error)))),
    };
    let size = |len: u64| usize::try_from(len).unwrap_or(usize::MAX).min(frame.len());
    let body = &frame[HEAD_LEN..size(head.body_len.saturating_add(HEAD_LEN as u64))];
    let mut view = Inspector::new(py, &head, body, most);
    let built = read_body(body, &head, limits, &mut view);
    if let Some(interrupt) = view.interrupted.take() {
        return Err(interrupt);
    }
    // A frame that is not all there is truncated, whatever else is wrong with it (F14).
    let verdict = split(&frame[..size(head.frame_len())], limits).and_then(|whole| {
        let (_, plan) = built?;
        check_region(&whole, &plan)
    });
    let error = verdict.err().map(|error| refusal(&error));
    let (nodes, values, slots, entries) = view.finish();
    Ok((Some(head.frame_len()), nodes, values, slots, entries, error))
}

fn parse_head(frame: &[u8], limits: &Core) -> Result<Head> {
    match frame.first_chunk::<HEAD_LEN>() {
        Some(head) => Head::parse(head, limits),
        None => Head::check_magic(frame).and(Err(Error::at(Code::Truncated, frame.len() as u64))),
    }
}

fn refusal(error: &Error) -> Refusal {
    let offset = error.offset().unwrap_or_default();
    (error.code().as_str(), offset, error.path().to_owned(), error.message())
}

/// Notes each value as the reader meets it. A value is the index of its node; past `most` there is none.
struct Inspector<'b, 'py> {
    py: Python<'py>,
    body: &'b [u8],
    region_start: u64,
    most: usize,
    nodes: Vec<Node>,
    values: u64,
    slots: Vec<Slot>,
    entries: u64,
    /// Where the last entry of the region ends, or the body.
    filled: u64,
    /// Nodes that were entered and are not known yet: records, exceptions, and the value being read.
    unknown: Vec<Option<usize>>,
    interrupted: Option<PyErr>,
}

impl<'b, 'py> Inspector<'b, 'py> {
    fn new(py: Python<'py>, head: &Head, body: &'b [u8], most: usize) -> Self {
        let region_start = (HEAD_LEN as u64).saturating_add(head.body_len).saturating_add(head.gap_len());
        Inspector {
            py,
            body,
            region_start,
            most,
            nodes: Vec::new(),
            values: 0,
            slots: Vec::new(),
            entries: 0,
            filled: (HEAD_LEN as u64).saturating_add(head.body_len),
            unknown: Vec::new(),
            interrupted: None,
        }
    }

    /// All that was noted, in the order of the bytes.
    fn finish(mut self) -> (Vec<Node>, u64, Vec<Slot>, u64) {
        for index in self.unknown.into_iter().flatten() {
            self.nodes[index].3 =
                self.body.get((self.nodes[index].0 as usize) - HEAD_LEN..).map_or("", unread);
        }
        // The texts of an exception are known at its end only.
        self.nodes.sort_by_key(|node| node.0);
        (self.nodes, self.values, self.slots, self.entries)
    }

    fn note(&mut self, node: Node) -> Option<usize> {
        (self.nodes.len() < self.most).then(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }

    /// Says what the value is that was entered last.
    fn found(&mut self, kind: &'static str, text: impl FnOnce() -> String) -> Result<Option<usize>> {
        let index = self.unknown.pop().flatten();
        if let Some(index) = index {
            (self.nodes[index].3, self.nodes[index].4) = (kind, text());
        }
        Ok(index)
    }

    /// Notes the bytes of a value that are in the region; says how many they are, and where.
    fn data(&mut self, data: Data<'_>, owner: impl FnOnce() -> String) -> String {
        match data {
            Data::Inline(bytes) => bytes.len().to_string(),
            Data::Region { offset, len } => {
                let at = self.region_start.saturating_add(offset);
                if self.slots.len() < self.most {
                    self.slots.push((at, len, padding(self.filled), owner()));
                }
                self.filled = at.saturating_add(len);
                self.entries += 1;
                format!("{len} in slot {}", self.entries - 1)
            }
        }
    }
}

/// The beginning of a text, without what a Python str cannot hold.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < bytes.len() && text.chars().count() > SHOWN {
        short.push('…');
    }
    short
}

/// What a value that was not read to its end would have been, by its first bytes.
fn unread(bytes: &[u8]) -> &'static str {
    let after = match bytes {
        [0x90..=0x9f, rest @ ..] | [0xdc, _, _, rest @ ..] | [0xdd, _, _, _, _, rest @ ..] => rest,
        _ => return "",
    };
    let [0xd4, 1, number, ..] = after else { return "" };
    UNREAD.iter().find(|(known, _)| known == number).map_or("", |(_, kind)| kind)
}

fn array_text(head: &ArrayHead) -> String {
    let class = if head.class() == ArrayClass::Record { " recarray" } else { "" };
    format!("{} {}{class}", head.dtype(), shape_text(head.shape()))
}

fn shape_text(shape: &Shape) -> String {
    let inner: Vec<String> = shape.dimensions().iter().map(u64::to_string).collect();
    let comma = if inner.len() == 1 { "," } else { "" };
    let order = if shape.order() == Order::F { " F order" } else { "" };
    format!("({}{comma}){order}", inner.join(", "))
}

impl Build for Inspector<'_, '_> {
    type Value = Option<usize>;
    type Sequence = Option<usize>;
    type Map = Option<usize>;
    type Set = Option<usize>;

    const OWN_KEYS: bool = false;

    fn none(&mut self) -> Result<Self::Value> {
        self.found("None", String::new)
    }

    fn bool(&mut self, value: bool) -> Result<Self::Value> {
        self.found("bool", || (if value { "True" } else { "False" }).to_owned())
    }

    fn unsigned(&mut self, value: u64) -> Result<Self::Value> {
        self.found("int", || value.to_string())
    }

    fn negative(&mut self, value: i64) -> Result<Self::Value> {
        self.found("int", || value.to_string())
    }

    fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<Self::Value> {
        self.found("int", || {
            let mut text = String::from(if negative { "-0x" } else { "0x" });
            for byte in magnitude.iter().take(SHOWN / 4) {
                let _ = write!(text, "{byte:02x}");
            }
            let more = if magnitude.len() > SHOWN / 4 { "…" } else { "" };
            format!("{text}{more}, {} bytes", magnitude.len())
        })
    }

    fn float(&mut self, value: f64) -> Result<Self::Value> {
        self.found("float", || match value.is_nan() {
            true => format!("nan, bits {:016x}", value.to_bits()),
            false => format!("{value:?}"),
        })
    }

    fn complex(&mut self, re: f64, im: f64) -> Result<Self::Value> {
        self.found("complex", || format!("{re:?}{im:+?}j"))
    }

    fn text(&mut self, text: Characters<'_>, _key: bool) -> Result<Self::Value> {
        let (Characters::Ascii(bytes) | Characters::Surrogates(bytes)) = text else {
            let Characters::Utf8(text) = text else { return Ok(None) };
            return self.found("str", || shown(text.as_bytes()));
        };
        let kind = if matches!(text, Characters::Ascii(_)) { "str" } else { "str with surrogates" };
        self.found(kind, || shown(bytes))
    }

    fn bytes(&mut self, kind: BytesKind, data: Data<'_>) -> Result<Self::Value> {
        let name = match kind {
            BytesKind::Bytes => "bytes",
            BytesKind::ByteArray => "bytearray",
        };
        let mut text = format!("of {}", self.data(data, || name.to_owned()));
        if let Data::Inline(bytes) = data {
            let more = if bytes.len() > SHOWN / 2 { "…" } else { "" };
            let _ = write!(text, ": {}{more}", bytes[..bytes.len().min(SHOWN / 2)].escape_ascii());
        }
        self.found(name, || text)
    }

    fn array(&mut self, head: ArrayHead, data: Data<'_>) -> Result<Self::Value> {
        let what = array_text(&head);
        let bytes = self.data(data, || format!("ndarray {what}"));
        self.found("ndarray", || format!("{what}, bytes {bytes}"))
    }

    fn typed_array(&mut self, code: TypeCode, data: Data<'_>) -> Result<Self::Value> {
        let what = format!("'{}' of {} bytes", char::from(code.letter()), code.itemsize());
        let bytes = self.data(data, || format!("array.array {what}"));
        self.found("array.array", || format!("{what}, bytes {bytes}"))
    }

    fn standard(&mut self, value: Standard) -> Result<Self::Value> {
        self.found(value.name(), || standard::text(&value))
    }

    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<Self::Value> {
        self.found("NumPy scalar", || {
            let mut text = format!("{} ", kind.dtype());
            for byte in payload.iter().take(SHOWN / 4) {
                let _ = write!(text, "{byte:02x}");
            }
            text
        })
    }

    fn element(&mut self, dtype: Dtype, bytes: &[u8]) -> Result<Self::Value> {
        self.found("NumPy scalar", || {
            let mut text = format!("{dtype} ");
            for byte in bytes.iter().take(SHOWN / 4) {
                let _ = write!(text, "{byte:02x}");
            }
            text
        })
    }

    fn masked(&mut self, parts: MaskedParts<'_>) -> Result<Self::Value> {
        let mut text = array_text(&parts.data.head);
        let named = [("data", Some(parts.data)), ("mask", parts.mask), ("fill value", parts.fill_value)];
        for (name, part) in named {
            if let Some(part) = part {
                let bytes =
                    self.data(part.data, || format!("{name} of masked array {}", array_text(&part.head)));
                let _ = write!(text, ", {name} bytes {bytes}");
            }
        }
        let hard = if parts.hard_mask { ", hard mask" } else { "" };
        self.found("masked array", || text + hard)
    }

    fn strings(&mut self, parts: StringParts<'_>) -> Result<Self::Value> {
        self.found("array of texts", || {
            let mut text = shape_text(&parts.shape);
            for item in parts.items.iter().take(3) {
                let _ = match item {
                    Some(item) => write!(text, ", {}", shown(item.as_bytes())),
                    None => write!(text, ", missing"),
                };
            }
            if parts.items.len() > 3 { text + ", …" } else { text }
        })
    }

    fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<Self::Sequence> {
        let name = match kind {
            SequenceKind::List => "list",
            SequenceKind::Tuple => "tuple",
            SequenceKind::Slice => "slice",
            SequenceKind::Deque(Some(most)) => {
                return self.found("deque", || format!("of {len}, at most {most}"));
            }
            SequenceKind::Deque(None) => "deque",
        };
        self.found(name, || format!("of {len}"))
    }

    fn push(&mut self, _sequence: &mut Self::Sequence, _item: Self::Value) -> Result<()> {
        Ok(())
    }

    fn finish_sequence(&mut self, sequence: Self::Sequence) -> Result<Self::Value> {
        Ok(sequence)
    }

    fn finish_objects(&mut self, sequence: Self::Sequence, shape: Shape) -> Result<Self::Value> {
        if let Some(index) = sequence {
            (self.nodes[index].3, self.nodes[index].4) = ("array of objects", shape_text(&shape));
        }
        Ok(sequence)
    }

    fn map(&mut self, kind: MapKind, len: usize) -> Result<Self::Map> {
        let name = match kind {
            MapKind::Dict => "dict",
            MapKind::OrderedDict => "OrderedDict",
            MapKind::Counter => "Counter",
        };
        self.found(name, || format!("of {len}"))
    }

    fn insert(&mut self, _map: &mut Self::Map, _key: Self::Value, _value: Self::Value) -> Result<bool> {
        Ok(true)
    }

    fn finish_map(&mut self, map: Self::Map) -> Result<Self::Value> {
        Ok(map)
    }

    fn set(&mut self, kind: SetKind, len: usize) -> Result<Self::Set> {
        let name = match kind {
            SetKind::Set => "set",
            SetKind::FrozenSet => "frozenset",
        };
        self.found(name, || format!("of {len}"))
    }

    fn add(&mut self, _set: &mut Self::Set, _member: Self::Value) -> Result<bool> {
        Ok(true)
    }

    fn finish_set(&mut self, set: Self::Set) -> Result<Self::Value> {
        Ok(set)
    }

    fn record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        fields: Vec<(TextRef<'_>, Self::Value)>,
    ) -> Result<Self::Value> {
        self.found_record(kind, names, &fields)
    }

    fn enum_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Self::Value,
    ) -> Result<Self::Value> {
        self.found_member(names, name, value)
    }

    fn report(&mut self, entries: Vec<EntryParts<'_, Self::Value>>) -> Result<Self::Value> {
        let index = self.found("exception", || links(&entries))?;
        let Some(depth) = index.map(|index| self.nodes[index].2 + 1) else { return Ok(index) };
        for (number, entry) in entries.iter().enumerate() {
            self.entry(depth, number, entry);
        }
        Ok(index)
    }

    fn enter(&mut self, offset: u64, depth: usize) {
        self.values += 1;
        let index = self.note((offset, None, depth, "", String::new(), String::new()));
        self.unknown.push(index);
    }

    fn leave(&mut self, value: &Self::Value, end: u64) {
        if let Some(index) = *value {
            self.nodes[index].1 = Some(end);
        }
    }

    fn pulse(&mut self) -> Result<()> {
        self.py.check_signals().map_err(|error| {
            self.interrupted = Some(error);
            Error::new(Code::OutOfMemory)
        })
    }
}
