//! Walks a [`Value`] and writes it.

use crate::error::{Code, Error, Result};
use crate::value::{Entry, EnumMember, IntForm, Record, Report, Text, TextRef, Value};
use crate::wire::{
    BytesKind, EntryHead, FrameParts, MapKind, Placed, RecordNames, SequenceKind, SetKind, Writer,
    push_index, push_name, wide,
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
                writer.array_data(array.data());
            }
            place(placed, array.data(), region)
        }
        Value::Array(array) => {
            let placed = writer.array(array.head())?;
            if placed == Placed::Inline {
                writer.array_data(array.data());
            }
            place(placed, array.data(), region)
        }
        Value::Scalar(scalar) => writer.scalar(scalar.kind(), scalar.payload()),
        Value::Record(found) => record(found, writer, region),
        Value::EnumMember(member) => enum_member(member, writer, region),
        Value::Exception(report) => exception(report, writer, region),
    }
}

fn place<'v>(placed: Placed, bytes: &'v [u8], region: &mut Vec<&'v [u8]>) -> Result<()> {
    if placed == Placed::Region {
        region.push(bytes);
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
            .map_err(|error| error.within(|path| path.push_str(&format!(".keys[{index}]"))))?;
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
                _ => path.push_str(&format!(".values[{index}]")),
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
            .map_err(|error| error.within(|path| path.push_str(&format!("{{{index}}}"))))?;
    }
    writer.end_set(scope)
}

fn record<'v>(record: &'v Record, writer: &mut Writer<'_>, region: &mut Vec<&'v [u8]>) -> Result<()> {
    let names = RecordNames { module: record.module.as_ref(), qualname: record.qualname.as_ref() };
    writer.record(record.kind, names, record.fields.len())?;
    let mut seen = std::collections::HashSet::new();
    for (index, (name, value)) in record.fields.iter().enumerate() {
        let fresh = if seen.insert(name.as_bytes()) { Ok(()) } else { Err(Error::new(Code::DuplicateKey)) };
        fresh
            .and_then(|()| writer.field_name(name.as_ref()))
            .map_err(|error| error.within(|path| path.push_str(&format!(".names[{index}]"))))?;
        write_value(value, writer, region).map_err(|error| {
            error.within(|path| push_name(path, &String::from_utf8_lossy(name.as_bytes())))
        })?;
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
        writer.entry(&mut scope, &head(entry), entry.args.len())?;
        for (arg, value) in entry.args.iter().enumerate() {
            write_value(value, writer, region)
                .map_err(|error| error.within(|path| path.push_str(&format!("!{index}.args[{arg}]"))))?;
        }
        writer.fields(entry.fields.len())?;
        let mut names = std::collections::HashSet::new();
        for (name, value) in &entry.fields {
            if !names.insert(name.as_bytes()) {
                return Err(Error::new(Code::DuplicateKey));
            }
            writer.descriptor_text(name.as_ref())?;
            write_value(value, writer, region).map_err(|error| {
                error.within(|path| push_name(path, &String::from_utf8_lossy(name.as_bytes())))
            })?;
        }
    }
    writer.end_report(scope)
}

fn head(entry: &Entry) -> EntryHead<'_> {
    EntryHead {
        module: entry.module.as_ref(),
        qualname: entry.qualname.as_ref(),
        bases: refs(&entry.bases),
        message: entry.message.as_ref(),
        notes: refs(&entry.notes),
        denials: refs(&entry.denials),
        cut: refs(&entry.cut),
        frames: entry
            .frames
            .iter()
            .map(|frame| FrameParts {
                file: frame.file.as_ref(),
                position: [frame.line, frame.end_line, frame.column, frame.end_column],
                function: frame.function.as_ref(),
                source: frame.source.as_ref().map(Text::as_ref),
            })
            .collect(),
        suppress_context: entry.suppress_context,
        cause: entry.cause,
        context: entry.context,
        members: entry.members.clone(),
    }
}

fn refs(texts: &[Text]) -> Vec<TextRef<'_>> {
    texts.iter().map(Text::as_ref).collect()
}
