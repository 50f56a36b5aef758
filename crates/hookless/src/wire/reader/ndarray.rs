//! Array nodes: A1 to A8, A10.

use crate::array::{ArrayHead, Dtype, ElementCheck, MAX_DIMENSIONS, Order, Shape, order_matters};
use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge, over};
use crate::wire::cursor::Head;
use crate::wire::marker::leaf;
use crate::wire::{Build, Data, size, wide};

use super::Reader;

impl<B: Build> Reader<'_, '_, B> {
    /// A1 to A8, A10.
    pub(super) fn ndarray(&mut self, items: u64) -> Result<B::Value> {
        if items != 4 {
            return Err(Error::new(Code::BadArity).note(format!("an array has 4 elements, not {items}")));
        }
        let start = self.at;
        self.admit(0, 0)?;
        let dtype = self.dtype()?;
        self.at = self.cursor.rest;
        let order = match self.cursor.head()? {
            Head::Unsigned(0) => Order::C,
            Head::Unsigned(1) => Order::F,
            Head::Unsigned(_) => return Err(Error::new(Code::BadOrder)),
            _ => return Err(Error::new(Code::BadType).note("order is 0 or 1")),
        };
        let order_at = std::mem::replace(&mut self.at, self.cursor.rest);
        let dimensions = self.dimensions()?;
        let rank = wide(dimensions.len());
        let matters = order_matters(&dimensions);
        let head = ArrayHead::new(dtype, Shape::new(dimensions, order)?)?;
        if order == Order::F && !matters {
            self.at = order_at;
            return Err(Error::new(Code::NotCanonical).note("C and F order are the same here"));
        }
        self.at = self.cursor.rest;
        let check = ElementCheck::of(dtype);
        let nbytes = head.nbytes();
        match self.cursor.head()? {
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
                self.budget.charge(charge::array(rank, nbytes))?;
                self.build.array(head, Data::Inline(bytes))
            }
            Head::Nil if nbytes < REGION_THRESHOLD => {
                Err(Error::new(Code::NotCanonical).note("an array of this size stays in the body"))
            }
            Head::Nil => {
                let entry = std::mem::replace(&mut self.at, start);
                self.budget.charge(charge::array(rank, 0))?;
                self.at = entry;
                let offset = self.slot(nbytes, check)?;
                self.build.array(head, Data::Region { offset, len: nbytes })
            }
            _ => Err(Error::new(Code::BadType).note("data is bin or nil")),
        }
    }

    /// A2.
    fn dtype(&mut self) -> Result<Dtype> {
        self.at = self.cursor.rest;
        match self.cursor.head()? {
            Head::Ext(ext, len) => {
                let payload = self.cursor.take(len)?;
                if ext != leaf::DTYPE {
                    return Err(Error::new(Code::BadType).note("a dtype is ext 8"));
                }
                Dtype::from_payload(payload)
            }
            _ => Err(Error::new(Code::BadType).note("a dtype is ext 8")),
        }
    }

    /// A6.
    fn dimensions(&mut self) -> Result<Vec<u64>> {
        let Head::Array(rank) = self.cursor.head()? else {
            return Err(Error::new(Code::BadType).note("a shape is an array of ints"));
        };
        // V18: the array's data are owed as well.
        self.claim(u64::from(rank).saturating_add(1))?;
        if rank != 0 && self.cursor.at_marker() {
            return Err(Error::new(Code::BadType).note("a shape is an array of ints"));
        }
        if u64::from(rank) > MAX_DIMENSIONS {
            return Err(over(Code::BadShape, u64::from(rank), MAX_DIMENSIONS));
        }
        let start = self.at;
        let mut dimensions = Vec::with_capacity(size(rank));
        for _ in 0..rank {
            self.at = self.cursor.rest;
            match self.cursor.head()? {
                Head::Unsigned(extent) => dimensions.push(extent),
                _ => return Err(Error::new(Code::BadType).note("a dimension is an unsigned int")),
            }
        }
        self.at = start;
        Ok(dimensions)
    }
}
