//! The builder that makes [`Value`]s.

use crate::array::{Array, ArrayHead, Scalar, ScalarKind, TypeCode, TypedArray};
use crate::error::{Code, Error, Result};
use crate::value::{
    Deque, Entry, EnumMember, Int, Record, RecordKind, Report, Standard, Surrogates, TextRef, TraceFrame,
    Value,
};
use crate::wire::{
    Build, BytesKind, Characters, Data, EntryParts, MapKind, RecordNames, SequenceKind, SetKind,
};

/// Builds a tree. Region bytes are put in by [`Tree::fill`], once they have arrived: until then an empty vector that has room
/// holds their place (an empty value of its own has none).
#[derive(Debug)]
pub(crate) struct Tree {
    /// Room for a region entry: all of it when the bytes are there already, no more than a mark when they have yet to arrive.
    most: u64,
}

fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| Error::new(Code::OutOfMemory))?;
    Ok(items)
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = reserved(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

fn string(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
    copy.push_str(text);
    Ok(copy)
}

fn is_place(bytes: &[u8], capacity: usize) -> bool {
    bytes.is_empty() && capacity != 0
}

impl Tree {
    /// For a frame that is in memory as a whole.
    pub(crate) fn whole() -> Tree {
        Tree { most: u64::MAX }
    }

    /// For a frame whose region has yet to arrive.
    pub(crate) fn arriving() -> Tree {
        Tree { most: 1 }
    }

    fn held(&self, data: Data<'_>) -> Result<Vec<u8>> {
        match data {
            Data::Inline(bytes) => copied(bytes),
            Data::Region { len, .. } => reserved(usize::try_from(len.min(self.most)).unwrap_or(usize::MAX)),
        }
    }

    /// Calls `place` for each vector that waits for an entry of the region, in order of appearance.
    pub(crate) fn fill(value: &mut Value, place: &mut impl FnMut(&mut Vec<u8>)) {
        match value {
            Value::Bytes(bytes) | Value::ByteArray(bytes) => {
                if is_place(bytes, bytes.capacity()) {
                    place(bytes);
                }
            }
            Value::Array(array) => {
                let data = array.data_mut();
                if is_place(data, data.capacity()) {
                    place(data);
                }
            }
            Value::TypedArray(array) => {
                let data = array.data_mut();
                if is_place(data, data.capacity()) {
                    place(data);
                }
            }
            Value::List(items) | Value::Tuple(items) => {
                items.iter_mut().for_each(|item| Tree::fill(item, place))
            }
            Value::Deque(deque) => deque.items.iter_mut().for_each(|item| Tree::fill(item, place)),
            Value::Slice(parts) => parts.iter_mut().for_each(|part| Tree::fill(part, place)),
            Value::Dict(pairs) | Value::OrderedDict(pairs) | Value::Counter(pairs) => {
                pairs.iter_mut().for_each(|(_, value)| Tree::fill(value, place))
            }
            Value::Record(record) => record.fields.iter_mut().for_each(|(_, field)| Tree::fill(field, place)),
            Value::EnumMember(member) => Tree::fill(&mut member.value, place),
            Value::Exception(report) => {
                for entry in &mut report.entries {
                    entry.args.iter_mut().for_each(|arg| Tree::fill(arg, place));
                    entry.fields.iter_mut().for_each(|(_, field)| Tree::fill(field, place));
                }
            }
            // Sets hold keys, and keys are inline.
            Value::Set(_)
            | Value::FrozenSet(_)
            | Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Complex { .. }
            | Value::Str(_)
            | Value::Surrogates(_)
            | Value::Standard(_)
            | Value::Scalar(_) => {}
        }
    }
}

impl Build for Tree {
    type Value = Value;
    type Sequence = (SequenceKind, Vec<Value>);
    type Map = (MapKind, Vec<(Value, Value)>);
    type Set = (SetKind, Vec<Value>);

    const OWN_KEYS: bool = false;

    fn none(&mut self) -> Result<Value> {
        Ok(Value::None)
    }

    fn bool(&mut self, value: bool) -> Result<Value> {
        Ok(Value::Bool(value))
    }

    fn unsigned(&mut self, value: u64) -> Result<Value> {
        Ok(Value::Int(value.into()))
    }

    fn negative(&mut self, value: i64) -> Result<Value> {
        Ok(Value::Int(value.into()))
    }

    fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<Value> {
        Ok(Value::Int(Int::from_sign_magnitude(negative, magnitude)))
    }

    fn float(&mut self, value: f64) -> Result<Value> {
        Ok(Value::Float(value))
    }

    fn complex(&mut self, re: f64, im: f64) -> Result<Value> {
        Ok(Value::Complex { re, im })
    }

    fn text(&mut self, text: Characters<'_>, _key: bool) -> Result<Value> {
        match text {
            // The reader has found every byte below 0x80.
            Characters::Ascii(bytes) => {
                string(std::str::from_utf8(bytes).unwrap_or_default()).map(Value::Str)
            }
            Characters::Utf8(text) => string(text).map(Value::Str),
            Characters::Surrogates(bytes) => match Surrogates::new(copied(bytes)?) {
                Some(text) => Ok(Value::Surrogates(text)),
                None => Err(Error::new(Code::BadUtf8)),
            },
        }
    }

    fn bytes(&mut self, kind: BytesKind, data: Data<'_>) -> Result<Value> {
        let bytes = self.held(data)?;
        Ok(match kind {
            BytesKind::Bytes => Value::Bytes(bytes),
            BytesKind::ByteArray => Value::ByteArray(bytes),
        })
    }

    fn array(&mut self, head: ArrayHead, data: Data<'_>) -> Result<Value> {
        Ok(Value::Array(Box::new(Array::trusted(head, self.held(data)?))))
    }

    fn typed_array(&mut self, code: TypeCode, data: Data<'_>) -> Result<Value> {
        Ok(Value::TypedArray(Box::new(TypedArray::trusted(code, self.held(data)?))))
    }

    fn standard(&mut self, value: Standard) -> Result<Value> {
        Ok(Value::Standard(Box::new(value)))
    }

    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<Value> {
        Scalar::new(kind, copied(payload)?).map(|scalar| Value::Scalar(Box::new(scalar)))
    }

    fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<Self::Sequence> {
        Ok((kind, reserved(len)?))
    }

    fn push(&mut self, sequence: &mut Self::Sequence, item: Value) -> Result<()> {
        sequence.1.push(item);
        Ok(())
    }

    fn finish_sequence(&mut self, (kind, items): Self::Sequence) -> Result<Value> {
        Ok(match kind {
            SequenceKind::List => Value::List(items),
            SequenceKind::Tuple => Value::Tuple(items),
            SequenceKind::Deque(maxlen) => Value::Deque(Box::new(Deque { maxlen, items })),
            SequenceKind::Slice => match <[Value; 3]>::try_from(items) {
                Ok(parts) => Value::Slice(Box::new(parts)),
                Err(_) => return Err(Error::new(Code::BadArity)),
            },
        })
    }

    fn map(&mut self, kind: MapKind, len: usize) -> Result<Self::Map> {
        Ok((kind, reserved(len)?))
    }

    fn insert(&mut self, map: &mut Self::Map, key: Value, value: Value) -> Result<bool> {
        map.1.push((key, value));
        Ok(true)
    }

    fn finish_map(&mut self, (kind, pairs): Self::Map) -> Result<Value> {
        Ok(match kind {
            MapKind::Dict => Value::Dict(pairs),
            MapKind::OrderedDict => Value::OrderedDict(pairs),
            MapKind::Counter => Value::Counter(pairs),
        })
    }

    fn set(&mut self, kind: SetKind, len: usize) -> Result<Self::Set> {
        Ok((kind, reserved(len)?))
    }

    fn add(&mut self, set: &mut Self::Set, member: Value) -> Result<bool> {
        set.1.push(member);
        Ok(true)
    }

    fn finish_set(&mut self, (kind, members): Self::Set) -> Result<Value> {
        Ok(match kind {
            SetKind::Set => Value::Set(members),
            SetKind::FrozenSet => Value::FrozenSet(members),
        })
    }

    fn record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        parts: Vec<(TextRef<'_>, Value)>,
    ) -> Result<Value> {
        let mut fields = reserved(parts.len())?;
        fields.extend(parts.into_iter().map(|(name, value)| (name.to_text(), value)));
        let (module, qualname) = (names.module.to_text(), names.qualname.to_text());
        Ok(Value::Record(Box::new(Record { kind, module, qualname, fields })))
    }

    fn enum_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Value,
    ) -> Result<Value> {
        let (module, qualname) = (names.module.to_text(), names.qualname.to_text());
        let name = name.map(TextRef::to_text);
        Ok(Value::EnumMember(Box::new(EnumMember { module, qualname, name, value })))
    }

    fn report(&mut self, entries: Vec<EntryParts<'_, Value>>) -> Result<Value> {
        let entries = entries.into_iter().map(entry).collect();
        Ok(Value::Exception(Box::new(Report { entries })))
    }
}

fn entry(parts: EntryParts<'_, Value>) -> Entry {
    let head = parts.head;
    let texts = |texts: Vec<TextRef<'_>>| texts.into_iter().map(TextRef::to_text).collect();
    Entry {
        module: head.module.to_text(),
        qualname: head.qualname.to_text(),
        bases: texts(head.bases),
        message: head.message.to_text(),
        notes: texts(head.notes),
        denials: texts(head.denials),
        cut: texts(head.cut),
        frames: head
            .frames
            .iter()
            .map(|frame| {
                let [line, end_line, column, end_column] = frame.position;
                TraceFrame {
                    file: frame.file.to_text(),
                    line,
                    end_line,
                    column,
                    end_column,
                    function: frame.function.to_text(),
                    source: frame.source.map(TextRef::to_text),
                }
            })
            .collect(),
        suppress_context: head.suppress_context,
        cause: head.cause,
        context: head.context,
        members: head.members,
        args: parts.args,
        fields: parts.fields.into_iter().map(|(name, value)| (name.to_text(), value)).collect(),
    }
}
