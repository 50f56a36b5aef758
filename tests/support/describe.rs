//! Values as JSON, in the form of `proto/vectors/README.md`.

use hookless::{Dtype, Entry, Int, Order, RecordKind, Report, ScalarKind, Text, TraceFrame, Value};

use crate::standard;
use serde_json::{Value as Json, json};

use crate::hex;

/// A value as JSON. Every hex is written out and every int is hex: what [`normal`] makes of a vector's `value`.
pub fn describe(value: &Value) -> Json {
    match value {
        Value::None => json!(["none"]),
        Value::Bool(value) => json!(["bool", value]),
        Value::Int(value) => json!(["int", int(value)]),
        Value::Float(value) => json!(["float", bits(*value)]),
        Value::Complex { re, im } => json!(["complex", bits(*re), bits(*im)]),
        Value::Str(text) => json!(["str", text]),
        Value::Surrogates(text) => json!(["surrogates", hex::of(text.as_bytes())]),
        Value::Bytes(bytes) => json!(["bytes", hex::of(bytes)]),
        Value::ByteArray(bytes) => json!(["bytearray", hex::of(bytes)]),
        Value::List(items) => json!(["list", all(items, describe)]),
        Value::Tuple(items) => json!(["tuple", all(items, describe)]),
        Value::Set(members) => json!(["set", all(members, describe)]),
        Value::FrozenSet(members) => json!(["frozenset", all(members, describe)]),
        Value::Dict(items) => json!(["dict", pairs(items)]),
        Value::OrderedDict(items) => json!(["OrderedDict", pairs(items)]),
        Value::Counter(items) => json!(["Counter", pairs(items)]),
        Value::Deque(deque) => json!(["deque", deque.maxlen, all(&deque.items, describe)]),
        Value::Slice(parts) => json!(["slice", all(parts.as_slice(), describe)]),
        Value::Standard(value) => standard::describe(value),
        Value::TypedArray(array) => {
            let code = char::from(array.code().letter()).to_string();
            json!(["array", code, array.code().itemsize(), hex::of(array.data())])
        }
        Value::Array(array) => json!(["ndarray", {
            "dtype": array_dtype(array.dtype()),
            "shape": array.shape(),
            "order": match array.order() { Order::C => "C", Order::F => "F" },
            "data": hex::of(array.data()),
        }]),
        Value::Scalar(scalar) => {
            let unit = scalar.time().map(|(unit, _)| unit.to_string()).unwrap_or_default();
            json!(["scalar", { "dtype": dtype(scalar.kind()) + &unit, "data": hex::of(scalar.payload()) }])
        }
        Value::Record(record) => {
            let kind = match record.kind {
                RecordKind::Record => "record",
                RecordKind::Named => "named record",
            };
            let fields = all(&record.fields, |(name, value)| json!([text(name), describe(value)]));
            json!([kind, { "module": text(&record.module), "qualname": text(&record.qualname), "fields": fields }])
        }
        Value::EnumMember(member) => json!(["enum member", {
            "module": text(&member.module),
            "qualname": text(&member.qualname),
            "name": member.name.as_ref().map(text),
            "value": describe(&member.value),
        }]),
        Value::Exception(report) => exception(report),
    }
}

/// NumPy's `.str`, or itemsize, align and fields of a structured dtype.
fn array_dtype(dtype: &Dtype) -> Json {
    let Some(structure) = dtype.fields() else { return json!(dtype.to_string()) };
    let name = |text: &Text| String::from_utf8_lossy(text.as_bytes()).into_owned();
    json!({
        "itemsize": dtype.itemsize(),
        "align": structure.is_aligned(),
        "fields": all(structure.fields(), |field| {
            json!([name(&field.name), field.title.as_ref().map(name), field.offset, field.shape, array_dtype(&field.dtype)])
        }),
    })
}

fn pairs(pairs: &[(Value, Value)]) -> Vec<Json> {
    all(pairs, |(key, value)| json!([describe(key), describe(value)]))
}

fn exception(report: &Report) -> Json {
    json!(["exception", all(&report.entries, entry)])
}

fn entry(entry: &Entry) -> Json {
    json!({
        "module": text(&entry.module),
        "qualname": text(&entry.qualname),
        "bases": all(&entry.bases, text),
        "message": text(&entry.message),
        "notes": all(&entry.notes, text),
        "denials": all(&entry.denials, text),
        "cut": all(&entry.cut, text),
        "frames": all(&entry.frames, frame),
        "suppress_context": entry.suppress_context,
        "cause": entry.cause,
        "context": entry.context,
        "members": entry.members,
        "args": all(&entry.args, describe),
        "fields": all(&entry.fields, |(key, value)| json!([text(key), describe(value)])),
    })
}

fn frame(frame: &TraceFrame) -> Json {
    let TraceFrame { file, line, end_line, column, end_column, function, source } = frame;
    json!([text(file), line, end_line, column, end_column, text(function), source.as_ref().map(text)])
}

