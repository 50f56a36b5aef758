//! The builder that makes [`Value`]s.

use crate::array::{
    Array, ArrayHead, Dtype, Element, MaskedArray, ObjectArray, Scalar, ScalarKind, Shape, StringArray,
    TypeCode, TypedArray,
};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::value::{
    Deque, Entry, EnumMember, Int, Record, RecordKind, Report, Standard, Surrogates, Text, TextRef,
    TraceFrame, Value,
};
use crate::wire::{
    ArrayParts, Build, BytesKind, Characters, Data, EntryParts, FrameParts, MapKind, MaskedParts,
    RecordNames, SequenceKind, SetKind, StringParts,
};

/// Builds a tree. Region bytes are put in by [`Tree::fill`], once they have arrived: until then an empty vector that has room
/// holds their place (an empty value of its own has none).
#[derive(Debug)]
pub(crate) struct Tree {
    /// Room for a region entry: all of it when the bytes are there already, no more than a mark when they have yet to arrive.
    most: u64,
}

type Filled = std::result::Result<(), Full>;

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
            Data::Inline(bytes) => Ok(memory::copied(bytes)?),
            Data::Region { len, .. } => {
                Ok(memory::room(usize::try_from(len.min(self.most)).unwrap_or(usize::MAX))?)
            }
        }
    }

    fn array_of(&self, parts: ArrayParts<'_>) -> Result<Array> {
        Ok(Array::trusted(parts.head, self.held(parts.data)?))
    }

    /// Calls `place` for each vector that waits for an entry of the region, in order of appearance.
    pub(crate) fn fill(value: &mut Value, place: &mut impl FnMut(&mut Vec<u8>) -> Filled) -> Filled {
        Tree::each(value, &mut |bytes| if is_place(bytes, bytes.capacity()) { place(bytes) } else { Ok(()) })
    }

    /// Calls `act` for the bytes of each value that may lie in the region, in order of appearance: what is in key position may not.
    pub(crate) fn each(value: &mut Value, act: &mut impl FnMut(&mut Vec<u8>) -> Filled) -> Filled {
        match value {
            Value::Bytes(bytes) | Value::ByteArray(bytes) => act(bytes),
            Value::Array(array) => act(array.data_mut()),
            Value::MaskedArray(masked) => masked.arrays_mut().try_for_each(|array| act(array.data_mut())),
            Value::ObjectArray(array) => {
                array.items_mut().iter_mut().try_for_each(|item| Tree::each(item, act))
            }
            Value::TypedArray(array) => act(array.data_mut()),
            Value::List(items) | Value::Tuple(items) => {
                items.iter_mut().try_for_each(|item| Tree::each(item, act))
            }
            Value::Deque(deque) => deque.items.iter_mut().try_for_each(|item| Tree::each(item, act)),
            Value::Slice(parts) => parts.iter_mut().try_for_each(|part| Tree::each(part, act)),
            Value::Dict(pairs) | Value::OrderedDict(pairs) | Value::Counter(pairs) => {
                pairs.iter_mut().try_for_each(|(_, value)| Tree::each(value, act))
            }
            Value::Record(record) => {
                record.fields.iter_mut().try_for_each(|(_, field)| Tree::each(field, act))
            }
            Value::EnumMember(member) => Tree::each(&mut member.value, act),
            Value::Exception(report) => {
                for entry in &mut report.entries {
                    entry.args.iter_mut().try_for_each(|arg| Tree::each(arg, act))?;
                    entry.fields.iter_mut().try_for_each(|(_, field)| Tree::each(field, act))?;
                }
                Ok(())
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
            | Value::Scalar(_)
            | Value::Element(_)
            | Value::StringArray(_) => Ok(()),
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
        Ok(Value::Int(Int::of_parts(negative, magnitude)?))
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
                Ok(Value::Str(memory::text(std::str::from_utf8(bytes).unwrap_or_default())?))
            }
            Characters::Utf8(text) => Ok(Value::Str(memory::text(text)?)),
            Characters::Surrogates(bytes) => match Surrogates::new(memory::copied(bytes)?) {
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
        Ok(Value::Array(memory::boxed(Array::trusted(head, self.held(data)?))?))
    }

    fn typed_array(&mut self, code: TypeCode, data: Data<'_>) -> Result<Value> {
        Ok(Value::TypedArray(memory::boxed(TypedArray::trusted(code, self.held(data)?))?))
    }

    fn standard(&mut self, value: Standard) -> Result<Value> {
        Ok(Value::Standard(memory::boxed(value)?))
    }

    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<Value> {
        Ok(Value::Scalar(memory::boxed(Scalar::new(kind, memory::copied(payload)?)?)?))
    }

    fn element(&mut self, dtype: Dtype, bytes: &[u8]) -> Result<Value> {
        Ok(Value::Element(memory::boxed(Element::trusted(dtype, memory::copied(bytes)?))?))
    }

    fn masked(&mut self, parts: MaskedParts<'_>) -> Result<Value> {
        let data = self.array_of(parts.data)?;
        let mask = parts.mask.map(|part| self.array_of(part)).transpose()?;
        let fill_value = parts.fill_value.map(|part| self.array_of(part)).transpose()?;
        Ok(Value::MaskedArray(memory::boxed(MaskedArray::trusted(data, mask, fill_value, parts.hard_mask))?))
    }

    fn strings(&mut self, parts: StringParts<'_>) -> Result<Value> {
        let items = memory::collect(parts.items.into_iter().map(|item| item.map(memory::text).transpose()))?;
        let array = StringArray::trusted(parts.missing, parts.coerce, parts.shape, items);
        Ok(Value::StringArray(memory::boxed(array)?))
    }

    fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<Self::Sequence> {
        Ok((kind, memory::room(len)?))
    }

    // Once for each value, from two places of the reader: worth a copy in both.
    #[inline(always)]
    fn push(&mut self, sequence: &mut Self::Sequence, item: Value) -> Result<()> {
        Ok(memory::push(&mut sequence.1, item)?)
    }

    fn finish_sequence(&mut self, (kind, items): Self::Sequence) -> Result<Value> {
        Ok(match kind {
            SequenceKind::List => Value::List(items),
            SequenceKind::Tuple => Value::Tuple(items),
            SequenceKind::Deque(maxlen) => Value::Deque(memory::boxed(Deque { maxlen, items })?),
            SequenceKind::Slice => match <[Value; 3]>::try_from(items) {
                Ok(parts) => Value::Slice(memory::boxed(parts)?),
                Err(_) => return Err(Error::new(Code::BadArity)),
            },
        })
    }

    fn finish_objects(&mut self, (_, items): Self::Sequence, shape: Shape) -> Result<Value> {
        Ok(Value::ObjectArray(memory::boxed(ObjectArray::trusted(shape, items))?))
    }

    fn map(&mut self, kind: MapKind, len: usize) -> Result<Self::Map> {
        Ok((kind, memory::room(len)?))
    }

    #[inline]
    fn insert(&mut self, map: &mut Self::Map, key: Value, value: Value) -> Result<bool> {
        memory::push(&mut map.1, (key, value))?;
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
        Ok((kind, memory::room(len)?))
    }

    #[inline]
    fn add(&mut self, set: &mut Self::Set, member: Value) -> Result<bool> {
        memory::push(&mut set.1, member)?;
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
        let fields = named(parts)?;
        let (module, qualname) = (names.module.try_to_text()?, names.qualname.try_to_text()?);
        Ok(Value::Record(memory::boxed(Record { kind, module, qualname, fields })?))
    }

    fn enum_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Value,
    ) -> Result<Value> {
        let (module, qualname) = (names.module.try_to_text()?, names.qualname.try_to_text()?);
        let name = name.map(TextRef::try_to_text).transpose()?;
        Ok(Value::EnumMember(memory::boxed(EnumMember { module, qualname, name, value })?))
    }

    fn report(&mut self, entries: Vec<EntryParts<'_, Value>>) -> Result<Value> {
        let entries = memory::collect(entries.into_iter().map(entry))?;
        Ok(Value::Exception(memory::boxed(Report { entries })?))
    }
}

