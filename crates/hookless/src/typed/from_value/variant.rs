//! T2: enums in serde's external form.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, Unexpected, VariantAccess, Visitor,
};

use super::FromValue;
use crate::error::{Error, Result};
use crate::typed::found::unexpected;
use crate::typed::place::{Keys, Place};
use crate::value::Value;
use crate::wire::push_name;

/// A variant: its name, and what it holds.
struct Variant {
    name: String,
    content: Option<FromValue>,
}

/// What the variant holds, once its name has been taken.
struct Content {
    name: String,
    content: Option<FromValue>,
}

/// Gives a variant to the visitor of its enum.
pub(super) fn visit<'de, V: Visitor<'de>>(from: FromValue, visitor: V) -> Result<V::Value> {
    let FromValue { value, place, keys, .. } = from;
    visitor.visit_enum(variant(value, place, keys)?)
}

fn variant(value: Value, place: Place, keys: Keys) -> Result<Variant> {
    const FORM: &str = "an enum: the str of a variant that holds nothing, or a dict of one pair, a variant's name and what it holds";
    match value {
        Value::Str(name) => Ok(Variant { name, content: None }),
        Value::Dict(pairs) => {
            let len = pairs.len();
            let mut pairs = pairs.into_iter();
            match (pairs.next(), pairs.next()) {
                (Some((Value::Str(name), value)), None) => {
                    let content = FromValue::new(value, place.inside()?, keys);
                    Ok(Variant { name, content: Some(content) })
                }
                (Some((key, _)), None) => Err(Error::invalid_type(unexpected(&key), &"a variant's name")
                    .within(|path| path.push_str(".keys[0]"))),
                _ => Err(Error::invalid_length(len, &FORM)),
            }
        }
        other => Err(Error::invalid_type(unexpected(&other), &FORM)),
    }
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content)> {
        let name: StrDeserializer<'_, Error> = self.name.as_str().into_deserializer();
        let found = seed.deserialize(name)?;
        Ok((found, Content { name: self.name, content: self.content }))
    }
}

impl Content {
    fn held<T>(self, give: impl FnOnce(FromValue) -> Result<T>) -> Result<T> {
        match self.content {
            Some(content) => give(content).map_err(|error| error.within(|path| push_name(path, &self.name))),
            None => {
                Err(Error::invalid_type(Unexpected::Other("str"), &"a dict: this variant holds something"))
            }
        }
    }
}

impl<'de> VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            None => Ok(()),
            Some(_) => {
                Err(Error::invalid_type(Unexpected::Other("dict"), &"a str: this variant holds nothing"))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        self.held(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.held(|content| content.tuple(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.held(|content| content.pairs(visitor))
    }
}