pub(crate) fn text(value: &Text) -> Json {
    match value {
        Text::Str(value) => json!(["str", value]),
        Text::Surrogates(value) => json!(["surrogates", hex::of(value.as_bytes())]),
    }
}

fn all<T>(items: &[T], one: impl FnMut(&T) -> Json) -> Vec<Json> {
    items.iter().map(one).collect()
}

fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

pub(crate) fn int(value: &Int) -> String {
    int_text(value.is_negative(), &value.magnitude_be())
}

/// Sign, `0x`, and whole bytes without leading zeros.
fn int_text(negative: bool, magnitude: &[u8]) -> String {
    let significant =
        magnitude.iter().position(|&byte| byte != 0).map_or(&[][..], |first| &magnitude[first..]);
    format!("{}0x{}", if negative { "-" } else { "" }, hex::of(significant))
}

/// Written out here, not asked of the code under test.
fn dtype(kind: ScalarKind) -> String {
    match kind {
        ScalarKind::Bool => "|b1",
        ScalarKind::Int8 => "|i1",
        ScalarKind::Int16 => "<i2",
        ScalarKind::Int32 => "<i4",
        ScalarKind::Int64 => "<i8",
        ScalarKind::UInt8 => "|u1",
        ScalarKind::UInt16 => "<u2",
        ScalarKind::UInt32 => "<u4",
        ScalarKind::UInt64 => "<u8",
        ScalarKind::Float16 => "<f2",
        ScalarKind::Float32 => "<f4",
        ScalarKind::Float64 => "<f8",
        ScalarKind::Complex64 => "<c8",
        ScalarKind::Complex128 => "<c16",
        ScalarKind::Datetime64 => "<M8",
        ScalarKind::Timedelta64 => "<m8",
        ScalarKind::Bytes => "S",
        ScalarKind::Str => "U",
        ScalarKind::Void => "V",
    }
    .to_owned()
}

/// The `value` of a vector with each hex written out and each int as hex, to be compared with [`describe`].
///
/// # Panics
/// When it is not in the form of `proto/vectors/README.md`.
pub fn normal(value: &Json) -> Json {
    let expanded = |hex: &Json| Json::from(hex::of(&hex::expand(string(hex))));
    let kind = string(&value[0]);
    match kind {
        "none" | "bool" | "float" | "complex" | "str" => value.clone(),
        "int" => json!([kind, normal_int(string(&value[1]))]),
        "surrogates" | "bytes" | "bytearray" => json!([kind, expanded(&value[1])]),
        "list" | "tuple" | "set" | "frozenset" => json!([kind, each(&value[1])]),
        "dict" | "OrderedDict" | "Counter" => {
            json!([kind, list(&value[1]).iter().map(each).collect::<Vec<_>>()])
        }
        "deque" => json!([kind, value[1], each(&value[2])]),
        "slice" => json!([kind, each(&value[1])]),
        "array" => json!([kind, value[1], value[2], expanded(&value[3])]),
        "ndarray" | "scalar" => {
            let mut fields = value[1].clone();
            fields["data"] = expanded(&fields["data"]);
            json!([kind, fields])
        }
        "record" | "named record" | "enum member" => {
            let mut parts = value[1].clone();
            for (name, part) in parts.as_object_mut().expect("a record is an object") {
                *part = match name.as_str() {
                    "fields" => list(part).iter().map(each).collect(),
                    "name" if part.is_null() => continue,
                    _ => normal(part),
                };
            }
            json!([kind, parts])
        }
        "exception" => json!([kind, list(&value[1]).iter().map(normal_entry).collect::<Vec<_>>()]),
        other => standard::normal(other, value),
    }
}

fn normal_entry(entry: &Json) -> Json {
    let mut entry = entry.clone();
    let fields = entry.as_object_mut().expect("an entry is an object");
    for (name, field) in fields {
        *field = match name.as_str() {
            "module" | "qualname" | "message" => normal(field),
            "bases" | "notes" | "denials" | "cut" | "args" => each(field),
            "fields" => list(field).iter().map(each).collect(),
            "frames" => {
                let element =
                    |element: &Json| if element.is_array() { normal(element) } else { element.clone() };
                list(field).iter().map(|frame| list(frame).iter().map(element).collect::<Json>()).collect()
            }
            "suppress_context" | "cause" | "context" | "members" => continue,
            other => panic!("no such field of an exception entry: {other}"),
        };
    }
    entry
}

pub(crate) fn normal_int(digits: &str) -> String {
    let (negative, magnitude) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    match magnitude.strip_prefix("0x") {
        Some(magnitude) => int_text(negative, &hex::expand(magnitude)),
        None => {
            let number: u128 = magnitude.parse().unwrap_or_else(|_| panic!("not an int: {digits}"));
            int_text(negative, &number.to_be_bytes())
        }
    }
}

pub(crate) fn each(values: &Json) -> Json {
    list(values).iter().map(normal).collect()
}

fn list(value: &Json) -> &[Json] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

pub(crate) fn string(value: &Json) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))
}
