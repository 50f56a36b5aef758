//! Structured dtypes: A13 to A16.

use std::collections::HashSet;
use std::sync::Arc;

use crate::array::dtype::MAX_SIZE;
use crate::array::{ByteOrder, Dtype, Letter};
use crate::error::{Code, Error, Result};
use crate::value::Text;

/// The fields of a structured dtype, in their own order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Structure {
    align: bool,
    fields: Vec<Field>,
}

/// One field of a structured dtype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name; not empty, and like no other name or title of the structure.
    pub name: Text,
    /// Its title, likewise.
    pub title: Option<Text>,
    /// Bytes from the start of the element.
    pub offset: u32,
    /// The dimensions of a sub-array; none for a single element.
    pub shape: Vec<u32>,
    /// Type of its elements.
    pub dtype: Dtype,
}

impl Field {
    /// Bytes that it takes; none when no structure could hold them.
    pub fn size(&self) -> Option<u32> {
        let one = u32::try_from(self.dtype.itemsize()).ok()?;
        let elements = self.shape.iter().try_fold(1u32, |n, &extent| n.checked_mul(extent))?;
        one.checked_mul(elements).filter(|&size| size <= MAX_SIZE)
    }

    /// Where it ends.
    fn end(&self) -> Option<u32> {
        self.offset.checked_add(self.size()?)
    }
}

impl Structure {
    /// Whether the fields are laid out as a C compiler would (`isalignedstruct`).
    pub fn is_aligned(&self) -> bool {
        self.align
    }

    /// The fields, in their own order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields that take room, by offset, each with its end.
    pub(crate) fn extents(&self) -> Vec<(u32, u32, &Field)> {
        let extent = |field: &'_ Field| Some((field.offset, field.end()?));
        let mut all: Vec<_> = self
            .fields
            .iter()
            .filter_map(|field| extent(field).map(|(start, end)| (start, end, field)))
            .filter(|(start, end, _)| end > start)
            .collect();
        all.sort_by_key(|&(start, ..)| start);
        all
    }
}

impl Dtype {
    /// A structured dtype.
    ///
    /// # Errors
    /// `bad_name` for an empty name or title, `duplicate_key` for a second one, `bad_dtype` where A14 or A15 is broken.
    pub fn structure(itemsize: u32, align: bool, fields: Vec<Field>) -> Result<Dtype> {
        let bad = |note: &str| Error::new(Code::BadDtype).note(note);
        let mut names = HashSet::new();
        for text in fields.iter().flat_map(|field| [Some(&field.name), field.title.as_ref()]).flatten() {
            if text.as_bytes().is_empty() {
                return Err(Error::new(Code::BadName));
            }
            if !names.insert(text) {
                return Err(Error::new(Code::DuplicateKey).note("a field of that name or title"));
            }
        }
        if itemsize > MAX_SIZE {
            return Err(bad("itemsize past 2^31-1"));
        }
        for field in &fields {
            if field.shape.len() > 64 || field.end().is_none_or(|end| end > itemsize) {
                return Err(bad("a field that ends past its structure"));
            }
        }
        let largest = fields.iter().map(|field| field.dtype.alignment()).max().unwrap_or(1);
        let off = |offset: u32, to: u32| offset.checked_rem(to) != Some(0);
        if align
            && (off(itemsize, largest)
                || fields.iter().any(|field| off(field.offset, field.dtype.alignment())))
        {
            return Err(bad("a field off its alignment"));
        }
        let structure = Structure { align, fields };
        let extents = structure.extents();
        if !extents.is_sorted_by(|&(_, end, _), &(start, ..)| end <= start) {
            return Err(bad("fields that overlap"));
        }
        Ok(Dtype::of_structure(itemsize, Arc::new(structure)))
    }

    /// A15: what the start of a field must be a multiple of in an aligned structure.
    fn alignment(&self) -> u32 {
        if let Some(structure) = self.fields() {
            let inner = structure.fields.iter().map(|field| field.dtype.alignment()).max();
            return if structure.align { inner.unwrap_or(1) } else { 1 };
        }
        let size = u32::try_from(self.itemsize()).unwrap_or(1).max(1);
        match self.letter() {
            Letter::Bytes | Letter::Void => 1,
            Letter::Str => 4,
            Letter::Complex => size / 2,
            Letter::Bool
            | Letter::Int
            | Letter::UInt
            | Letter::Float
            | Letter::Timedelta
            | Letter::Datetime => size,
        }
    }

    /// Letter and byte order of every structure.
    pub(crate) const STRUCTURE: (Letter, ByteOrder) = (Letter::Void, ByteOrder::None);
}
