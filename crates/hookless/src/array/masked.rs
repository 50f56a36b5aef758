//! Masked arrays: A21 and A22.

use crate::array::{Array, ArrayClass, ArrayHead, Dtype, Letter};
use crate::error::{Code, Error, Result};

/// A `numpy.ma.MaskedArray`: an array, and which of its elements, or of their fields, are masked.
///
/// What lies under the mask is part of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedArray {
    data: Array,
    mask: Option<Array>,
    fill_value: Option<Array>,
    hard_mask: bool,
}

impl MaskedArray {
    /// A masked array of its parts. Without a mask nothing is masked; without a fill value NumPy takes that of the dtype.
    ///
    /// # Errors
    /// `bad_type`, `bad_dtype`, `bad_shape` or `bad_order` when the mask (A21) or the fill value (A22) does not go with the data.
    pub fn new(
        data: Array,
        mask: Option<Array>,
        fill_value: Option<Array>,
        hard_mask: bool,
    ) -> Result<MaskedArray> {
        check_mask(data.head(), mask.as_ref().map(Array::head))?;
        check_fill_value(data.head(), fill_value.as_ref().map(Array::head))?;
        Ok(MaskedArray { data, mask, fill_value, hard_mask })
    }

    /// A masked array of parts that the reader has checked.
    pub(crate) fn trusted(
        data: Array,
        mask: Option<Array>,
        fill_value: Option<Array>,
        hard_mask: bool,
    ) -> MaskedArray {
        MaskedArray { data, mask, fill_value, hard_mask }
    }

    /// The elements, the masked ones included.
    pub fn data(&self) -> &Array {
        &self.data
    }

    /// A bool for each element, or for each field of it.
    pub fn mask(&self) -> Option<&Array> {
        self.mask.as_ref()
    }

    /// What stands for a masked element: an array without dimensions.
    pub fn fill_value(&self) -> Option<&Array> {
        self.fill_value.as_ref()
    }

    /// Whether masked elements cannot be assigned to.
    pub fn hard_mask(&self) -> bool {
        self.hard_mask
    }

    /// The three arrays, to be filled in from the region in this order.
    pub(crate) fn arrays_mut(&mut self) -> impl Iterator<Item = &mut Array> {
        [Some(&mut self.data), self.mask.as_mut(), self.fill_value.as_mut()].into_iter().flatten()
    }
}

/// A21: the mask has the shape of the data, and a bool for each element or field.
pub(crate) fn check_mask(data: &ArrayHead, mask: Option<&ArrayHead>) -> Result<()> {
    let Some(mask) = mask else {
        return match data.dtype().fields() {
            Some(_) => Err(Error::new(Code::BadType).note("an array of structures has a mask")),
            None => Ok(()),
        };
    };
    check_class(mask)?;
    if mask.shape().dimensions() != data.shape().dimensions() {
        return Err(Error::new(Code::BadShape).note("a mask has the shape of the data"));
    }
    if !is_mask_of(mask.dtype(), data.dtype()) {
        return Err(Error::new(Code::BadDtype).note("a mask has a bool for each element, or field"));
    }
    Ok(())
}

/// A22: the fill value is one element, of the data's dtype where that has fields. Elsewhere NumPy itself keeps it in other dtypes.
pub(crate) fn check_fill_value(data: &ArrayHead, fill: Option<&ArrayHead>) -> Result<()> {
    let Some(fill) = fill else { return Ok(()) };
    check_class(fill)?;
    if !fill.shape().dimensions().is_empty() {
        return Err(Error::new(Code::BadShape).note("a fill value has no dimensions"));
    }
    let fields = data.dtype().fields().is_some() || fill.dtype().fields().is_some();
    if fields && fill.dtype() != data.dtype() {
        return Err(Error::new(Code::BadDtype).note("a fill value has the fields of the data"));
    }
    Ok(())
}

fn check_class(part: &ArrayHead) -> Result<()> {
    match part.class() {
        ArrayClass::Plain => Ok(()),
        ArrayClass::Record => Err(Error::new(Code::BadOrder).note("only the data can be a recarray")),
    }
}

/// Whether a dtype is what `numpy.ma.make_mask_descr` makes of another: bools, or the same fields packed, each again such a mask.
fn is_mask_of(mask: &Dtype, data: &Dtype) -> bool {
    let (masks, fields) = match (mask.fields(), data.fields()) {
        (None, None) => return mask.letter() == Letter::Bool,
        (Some(masks), Some(fields)) => (masks.fields(), fields.fields()),
        _ => return false,
    };
    let mut end = Some(0u32);
    let alike = masks.len() == fields.len()
        && masks.iter().zip(fields).all(|(mask, field)| {
            let here = end == Some(mask.offset);
            end = mask.size().and_then(|size| mask.offset.checked_add(size));
            here && (&mask.name, &mask.title, &mask.shape) == (&field.name, &field.title, &field.shape)
                && is_mask_of(&mask.dtype, &field.dtype)
        });
    alike && end.map(u64::from) == Some(mask.itemsize())
}
