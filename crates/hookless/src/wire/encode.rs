//! Walks a [`Value`] and writes it.

use crate::array::{Array, MaskedArray, ObjectArray, StringArray};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::value::{Entry, EnumMember, IntForm, Record, Report, Text, TextRef, Value};
use crate::wire::{
    BytesKind, EntryHead, FrameParts, MapKind, Placed, RecordNames, SequenceKind, SetKind, Writer,
    push_index, push_name, push_text, wide,
};

/// Writes a value and collects, in order, the buffers that go into the data region.
///
/// Recurses once for each open container, which `Limits::depth` bounds.
pub(crate) fn write_value<'v>(
    value: &'v Value,
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    match value {
        Value::None => writer.none(),
        Value::Bool(value) => writer.bool(*value),
        Value::Int(int) => match int.form() {
            IntForm::Unsigned(value) => writer.unsigned(value),
            IntForm::Negative(value) => writer.signed(value),
            IntForm::Big(negative, magnitude) => writer.big_int(negative, magnitude),
        },
        Value::Float(value) => writer.float(*value),
        Value::Complex { re, im } => writer.complex(*re, *im),
        Value::Str(text) => writer.str(text),
        Value::Surrogates(text) => writer.text(TextRef::Surrogates(text.as_bytes())),
        Value::Bytes(bytes) => place(writer.bytes(BytesKind::Bytes, bytes)?, bytes, region),
        Value::ByteArray(bytes) => place(writer.bytes(BytesKind::ByteArray, bytes)?, bytes, region),
        Value::List(items) => sequence(SequenceKind::List, items, writer, region),
        Value::Tuple(items) => sequence(SequenceKind::Tuple, items, writer, region),
        Value::Deque(deque) => sequence(SequenceKind::Deque(deque.maxlen), &deque.items, writer, region),
        Value::Slice(parts) => sequence(SequenceKind::Slice, parts.as_slice(), writer, region),
        Value::Dict(pairs) => dict(MapKind::Dict, pairs, writer, region),
        Value::OrderedDict(pairs) => dict(MapKind::OrderedDict, pairs, writer, region),
        Value::Counter(pairs) => dict(MapKind::Counter, pairs, writer, region),
        Value::Set(members) => set(SetKind::Set, members, writer, region),
        Value::FrozenSet(members) => set(SetKind::FrozenSet, members, writer, region),
        Value::Standard(value) => writer.standard(value),
        Value::TypedArray(array) => {
            let placed = writer.typed_array(array.code(), wide(array.data().len()))?;
            if placed == Placed::Inline {
                writer.array_data(array.data())?;
            }
            place(placed, array.data(), region)
        }
        Value::Array(array) => {
            let placed = writer.array(array.head())?;
            contents(placed, array, writer, region)
        }
        Value::Scalar(scalar) => writer.scalar(scalar.kind(), scalar.payload()),
        Value::Record(found) => record(found, writer, region),
        Value::EnumMember(member) => enum_member(member, writer, region),
        Value::Element(element) => writer.element(element.dtype(), element.data()),
        Value::MaskedArray(array) => masked(array, writer, region),
        Value::ObjectArray(array) => objects(array, writer, region),
        Value::StringArray(array) => strings(array, writer),
        Value::Exception(report) => exception(report, writer, region),
    }
}

/// The bytes of an array whose head has been written.
fn contents<'v>(
    placed: Placed,
    array: &'v Array,
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    if placed == Placed::Inline {
        writer.array_data(array.data())?;
    }
    place(placed, array.data(), region)
}

fn masked<'v>(array: &'v MaskedArray, writer: &mut Writer<'_>, region: &mut Vec<&'v [u8]>) -> Result<()> {
    let parts = [Some(array.data()), array.mask(), array.fill_value()];
    let [_, mask, fill_value] = parts.map(|part| part.map(Array::head));
    writer.masked(array.data().head(), mask, fill_value)?;
    for part in parts {
        if let (Some(placed), Some(part)) = (writer.masked_part(part.map(Array::head))?, part) {
            contents(placed, part, writer, region)?;
        }
    }
    writer.end_masked(array.hard_mask())
}

fn objects<'v>(array: &'v ObjectArray, writer: &mut Writer<'_>, region: &mut Vec<&'v [u8]>) -> Result<()> {
    writer.objects(array.shape(), array.items().len())?;
    for (index, item) in array.items().iter().enumerate() {
        write_value(item, writer, region)
            .map_err(|error| error.within(|path| array.shape().push_step(path, wide(index))))?;
    }
    writer.end_sequence();
    Ok(())
}

fn strings(array: &StringArray, writer: &mut Writer<'_>) -> Result<()> {
    writer.strings(array.missing(), array.coerce(), array.shape(), array.items().len())?;
    for (index, item) in array.items().iter().enumerate() {
        writer
            .string(array.missing(), item.as_deref())
            .map_err(|error| error.within(|path| array.shape().push_step(path, wide(index))))?;
    }
    writer.end_sequence();
    Ok(())
}

fn place<'v>(placed: Placed, bytes: &'v [u8], region: &mut Vec<&'v [u8]>) -> Result<()> {
    if placed == Placed::Region {
        memory::push(region, bytes)?;
    }
    Ok(())
}

