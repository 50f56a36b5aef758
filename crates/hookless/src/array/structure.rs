//! Structured dtypes: A13 to A17.

use std::collections::HashSet;

use crate::array::dtype::MAX_SIZE;
use crate::array::{ByteOrder, Dtype, ElementCheck, Extension, Letter, LongFormat};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::value::Text;

/// The fields of a structured dtype, in their own order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Structure {
    flags: StructureFlags,
    fields: Vec<Field>,
    /// Bytes of an element that its checks look at: those of every field, nested ones counted for each of their own.
    weight: u64,
}

/// What a structured dtype is beside its fields (A13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StructureFlags {
    /// The fields are laid out as a C compiler would (`isalignedstruct`).
    pub align: bool,
    /// Its scalars are `numpy.record`, whose fields are attributes.
    pub record: bool,
}

impl StructureFlags {
    /// The flags for their number on the wire.
    pub const fn from_number(number: u32) -> Option<StructureFlags> {
        match number {
            0..=3 => Some(StructureFlags { align: number & 1 != 0, record: number & 2 != 0 }),
            _ => None,
        }
    }

    /// Their number on the wire.
    pub const fn number(self) -> u64 {
        match (self.align, self.record) {
            (false, false) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (true, true) => 3,
        }
    }
}

/// A14: an element may be looked at as often as this, by fields that lie over each other.
const MOST_LOOKS: u64 = 16;

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

    /// See [`Structure`].
    fn weight(&self) -> u64 {
        let elements = self.shape.iter().fold(1u64, |n, &extent| n.saturating_mul(u64::from(extent)));
        let one = self.dtype.fields().map_or(0, |inner| inner.weight).max(self.dtype.itemsize());
        elements.saturating_mul(one)
    }

    /// Where it ends.
    fn end(&self) -> Option<u32> {
        self.offset.checked_add(self.size()?)
    }
}

impl Structure {
    /// What it is beside its fields.
    pub fn flags(&self) -> StructureFlags {
        self.flags
    }

    /// The fields, in their own order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields that take room, by offset, each with its end.
    pub(crate) fn extents(&self) -> std::result::Result<Vec<(u32, u32, &Field)>, Full> {
        let extent = |field: &'_ Field| Some((field.offset, field.end()?));
        let all = self
            .fields
            .iter()
            .filter_map(|field| extent(field).map(|(start, end)| (start, end, field)))
            .filter(|(start, end, _)| end > start);
        let mut all = memory::collect(all.map(Ok::<_, Full>))?;
        all.sort_unstable_by_key(|&(start, end, _)| (start, end));
        Ok(all)
    }
}

impl Dtype {
    /// A structured dtype.
    ///
    /// # Errors
    /// `bad_name` for an empty name or title, `duplicate_key` for a second one, `bad_dtype` where A14 or A15 is broken.
    pub fn structure(itemsize: u32, flags: StructureFlags, fields: Vec<Field>) -> Result<Dtype> {
        let bad = |note: &str| Error::new(Code::BadDtype).note(note);
        let mut names = HashSet::new();
        for text in fields.iter().flat_map(|field| [Some(&field.name), field.title.as_ref()]).flatten() {
            if text.as_bytes().is_empty() {
                return Err(Error::new(Code::BadName));
            }
            if !memory::insert(&mut names, text)? {
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
        if flags.align
            && (off(itemsize, largest)
                || fields.iter().any(|field| off(field.offset, field.dtype.alignment())))
        {
            return Err(bad("a field off its alignment"));
        }
        let weight = fields.iter().fold(0, |sum: u64, field| sum.saturating_add(field.weight()));
        if weight > u64::from(itemsize).saturating_mul(MOST_LOOKS) {
            return Err(bad("fields over each other 16 times"));
        }
        let structure = Structure { flags, fields, weight };
        // The end of what came before, and whether something of it must be zero.
        let (mut covered, mut zeros) = (0, 0);
        for (start, end, field) in structure.extents()? {
            let gaps = ElementCheck::of(&field.dtype)?.has_gaps();
            if start < zeros || (gaps && start < covered) {
                return Err(bad("a field over one whose bytes are not all its own"));
            }
            covered = covered.max(end);
            zeros = if gaps { end } else { zeros };
        }
        Ok(Dtype::of_structure(itemsize, memory::boxed(structure)?))
    }

    /// A15: what the start of a field must be a multiple of in an aligned structure.
    fn alignment(&self) -> u32 {
        if let Some(structure) = self.fields() {
            let inner = structure.fields.iter().map(|field| field.dtype.alignment()).max();
            // NumPy forgets the alignment of a structure that it makes a record.
            let kept = structure.flags.align && !structure.flags.record;
            return if kept { inner.unwrap_or(1) } else { 1 };
        }
        let size = u32::try_from(self.itemsize()).unwrap_or(1).max(1);
        match self.letter() {
            Letter::Bytes | Letter::Void => 1,
            Letter::Str => 4,
            Letter::Complex => size / 2,
            Letter::LongDouble | Letter::LongComplex => self.long_format().map_or(1, LongFormat::alignment),
            Letter::Extension => self.as_extension().map_or(1, Extension::alignment),
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
