//! Elements that NumPy could not hold, and bytes under no field, are refused: A10, A16, A18, A19.

use crate::array::pattern::Pattern;
use crate::array::{ByteOrder, Dtype, Extension, Letter, Structure};
use crate::memory::{self, Full};

/// What has to be looked for in the bytes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElementCheck {
    /// Every byte pattern is an element.
    Free,
    /// Each byte is at most this, which is one less than a power of two.
    AtMost(u8),
    /// Each four bytes, in this order, are a code point.
    CodePoints(ByteOrder),
    /// Each byte is zero.
    Zero,
    /// Each element of so many bytes has parts of its own, by where they start; those that are free are left out.
    Parts(usize, Vec<Part>),
}

/// A part of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    start: usize,
    end: usize,
    check: ElementCheck,
}

impl ElementCheck {
    pub(crate) fn of(dtype: &Dtype) -> Result<ElementCheck, Full> {
        if dtype.fields().is_some() {
            return ElementCheck::of_structure(dtype);
        }
        Ok(match dtype.letter() {
            Letter::Bool => ElementCheck::AtMost(1),
            Letter::LongDouble | Letter::LongComplex => ElementCheck::of_long(dtype)?,
            Letter::Extension => match dtype.as_extension().and_then(Extension::most) {
                Some(most) => ElementCheck::AtMost(most),
                None => ElementCheck::Free,
            },
            Letter::Str => ElementCheck::CodePoints(dtype.order()),
            Letter::Int
            | Letter::UInt
            | Letter::Float
            | Letter::Complex
            | Letter::Timedelta
            | Letter::Datetime
            | Letter::Bytes
            | Letter::Void => ElementCheck::Free,
        })
    }

    /// A18: the bytes of a long double that no number needs.
    fn of_long(dtype: &Dtype) -> Result<ElementCheck, Full> {
        let Some(format) = dtype.long_format() else { return Ok(ElementCheck::Free) };
        let (used, whole) = (format.used(), usize::try_from(format.size()).unwrap_or_default());
        let (start, end) = match dtype.order() {
            ByteOrder::Big => (0, whole.saturating_sub(used)),
            ByteOrder::Little | ByteOrder::None => (used, whole),
        };
        if start == end {
            return Ok(ElementCheck::Free);
        }
        let mut parts = memory::room(1)?;
        memory::push(&mut parts, Part { start, end, check: ElementCheck::Zero })?;
        Ok(ElementCheck::Parts(whole, parts))
    }

    /// The fields that are not free, and the gaps between all of them. Fields without room are left out, so A14 bounds the parts of an
    /// element by its bytes.
    fn of_structure(dtype: &Dtype) -> Result<ElementCheck, Full> {
        let wide = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        let itemsize = usize::try_from(dtype.itemsize()).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        let mut covered = 0;
        let mut part = |start: usize, end: usize, check: ElementCheck| match start < end
            && check != ElementCheck::Free
        {
            true => memory::push(&mut parts, Part { start, end, check }),
            false => Ok(()),
        };
        for (start, end, field) in dtype.fields().map_or_else(|| Ok(Vec::new()), Structure::extents)? {
            part(covered, wide(start), ElementCheck::Zero)?;
            part(wide(start), wide(end), ElementCheck::of(&field.dtype)?)?;
            covered = covered.max(wide(end));
        }
        part(covered, itemsize, ElementCheck::Zero)?;
        Ok(if parts.is_empty() { ElementCheck::Free } else { ElementCheck::Parts(itemsize, parts) })
    }

    /// Where the first bad byte, or the code unit with it, starts.
    pub(crate) fn find_bad(&self, data: &[u8]) -> Option<u64> {
        self.position(data).and_then(|at| u64::try_from(at).ok())
    }

    fn position(&self, data: &[u8]) -> Option<usize> {
        // Each first looks at all bytes without a branch, which the compiler can make wide.
        match self {
            ElementCheck::Free => None,
            ElementCheck::AtMost(most) => {
                let clean = data.iter().fold(0u8, |seen, &byte| seen | byte) <= *most;
                if clean { None } else { data.iter().position(|byte| byte > most) }
            }
            ElementCheck::Zero => {
                let clean = data.iter().fold(0u8, |seen, &byte| seen | byte) == 0;
                if clean { None } else { data.iter().position(|&byte| byte != 0) }
            }
            ElementCheck::CodePoints(order) => {
                let (units, _) = data.as_chunks::<4>();
                let read = |unit: [u8; 4]| match order {
                    ByteOrder::Big => u32::from_be_bytes(unit),
                    ByteOrder::Little | ByteOrder::None => u32::from_le_bytes(unit),
                };
                let largest = units.iter().fold(0u32, |seen, &unit| seen.max(read(unit)));
                let bad = |&unit: &[u8; 4]| read(unit) > 0x10_ffff;
                let index = if largest <= 0x10_ffff { None } else { units.iter().position(bad) };
                index.map(|index| index.saturating_mul(4))
            }
            ElementCheck::Parts(itemsize, parts) => {
                // Parts may lie over each other, so the first one that is bad need not hold the first bad byte.
                let in_element = |element: &[u8]| {
                    let bad = parts.iter().filter_map(|part| {
                        let bytes = element.get(part.start..part.end).unwrap_or_default();
                        part.check.position(bytes).map(|at| at.saturating_add(part.start))
                    });
                    bad.min()
                };
                let in_elements = |data: &[u8]| {
                    let elements = data.chunks_exact((*itemsize).max(1)).enumerate();
                    let mut bad = elements.filter_map(|(index, element)| Some((index, in_element(element)?)));
                    bad.next().map(|(index, at)| index.saturating_mul(*itemsize).saturating_add(at))
                };
                match Pattern::of_doubts(self, *itemsize, data.len()) {
                    Some(pattern) => pattern.find(data, in_elements),
                    None => in_elements(data),
                }
            }
        }
    }

    /// Whether some byte pattern is no element, other than for what lies under no field.
    pub(crate) fn is_partial(&self) -> bool {
        match self {
            ElementCheck::AtMost(_) | ElementCheck::CodePoints(_) => true,
            ElementCheck::Parts(_, parts) => parts.iter().any(|part| part.check.is_partial()),
            ElementCheck::Free | ElementCheck::Zero => false,
        }
    }

    /// Whether elements have bytes under no field.
    pub(crate) fn has_gaps(&self) -> bool {
        match self {
            ElementCheck::Zero => true,
            ElementCheck::Parts(_, parts) => parts.iter().any(|part| part.check.has_gaps()),
            ElementCheck::Free | ElementCheck::AtMost(_) | ElementCheck::CodePoints(_) => false,
        }
    }

    /// Zeroes them.
    pub(crate) fn zero_gaps(&self, data: &mut [u8]) {
        match self {
            ElementCheck::Zero => data.fill(0),
            ElementCheck::Parts(itemsize, _) => match Pattern::of_values(self, *itemsize, data.len()) {
                Some(pattern) => pattern.keep(data),
                None => self.each_part(data, &|check, part| check.zero_gaps(part)),
            },
            ElementCheck::Free | ElementCheck::AtMost(_) | ElementCheck::CodePoints(_) => {}
        }
    }

    /// Does something to each part of each element.
    pub(super) fn each_part(&self, data: &mut [u8], to: &impl Fn(&ElementCheck, &mut [u8])) {
        let ElementCheck::Parts(itemsize, parts) = self else { return };
        for element in data.chunks_exact_mut((*itemsize).max(1)) {
            for part in parts.iter() {
                to(&part.check, element.get_mut(part.start..part.end).unwrap_or_default());
            }
        }
    }
}
