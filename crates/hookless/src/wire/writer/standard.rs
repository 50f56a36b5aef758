//! Values of the standard library: D1–D16, D18.

use crate::array::TypeCode;
use crate::error::{Code, Error, Result};
use crate::limits::{charge, inline};
use crate::memory;
use crate::value::Standard;
use crate::wire::marker::{NIL, Node};
use crate::wire::{keys, raw, wide};

use super::{Placed, Writer};

impl Writer<'_> {
    /// A scalar of the standard library (D1 to D14).
    pub fn standard(&mut self, value: &Standard) -> Result<()> {
        if self.in_key {
            if !value.is_keyable() {
                return Err(Error::new(Code::NotKeyable));
            }
            self.marks = self.marks.and(keys::Marks::of(value));
            if let Standard::Decimal(number) = value {
                let digits = number.written_out(self.limits.int_bytes).unwrap_or_default();
                self.budget.charge(charge::exact_key(digits))?;
            }
        }
        value.check_limits(self.limits)?;
        let mut payload = Vec::new();
        value.write(&mut payload)?;
        let leaf = value.leaf();
        self.budget.charge(leaf.charge(&payload))?;
        self.check_length(payload.len())?;
        self.room(payload.len())?;
        raw::ext(&mut self.out, leaf.ext(), &payload)?;
        Ok(())
    }

    /// D16: the head of a deque, and its `maxlen`.
    pub(super) fn deque(&mut self, maxlen: Option<u64>, len: usize) -> Result<()> {
        if maxlen.is_some_and(|most| wide(len) > most) {
            return Err(Error::new(Code::BadArity).note("more items than maxlen"));
        }
        self.node(Node::Deque, len.saturating_add(1))?;
        match maxlen {
            None => memory::push(&mut self.out, NIL)?,
            Some(most) if most < 1 << 63 => raw::unsigned(&mut self.out, most)?,
            Some(_) => return Err(Error::new(Code::BadNumber)),
        }
        Ok(())
    }

    /// An `array.array` of `nbytes` bytes (D18), little-endian: they follow by [`Writer::array_data`] when this says
    /// [`Placed::Inline`].
    pub fn typed_array(&mut self, code: TypeCode, nbytes: u64) -> Result<Placed> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::typed_array(inline(nbytes)), 0)?;
        self.depth = self.depth.saturating_sub(1);
        self.node(Node::TypedArray, 4)?;
        raw::unsigned(&mut self.out, u64::from(code.letter()))?;
        raw::unsigned(&mut self.out, code.itemsize())?;
        raw::unsigned(&mut self.out, nbytes.checked_div(code.itemsize()).unwrap_or_default())?;
        self.data_head(nbytes)
    }
}
