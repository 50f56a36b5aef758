//! Array nodes: A1 to A8, A10, A13 to A19.

use crate::array::{
    ArrayClass, ArrayHead, Dtype, ElementCheck, Field, MAX_DIMENSIONS, Order, Shape, StructureFlags,
    order_matters,
};
use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge, inline, over};
use crate::memory;
use crate::value::TextRef;
use crate::wire::cursor::Head;
use crate::wire::marker::leaf;
use crate::wire::{ArrayParts, Build, Data, wide};

use super::Reader;

/// Elements of a structured dtype (A13), and of a field (A14).
const STRUCTURE: u64 = 3;
const FIELD: u64 = 5;

/// Where the order of an array stands, and whether it says F for nothing (A7).
pub(super) struct Ordering<'b> {
    at: &'b [u8],
    useless: bool,
}

impl<'b, B: Build> Reader<'_, 'b, B> {
    /// A1: an array by itself.
    pub(super) fn ndarray(&mut self, items: u64) -> Result<B::Value> {
        arity("an array", 4, items)?;
        let start = self.at;
        self.admit(0, 0)?;
        let mut owed = self.claim(0)?.saturating_add(items);
        if B::BY_PARTS
            && let Some(value) = self.short_array(start, owed)?
        {
            return Ok(value);
        }
        let parts = self.array_parts(start, &mut owed)?;
        self.build.array(parts.head, parts.data)
    }

    /// A1 to A8, A10: the elements of an array node that begins at `start`.
    pub(super) fn array_parts(&mut self, start: &'b [u8], owed: &mut u64) -> Result<ArrayParts<'b>> {
        let dtype = self.dtype(owed, 0, &mut 0)?;
        let check = ElementCheck::of(&dtype)?;
        let (order, class) = self.order(owed, 3)?;
        let (shape, order) = self.shape(owed, order, dtype.itemsize())?;
        let head = ArrayHead::new(dtype, shape)?;
        self.check_order(&order)?;
        self.at = order.at;
        let head = head.with_class(class)?;
        let nbytes = head.nbytes();
        let cost = charge::array(head.shape().dimensions(), nbytes, inline(nbytes));
        let data = self.data(start, owed, nbytes, check, cost)?;
        Ok(ArrayParts { head, data })
    }

    /// A8, A10: the bytes of an array, or nil where they are in the region. The array begins at `start`, and is charged `cost` there.
    pub(super) fn data(
        &mut self,
        start: &'b [u8],
        owed: &mut u64,
        nbytes: u64,
        check: ElementCheck,
        cost: u64,
    ) -> Result<Data<'b>> {
        match self.head(owed)? {
            Head::Bin(len) => {
                let bytes = self.cursor.take(len)?;
                if nbytes >= REGION_THRESHOLD {
                    return Err(Error::new(Code::NotCanonical).note("goes into the data region"));
                }
                if u64::from(len) != nbytes {
                    return Err(over(Code::BadDataLength, u64::from(len), nbytes));
                }
                self.check_elements(&check, bytes)?;
                self.at = start;
                self.budget.charge(cost)?;
                Ok(Data::Inline(bytes))
            }
            Head::Nil if nbytes < REGION_THRESHOLD => {
                Err(Error::new(Code::NotCanonical).note("an array of this size stays in the body"))
            }
            Head::Nil => {
                let entry = std::mem::replace(&mut self.at, start);
                self.budget.charge(cost)?;
                self.at = entry;
                let offset = self.slot(nbytes, check)?;
                Ok(Data::Region { offset, len: nbytes })
            }
            _ => Err(Error::new(Code::BadType).note("data is bin or nil")),
        }
    }

    /// A10, in bytes that were just taken.
    pub(super) fn check_elements(&self, check: &ElementCheck, bytes: &[u8]) -> Result<()> {
        let start = self.cursor.offset().saturating_sub(wide(bytes.len()));
        match check.find_bad(bytes) {
            Some(bad) => Err(Error::at(Code::BadElement, start.saturating_add(bad))),
            None => Ok(()),
        }
    }

    /// A7: an order, and a class where `most` is 3 and not 1.
    pub(super) fn order(&mut self, owed: &mut u64, most: u64) -> Result<(Order, ArrayClass)> {
        let Head::Unsigned(number) = self.head(owed)? else {
            return Err(Error::new(Code::BadType).note("order is an unsigned int"));
        };
        if number > most {
            return Err(Error::new(Code::BadOrder).note(format_args!("{number}")));
        }
        let order = if number & 1 == 0 { Order::C } else { Order::F };
        Ok((order, if number & 2 == 0 { ArrayClass::Plain } else { ArrayClass::Record }))
    }

    /// A6 in part; the rest of it depends on what the elements are.
    pub(super) fn shape(
        &mut self,
        owed: &mut u64,
        order: Order,
        itemsize: u64,
    ) -> Result<(Shape, Ordering<'b>)> {
        let order_at = self.at;
        let dimensions = self.dimensions(owed)?;
        let useless = order == Order::F && (itemsize == 0 || !order_matters(&dimensions));
        Ok((Shape::new(dimensions, order)?, Ordering { at: order_at, useless }))
    }

    /// A7, once the shape has been checked.
    pub(super) fn check_order(&mut self, order: &Ordering<'b>) -> Result<()> {
        if order.useless {
            self.at = order.at;
            return Err(Error::new(Code::NotCanonical).note("C and F order are the same here"));
        }
        Ok(())
    }

    /// A2, or A13 for a structured one. `depth` structures are open, and `fields` fields have been read.
    pub(super) fn dtype(&mut self, owed: &mut u64, depth: u64, fields: &mut u64) -> Result<Dtype> {
        if matches!(self.cursor.rest.first(), Some(0x90..=0x9f | 0xdc | 0xdd)) {
            return self.structure(owed, depth, fields);
        }
        match self.head(owed)? {
            Head::Ext(leaf::DTYPE, len) => Dtype::from_payload(self.cursor.take(len)?),
            _ => Err(Error::new(Code::BadType).note("a dtype is ext 8 or an array")),
        }
    }

    /// A13 to A15, A17. Recurses at most `Limits::dtype_depth` times.
    fn structure(&mut self, owed: &mut u64, depth: u64, count: &mut u64) -> Result<Dtype> {
        let elements = self.list_head(owed)?;
        let start = self.at;
        arity("a structure", STRUCTURE, elements)?;
        if depth >= self.limits.dtype_depth {
            return Err(over(Code::DtypeLimit, depth.saturating_add(1), self.limits.dtype_depth));
        }
        let itemsize = self.number(owed)?;
        let number = self.number(owed)?;
        let Some(flags) = StructureFlags::from_number(number) else {
            return Err(Error::new(Code::BadNumber).note(format_args!("flags {number}")));
        };
        let announced = self.list_head(owed)?;
        *count = count.saturating_add(announced);
        if *count > self.limits.dtype_fields {
            return Err(over(Code::DtypeLimit, *count, self.limits.dtype_fields));
        }
        let mut fields = Vec::new();
        for _ in 0..announced {
            let elements = self.list_head(owed)?;
            arity("a field", FIELD, elements)?;
            self.budget.charge(charge::FIELD)?;
            let name = self.name(owed)?.try_to_text()?;
            let title = if self.peek_nil(owed) { None } else { Some(self.name(owed)?) };
            let offset = self.number(owed)?;
            let shape = self.many(owed, Self::number)?;
            let dtype = self.dtype(owed, depth.saturating_add(1), count)?;
            let title = title.map(TextRef::try_to_text).transpose()?;
            memory::push(&mut fields, Field { name, title, offset, shape, dtype })?;
        }
        self.at = start;
        Dtype::structure(itemsize, flags, fields)
    }

    /// A6.
    fn dimensions(&mut self, owed: &mut u64) -> Result<Vec<u64>> {
        let rank = self.list_head(owed)?;
        let start = self.at;
        if rank > MAX_DIMENSIONS {
            return Err(over(Code::BadShape, rank, MAX_DIMENSIONS));
        }
        let mut dimensions = memory::room(usize::try_from(rank).unwrap_or_default())?;
        for _ in 0..rank {
            match self.head(owed)? {
                Head::Unsigned(extent) => memory::push(&mut dimensions, extent)?,
                _ => return Err(Error::new(Code::BadType).note("a dimension is an unsigned int")),
            }
        }
        self.at = start;
        Ok(dimensions)
    }
}

/// A1, A13, A14, A20 to A22: exactly so many elements.
pub(super) fn arity(what: &str, wanted: u64, found: u64) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::new(Code::BadArity).note(format_args!("{what} has {wanted} elements, not {found}")))
}
