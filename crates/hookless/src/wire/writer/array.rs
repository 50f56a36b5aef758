//! Arrays and NumPy scalars.

use crate::array::{ArrayHead, Dtype, MAX_DIMENSIONS, ScalarKind, bytes_of};
use crate::error::{Code, Error, Result};
use crate::limits::{REGION_THRESHOLD, charge, inline, over};
use crate::memory;
use crate::wire::marker::{FIXEXT4, NIL, Node, leaf};
use crate::wire::{keys, raw, size, wide};

use super::{Placed, Writer};

impl Writer<'_> {
    /// An array (A1), in the order that A12 chooses: its bytes follow by [`Writer::array_data`] when this says [`Placed::Inline`].
    pub fn array(&mut self, head: &ArrayHead) -> Result<Placed> {
        self.enter_array()?;
        self.array_node(head)
    }

    /// A plain array in C order, as [`Writer::array`] writes it, by its parts: for small ones, of which making a head is most of the work.
    ///
    /// # Errors
    /// Those of [`Writer::array`], `bad_shape` for more than 64 dimensions, `bad_data_length` where `nbytes` is not what dtype and shape ask
    /// for.
    pub fn numbers(&mut self, dtype: &Dtype, shape: &[u64], nbytes: u64) -> Result<Placed> {
        if wide(shape.len()) > MAX_DIMENSIONS {
            return Err(Error::new(Code::BadShape));
        }
        if bytes_of(shape, dtype.itemsize()) != Some(nbytes) {
            return Err(Error::new(Code::BadDataLength));
        }
        self.enter_array()?;
        let ([a, b, c, d, ..], 4) = dtype.payload() else { return self.parts(dtype, shape, 0, nbytes) };
        self.budget.charge(charge::array(shape, nbytes, inline(nbytes)))?;
        // In one append: node, dtype and order.
        let [x, y, z] = Node::Array.marker();
        memory::extend(&mut self.out, &[0x95, x, y, z, FIXEXT4, leaf::DTYPE, a, b, c, d, 0])?;
        self.dimensions(shape)?;
        self.data_head(nbytes)
    }

    fn enter_array(&mut self) -> Result<()> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(0, 0)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    /// The node of an array, in whatever it is an element of.
    pub(super) fn array_node(&mut self, head: &ArrayHead) -> Result<Placed> {
        self.parts(head.dtype(), head.shape().dimensions(), head.order_number(), head.nbytes())
    }

    #[inline]
    fn parts(&mut self, dtype: &Dtype, shape: &[u64], order: u64, nbytes: u64) -> Result<Placed> {
        self.budget.charge(charge::array(shape, nbytes, inline(nbytes)))?;
        self.node(Node::Array, 4)?;
        self.dtype(dtype, 0, &mut 0)?;
        raw::unsigned(&mut self.out, order)?;
        self.dimensions(shape)?;
        self.data_head(nbytes)
    }

    /// A8: what stands before the bytes of an array, or in their place when they go into the region.
    pub(super) fn data_head(&mut self, nbytes: u64) -> Result<Placed> {
        if nbytes >= REGION_THRESHOLD {
            self.region.next(nbytes)?;
            memory::push(&mut self.out, NIL)?;
            return Ok(Placed::Region);
        }
        let len = u32::try_from(nbytes).map_err(|_| Error::new(Code::BodyLimit))?;
        self.room(size(len))?;
        raw::bin_head(&mut self.out, len)?;
        Ok(Placed::Inline)
    }

    pub(super) fn dimensions(&mut self, shape: &[u64]) -> Result<()> {
        self.array_head(shape.len())?;
        shape.iter().try_for_each(|&extent| raw::unsigned(&mut self.out, extent))?;
        Ok(())
    }

    /// A2, or A13 for a structured one; `depth` structures are open, and `count` fields have been written.
    pub(super) fn dtype(&mut self, dtype: &Dtype, depth: u64, count: &mut u64) -> Result<()> {
        let Some(structure) = dtype.fields() else {
            let (payload, len) = dtype.payload();
            raw::ext(&mut self.out, leaf::DTYPE, payload.get(..len).unwrap_or_default())?;
            return Ok(());
        };
        if depth >= self.limits.dtype_depth {
            return Err(over(Code::DtypeLimit, depth.saturating_add(1), self.limits.dtype_depth));
        }
        let fields = structure.fields();
        *count = count.saturating_add(wide(fields.len()));
        if *count > self.limits.dtype_fields {
            return Err(over(Code::DtypeLimit, *count, self.limits.dtype_fields));
        }
        raw::array(&mut self.out, 3)?;
        raw::unsigned(&mut self.out, dtype.itemsize())?;
        raw::unsigned(&mut self.out, structure.flags().number())?;
        self.array_head(fields.len())?;
        for field in fields {
            self.budget.charge(charge::FIELD)?;
            raw::array(&mut self.out, 5)?;
            self.descriptor_text(field.name.as_ref())?;
            match &field.title {
                Some(title) => self.descriptor_text(title.as_ref())?,
                None => memory::push(&mut self.out, NIL)?,
            }
            raw::unsigned(&mut self.out, u64::from(field.offset))?;
            self.array_head(field.shape.len())?;
            field.shape.iter().try_for_each(|&extent| raw::unsigned(&mut self.out, u64::from(extent)))?;
            self.dtype(&field.dtype, depth.saturating_add(1), count)?;
        }
        Ok(())
    }

    /// The next bytes of an array that is inline; all together exactly as many as its head says.
    pub fn array_data(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(memory::extend(&mut self.out, bytes)?)
    }

    /// Room for the next bytes of an array that is inline, all of them zero: for a caller that puts them there part by part.
    pub fn array_room(&mut self, len: usize) -> Result<&mut [u8]> {
        let start = self.out.len();
        memory::resize(&mut self.out, start.saturating_add(len), 0)?;
        Ok(self.out.get_mut(start..).unwrap_or_default())
    }

    /// A NumPy scalar of its wire payload (A9), which the caller has made right.
    pub fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<()> {
        if self.in_key && !kind.is_keyable() {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(charge::scalar(wide(payload.len()), kind))?;
        self.check_length(payload.len())?;
        self.room(payload.len())?;
        if self.in_key {
            self.marks = self.marks.and(keys::Marks::NUMPY);
        }
        raw::ext(&mut self.out, kind.ext(), payload)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{ByteOrder, Field, Letter, Order, StructureFlags, Unit};
    use crate::limits::Limits;
    use crate::value::Text;
    use crate::wire::MapKind;

    fn dtypes() -> Vec<Dtype> {
        let mut all = Vec::new();
        for letter in [Letter::Bool, Letter::Int, Letter::UInt, Letter::Float, Letter::Complex] {
            for order in [ByteOrder::Little, ByteOrder::Big, ByteOrder::None] {
                all.extend(
                    [1, 2, 4, 8, 16].map(|size| Dtype::new(letter, order, size, None)).into_iter().flatten(),
                );
            }
        }
        assert_eq!(all.len(), 3 + 2 * (3 + 3 + 3 + 2));
        let field = |dtype: &Dtype| Field {
            name: Text::from("a"),
            title: None,
            offset: 0,
            shape: Vec::new(),
            dtype: dtype.clone(),
        };
        all.push(Dtype::structure(8, StructureFlags::default(), vec![field(&all[0])]).unwrap());
        all.push(Dtype::new(Letter::Datetime, ByteOrder::Little, 8, Unit::new(6, 25)).unwrap());
        all.push(Dtype::new(Letter::Str, ByteOrder::Big, 12, None).unwrap());
        all.push(Dtype::new(Letter::Bytes, ByteOrder::None, 0, None).unwrap());
        all
    }

    #[test]
    fn a1_an_array_by_its_parts_is_the_array_of_its_head() {
        let limits = Limits::default();
        let shapes: [&[u64]; 7] = [&[], &[0], &[3], &[2048], &[2, 300], &[70_000, 1, 0], &[1; 64]];
        for (dtype, shape) in dtypes().iter().flat_map(|dtype| shapes.map(|shape| (dtype, shape))) {
            let head = ArrayHead::of_parts(dtype, shape).unwrap();
            assert_eq!(head.shape().order(), Order::C);
            let mut by_head = Writer::new(Vec::new(), &limits, true).unwrap();
            let mut by_parts = Writer::new(Vec::new(), &limits, true).unwrap();
            for _ in 0..2 {
                let placed = by_parts.numbers(dtype, shape, head.nbytes()).unwrap();
                assert_eq!(by_head.array(&head).unwrap(), placed);
            }
            assert_eq!(by_head.budget.memory(), by_parts.budget.memory());
            assert_eq!(by_head.finish().unwrap(), by_parts.finish().unwrap(), "{dtype} {shape:?}");
        }
    }

    #[test]
    fn parts_that_do_not_go_together_are_refused() {
        let limits = Limits::default();
        let mut writer = Writer::new(Vec::new(), &limits, true).unwrap();
        let double = Dtype::new(Letter::Float, ByteOrder::Little, 8, None).unwrap();
        let mut refused = |shape: &[u64], nbytes| writer.numbers(&double, shape, nbytes).unwrap_err().code();
        assert_eq!(refused(&[3], 23), Code::BadDataLength);
        assert_eq!(refused(&[3], 25), Code::BadDataLength);
        assert_eq!(refused(&[1 << 60], 1 << 63), Code::BadDataLength);
        assert_eq!(refused(&[1; 65], 8), Code::BadShape);
        let mut map = writer.map(MapKind::Dict, 1).unwrap();
        writer.key(&mut map);
        assert_eq!(writer.numbers(&double, &[3], 24).unwrap_err().code(), Code::NotKeyable);
    }

    #[test]
    fn l1_l4_limits_of_an_array_by_its_parts() {
        let double = Dtype::new(Letter::Float, ByteOrder::Little, 8, None).unwrap();
        let written = |limits: Limits| {
            Writer::new(Vec::new(), &limits, true)
                .unwrap()
                .numbers(&double, &[3], 24)
                .map_err(|error| error.code())
        };
        let cost = charge::array(&[3], 24, 24);
        assert_eq!(written(Limits { memory: cost, ..Limits::default() }), Ok(Placed::Inline));
        assert_eq!(written(Limits { memory: cost - 1, ..Limits::default() }), Err(Code::MemoryLimit));
        assert_eq!(written(Limits { depth: 1, ..Limits::default() }), Ok(Placed::Inline));
        assert_eq!(written(Limits { depth: 0, ..Limits::default() }), Err(Code::DepthLimit));
    }
}
