//! Arrays and NumPy scalars: dtype and shape are proved once, when the value is made, and then trusted.

mod dtype;
mod elements;
mod flat;
mod letter;
mod masked;
mod numbered;
mod pattern;
mod scalar;
mod shape;
mod structure;
mod typed;
mod unit;

pub use dtype::Dtype;
pub(crate) use elements::ElementCheck;
pub(crate) use flat::{ITEM, check_items};
pub use flat::{Missing, ObjectArray, StringArray};
pub use letter::{ByteOrder, Letter};
pub use masked::MaskedArray;
pub(crate) use masked::{check_fill_value, check_mask};
pub use numbered::{Extension, LongFormat};
pub use scalar::{Element, Scalar, ScalarKind, split_time};
pub use shape::{MAX_DIMENSIONS, Order, Shape};
pub(crate) use shape::{bytes_of, order_matters};
pub use structure::{Field, Structure, StructureFlags};
pub use typed::{TypeCode, TypedArray};
pub use unit::{UNITS, Unit};

use crate::error::{Code, Error, Result};
use crate::memory;

/// An array: elements of one dtype in C or Fortran order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    head: ArrayHead,
    data: Vec<u8>,
}

/// Everything of an array but its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayHead {
    dtype: Dtype,
    shape: Shape,
    class: ArrayClass,
}

/// What A10, A16, A18 and A19 ask of the elements of one dtype. The bytes that it is shown are whole elements.
#[derive(Debug, Clone)]
pub struct Elements(ElementCheck);

/// The class of an array (A7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayClass {
    /// `numpy.ndarray`.
    Plain,
    /// `numpy.recarray`, whose fields are attributes.
    Record,
}

impl ArrayHead {
    /// Joins dtype and shape.
    ///
    /// # Errors
    /// `bad_shape` when the array could not be addressed (A6).
    pub fn new(dtype: Dtype, shape: Shape) -> Result<ArrayHead> {
        // A7: elements without bytes lie in no order.
        let shape = if dtype.itemsize() == 0 { shape.in_c_order() } else { shape };
        match shape.bytes(dtype.itemsize()) {
            Some(_) => Ok(ArrayHead { dtype, shape, class: ArrayClass::Plain }),
            None => Err(Error::new(Code::BadShape).note("dimensions times itemsize reach 2^63 bytes")),
        }
    }

    /// The head of a plain array in C order.
    ///
    /// # Errors
    /// `bad_shape` (A6), `out_of_memory`.
    pub fn of_parts(dtype: &Dtype, shape: &[u64]) -> Result<ArrayHead> {
        ArrayHead::new(dtype.clone(), Shape::new(memory::copied(shape)?, Order::C)?)
    }

    /// The same of another class.
    ///
    /// # Errors
    /// `bad_order` for a `recarray` of structures that are no records: NumPy makes them so (A7).
    pub fn with_class(mut self, class: ArrayClass) -> Result<ArrayHead> {
        let plain = self.dtype.fields().is_some_and(|structure| !structure.flags().record);
        if class == ArrayClass::Record && plain {
            return Err(Error::new(Code::BadOrder).note("a recarray holds records"));
        }
        self.class = class;
        Ok(self)
    }

    /// The class.
    pub fn class(&self) -> ArrayClass {
        self.class
    }

    /// Order and class as the wire has them (A7).
    pub(crate) fn order_number(&self) -> u64 {
        match (self.class, self.shape.order()) {
            (ArrayClass::Plain, Order::C) => 0,
            (ArrayClass::Plain, Order::F) => 1,
            (ArrayClass::Record, Order::C) => 2,
            (ArrayClass::Record, Order::F) => 3,
        }
    }

    /// Type of the elements.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }

    /// Dimensions and order.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Where the first element that NumPy could not hold starts in these bytes (A10).
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn find_bad(&self, bytes: &[u8]) -> Result<Option<u64>> {
        self.dtype.find_bad(bytes)
    }

    /// What the elements may hold, worked out once: for bytes that are looked at part by part.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn elements(&self) -> Result<Elements> {
        Ok(Elements(ElementCheck::of(&self.dtype)?))
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> u64 {
        self.shape.bytes(self.dtype.itemsize()).unwrap_or_default()
    }
}

impl Elements {
    /// Whether there are elements that NumPy could not hold, whatever lies under no field.
    pub fn is_partial(&self) -> bool {
        self.0.is_partial()
    }

    /// Where the first element that NumPy could not hold starts in these bytes (A10).
    pub fn find_bad(&self, bytes: &[u8]) -> Option<u64> {
        self.0.find_bad(bytes)
    }

    /// Whether the elements hold bytes under no field, which travel as zeros (A16, A18).
    pub fn has_gaps(&self) -> bool {
        self.0.has_gaps()
    }

    /// Zeroes what lies under no field, so that no other memory of this process leaves it.
    pub fn zero_gaps(&self, bytes: &mut [u8]) {
        self.0.zero_gaps(bytes);
    }
}

impl Array {
    /// An array of its parts. `order` is taken as C where both are the same (A7).
    ///
    /// # Errors
    /// `bad_shape` (A6), `bad_data_length` when `data` is not exactly the elements, `bad_element` (A10).
    pub fn new(dtype: Dtype, shape: Vec<u64>, order: Order, data: Vec<u8>) -> Result<Array> {
        let shape = Shape::new(shape, order)?;
        let head = ArrayHead::new(dtype, shape)?;
        let (found, wanted) = (data.len(), head.nbytes());
        if u64::try_from(found).ok() != Some(wanted) {
            return Err(Error::new(Code::BadDataLength).note(format_args!("{found} bytes, {wanted} wanted")));
        }
        match head.find_bad(&data)? {
            Some(at) => Err(Error::new(Code::BadElement).note(format_args!("at byte {at} of the data"))),
            None => Ok(Array { head, data }),
        }
    }

    /// The same array of another class: [`ArrayHead::with_class`].
    ///
    /// # Errors
    /// `bad_order`.
    pub fn with_class(self, class: ArrayClass) -> Result<Array> {
        Ok(Array { head: self.head.with_class(class)?, data: self.data })
    }

    /// An array of parts that the reader has checked.
    pub(crate) fn trusted(head: ArrayHead, data: Vec<u8>) -> Array {
        Array { head, data }
    }

    /// The bytes of the elements, to be filled in from the region.
    pub(crate) fn data_mut(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Everything but the bytes.
    pub fn head(&self) -> &ArrayHead {
        &self.head
    }

    /// Type of the elements.
    pub fn dtype(&self) -> &Dtype {
        &self.head.dtype
    }

    /// The dimensions.
    pub fn shape(&self) -> &[u64] {
        self.head.shape.dimensions()
    }

    /// Which index runs fastest.
    pub fn order(&self) -> Order {
        self.head.shape.order()
    }

    /// The elements' bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}
