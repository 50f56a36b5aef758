//! Values of every kind that is implemented, nested, and as keys.

use hookless::array::{UNITS, Unit};
use hookless::{
    Deque, Entry, EnumMember, Int, Record, RecordKind, Report, Scalar, ScalarKind, Surrogates, Text,
    TraceFrame, Value,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{arrays, generate_standard as standard};

/// Any value, at most four containers deep.
pub fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => key_leaf(),
        1 => leaf_only(),
        2 => arrays::array(),
        1 => time_or_void(),
        1 => arrays::element(),
        1 => arrays::masked(),
        1 => arrays::strings(),
        2 => standard::scalar(),
        1 => standard::typed_array(),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::List),
            vec(inner.clone(), 0..6).prop_map(Value::Tuple),
            vec((key(), inner.clone()), 0..6).prop_map(Value::Dict),
            vec((key(), inner.clone()), 0..6).prop_map(Value::OrderedDict),
            vec((key(), count()), 0..6).prop_map(Value::Counter),
            [inner.clone(), inner.clone(), inner.clone()]
                .prop_map(|parts| Value::Slice(hookless::Boxed::new(parts))),
            (vec(inner.clone(), 0..6), proptest::option::of(6u64..1 << 63))
                .prop_map(|(items, maxlen)| Value::Deque(hookless::Boxed::new(Deque { maxlen, items }))),
            vec(key(), 0..6).prop_map(Value::Set),
            vec(key(), 0..6).prop_map(Value::FrozenSet),
            record(inner.clone()),
            enum_member(inner.clone()),
            arrays::objects(inner.clone()),
            report(inner).prop_map(|report| Value::Exception(hookless::Boxed::new(report))),
        ]
    })
}

/// Any keyable value (K2).
pub fn key() -> impl Strategy<Value = Value> {
    key_leaf().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Tuple),
            vec(inner.clone(), 0..4).prop_map(Value::FrozenSet),
            record(inner.clone()),
            enum_member(inner),
        ]
    })
}

fn key_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        int().prop_map(Value::Int),
        float().prop_map(Value::Float),
        (float(), float()).prop_map(|(re, im)| Value::Complex { re, im }),
        ".{0,40}".prop_map(Value::Str),
        surrogates().prop_map(Value::Surrogates),
        vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
        keyable_scalar(),
        standard::key(),
    ]
}

/// D17: what a Counter counts by.
fn count() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        int().prop_map(Value::Int),
        float().prop_map(Value::Float),
    ]
}

fn leaf_only() -> impl Strategy<Value = Value> {
    prop_oneof![
        vec(any::<u8>(), 0..300).prop_map(Value::ByteArray),
        (16_380usize..16_390, any::<u8>()).prop_map(|(len, byte)| Value::Bytes(vec![byte; len])),
        (16_380usize..16_390, any::<u8>()).prop_map(|(len, byte)| Value::ByteArray(vec![byte; len])),
    ]
}

pub(crate) fn int() -> impl Strategy<Value = Int> {
    let edge = (0u32..200, -2i128..=2, any::<bool>()).prop_map(|(shift, delta, negative)| {
        let mut magnitude = vec![0u8; 26];
        magnitude[25 - (shift / 8) as usize] = 1 << (shift % 8);
        let low = u128::from_be_bytes(magnitude[10..].try_into().unwrap());
        magnitude[10..].copy_from_slice(&low.wrapping_add_signed(delta).to_be_bytes());
        Int::from_sign_magnitude(negative, &magnitude)
    });
    prop_oneof![
        any::<i64>().prop_map(Int::from),
        any::<u64>().prop_map(Int::from),
        (-200i64..200).prop_map(Int::from),
        edge,
        (any::<bool>(), vec(any::<u8>(), 0..40))
            .prop_map(|(negative, magnitude)| { Int::from_sign_magnitude(negative, &magnitude) }),
    ]
}

/// Floats by their bits, so that NaN payloads and subnormals are among them.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-100i32..100).prop_map(f64::from),
        Just(-0.0),
        Just(f64::from_bits(0x7ff0_0000_0000_0001)),
    ]
}

fn surrogates() -> impl Strategy<Value = Surrogates> {
    (".{0,8}", 0xd800u32..0xe000, ".{0,8}").prop_map(|(before, unit, after)| {
        let mut bytes = before.into_bytes();
        bytes.extend([0xed, 0x80 | (unit >> 6) as u8 & 0x3f, 0x80 | unit as u8 & 0x3f]);
        bytes.extend(after.into_bytes());
        Surrogates::new(bytes).unwrap()
    })
}

