//! Arrays and NumPy scalars: dtype and shape are proved once, when the value is made, and then trusted.

mod dtype;
mod elements;
mod scalar;
mod shape;
mod structure;
mod typed;

pub use dtype::{ByteOrder, Dtype, Letter, UNITS, Unit};
pub(crate) use elements::ElementCheck;
pub use scalar::{Scalar, ScalarKind, split_time};
pub(crate) use shape::order_matters;
pub use shape::{MAX_DIMENSIONS, Order, Shape};
pub use structure::{Field, Structure};
pub use typed::{TypeCode, TypedArray};

use crate::error::{Code, Error, Result};

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
}

impl ArrayHead {
    /// Joins dtype and shape.
    ///
    /// # Errors
    /// `bad_shape` when the array could not be addressed (A6).
    pub fn new(dtype: Dtype, shape: Shape) -> Result<ArrayHead> {
        match shape.bytes(dtype.itemsize()) {
            Some(_) => Ok(ArrayHead { dtype, shape }),
            None => Err(Error::new(Code::BadShape).note("dimensions times itemsize reach 2^63 bytes")),
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
    pub fn find_bad(&self, bytes: &[u8]) -> Option<u64> {
        ElementCheck::of(&self.dtype).find_bad(bytes)
    }

    /// Whether the elements hold bytes under no field, which travel as zeros (A16).
    pub fn has_gaps(&self) -> bool {
        ElementCheck::of(&self.dtype).has_gaps()
    }

    /// Zeroes what lies under no field, so that no other memory of this process leaves it.
    pub fn zero_gaps(&self, bytes: &mut [u8]) {
        ElementCheck::of(&self.dtype).zero_gaps(bytes);
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> u64 {
        self.shape.bytes(self.dtype.itemsize()).unwrap_or_default()
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
            return Err(Error::new(Code::BadDataLength).note(format!("{found} bytes, {wanted} wanted")));
        }
        match head.find_bad(&data) {
            Some(at) => Err(Error::new(Code::BadElement).note(format!("at byte {at} of the data"))),
            None => Ok(Array { head, data }),
        }
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
