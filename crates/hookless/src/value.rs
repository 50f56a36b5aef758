//! The closed set of values.
//!
//! [`Value`] is exhaustive on purpose: a new kind does not compile until every encoder, decoder and test knows it.

mod exception;
mod number;
mod record;
mod standard;
mod text;

pub use exception::{Entry, Report, TraceFrame};
pub use number::{Int, IntForm};
pub(crate) use number::{fits_native, to_u64};
pub use record::{EnumMember, Record, RecordKind};
pub use standard::{
    Date, DateTime, Decimal, Fraction, Ip, IpKind, Offset, Path, PathClass, Range, Standard, StructTime,
    Time, TimeDelta, Uuid, UuidSafety, Zone, ZoneKey,
};
pub(crate) use standard::{Exact, StandardLeaf, exact_decimal, exact_fraction, range_form};
pub(crate) use text::Lossy;
pub(crate) use text::generalised;
pub use text::{Surrogates, Text, TextRef};

use crate::array::{Array, Element, MaskedArray, ObjectArray, Scalar, StringArray, TypedArray};
use crate::memory::Boxed;

/// A value of the closed set (`proto/values.md`).
///
/// Equality compares kinds and bits: `1` is not `1.0`, `0.0` is not `-0.0`, and a NaN equals itself.
#[derive(Debug, Clone)]
pub enum Value {
    /// Python's `None`.
    None,
    /// A bool.
    Bool(bool),
    /// An int of any size.
    Int(Int),
    /// A float; every bit pattern is kept.
    Float(f64),
    /// A complex number.
    Complex {
        /// Real part.
        re: f64,
        /// Imaginary part.
        im: f64,
    },
    /// Text.
    Str(String),
    /// Text with lone surrogates.
    Surrogates(Surrogates),
    /// Immutable bytes.
    Bytes(Vec<u8>),
    /// Python's mutable bytes.
    ByteArray(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dict; the order of its pairs is part of the value.
    Dict(Vec<(Value, Value)>),
    /// A set. Decoding gives the members in wire order; encoding takes them in any.
    Set(Vec<Value>),
    /// A frozenset, likewise.
    FrozenSet(Vec<Value>),
    /// A `collections.deque`.
    Deque(Boxed<Deque>),
    /// A `collections.OrderedDict`.
    OrderedDict(Vec<(Value, Value)>),
    /// A `collections.Counter`: the counts are bools, ints or floats.
    Counter(Vec<(Value, Value)>),
    /// A slice: start, stop, step.
    Slice(Boxed<[Value; 3]>),
    /// A scalar of the standard library.
    Standard(Boxed<Standard>),
    /// An `array.array`.
    TypedArray(Boxed<TypedArray>),
    /// A NumPy array.
    Array(Boxed<Array>),
    /// A NumPy scalar.
    Scalar(Boxed<Scalar>),
    /// An instance of a class, inert.
    Record(Boxed<Record>),
    /// A member of an enum, inert.
    EnumMember(Boxed<EnumMember>),
    /// A NumPy scalar of a dtype that has no leaf.
    Element(Boxed<Element>),
    /// A masked array.
    MaskedArray(Boxed<MaskedArray>),
    /// A NumPy array of values.
    ObjectArray(Boxed<ObjectArray>),
    /// A NumPy array of texts of any length.
    StringArray(Boxed<StringArray>),
    /// An exception.
    Exception(Boxed<Report>),
}

/// A `collections.deque` (D16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deque {
    /// The most it may hold.
    pub maxlen: Option<u64>,
    /// From left to right.
    pub items: Vec<Value>,
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (None, None) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
            (Complex { re: a, im: b }, Complex { re: c, im: d }) => {
                (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits())
            }
            (Str(a), Str(b)) => a == b,
            (Surrogates(a), Surrogates(b)) => a == b,
            (Bytes(a), Bytes(b)) | (ByteArray(a), ByteArray(b)) => a == b,
            (List(a), List(b)) | (Tuple(a), Tuple(b)) => a == b,
            (Set(a), Set(b)) | (FrozenSet(a), FrozenSet(b)) => a == b,
            (Dict(a), Dict(b)) => a == b,
            (Deque(a), Deque(b)) => a == b,
            (OrderedDict(a), OrderedDict(b)) | (Counter(a), Counter(b)) => a == b,
            (Slice(a), Slice(b)) => a == b,
            (Standard(a), Standard(b)) => a == b,
            (TypedArray(a), TypedArray(b)) => a == b,
            (Array(a), Array(b)) => a == b,
            (Scalar(a), Scalar(b)) => a == b,
            (Record(a), Record(b)) => a == b,
            (EnumMember(a), EnumMember(b)) => a == b,
            (Element(a), Element(b)) => a == b,
            (MaskedArray(a), MaskedArray(b)) => a == b,
            (ObjectArray(a), ObjectArray(b)) => a == b,
            (StringArray(a), StringArray(b)) => a == b,
            (Exception(a), Exception(b)) => a == b,
            // Listed, so that a new kind is compared before it compiles.
            (
                None
                | Bool(_)
                | Int(_)
                | Float(_)
                | Complex { .. }
                | Str(_)
                | Surrogates(_)
                | Bytes(_)
                | ByteArray(_)
                | List(_)
                | Tuple(_)
                | Dict(_)
                | Set(_)
                | FrozenSet(_)
                | Deque(_)
                | OrderedDict(_)
                | Counter(_)
                | Slice(_)
                | Standard(_)
                | TypedArray(_)
                | Array(_)
                | Scalar(_)
                | Record(_)
                | EnumMember(_)
                | Element(_)
                | MaskedArray(_)
                | ObjectArray(_)
                | StringArray(_)
                | Exception(_),
                _,
            ) => false,
        }
    }
}

impl Eq for Value {}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    /// Ends the process when there is no memory for it.
    fn from(value: &str) -> Value {
        Value::Str(value.into())
    }
}