pub(crate) fn unit() -> impl Strategy<Value = Unit> {
    (0..UNITS.len() as u8, 1u32..1000)
        .prop_map(|(number, count)| Unit::new(number, if number == 0 { 1 } else { count }).unwrap())
}

fn keyable_scalar() -> impl Strategy<Value = Value> {
    let kinds: Vec<ScalarKind> = ScalarKind::ALL.iter().copied().filter(|kind| kind.is_keyable()).collect();
    (proptest::sample::select(kinds), vec(any::<u8>(), 16), ".{0,12}").prop_map(|(kind, bytes, text)| {
        let payload = match (kind, kind.size()) {
            (ScalarKind::Bool, _) => vec![bytes[0] & 1],
            (_, Some(size)) => bytes[..size].to_vec(),
            (ScalarKind::Str, None) => text.into_bytes(),
            (_, None) => bytes,
        };
        Value::Scalar(hookless::Boxed::new(Scalar::new(kind, payload).unwrap()))
    })
}

fn time_or_void() -> impl Strategy<Value = Value> {
    let time = (unit(), any::<i64>(), any::<bool>()).prop_map(|(unit, ticks, date)| {
        let kind = if date { ScalarKind::Datetime64 } else { ScalarKind::Timedelta64 };
        let mut payload = vec![unit.number()];
        payload.extend(unit.count().to_be_bytes());
        payload.extend(ticks.to_be_bytes());
        Scalar::new(kind, payload).unwrap()
    });
    let void = vec(any::<u8>(), 0..20).prop_map(|bytes| Scalar::new(ScalarKind::Void, bytes).unwrap());
    prop_oneof![time, void].prop_map(|scalar| Value::Scalar(hookless::Boxed::new(scalar)))
}

pub(crate) fn text() -> impl Strategy<Value = Text> {
    prop_oneof![9 => ".{0,20}".prop_map(Text::Str), 1 => surrogates().prop_map(Text::Surrogates)]
}

fn name() -> impl Strategy<Value = Text> {
    ".{1,20}".prop_map(Text::Str)
}

fn record(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let kind = proptest::sample::select(vec![RecordKind::Record, RecordKind::Named]);
    (kind, name(), name(), vec((name(), inner), 0..4)).prop_map(|(kind, module, qualname, mut fields)| {
        let mut seen = std::collections::HashSet::new();
        fields.retain(|(name, _)| seen.insert(name.clone()));
        Value::Record(hookless::Boxed::new(Record { kind, module, qualname, fields }))
    })
}

fn enum_member(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    (name(), name(), proptest::option::of(name()), inner).prop_map(|(module, qualname, name, value)| {
        Value::EnumMember(hookless::Boxed::new(EnumMember { module, qualname, name, value }))
    })
}

fn report(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Report> {
    vec(entry(inner), 1..4).prop_map(|mut entries| {
        // A chain of causes, numbered as X4 wants it.
        let count = entries.len() as u32;
        for (entry, next) in entries.iter_mut().zip(1u32..) {
            entry.cause = (next < count).then_some(next);
        }
        Report { entries }
    })
}

fn entry(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Entry> {
    let names = (name(), name(), vec(name(), 0..3), text());
    let lists = (vec(text(), 0..2), vec(text(), 0..2), vec(text(), 0..2), vec(frame(), 0..3));
    let values = (vec(inner.clone(), 0..3), vec((text(), inner), 0..2));
    (names, lists, any::<bool>(), values).prop_map(|(names, lists, suppress_context, (args, mut fields))| {
        fields.dedup_by(|a, b| a.0 == b.0);
        Entry {
            module: names.0,
            qualname: names.1,
            bases: names.2,
            message: names.3,
            notes: lists.0,
            denials: lists.1,
            cut: lists.2,
            frames: lists.3,
            suppress_context,
            cause: None,
            context: None,
            members: Vec::new(),
            args,
            fields,
        }
    })
}

fn frame() -> impl Strategy<Value = TraceFrame> {
    let number = || proptest::option::of(0u32..1 << 31);
    (text(), [number(), number(), number(), number()], text(), proptest::option::of(text())).prop_map(
        |(file, [line, end_line, column, end_column], function, source)| TraceFrame {
            file,
            line,
            end_line,
            column,
            end_column,
            function,
            source,
        },
    )
}