fn entry(parts: EntryParts<'_, Value>) -> std::result::Result<Entry, Full> {
    let head = parts.head;
    let texts = |texts: Vec<TextRef<'_>>| memory::collect(texts.into_iter().map(TextRef::try_to_text));
    Ok(Entry {
        module: head.module.try_to_text()?,
        qualname: head.qualname.try_to_text()?,
        bases: texts(head.bases)?,
        message: head.message.try_to_text()?,
        notes: texts(head.notes)?,
        denials: texts(head.denials)?,
        cut: texts(head.cut)?,
        frames: memory::collect(head.frames.iter().map(frame))?,
        suppress_context: head.suppress_context,
        cause: head.cause,
        context: head.context,
        members: head.members,
        args: parts.args,
        fields: named(parts.fields)?,
    })
}

fn frame(parts: &FrameParts<'_>) -> std::result::Result<TraceFrame, Full> {
    let [line, end_line, column, end_column] = parts.position;
    Ok(TraceFrame {
        file: parts.file.try_to_text()?,
        line,
        end_line,
        column,
        end_column,
        function: parts.function.try_to_text()?,
        source: parts.source.map(TextRef::try_to_text).transpose()?,
    })
}

fn named(parts: Vec<(TextRef<'_>, Value)>) -> std::result::Result<Vec<(Text, Value)>, Full> {
    memory::collect(parts.into_iter().map(|(name, value)| Ok((name.try_to_text()?, value))))
}
