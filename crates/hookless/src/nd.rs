//! Arrays as those of the crate [`ndarray`] (feature `ndarray`), and `#[serde(with = "hookless::nd")]`.
//!
//! [`Array::view`] looks at the bytes of an array where they lie; [`Array::to_ndarray`] copies them, and [`Array::from_ndarray`] copies
//! them the other way. No view is ever made of a copy.
//!
//! ```
//! use hookless::{Limits, from_slice, to_vec};
//! use ndarray::{Array2, ArrayD, array};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Fit {
//!     #[serde(with = "hookless::nd")]
//!     design: Array2<f64>,
//!     #[serde(with = "hookless::nd")]
//!     used: ArrayD<bool>,
//! }
//!
//! let fit = Fit { design: array![[1.0, 2.0], [3.0, 4.0]], used: array![true, false].into_dyn() };
//! let frame = to_vec(&fit, &Limits::default())?;
//! assert_eq!(from_slice::<Fit>(&frame, &Limits::default())?, fit);
//! # Ok::<(), hookless::Error>(())
//! ```

mod element;

use std::borrow::Cow;
use std::fmt;

use ndarray::{ArrayBase, ArrayD, ArrayView, ArrayViewD, Data, Dimension, IxDyn, Shape, ShapeBuilder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use crate::array::{self, Array, ArrayHead, Dtype, Order};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::typed::whole::{self, Whole};
use crate::wire::wide;
pub use element::Element;

impl Array {
    /// The elements where they lie, as an array of `T`.
    ///
    /// ```
    /// use hookless::Array;
    /// use ndarray::array;
    ///
    /// let array = Array::from_ndarray(&array![[1i32, 2], [3, 4]])?;
    /// assert_eq!(array.view::<i32>()?, array![[1, 2], [3, 4]].into_dyn());
    /// assert!(array.view::<i64>().is_err());
    /// # Ok::<(), hookless::Error>(())
    /// ```
    ///
    /// # Errors
    /// `type_mismatch` when the dtype is not that of `T` in this machine's byte order, or the bytes do not lie where a `T` may.
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        let native = T::dtype()?;
        if *self.dtype() != native {
            return Err(mismatch(format_args!("an ndarray of {}, expected {native}", self.dtype())));
        }
        let elements: &[T] = match self.data() {
            // Without bytes there is no place that could be wrong.
            [] => &[],
            bytes => bytemuck::checked::try_cast_slice(bytes)
                .map_err(|error| mismatch(format_args!("an ndarray that cannot be viewed: {error}")))?,
        };
        ArrayViewD::from_shape(shape(self)?, elements).map_err(mismatch)
    }

    /// A copy of the elements as an array of `T`; elements of the other byte order are turned round.
    ///
    /// # Errors
    /// `type_mismatch` when the dtype is not that of `T`, byte order aside; `out_of_memory`.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let native = T::dtype()?;
        let (found, wanted) = (self.dtype(), &native);
        let same = found.fields().is_none()
            && (found.letter(), found.itemsize()) == (wanted.letter(), wanted.itemsize());
        if !same {
            return Err(mismatch(format_args!("an ndarray of {found}, expected {wanted}")));
        }
        let turned = found.order() != wanted.order();
        let bytes = self.data().chunks_exact(size_of::<T>().max(1));
        let mut elements = memory::room(bytes.len())?;
        match bytemuck::checked::try_cast_slice(self.data()) {
            Ok(whole) if !turned => memory::extend(&mut elements, whole)?,
            _ => {
                for element in bytes {
                    let element: T = bytemuck::checked::try_pod_read_unaligned(element).map_err(mismatch)?;
                    memory::push(&mut elements, if turned { element.turned() } else { element })?;
                }
            }
        }
        ArrayD::from_shape_vec(shape(self)?, elements).map_err(mismatch)
    }

    /// A copy of an array of `ndarray`: in its own order when it is contiguous in C or Fortran order, otherwise in C order (A12).
    ///
    /// # Errors
    /// `bad_shape` for more than 64 dimensions (A6).
    pub fn from_ndarray<T, S, D>(from: &ArrayBase<S, D>) -> Result<Array>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let (head, elements) = parts(from)?;
        Ok(Array::trusted(head, memory::copied(bytemuck::cast_slice::<T, u8>(&elements))?))
    }
}

/// Serialises a field of an `ndarray` type as an ndarray: `#[serde(with = "hookless::nd")]`. T11.
///
/// # Errors
/// `bad_shape` for more than 64 dimensions; any serializer but those of [`to_value`](crate::to_value) and [`to_vec`](crate::to_vec).
pub fn serialize<T, S, D, R>(array: &ArrayBase<S, D>, serializer: R) -> std::result::Result<R::Ok, R::Error>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
    R: Serializer,
{
    let (head, elements) = parts(array).map_err(|error| whole::unwritten(&error))?;
    Whole::Array(&head, bytemuck::cast_slice(&elements)).pass(serializer)
}

/// Deserialises a field of an `ndarray` type: an ndarray of that dtype, in either byte order, and that number of dimensions. T11.
///
/// # Errors
/// `type_mismatch`; any deserializer but those of [`from_value`](crate::from_value) and [`from_slice`](crate::from_slice).
pub fn deserialize<'de, T, D, R>(deserializer: R) -> std::result::Result<ndarray::Array<T, D>, R::Error>
where
    T: Element,
    D: Dimension,
    R: Deserializer<'de>,
{
    let array = Array::deserialize(deserializer)?;
    let found = array.to_ndarray::<T>().map_err(|error| whole::unread(&error))?;
    let dimensions = found.ndim();
    found.into_dimensionality().map_err(|_| {
        let wanted = D::NDIM.unwrap_or_default();
        R::Error::custom(format_args!("an ndarray of {dimensions} dimensions, expected {wanted}"))
    })
}

/// Dtype and shape of an array, and its elements in the order that the shape names: copied only where they are not contiguous.
fn parts<T, S, D>(from: &ArrayBase<S, D>) -> Result<(ArrayHead, Cow<'_, [T]>)>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    let dimensions = memory::collect(from.shape().iter().map(|&extent| Ok::<_, Full>(wide(extent))))?;
    let view: ArrayView<'_, T, D> = from.view();
    let (order, elements) = match (view.to_slice(), view.reversed_axes().to_slice()) {
        (Some(elements), _) => (Order::C, Cow::Borrowed(elements)),
        (None, Some(elements)) => (Order::F, Cow::Borrowed(elements)),
        (None, None) => {
            (Order::C, Cow::Owned(memory::collect(from.iter().map(|&element| Ok::<_, Full>(element)))?))
        }
    };
    let head = ArrayHead::new(T::dtype()?, array::Shape::new(dimensions, order)?)?;
    Ok((head, elements))
}

fn shape(array: &Array) -> Result<Shape<IxDyn>> {
    let dimensions = array.shape().iter().map(|&extent| usize::try_from(extent).map_err(mismatch));
    let dimensions = memory::collect(dimensions)?;
    Ok(IxDyn(&dimensions).set_f(array.order() == Order::F))
}

fn mismatch(note: impl fmt::Display) -> Error {
    Error::new(Code::TypeMismatch).note(note)
}

/// The dtype of one element, in this machine's byte order.
fn native(letter: array::Letter, itemsize: u32) -> Result<Dtype> {
    let single = itemsize == 1;
    let order = if single { array::ByteOrder::None } else { array::ByteOrder::NATIVE };
    Dtype::new(letter, order, itemsize, None)
}
