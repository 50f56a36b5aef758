//! The standard library: leaves (D1 to D14), deques, the other dicts, array.array (D15 to D18).

use crate::array::TypeCode;
use crate::error::{Code, Error, Result};
use crate::limits::{charge, inline};
use crate::value::{Standard, StandardLeaf};
use crate::wire::cursor::{Cursor, Head};
use crate::wire::marker::leaf;
use crate::wire::{Build, MapKind, SequenceKind, keys};

use super::Reader;

impl<B: Build> Reader<'_, '_, B> {
    /// D1 to D14. What is keyable by its content is refused after that, and K8 last.
    pub(super) fn standard(&mut self, kind: StandardLeaf, payload: &[u8]) -> Result<B::Value> {
        if self.in_key && !kind.may_be_key() {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(kind.charge(payload))?;
        let value = Standard::parse(kind, payload, self.limits)?;
        if self.in_key {
            if !value.is_keyable() {
                return Err(Error::new(Code::NotKeyable));
            }
            if let Standard::Decimal(number) = &value {
                let digits = number.written_out(self.limits.int_bytes).unwrap_or_default();
                self.budget.charge(charge::exact_key(digits))?;
                self.build.decimal_key()?;
            }
            let marks = keys::Marks::of(&value);
            if !marks.is_empty() {
                self.mark(marks)?;
            }
        }
        self.build.standard(value)
    }

    /// D16. The marker has been read, and V18 holds for `maxlen` and the items.
    pub(super) fn open_deque(&mut self, elements: u64, below: u64) -> Result<Option<B::Value>> {
        let Some(items) = elements.checked_sub(1) else {
            return Err(Error::new(Code::BadArity).note("a deque begins with its maxlen"));
        };
        let start = std::mem::replace(&mut self.at, self.cursor.rest);
        let maxlen = match self.cursor.head()? {
            Head::Nil => None,
            Head::Unsigned(most) if most < 1 << 63 => Some(most),
            Head::Unsigned(most) => return Err(Error::new(Code::BadNumber).note(format_args!("{most}"))),
            _ => return Err(Error::new(Code::BadType).note("maxlen is nil or an unsigned int")),
        };
        self.at = start;
        if maxlen.is_some_and(|most| items > most) {
            return Err(Error::new(Code::BadArity).note(format_args!("{items} items, and a smaller maxlen")));
        }
        self.open_sequence(SequenceKind::Deque(maxlen), items, below)
    }

    /// D17: the map that a node is made of, and that counts for both.
    pub(super) fn open_inner_map(&mut self, kind: MapKind, elements: u64) -> Result<Option<B::Value>> {
        if elements != 1 {
            return Err(Error::new(Code::BadArity).note(format_args!("one map, not {elements} elements")));
        }
        let start = std::mem::replace(&mut self.at, self.cursor.rest);
        match self.cursor.head()? {
            Head::Map(pairs) => {
                self.claim(u64::from(pairs).saturating_mul(2))?;
                self.at = start;
                self.open_map(kind, u64::from(pairs))
            }
            _ => Err(Error::new(Code::BadType).note("a map belongs here")),
        }
    }

    /// D18.
    pub(super) fn typed_array(&mut self, elements: u64) -> Result<B::Value> {
        if elements != 4 {
            return Err(
                Error::new(Code::BadArity).note(format_args!("array.array has 4 elements, not {elements}"))
            );
        }
        let start = self.at;
        self.admit(0, 0)?;
        let mut owed = self.claim(0)?.saturating_add(elements);
        let (letter, itemsize) = (self.unsigned(&mut owed)?, self.unsigned(&mut owed)?);
        let count = self.unsigned(&mut owed)?;
        let last = std::mem::replace(&mut self.at, start);
        let code = TypeCode::new(letter, itemsize)?;
        let nbytes = code.nbytes(count)?;
        self.at = last;
        let data = self.data(start, &mut owed, nbytes, code.check(), charge::typed_array(inline(nbytes)))?;
        self.build.typed_array(code, data)
    }

    fn unsigned(&mut self, owed: &mut u64) -> Result<u64> {
        match self.head(owed)? {
            Head::Unsigned(value) => Ok(value),
            _ => Err(Error::new(Code::BadType).note("an unsigned int belongs here")),
        }
    }
}

/// D17: the next value is a count.
pub(super) fn check_count(rest: &[u8]) -> Result<()> {
    let mut ahead = Cursor::new(rest, 0);
    match ahead.head() {
        Ok(
            Head::Bool(_)
            | Head::Unsigned(_)
            | Head::Negative(_)
            | Head::Float(_)
            | Head::Ext(leaf::BIG_INT, _),
        ) => Ok(()),
        // What is no value at all is refused as such.
        Err(_) => Ok(()),
        Ok(_) => Err(Error::new(Code::BadType).note("a count is a bool, an int or a float")),
    }
}
