//! Dicts: of maps, of structs, and of variants that hold named fields.

use serde::ser::{self, Serialize};

use super::{ToValue, in_variant};
use crate::error::{Error, Result};
use crate::memory::{self, Steps};
use crate::typed::keys;
use crate::typed::place::{Keys, reserved, step};
use crate::value::Value;

/// A dict being filled.
#[derive(Debug)]
pub(crate) struct Pairs {
    pairs: Vec<(Value, Value)>,
    /// The key whose value comes next.
    key: Option<Value>,
    variant: Option<&'static str>,
    inside: ToValue,
}

impl Pairs {
    pub(super) fn open(len: usize, variant: Option<&'static str>, outside: ToValue) -> Result<Pairs> {
        Ok(Pairs { pairs: reserved(len)?, key: None, variant, inside: outside.inside()? })
    }

    fn located(&self, error: Error, add: impl FnOnce(&mut Steps)) -> Error {
        self.variant.into_iter().fold(error.within(add), in_variant)
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let index = self.pairs.len();
        match key.serialize(self.inside.clone()) {
            Ok(key) => self.key = Some(key),
            Err(error) => {
                return Err(self.located(error, |path| path.add(format_args!(".keys[{index}]"))));
            }
        }
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = self.key.take().ok_or_else(|| <Error as ser::Error>::custom("a value without a key"))?;
        match value.serialize(self.inside.clone()) {
            Ok(value) => memory::push(&mut self.pairs, (key, value))?,
            Err(error) => {
                return Err(self.located(error, |path| step(path, keys::text(&key), self.pairs.len())));
            }
        }
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.key = Some(Value::Str(memory::text(name)?));
        self.value(value)
    }

    fn close(self) -> Result<Value> {
        if self.key.is_some() {
            return Err(ser::Error::custom("a key without a value"));
        }
        if self.inside.keys == Keys::Check {
            keys::check(&self.pairs).map_err(|error| self.located(error, |_| ()))?;
        }
        let value = Value::Dict(self.pairs);
        match self.variant {
            Some(name) => ToValue::variant(name, value),
            None => Ok(value),
        }
    }
}

impl ser::SerializeMap for Pairs {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.value(value)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}

impl ser::SerializeStruct for Pairs {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.field(name, value)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}

impl ser::SerializeStructVariant for Pairs {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.field(name, value)
    }

    fn end(self) -> Result<Value> {
        self.close()
    }
}
