//! The pairs of dicts.

use std::vec::IntoIter;

use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};

use super::{FromValue, Wanted};
use crate::error::{Error, Result};
use crate::memory;
use crate::typed::keys;
use crate::typed::place::{Keys, Place, step};
use crate::value::Value;

struct Pairs {
    rest: IntoIter<(Value, Value)>,
    /// What comes next.
    value: Option<Value>,
    /// Text of the last key, if it was text: a step of the path, should its value not fit.
    name: Option<String>,
    given: usize,
    place: Place,
    keys: Keys,
}

/// Gives the pairs to a visitor, which must take them all.
pub(super) fn visit<'de, V: Visitor<'de>>(
    pairs: Vec<(Value, Value)>,
    place: Place,
    keys: Keys,
    visitor: V,
) -> Result<V::Value> {
    if keys == Keys::Check {
        keys::check(&pairs)?;
    }
    let len = pairs.len();
    let place = place.inside()?;
    let mut pairs = Pairs { rest: pairs.into_iter(), value: None, name: None, given: 0, place, keys };
    let found = visitor.visit_map(&mut pairs)?;
    match (pairs.rest.len(), &pairs.value) {
        (0, None) => Ok(found),
        _ => Err(Error::invalid_length(len, &Wanted("", pairs.given, " pairs"))),
    }
}

impl Pairs {
    /// The key's text, in the memory of the one before.
    fn name(&mut self, key: &Value) -> Result<Option<String>> {
        let Value::Str(text) = key else { return Ok(None) };
        let mut name = self.name.take().unwrap_or_default();
        memory::replace(&mut name, text)?;
        Ok(Some(name))
    }
}

impl<'de> MapAccess<'de> for &mut Pairs {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        let index = self.given;
        self.given = index.saturating_add(1);
        self.name = self.name(&key)?;
        self.value = Some(value);
        let found = seed.deserialize(FromValue::new(key, self.place, self.keys));
        found.map(Some).map_err(|error| error.within(|path| path.add(format_args!(".keys[{index}]"))))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let Some(value) = self.value.take() else {
            return Err(Error::custom("a value was asked for before its key"));
        };
        let found = seed.deserialize(FromValue::new(value, self.place, self.keys));
        found.map_err(|error| {
            error.within(|path| step(path, self.name.as_deref(), self.given.saturating_sub(1)))
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}
