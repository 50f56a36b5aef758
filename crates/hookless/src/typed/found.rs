//! What a value is called in an error.

use serde::de::Unexpected;

use crate::value::Value;

/// The value as serde words it: numbers as they are, everything else by its kind, so that no text of a peer is quoted.
pub(super) fn unexpected(value: &Value) -> Unexpected<'static> {
    match value {
        Value::Int(int) => match (int.as_u64(), int.as_i64()) {
            (Some(value), _) => Unexpected::Unsigned(value),
            (None, Some(value)) => Unexpected::Signed(value),
            (None, None) => Unexpected::Other("int beyond 64 bits"),
        },
        Value::Float(value) => Unexpected::Float(*value),
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::None => Unexpected::Other("None"),
        Value::Complex { .. } => Unexpected::Other("complex"),
        Value::Str(_) => Unexpected::Other("str"),
        Value::Surrogates(_) => Unexpected::Other("str with lone surrogates"),
        Value::Bytes(_) => Unexpected::Other("bytes"),
        Value::ByteArray(_) => Unexpected::Other("bytearray"),
        Value::List(_) => Unexpected::Other("list"),
        Value::Tuple(_) => Unexpected::Other("tuple"),
        Value::Dict(_) => Unexpected::Other("dict"),
        Value::Set(_) => Unexpected::Other("set"),
        Value::FrozenSet(_) => Unexpected::Other("frozenset"),
        Value::Deque(_) => Unexpected::Other("deque"),
        Value::OrderedDict(_) => Unexpected::Other("OrderedDict"),
        Value::Counter(_) => Unexpected::Other("Counter"),
        Value::Slice(_) => Unexpected::Other("slice"),
        Value::Standard(value) => Unexpected::Other(value.name()),
        Value::TypedArray(_) => Unexpected::Other("array.array"),
        Value::Record(_) => Unexpected::Other("record"),
        Value::EnumMember(_) => Unexpected::Other("enum member"),
        Value::Array(_) => Unexpected::Other("ndarray"),
        Value::Scalar(_) => Unexpected::Other("NumPy scalar"),
        Value::Exception(_) => Unexpected::Other("exception"),
    }
}
