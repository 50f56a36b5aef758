//! Shapes: A6 and A7.

use crate::error::{Code, Error, Result};
use crate::memory::Steps;

/// NumPy 2's limit; 1.26 stops at 32.
pub const MAX_DIMENSIONS: u64 = 64;

/// Which index runs fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last: row-major.
    C,
    /// The first: column-major.
    F,
}

/// Dimensions and order of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    dimensions: Vec<u64>,
    order: Order,
}

impl Shape {
    /// A shape; the order is taken as C where both are the same (A7) for elements of any bytes.
    ///
    /// # Errors
    /// `bad_shape` for more than 64 dimensions.
    pub fn new(dimensions: Vec<u64>, order: Order) -> Result<Shape> {
        match u64::try_from(dimensions.len()) {
            Ok(0..=MAX_DIMENSIONS) => {
                let order = if order_matters(&dimensions) { order } else { Order::C };
                Ok(Shape { dimensions, order })
            }
            _ => Err(Error::new(Code::BadShape).note("more than 64 dimensions")),
        }
    }

    /// The same in C order.
    pub(crate) fn in_c_order(self) -> Shape {
        Shape { order: Order::C, ..self }
    }

    /// The dimensions.
    pub fn dimensions(&self) -> &[u64] {
        &self.dimensions
    }

    /// Which index runs fastest.
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many elements there are; none past 2^64.
    pub fn elements(&self) -> Option<u64> {
        if self.dimensions.contains(&0) {
            return Some(0);
        }
        self.dimensions.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent))
    }

    /// The step to an item by where it lies, such as `[1, 2]`; `[()]` without dimensions.
    pub fn push_step(&self, path: &mut Steps, place: u64) {
        if self.dimensions.is_empty() {
            return path.push_str("[()]");
        }
        // The extents before one, or those after it, are what it runs slower than.
        let slower = |at: usize| match self.order {
            Order::C => self.dimensions.get(at.saturating_add(1)..),
            Order::F => self.dimensions.get(..at),
        };
        for (at, extent) in self.dimensions.iter().enumerate() {
            let step = slower(at).unwrap_or_default().iter().fold(1u64, |n, &more| n.saturating_mul(more));
            let index = place.checked_div(step).and_then(|index| index.checked_rem(*extent));
            path.add(format_args!("{}{}", if at == 0 { "[" } else { ", " }, index.unwrap_or_default()));
        }
        path.push(']');
    }

    /// Bytes of all elements; none when A6 refuses the shape.
    pub fn bytes(&self, itemsize: u64) -> Option<u64> {
        bytes_of(&self.dimensions, itemsize)
    }
}

/// The same of dimensions that are no shape yet.
#[inline]
pub(crate) fn bytes_of(dimensions: &[u64], itemsize: u64) -> Option<u64> {
    let extent = dimensions.iter().try_fold(itemsize.max(1), |n, &d| n.checked_mul(d.max(1)))?;
    if extent > i64::MAX.unsigned_abs() {
        return None;
    }
    let empty = itemsize == 0 || dimensions.contains(&0);
    Some(if empty { 0 } else { extent })
}

/// A7: whether C and F order differ, where the elements have bytes.
pub(crate) fn order_matters(dimensions: &[u64]) -> bool {
    !dimensions.contains(&0) && dimensions.iter().filter(|&&d| d > 1).count() > 1
}
