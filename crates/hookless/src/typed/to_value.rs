//! serde's serializer: what the host's own value travels as.

mod items;
mod pairs;

use std::fmt::Display;

use serde::ser::{self, Serialize};

use crate::array::{Scalar, ScalarKind};
use crate::error::{Error, Result};
use crate::memory::{self, Steps};
use crate::typed::place::{Keys, Place};
use crate::typed::whole::{self, Answer};
use crate::value::{Int, Value};
use crate::wire::push_name;
use items::Items;
use pairs::Pairs;

/// Makes a [`Value`] of whatever serialises itself.
#[derive(Debug, Clone)]
pub(super) struct ToValue {
    place: Place,
    keys: Keys,
    answer: Answer,
}

impl ToValue {
    pub(super) fn new(place: Place, keys: Keys) -> ToValue {
        ToValue { place, keys, answer: Answer::usual() }
    }

    /// The same one container further in.
    fn inside(self) -> Result<ToValue> {
        Ok(ToValue::new(self.place.inside()?, self.keys))
    }

    fn wrapped(self) -> Result<ToValue> {
        Ok(ToValue::new(self.place.wrapped()?, self.keys))
    }

    /// T2: the dict of one pair around what a variant holds.
    fn variant(name: &'static str, content: Value) -> Result<Value> {
        let mut pairs = memory::room(1)?;
        memory::push(&mut pairs, (Value::Str(memory::text(name)?), content))?;
        Ok(Value::Dict(pairs))
    }
}

/// The step into what a variant holds.
fn in_variant(error: Error, name: &'static str) -> Error {
    error.within(|path| push_name(path, name))
}

/// T6.
fn int(negative: bool, magnitude: u128) -> Result<Value> {
    Ok(Value::Int(Int::of_parts(negative, &magnitude.to_be_bytes())?))
}

macro_rules! ints {
    ($($method:ident $from:ty as $wide:ty;)*) => {
        $(fn $method(self, value: $from) -> Result<Value> {
            Ok(Value::Int(<$wide>::from(value).into()))
        })*
    };
}

impl ser::Serializer for ToValue {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Pairs;
    type SerializeStruct = Pairs;
    type SerializeStructVariant = Pairs;

    ints! {
        serialize_u8 u8 as u64;
        serialize_u16 u16 as u64;
        serialize_u32 u32 as u64;
        serialize_u64 u64 as u64;
        serialize_i8 i8 as i64;
        serialize_i16 i16 as i64;
        serialize_i32 i32 as i64;
        serialize_i64 i64 as i64;
    }

    fn serialize_u128(self, value: u128) -> Result<Value> {
        int(false, value)
    }

    fn serialize_i128(self, value: i128) -> Result<Value> {
        int(value.is_negative(), value.unsigned_abs())
    }

    fn serialize_bool(self, value: bool) -> Result<Value> {
        Ok(Value::Bool(value))
    }

    /// T7.
    fn serialize_f32(self, value: f32) -> Result<Value> {
        let scalar = Scalar::new(ScalarKind::Float32, memory::copied(&value.to_bits().to_be_bytes())?)?;
        Ok(Value::Scalar(memory::boxed(scalar)?))
    }

    fn serialize_f64(self, value: f64) -> Result<Value> {
        Ok(Value::Float(value))
    }

    /// T8.
    fn serialize_char(self, value: char) -> Result<Value> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<Value> {
        Ok(Value::Str(memory::text(text)?))
    }

    fn collect_str<T: Display + ?Sized>(self, text: &T) -> Result<Value> {
        let mut out = Steps::default();
        match std::fmt::write(&mut out, format_args!("{text}")) {
            Ok(()) => Ok(Value::Str(out.finish()?)),
            Err(_) => Err(ser::Error::custom("its Display gave an error")),
        }
    }

    /// T9.
    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value> {
        Ok(Value::Bytes(memory::copied(bytes)?))
    }

    fn serialize_none(self) -> Result<Value> {
        Ok(Value::None)
    }

    /// T10.
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value> {
        value.serialize(self.wrapped()?)
    }

    fn serialize_unit(self) -> Result<Value> {
        Ok(Value::None)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value> {
        Ok(Value::None)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value> {
        Ok(Value::Str(memory::text(variant)?))
    }

    /// T10, and T11 for what names itself so.
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<Value> {
        if name != whole::NAME {
            return value.serialize(self.wrapped()?);
        }
        // The pieces of an encoding and not a part of this value: its depth is its own, and the encoder's to judge.
        let place = Place::within(whole::DEPTH);
        whole::join(value.serialize(ToValue { place, keys: Keys::Trust, answer: Answer::ours() })?)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value> {
        let content = value.serialize(self.inside()?).map_err(|error| in_variant(error, variant))?;
        ToValue::variant(variant, content)
    }

    /// T4.
    fn serialize_seq(self, len: Option<usize>) -> Result<Items> {
        Items::open(Value::List, len.unwrap_or_default(), None, self)
    }

    /// T3.
    fn serialize_tuple(self, len: usize) -> Result<Items> {
        Items::open(Value::Tuple, len, None, self)
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Items> {
        Items::open(Value::Tuple, len, None, self)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items> {
        let items = Items::open(Value::Tuple, len, Some(variant), self.inside()?);
        items.map_err(|error| in_variant(error, variant))
    }

    /// T5.
    fn serialize_map(self, len: Option<usize>) -> Result<Pairs> {
        Pairs::open(len.unwrap_or_default(), None, self)
    }

    /// T1.
    fn serialize_struct(self, _name: &'static str, len: usize) -> Result<Pairs> {
        Pairs::open(len, None, self)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Pairs> {
        let pairs = Pairs::open(len, Some(variant), self.inside()?);
        pairs.map_err(|error| in_variant(error, variant))
    }

    /// IPs and the like as text.
    fn is_human_readable(&self) -> bool {
        self.answer.give()
    }
}
