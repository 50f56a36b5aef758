//! Every value comes back, in every way of decoding, and has one encoding.

use hookless::frame::Decoder;
use hookless::{Code, Deque, Limits, ObjectArray, Value, decode, encode};
use proptest::prelude::*;
use support::generate::value;

/// Members in wire order, as decoding gives them: what a generated value is compared with.
fn sorted(value: &Value) -> Value {
    let all = |items: &[Value]| items.iter().map(sorted).collect::<Vec<_>>();
    let members = |items: &[Value]| {
        let mut members = all(items);
        members.sort_by_key(|member| encode(member, &Limits::default()).unwrap()[32..].to_vec());
        members
    };
    let pairs = |pairs: &[(Value, Value)]| pairs.iter().map(|(k, v)| (sorted(k), sorted(v))).collect();
    match value {
        Value::List(items) => Value::List(all(items)),
        Value::Tuple(items) => Value::Tuple(all(items)),
        Value::Set(items) => Value::Set(members(items)),
        Value::FrozenSet(items) => Value::FrozenSet(members(items)),
        Value::Dict(items) => Value::Dict(pairs(items)),
        Value::OrderedDict(items) => Value::OrderedDict(pairs(items)),
        Value::Counter(items) => Value::Counter(pairs(items)),
        Value::Deque(deque) => {
            Value::Deque(hookless::Boxed::new(Deque { maxlen: deque.maxlen, items: all(&deque.items) }))
        }
        Value::Slice(parts) => Value::Slice(hookless::Boxed::new(parts.each_ref().map(sorted))),
        Value::Record(record) => {
            let mut record = record.clone();
            record.fields.iter_mut().for_each(|(_, value)| *value = sorted(value));
            Value::Record(record)
        }
        Value::EnumMember(member) => {
            let mut member = member.clone();
            member.value = sorted(&member.value);
            Value::EnumMember(member)
        }
        Value::ObjectArray(array) => {
            let shape = array.shape();
            let items = all(array.items());
            let array = ObjectArray::new(shape.dimensions().to_vec(), shape.order(), items).unwrap();
            Value::ObjectArray(hookless::Boxed::new(array))
        }
        Value::Exception(report) => {
            let mut report = report.clone();
            for entry in &mut report.entries {
                entry.args = all(&entry.args);
                entry.fields.iter_mut().for_each(|(_, value)| *value = sorted(value));
            }
            Value::Exception(report)
        }
        other => other.clone(),
    }
}

/// How many values are drawn: `make long` asks for more.
fn cases() -> u32 {
    std::env::var("HOOKLESS_EXAMPLES").ok().and_then(|count| count.parse().ok()).unwrap_or(2000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back(value in value(), step in 1usize..97) {
        let limits = Limits::default();
        let frame = match encode(&value, &limits) {
            Ok(frame) => frame,
            // Generated keys may be equal (K3), or NumPy scalars beside decimals (K8); then nothing is written.
            Err(error) => {
                prop_assert!(matches!(error.code(), Code::DuplicateKey | Code::NotKeyable), "{}", error);
                return Ok(());
            }
        };
        let found = decode(&frame, &limits).unwrap();
        prop_assert_eq!(&found, &sorted(&value));
        prop_assert_eq!(&encode(&found, &limits).unwrap(), &frame);

        let mut decoder = Decoder::new(limits);
        let mut frames = Vec::new();
        for chunk in frame.chunks(step) {
            frames.extend(decoder.feed(chunk).unwrap());
        }
        decoder.finish().unwrap();
        prop_assert_eq!(frames.len(), 1);
        prop_assert_eq!(&frames[0].value, &found);
    }
}

/// A `Value` is what its charge says: 32 bytes.
#[test]
fn l4_a_value_takes_32_bytes() {
    assert_eq!(size_of::<Value>(), 32);
}
