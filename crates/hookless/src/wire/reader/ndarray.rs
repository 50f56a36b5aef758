//! Array nodes: A1 to A8, A10, A13 to A16.

use crate::array::{ArrayHead, Dtype, ElementCheck, Field, MAX_DIMENSIONS, Order, Shape, order_matters};
use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge, over};
use crate::value::TextRef;
use crate::wire::cursor::Head;
use crate::wire::marker::leaf;
use crate::wire::{Build, Data};

use super::Reader;

/// Elements of a structured dtype (A13), and of a field (A14).
const STRUCTURE: u64 = 3;
const FIELD: u64 = 5;

impl<B: Build> Reader<'_, '_, B> {
    /// A1 to A8, A10.
    pub(super) fn ndarray(&mut self, items: u64) -> Result<B::Value> {
        if items != 4 {
            return Err(Error::new(Code::BadArity).note(format!("an array has 4 elements, not {items}")));
        }
        let start = self.at;
        self.admit(0, 0)?;
        let mut owed = self.claim(0)?.saturating_add(items);
        let dtype = self.dtype(&mut owed, 0, &mut 0)?;
        let order = match self.head(&mut owed)? {
            Head::Unsigned(0) => Order::C,
            Head::Unsigned(1) => Order::F,
            Head::Unsigned(_) => return Err(Error::new(Code::BadOrder)),
            _ => return Err(Error::new(Code::BadType).note("order is 0 or 1")),
        };
        let order_at = self.at;
        let dimensions = self.dimensions(&mut owed)?;
        let matters = order_matters(&dimensions);
        let check = ElementCheck::of(&dtype);
        let head = ArrayHead::new(dtype, Shape::new(dimensions, order)?)?;
        if order == Order::F && !matters {
            self.at = order_at;
            return Err(Error::new(Code::NotCanonical).note("C and F order are the same here"));
        }
        let nbytes = head.nbytes();
        let inline = if nbytes < REGION_THRESHOLD { nbytes } else { 0 };
        let cost = charge::array(head.shape().dimensions(), nbytes, inline);
        match self.head(&mut owed)? {
            Head::Bin(len) => {
                let bytes = self.cursor.take(len)?;
                if nbytes >= REGION_THRESHOLD {
                    return Err(Error::new(Code::NotCanonical).note("goes into the data region"));
                }
                if u64::from(len) != nbytes {
                    return Err(over(Code::BadDataLength, u64::from(len), nbytes));
                }
                let data_at = self.cursor.offset().saturating_sub(u64::from(len));
                if let Some(bad) = check.find_bad(bytes) {
                    return Err(Error::at(Code::BadElement, data_at.saturating_add(bad)));
                }
                self.at = start;
                self.budget.charge(cost)?;
                self.build.array(head, Data::Inline(bytes))
            }
            Head::Nil if nbytes < REGION_THRESHOLD => {
                Err(Error::new(Code::NotCanonical).note("an array of this size stays in the body"))
            }
            Head::Nil => {
                let entry = std::mem::replace(&mut self.at, start);
                self.budget.charge(cost)?;
                self.at = entry;
                let offset = self.slot(nbytes, check)?;
                self.build.array(head, Data::Region { offset, len: nbytes })
            }
            _ => Err(Error::new(Code::BadType).note("data is bin or nil")),
        }
    }

    /// A2, or A13 for a structured one. `depth` structures are open, and `fields` fields have been read.
    fn dtype(&mut self, owed: &mut u64, depth: u64, fields: &mut u64) -> Result<Dtype> {
        if matches!(self.cursor.rest.first(), Some(0x90..=0x9f | 0xdc | 0xdd)) {
            return self.structure(owed, depth, fields);
        }
        match self.head(owed)? {
            Head::Ext(ext, len) => {
                let payload = self.cursor.take(len)?;
                if ext != leaf::DTYPE {
                    return Err(Error::new(Code::BadType).note("a dtype is ext 8 or an array"));
                }
                Dtype::from_payload(payload)
            }
            _ => Err(Error::new(Code::BadType).note("a dtype is ext 8 or an array")),
        }
    }

    /// A13 to A15, A17. Recurses at most `Limits::dtype_depth` times.
    fn structure(&mut self, owed: &mut u64, depth: u64, count: &mut u64) -> Result<Dtype> {
        let elements = self.list_head(owed)?;
        let start = self.at;
        if elements != STRUCTURE {
            return Err(
                Error::new(Code::BadArity).note(format!("a structure has 3 elements, not {elements}"))
            );
        }
        if depth >= self.limits.dtype_depth {
            return Err(over(Code::DtypeLimit, depth.saturating_add(1), self.limits.dtype_depth));
        }
        let itemsize = self.number(owed)?;
        let align = self.flag(owed)?;
        let announced = self.list_head(owed)?;
        *count = count.saturating_add(announced);
        if *count > self.limits.dtype_fields {
            return Err(over(Code::DtypeLimit, *count, self.limits.dtype_fields));
        }
        let mut fields = Vec::new();
        for _ in 0..announced {
            let elements = self.list_head(owed)?;
            if elements != FIELD {
                return Err(
                    Error::new(Code::BadArity).note(format!("a field has 5 elements, not {elements}"))
                );
            }
            self.budget.charge(charge::FIELD)?;
            let name = self.name(owed)?.to_text();
            let title = if self.peek_nil(owed) { None } else { Some(self.name(owed)?) };
            let offset = self.number(owed)?;
            let shape = self.many(owed, Self::number)?;
            let dtype = self.dtype(owed, depth.saturating_add(1), count)?;
            fields.push(Field { name, title: title.map(TextRef::to_text), offset, shape, dtype });
        }
        self.at = start;
        Dtype::structure(itemsize, align, fields)
    }

    /// A6.
    fn dimensions(&mut self, owed: &mut u64) -> Result<Vec<u64>> {
        let rank = self.list_head(owed)?;
        let start = self.at;
        if rank > MAX_DIMENSIONS {
            return Err(over(Code::BadShape, rank, MAX_DIMENSIONS));
        }
        let mut dimensions = Vec::with_capacity(usize::try_from(rank).unwrap_or_default());
        for _ in 0..rank {
            match self.head(owed)? {
                Head::Unsigned(extent) => dimensions.push(extent),
                _ => return Err(Error::new(Code::BadType).note("a dimension is an unsigned int")),
            }
        }
        self.at = start;
        Ok(dimensions)
    }
}
