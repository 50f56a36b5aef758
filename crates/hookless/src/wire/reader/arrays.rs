//! What is made of arrays, dtypes and shapes: A20 to A24.

use crate::array::{
    ArrayHead, Element, ElementCheck, ITEM, Missing, Shape, check_fill_value, check_items, check_mask,
};
use crate::error::{Code, Error, Result};
use crate::limits::{charge, over};
use crate::memory;
use crate::wire::cursor::Head;
use crate::wire::marker::Node;
use crate::wire::{ArrayParts, Build, MaskedParts, SequenceKind, StringParts, wide};

use super::Reader;
use super::ndarray::arity;
use super::open::What;

/// Elements of an array of objects, and of one of texts, before its items (A23, A24).
const OBJECTS: u64 = 2;
const STRINGS: u64 = 4;

impl<'b, B: Build> Reader<'_, 'b, B> {
    /// A20.
    pub(super) fn element(&mut self, items: u64) -> Result<B::Value> {
        arity("a scalar", 2, items)?;
        let start = self.at;
        self.admit(0, 0)?;
        let mut owed = self.claim(0)?.saturating_add(items);
        let dtype_at = self.cursor.rest;
        let dtype = self.dtype(&mut owed, 0, &mut 0)?;
        self.at = dtype_at;
        Element::check_dtype(&dtype)?;
        let Head::Bin(len) = self.head(&mut owed)? else {
            return Err(Error::new(Code::BadType).note("data is bin"));
        };
        let bytes = self.cursor.take(len)?;
        if u64::from(len) != dtype.itemsize() {
            return Err(over(Code::BadDataLength, u64::from(len), dtype.itemsize()));
        }
        self.check_elements(&ElementCheck::of(&dtype)?, bytes)?;
        self.at = start;
        self.budget.charge(charge::element(u64::from(len)))?;
        self.build.element(dtype, bytes)
    }

    /// A21, A22.
    pub(super) fn masked(&mut self, items: u64) -> Result<B::Value> {
        arity("a masked array", 4, items)?;
        let start = self.at;
        self.admit(0, charge::MASKED)?;
        let mut owed = self.claim(0)?.saturating_add(items);
        let data = self.array_item(&mut owed)?;
        let mask = self.part(&mut owed, &data.head, check_mask)?;
        let fill_value = self.part(&mut owed, &data.head, check_fill_value)?;
        let hard_mask = self.flag(&mut owed)?;
        self.at = start;
        self.build.masked(MaskedParts { data, mask, fill_value, hard_mask })
    }

    /// nil or an array, which goes with the data by `check`.
    fn part(
        &mut self,
        owed: &mut u64,
        data: &ArrayHead,
        check: impl Fn(&ArrayHead, Option<&ArrayHead>) -> Result<()>,
    ) -> Result<Option<ArrayParts<'b>>> {
        let start = self.cursor.rest;
        let part = if self.peek_nil(owed) { None } else { Some(self.array_item(owed)?) };
        self.at = start;
        check(data, part.as_ref().map(|part| &part.head))?;
        Ok(part)
    }

    /// An ndarray node that is an element of another node.
    fn array_item(&mut self, owed: &mut u64) -> Result<ArrayParts<'b>> {
        let start = self.cursor.rest;
        let count = match self.head(owed)? {
            Head::Array(count) => u64::from(count),
            _ => return Err(Error::new(Code::BadType).note("an ndarray belongs here")),
        };
        self.claim_over(*owed, count)?;
        let Some(rest) = self.cursor.rest.strip_prefix(&Node::Array.marker()) else {
            return Err(Error::new(Code::BadType).note("an ndarray belongs here"));
        };
        let items = count.saturating_sub(1);
        arity("an array", 4, items)?;
        self.cursor.rest = rest;
        *owed = owed.saturating_add(items);
        self.array_parts(start, owed)
    }

    /// A23: the items are read by the main loop.
    pub(super) fn open_objects(&mut self, items: u64, below: u64) -> Result<Option<B::Value>> {
        let len = self.flat("an array of objects", items, OBJECTS)?;
        let start = self.at;
        self.admit(len, charge::items(charge::OBJECT, len))?;
        let mut owed = self.claim(0)?.saturating_add(items);
        let shape = self.flat_shape(&mut owed, start, len)?;
        let list = self.build.sequence(SequenceKind::Tuple, usize::try_from(len).unwrap_or(usize::MAX))?;
        if len == 0 {
            return self.build.finish_objects(list, shape).map(Some);
        }
        self.open(len, below, What::Objects { list, shape, len })?;
        Ok(None)
    }

    /// A24.
    pub(super) fn strings(&mut self, items: u64) -> Result<B::Value> {
        let len = self.flat("an array of texts", items, STRINGS)?;
        let start = self.at;
        self.admit(len, charge::items(charge::STRING, len))?;
        let mut owed = self.claim(0)?.saturating_add(items);
        let missing = match self.head(&mut owed)? {
            Head::Bool(false) => Missing::Never,
            Head::Nil => Missing::None,
            Head::Float(bits) => Missing::Nan(f64::from_bits(bits)),
            Head::Str(len) => Missing::Text(memory::text(self.utf8(len)?)?),
            _ => return Err(Error::new(Code::BadType).note("false, nil, a NaN or a text")),
        };
        missing.check()?;
        let coerce = self.flag(&mut owed)?;
        let shape = self.flat_shape(&mut owed, start, len)?;
        let mut texts = memory::room(usize::try_from(len).unwrap_or(usize::MAX))?;
        for _ in 0..len {
            let item = match self.head(&mut owed)? {
                Head::Nil => None,
                Head::Str(len) => Some(self.utf8(len)?),
                _ => return Err(Error::new(Code::BadType).note("text or nil belongs here")),
            };
            missing.check_item(item)?;
            memory::push(&mut texts, item)?;
        }
        self.at = start;
        self.build.strings(StringParts { missing, coerce, shape, items: texts })
    }

    /// How many items follow the first elements of a node.
    fn flat(&self, what: &str, items: u64, first: u64) -> Result<u64> {
        items.checked_sub(first).ok_or_else(|| {
            Error::new(Code::BadArity).note(format_args!("{what} has at least {first} elements, not {items}"))
        })
    }

    /// A6 and A7 of a node that begins at `start` and has `len` items.
    fn flat_shape(&mut self, owed: &mut u64, start: &'b [u8], len: u64) -> Result<Shape> {
        let (order, _) = self.order(owed, 1)?;
        let (shape, order) = self.shape(owed, order, ITEM)?;
        let items = usize::try_from(len).unwrap_or(usize::MAX);
        if let Err(error) = check_items(&shape, items) {
            if error.code() == Code::BadDataLength {
                self.at = start;
            }
            return Err(error);
        }
        self.check_order(&order)?;
        self.at = start;
        self.budget.charge(charge::array(shape.dimensions(), len, 0))?;
        Ok(shape)
    }

    /// Text of an array: V6, and its charge there.
    fn utf8(&mut self, len: u32) -> Result<&'b str> {
        let bytes = self.cursor.take(len)?;
        self.budget.charge(charge::string(wide(bytes.len()), bytes.is_ascii()))?;
        std::str::from_utf8(bytes).map_err(|error| self.bad_utf8(bytes, error.valid_up_to()))
    }
}
