//! Arrays whose items are values and not bytes: A23 and A24.

use crate::array::{Order, Shape};
use crate::error::{Code, Error, Result};
use crate::value::Value;

/// An array of dtype object: values of the closed set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectArray {
    shape: Shape,
    items: Vec<Value>,
}

impl ObjectArray {
    /// An array of its items, in the order in which they lie. `order` is taken as C where both are the same (A7).
    ///
    /// # Errors
    /// `bad_shape` (A6), `bad_data_length` when the shape asks for another number of items.
    pub fn new(shape: Vec<u64>, order: Order, items: Vec<Value>) -> Result<ObjectArray> {
        let shape = Shape::new(shape, order)?;
        check_items(&shape, items.len())?;
        Ok(ObjectArray { shape, items })
    }

    /// An array of parts that the reader has checked.
    pub(crate) fn trusted(shape: Shape, items: Vec<Value>) -> ObjectArray {
        ObjectArray { shape, items }
    }

    /// Dimensions and order.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The items, in the order in which they lie.
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// The items, to be filled in from the region.
    pub(crate) fn items_mut(&mut self) -> &mut [Value] {
        &mut self.items
    }
}

/// What an array of NumPy's StringDType has in place of a missing text (`na_object`).
#[derive(Debug, Clone)]
pub enum Missing {
    /// Nothing can be missing.
    Never,
    /// None.
    None,
    /// A NaN, by its bits.
    Nan(f64),
    /// A text.
    Text(String),
}

impl PartialEq for Missing {
    fn eq(&self, other: &Missing) -> bool {
        match (self, other) {
            (Missing::Never, Missing::Never) | (Missing::None, Missing::None) => true,
            (Missing::Nan(one), Missing::Nan(two)) => one.to_bits() == two.to_bits(),
            (Missing::Text(one), Missing::Text(two)) => one == two,
            (Missing::Never | Missing::None | Missing::Nan(_) | Missing::Text(_), _) => false,
        }
    }
}

impl Eq for Missing {}

/// An array of NumPy's StringDType: texts of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StringArray {
    missing: Missing,
    coerce: bool,
    shape: Shape,
    items: Vec<Option<String>>,
}

impl StringArray {
    /// An array of its items, in the order in which they lie; None where one is missing. `coerce` says whether NumPy takes other objects by
    /// their `str()`. `order` is taken as C where both are the same (A7).
    ///
    /// # Errors
    /// `bad_shape` (A6), `bad_data_length` when the shape asks for another number of items; by A24 `bad_number` when `missing` is a float but
    /// no NaN, `bad_type` for a missing item where none can be, `not_canonical` for an item that is the text of a missing one.
    pub fn new(
        missing: Missing,
        coerce: bool,
        shape: Vec<u64>,
        order: Order,
        items: Vec<Option<String>>,
    ) -> Result<StringArray> {
        let shape = Shape::new(shape, order)?;
        check_items(&shape, items.len())?;
        missing.check()?;
        items.iter().try_for_each(|item| missing.check_item(item.as_deref()))?;
        Ok(StringArray { missing, coerce, shape, items })
    }

    /// An array of parts that the reader has checked.
    pub(crate) fn trusted(
        missing: Missing,
        coerce: bool,
        shape: Shape,
        items: Vec<Option<String>>,
    ) -> StringArray {
        StringArray { missing, coerce, shape, items }
    }

    /// What stands for a missing text.
    pub fn missing(&self) -> &Missing {
        &self.missing
    }

    /// Whether NumPy takes other objects by their `str()`.
    pub fn coerce(&self) -> bool {
        self.coerce
    }

    /// Dimensions and order.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The items, in the order in which they lie.
    pub fn items(&self) -> &[Option<String>] {
        &self.items
    }
}

impl Missing {
    /// Whether a text is the one that stands for a missing one.
    pub fn is(&self, text: &str) -> bool {
        matches!(self, Missing::Text(missing) if missing == text)
    }

    /// A24: the float is a NaN.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Missing::Nan(value) if !value.is_nan() => Err(Error::new(Code::BadNumber).note("no NaN")),
            _ => Ok(()),
        }
    }

    /// A24: an item is missing only where something can be, and is not the text that stands for a missing one.
    pub(crate) fn check_item(&self, item: Option<&str>) -> Result<()> {
        match (self, item) {
            (Missing::Never, None) => Err(Error::new(Code::BadType).note("nothing can be missing here")),
            (Missing::Text(text), Some(item)) if text == item => {
                Err(Error::new(Code::NotCanonical).note("the text of a missing item"))
            }
            _ => Ok(()),
        }
    }
}

/// Bytes that NumPy takes for one item: a pointer, or a string's fixed part.
pub(crate) const ITEM: u64 = 16;

/// A6, and that there are as many items as the shape asks for.
pub(crate) fn check_items(shape: &Shape, items: usize) -> Result<()> {
    if shape.bytes(ITEM).is_none() {
        return Err(Error::new(Code::BadShape).note("too many items"));
    }
    if shape.elements() != u64::try_from(items).ok() {
        return Err(Error::new(Code::BadDataLength).note(format_args!("{items} items for another shape")));
    }
    Ok(())
}
