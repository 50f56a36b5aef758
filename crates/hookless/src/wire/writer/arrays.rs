//! What is made of arrays, dtypes and shapes: A20 to A24.

use crate::array::{
    ArrayHead, Dtype, Element, Missing, Order, Shape, check_fill_value, check_items, check_mask,
};
use crate::error::{Code, Error, Result};
use crate::limits::charge;
use crate::memory;
use crate::wire::marker::{FALSE, NIL, Node, TRUE};
use crate::wire::{raw, wide};

use super::{Placed, Writer};

impl Writer<'_> {
    /// A NumPy scalar of a dtype that has no leaf (A20): exactly the bytes of one element, which the caller has made right.
    pub fn element(&mut self, dtype: &Dtype, bytes: &[u8]) -> Result<()> {
        self.refuse_key()?;
        Element::check_dtype(dtype)?;
        if wide(bytes.len()) != dtype.itemsize() {
            return Err(Error::new(Code::BadDataLength));
        }
        self.open(charge::element(wide(bytes.len())), 0)?;
        self.depth = self.depth.saturating_sub(1);
        self.node(Node::Element, 2)?;
        self.dtype(dtype, 0, &mut 0)?;
        self.check_length(bytes.len())?;
        self.room(bytes.len())?;
        raw::bin(&mut self.out, bytes)?;
        Ok(())
    }

    /// A masked array of parts that go together (A21, A22). The caller writes each of the three by [`Writer::masked_part`], then
    /// [`Writer::end_masked`].
    pub fn masked(
        &mut self,
        data: &ArrayHead,
        mask: Option<&ArrayHead>,
        fill_value: Option<&ArrayHead>,
    ) -> Result<()> {
        self.refuse_key()?;
        check_mask(data, mask)?;
        check_fill_value(data, fill_value)?;
        self.open(charge::MASKED, 0)?;
        self.depth = self.depth.saturating_sub(1);
        self.node(Node::Masked, 4)
    }

    /// A part of a masked array: as [`Writer::array`], or nothing where there is none.
    pub fn masked_part(&mut self, part: Option<&ArrayHead>) -> Result<Option<Placed>> {
        match part {
            Some(head) => self.array_node(head).map(Some),
            None => {
                memory::push(&mut self.out, NIL)?;
                Ok(None)
            }
        }
    }

    /// Ends a masked array.
    pub fn end_masked(&mut self, hard_mask: bool) -> Result<()> {
        Ok(memory::push(&mut self.out, if hard_mask { TRUE } else { FALSE })?)
    }

    /// An array of objects (A23), its `len` items to be written next, in the order in which they lie; closed by
    /// [`Writer::end_sequence`].
    pub fn objects(&mut self, shape: &Shape, len: usize) -> Result<()> {
        self.refuse_key()?;
        check_items(shape, len)?;
        self.open(charge::items(charge::OBJECT, wide(len)), wide(len))?;
        self.node(Node::Objects, len.saturating_add(2))?;
        self.flat_shape(shape, len)
    }

    /// An array of texts (A24), its `len` items to be written next by [`Writer::string`]; closed by [`Writer::end_sequence`].
    pub fn strings(&mut self, missing: &Missing, coerce: bool, shape: &Shape, len: usize) -> Result<()> {
        self.refuse_key()?;
        check_items(shape, len)?;
        missing.check()?;
        self.open(charge::items(charge::STRING, wide(len)), wide(len))?;
        self.node(Node::Strings, len.saturating_add(4))?;
        match missing {
            Missing::Never => memory::push(&mut self.out, FALSE)?,
            Missing::None => memory::push(&mut self.out, NIL)?,
            Missing::Nan(value) => raw::float(&mut self.out, *value)?,
            Missing::Text(text) => self.plain_text(text)?,
        }
        memory::push(&mut self.out, if coerce { TRUE } else { FALSE })?;
        self.flat_shape(shape, len)
    }

    /// The next item of an array of texts; none for a missing one.
    pub fn string(&mut self, missing: &Missing, item: Option<&str>) -> Result<()> {
        missing.check_item(item)?;
        match item {
            Some(text) => self.plain_text(text)?,
            None => memory::push(&mut self.out, NIL)?,
        }
        Ok(())
    }

    fn plain_text(&mut self, text: &str) -> Result<()> {
        self.budget.charge(charge::string(wide(text.len()), text.is_ascii()))?;
        self.check_length(text.len())?;
        self.room(text.len())?;
        raw::str(&mut self.out, text)?;
        Ok(())
    }

    fn flat_shape(&mut self, shape: &Shape, len: usize) -> Result<()> {
        self.budget.charge(charge::array(shape.dimensions(), wide(len), 0))?;
        raw::unsigned(&mut self.out, u64::from(shape.order() == Order::F))?;
        self.dimensions(shape.dimensions())
    }

    fn refuse_key(&self) -> Result<()> {
        if self.in_key { Err(Error::new(Code::NotKeyable)) } else { Ok(()) }
    }
}
