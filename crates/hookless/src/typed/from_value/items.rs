//! The items of lists, tuples and sets.

use std::vec::IntoIter;

use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};

use super::{FromValue, Wanted};
use crate::error::{Error, Result};
use crate::typed::place::{Keys, Place};
use crate::value::Value;
use crate::wire::{push_index, wide};

struct Items {
    rest: IntoIter<Value>,
    given: usize,
    is_set: bool,
    place: Place,
    keys: Keys,
}

/// Gives the items to a visitor, which must take them all.
pub(super) fn visit<'de, V: Visitor<'de>>(
    items: Vec<Value>,
    is_set: bool,
    place: Place,
    keys: Keys,
    visitor: V,
) -> Result<V::Value> {
    let len = items.len();
    let mut items = Items { rest: items.into_iter(), given: 0, is_set, place: place.inside()?, keys };
    let found = visitor.visit_seq(&mut items)?;
    match items.rest.len() {
        0 => Ok(found),
        _ => Err(Error::invalid_length(len, &Wanted("", items.given, " items"))),
    }
}

impl<'de> SeqAccess<'de> for &mut Items {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let index = self.given;
        self.given = index.saturating_add(1);
        let found = seed.deserialize(FromValue::new(item, self.place, self.keys));
        found.map(Some).map_err(|error| {
            error.within(|path| match self.is_set {
                true => path.add(format_args!("{{{index}}}")),
                false => push_index(path, wide(index)),
            })
        })
    }

    /// Exact, and of items that are in memory; serde reserves no more than a megabyte on it.
    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}
