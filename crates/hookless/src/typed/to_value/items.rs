//! Lists and tuples, and variants that hold a tuple.

use serde::ser::{self, Serialize};

use super::{ToValue, in_variant};
use crate::error::{Error, Result};
use crate::memory;
use crate::typed::place::reserved;
use crate::value::Value;
use crate::wire::{push_index, wide};

/// A list or tuple being filled.
#[derive(Debug)]
pub(crate) struct Items {
    wrap: fn(Vec<Value>) -> Value,
    items: Vec<Value>,
    variant: Option<&'static str>,
    inside: ToValue,
}

impl Items {
    pub(super) fn open(
        wrap: fn(Vec<Value>) -> Value,
        len: usize,
        variant: Option<&'static str>,
        outside: ToValue,
    ) -> Result<Items> {
        Ok(Items { wrap, items: reserved(len)?, variant, inside: outside.inside()? })
    }

    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        let item = item.serialize(self.inside.clone()).map_err(|error| {
            let error = error.within(|path| push_index(path, wide(self.items.len())));
            self.variant.into_iter().fold(error, in_variant)
        })?;
        Ok(memory::push(&mut self.items, item)?)
    }

    fn close(self) -> Result<Value> {
        let value = (self.wrap)(self.items);
        match self.variant {
            Some(name) => ToValue::variant(name, value),
            None => Ok(value),
        }
    }
}

impl ser::SerializeSeq for Items {
    type Ok = Value;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.push(item)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}

impl ser::SerializeTuple for Items {
    type Ok = Value;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.push(item)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Items {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.push(item)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Items {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<()> {
        self.push(item)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}