fn sequence<'v>(
    kind: SequenceKind,
    items: &'v [Value],
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    writer.sequence(kind, items.len())?;
    for (index, item) in items.iter().enumerate() {
        write_value(item, writer, region)
            .map_err(|error| error.within(|path| push_index(path, wide(index))))?;
    }
    writer.end_sequence();
    Ok(())
}

fn dict<'v>(
    kind: MapKind,
    pairs: &'v [(Value, Value)],
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    let mut map = writer.map(kind, pairs.len())?;
    for (index, (key, value)) in pairs.iter().enumerate() {
        writer.key(&mut map);
        write_value(key, writer, region)
            .and_then(|()| writer.value(&mut map))
            .map_err(|error| error.within(|path| path.add(format_args!(".keys[{index}]"))))?;
        let written = match (kind, value) {
            (MapKind::Counter, Value::Bool(_) | Value::Int(_) | Value::Float(_))
            | (MapKind::Dict | MapKind::OrderedDict, _) => write_value(value, writer, region),
            (MapKind::Counter, _) => {
                Err(Error::new(Code::BadType).note("a count is a bool, an int or a float"))
            }
        };
        written.map_err(|error| {
            error.within(|path| match key {
                Value::Str(name) => push_name(path, name),
                _ => path.add(format_args!(".values[{index}]")),
            })
        })?;
    }
    writer.end_map(map);
    Ok(())
}

fn set<'v>(
    kind: SetKind,
    members: &'v [Value],
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    let mut scope = writer.set(kind, members.len())?;
    for (index, member) in members.iter().enumerate() {
        write_value(member, writer, region)
            .and_then(|()| writer.member(&mut scope))
            .map_err(|error| error.within(|path| path.add(format_args!("{{{index}}}"))))?;
    }
    writer.end_set(scope)
}

fn record<'v>(record: &'v Record, writer: &mut Writer<'_>, region: &mut Vec<&'v [u8]>) -> Result<()> {
    let names = RecordNames { module: record.module.as_ref(), qualname: record.qualname.as_ref() };
    writer.record(record.kind, names, record.fields.len())?;
    let mut seen = std::collections::HashSet::new();
    for (index, (name, value)) in record.fields.iter().enumerate() {
        let fresh = if memory::insert(&mut seen, name.as_bytes())? {
            Ok(())
        } else {
            Err(Error::new(Code::DuplicateKey))
        };
        fresh
            .and_then(|()| writer.field_name(name.as_ref()))
            .map_err(|error| error.within(|path| path.add(format_args!(".names[{index}]"))))?;
        write_value(value, writer, region)
            .map_err(|error| error.within(|path| push_text(path, name.as_bytes())))?;
    }
    writer.end_record();
    Ok(())
}

fn enum_member<'v>(
    member: &'v EnumMember,
    writer: &mut Writer<'_>,
    region: &mut Vec<&'v [u8]>,
) -> Result<()> {
    let names = RecordNames { module: member.module.as_ref(), qualname: member.qualname.as_ref() };
    writer.enum_member(names, member.name.as_ref().map(Text::as_ref))?;
    write_value(&member.value, writer, region)
        .map_err(|error| error.within(|path| path.push_str(".value")))?;
    writer.end_record();
    Ok(())
}

fn exception<'v>(report: &'v Report, writer: &mut Writer<'_>, region: &mut Vec<&'v [u8]>) -> Result<()> {
    let mut scope = writer.report(report.entries.len())?;
    for (index, entry) in report.entries.iter().enumerate() {
        writer.entry(&mut scope, &head(entry)?, entry.args.len())?;
        for (arg, value) in entry.args.iter().enumerate() {
            write_value(value, writer, region)
                .map_err(|error| error.within(|path| path.add(format_args!("!{index}.args[{arg}]"))))?;
        }
        writer.fields(entry.fields.len())?;
        let mut names = std::collections::HashSet::new();
        for (name, value) in &entry.fields {
            if !memory::insert(&mut names, name.as_bytes())? {
                return Err(Error::new(Code::DuplicateKey));
            }
            writer.descriptor_text(name.as_ref())?;
            write_value(value, writer, region)
                .map_err(|error| error.within(|path| push_text(path, name.as_bytes())))?;
        }
    }
    writer.end_report(scope)
}

fn head(entry: &Entry) -> std::result::Result<EntryHead<'_>, Full> {
    Ok(EntryHead {
        module: entry.module.as_ref(),
        qualname: entry.qualname.as_ref(),
        bases: refs(&entry.bases)?,
        message: entry.message.as_ref(),
        notes: refs(&entry.notes)?,
        denials: refs(&entry.denials)?,
        cut: refs(&entry.cut)?,
        frames: memory::collect(entry.frames.iter().map(|frame| {
            Ok::<_, Full>(FrameParts {
                file: frame.file.as_ref(),
                position: [frame.line, frame.end_line, frame.column, frame.end_column],
                function: frame.function.as_ref(),
                source: frame.source.as_ref().map(Text::as_ref),
            })
        }))?,
        suppress_context: entry.suppress_context,
        cause: entry.cause,
        context: entry.context,
        members: memory::copied(&entry.members)?,
    })
}

fn refs(texts: &[Text]) -> std::result::Result<Vec<TextRef<'_>>, Full> {
    memory::collect(texts.iter().map(|text| Ok(text.as_ref())))
}
