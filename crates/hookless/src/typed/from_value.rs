//! serde's deserializer over a finished value.

mod items;
mod pairs;
mod variant;

use std::fmt;

use serde::Deserializer;
use serde::de::{Error as _, Expected, Visitor};

use crate::array::ScalarKind;
use crate::error::{Error, Result};
use crate::typed::found::unexpected;
use crate::typed::place::{Keys, Place};
use crate::typed::whole::{self, Answer};
use crate::value::{Int, Value};

/// Gives a value, once, to whatever deserialises itself.
#[derive(Debug)]
pub(super) struct FromValue {
    value: Value,
    place: Place,
    keys: Keys,
    answer: Answer,
}

impl FromValue {
    pub(super) fn new(value: Value, place: Place, keys: Keys) -> FromValue {
        FromValue { value, place, keys, answer: Answer::usual() }
    }

    /// An error of this value for a visitor that wants another kind.
    fn unfit<'de, V: Visitor<'de>>(&self, visitor: &V) -> Error {
        Error::invalid_type(unexpected(&self.value), visitor)
    }

    /// T6: any int of at most 128 bits; the visitor holds it against its range.
    fn int<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Value::Int(int) = &self.value else { return Err(self.unfit(&visitor)) };
        if let Some(value) = int.as_u64() {
            return visitor.visit_u64(value);
        }
        if let Some(value) = int.as_i64() {
            return visitor.visit_i64(value);
        }
        let size = magnitude(int);
        match (int.is_negative(), size) {
            (false, Some(size)) => visitor.visit_u128(size),
            (true, Some(size)) if size <= i128::MIN.unsigned_abs() => {
                visitor.visit_i128(0i128.wrapping_sub_unsigned(size))
            }
            _ => Err(self.unfit(&visitor)),
        }
    }

    /// T4: the items of every kind that holds some, in the order of the wire.
    fn items<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let FromValue { value, place, keys, .. } = self;
        match value {
            Value::List(items) | Value::Tuple(items) => items::visit(items, false, place, keys, visitor),
            Value::Deque(deque) => items::visit(deque.into_inner().items, false, place, keys, visitor),
            Value::Set(items) | Value::FrozenSet(items) => items::visit(items, true, place, keys, visitor),
            value => Err(FromValue::new(value, place, keys).unfit(&visitor)),
        }
    }

    /// T3.
    fn tuple<'de, V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Tuple(items) if items.len() == len => {
                items::visit(items, false, self.place, self.keys, visitor)
            }
            Value::Tuple(items) => {
                Err(Error::invalid_length(items.len(), &Wanted("a tuple of ", len, " items")))
            }
            _ => Err(Error::invalid_type(unexpected(&self.value), &"a tuple")),
        }
    }

    /// T5, T1.
    fn pairs<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Dict(pairs) | Value::OrderedDict(pairs) | Value::Counter(pairs) => {
                pairs::visit(pairs, self.place, self.keys, visitor)
            }
            _ => Err(self.unfit(&visitor)),
        }
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Str(text) => visitor.visit_string(text),
            _ => Err(self.unfit(&visitor)),
        }
    }

    /// T7: the float whose bits a NumPy float32 scalar holds.
    fn single(&self) -> Option<f32> {
        let Value::Scalar(scalar) = &self.value else { return None };
        match (scalar.kind(), scalar.payload()) {
            (ScalarKind::Float32, &[a, b, c, d]) => Some(f32::from_bits(u32::from_be_bytes([a, b, c, d]))),
            _ => None,
        }
    }
}

/// A number of things as what was expected.
struct Wanted(&'static str, usize, &'static str);

impl Expected for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.0, self.1, self.2)
    }
}

/// The absolute value of an int, where 128 bits hold it.
fn magnitude(int: &Int) -> Option<u128> {
    let mut buffer = [0; 8];
    let bytes = int.magnitude(&mut buffer);
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |value, &byte| (value << 8) | u128::from(byte)))
}

macro_rules! forward {
    ($($method:ident to $to:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.$to(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for FromValue {
    type Error = Error;

    /// T12.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::None => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(_) => self.int(visitor),
            Value::Float(value) => visitor.visit_f64(value),
            Value::Str(text) => visitor.visit_string(text),
            Value::Bytes(bytes) | Value::ByteArray(bytes) => visitor.visit_byte_buf(bytes),
            Value::List(_) | Value::Tuple(_) | Value::Set(_) | Value::FrozenSet(_) => self.items(visitor),
            Value::Dict(_) => self.pairs(visitor),
            _ => match self.single() {
                Some(value) => visitor.visit_f32(value),
                None => Err(self.unfit(&visitor)),
            },
        }
    }

    forward! {
        deserialize_u8 to int;
        deserialize_u16 to int;
        deserialize_u32 to int;
        deserialize_u64 to int;
        deserialize_u128 to int;
        deserialize_i8 to int;
        deserialize_i16 to int;
        deserialize_i32 to int;
        deserialize_i64 to int;
        deserialize_i128 to int;
        deserialize_str to text;
        deserialize_string to text;
        deserialize_identifier to text;
        deserialize_seq to items;
        deserialize_map to pairs;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Bool(value) => visitor.visit_bool(value),
            _ => Err(self.unfit(&visitor)),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.single() {
            Some(value) => visitor.visit_f32(value),
            None => Err(Error::invalid_type(unexpected(&self.value), &"a NumPy float32 scalar")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Float(value) => visitor.visit_f64(value),
            _ => Err(self.unfit(&visitor)),
        }
    }

    /// T8.
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let Value::Str(text) = &self.value else { return Err(self.unfit(&visitor)) };
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => visitor.visit_char(character),
            _ => Err(Error::custom("a str of other than one character, expected a character")),
        }
    }

    forward! {
        deserialize_bytes to deserialize_byte_buf;
    }

    /// T9.
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Bytes(bytes) | Value::ByteArray(bytes) => visitor.visit_byte_buf(bytes),
            _ => Err(self.unfit(&visitor)),
        }
    }

    /// T10.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::None => visitor.visit_none(),
            _ => visitor.visit_some(FromValue { place: self.place.wrapped()?, ..self }),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::None => visitor.visit_unit(),
            _ => Err(self.unfit(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    /// T10, and T11 for what asks by that name.
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if name != whole::NAME {
            return visitor.visit_newtype_struct(FromValue { place: self.place.wrapped()?, ..self });
        }
        let value = whole::split(self.value)?;
        let (place, keys, answer) = (Place::within(whole::DEPTH), Keys::Trust, Answer::ours());
        visitor.visit_newtype_struct(FromValue { value, place, keys, answer })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.tuple(len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.tuple(len, visitor)
    }

    /// T1: a field is named by text; serde would take its number as well.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.pairs(visitor)
    }

    /// T2.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        variant::visit(self, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        self.answer.give()
    }
}
