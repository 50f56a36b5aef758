//! Arrays of every kind, and the NumPy scalars that are one element of an array.

use hookless::array::{ArrayClass, ArrayHead, Shape};
use hookless::wire::{Placed, wide};
use hookless::{Code, Error, Order, Result};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::{Walker, changed, type_text};
use crate::array::RegionBuffer;
use crate::ffi::fallible::{self, Str};
use crate::ffi::types::{Exact, exact};
use crate::ffi::{chars, ndarray};
use crate::flat::{self, InertObjects, InertStrings};
use crate::masked::InertMasked;
use crate::region::Gathered;
use crate::warm::Numpy;

/// NumPy's number for StringDType.
const NPY_VSTRING: std::ffi::c_int = 2056;

/// An array that is ready to be written.
pub(crate) struct Prepared<'py> {
    pub(crate) head: ArrayHead,
    data: Data<'py>,
}

/// Where the bytes of an array come from.
enum Data<'py> {
    /// Its own memory.
    Lent(Bound<'py, PyUntypedArray>),
    /// They are gathered: its elements are not together, or there are gaps between them.
    Gathered(Gathered),
}

impl<'py> Walker<'_, '_, 'py> {
    /// An array of any dtype; its class is `ndarray` or one of the two that travel.
    pub(super) fn ndarray(&mut self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> Result<()> {
        let Ok(array) = value.cast::<PyUntypedArray>() else { return Err(Error::new(Code::UnsupportedType)) };
        let class = self.class_of(value, numpy);
        if (array.dtype().num(), class) == (NPY_VSTRING, ArrayClass::Plain) {
            return self.strings(array);
        }
        let prepared = self.prepare(value, numpy)?;
        let placed = self.writer.array(&prepared.head)?;
        self.put(prepared, placed)
    }

    /// A plain array of numbers in C order, as most are, in one go: what is written is what [`Walker::prepare`] and [`Walker::put`] would, and
    /// nothing is held in between. None for any other one.
    #[inline(never)]
    pub(super) fn numbers(&mut self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> Option<Result<()>> {
        let array = value.cast::<PyUntypedArray>().ok()?;
        let dtype = numpy.number_of(&array.dtype())?;
        let mut shape = [0; ndarray::FEW];
        let shape = shape.get_mut(..array.ndim())?;
        if !array.is_c_contiguous() {
            return None;
        }
        shape.iter_mut().zip(array.shape()).for_each(|(to, &extent)| *to = extent as u64);
        let bytes = ndarray::contiguous_bytes(array)?;
        // No Python code runs from here to where they are written.
        match dtype.find_bad(bytes) {
            Ok(None) => {}
            Ok(Some(_)) => return Some(Err(Error::new(Code::BadElement))),
            Err(error) => return Some(Err(error)),
        }
        Some(match self.writer.numbers(dtype, shape, wide(bytes.len())) {
            Ok(Placed::Inline) => self.writer.array_data(bytes),
            Ok(Placed::Region) => self.lend(array, wide(bytes.len())),
            Err(error) => Err(error),
        })
    }

    /// An array that is the next entry of the region.
    fn lend(&mut self, array: &Bound<'py, PyUntypedArray>, nbytes: u64) -> Result<()> {
        let buffer = RegionBuffer::of(array);
        let buffer = self.passed(buffer)?;
        if wide(buffer.get().len) != nbytes {
            return Err(changed());
        }
        self.region.push(buffer.into_any());
        Ok(())
    }

    fn class_of(&self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> ArrayClass {
        let record = value.get_type().is(&numpy.recarray);
        if record { ArrayClass::Record } else { ArrayClass::Plain }
    }

    /// A12: in its own order where that is contiguous, otherwise in C order.
    fn prepare(&mut self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> Result<Prepared<'py>> {
        let Ok(array) = value.cast::<PyUntypedArray>() else { return Err(Error::new(Code::UnsupportedType)) };
        let dtype = numpy.dtype_of(&array.dtype());
        let Some(dtype) = self.passed(dtype)? else {
            let hint = format!("dtype {}", type_text(array.dtype().as_any()));
            return Err(self.unsupported(value, &hint));
        };
        let head = ArrayHead::new(dtype, shape_of(array)?)?.with_class(self.class_of(value, numpy))?;
        let elements = head.elements()?;
        if elements.has_gaps() || !array.is_contiguous() {
            let gathered = Gathered::of(array, &head, elements)?;
            gathered.check()?;
            return Ok(Prepared { head, data: Data::Gathered(gathered) });
        }
        let bytes = lent_bytes(array, &head)?;
        if elements.find_bad(bytes).is_some() {
            return Err(Error::new(Code::BadElement));
        }
        Ok(Prepared { head, data: Data::Lent(array.clone()) })
    }

    /// The array, or a copy of it in C order.
    fn contiguous(&mut self, array: &Bound<'py, PyUntypedArray>) -> Result<Bound<'py, PyUntypedArray>> {
        if array.is_contiguous() {
            return Ok(array.clone());
        }
        let copy = array.call_method1(Str("copy"), (Str("C"),));
        let copy = self.passed(copy)?;
        copy.cast_into::<PyUntypedArray>().map_err(|_| Error::new(Code::UnsupportedType))
    }

    /// The bytes of an array whose head has been written.
    fn put(&mut self, prepared: Prepared<'py>, placed: Placed) -> Result<()> {
        match (placed, prepared.data) {
            (Placed::Inline, Data::Lent(array)) => {
                self.writer.array_data(lent_bytes(&array, &prepared.head)?)
            }
            (Placed::Inline, Data::Gathered(gathered)) => {
                if !gathered.is_as_it_was(self.py) {
                    return Err(changed());
                }
                let room = self.writer.array_room(gathered.len())?;
                gathered.fill_over(0, room);
                Ok(())
            }
            (Placed::Region, Data::Lent(array)) => self.lend(&array, prepared.head.nbytes()),
            (Placed::Region, Data::Gathered(gathered)) => {
                let gathered = Bound::new(self.py, gathered);
                let gathered = self.passed(gathered)?;
                self.region.push(gathered.into_any());
                Ok(())
            }
        }
    }

    /// A20.
    pub(super) fn element(&mut self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> Result<()> {
        let descr = fallible::interned!(self.py, c"dtype").and_then(|name| value.getattr(name));
        let descr = self.passed(descr)?;
        let dtype = descr.cast::<PyArrayDescr>().map_or(Ok(None), |descr| numpy.dtype_of(descr));
        let Some(dtype) = self.passed(dtype)? else {
            return Err(self.unsupported(value, &format!("dtype {}", type_text(&descr))));
        };
        if dtype.fields().is_none() && dtype.long_format().is_none() && dtype.as_extension().is_none() {
            return Err(self.unsupported(value, "it has no wire form that keeps its type"));
        }
        let bytes = value.call_method0(Str("tobytes"));
        let bytes = self.passed(bytes)?;
        let Ok(bytes) = bytes.cast::<PyBytes>() else { return Err(Error::new(Code::UnsupportedType)) };
        let head = ArrayHead::new(dtype, Shape::new(Vec::new(), Order::C)?)?;
        let bytes = zeroed(&head, bytes.as_bytes())?;
        if head.find_bad(&bytes)?.is_some() {
            return Err(Error::new(Code::BadElement));
        }
        self.writer.element(head.dtype(), &bytes)
    }

    /// A21, A22.
    pub(super) fn masked(&mut self, value: &Bound<'py, PyAny>, numpy: &Numpy) -> Result<()> {
        let parts = crate::masked::parts(value, numpy);
        let parts = self.passed(parts)?;
        let Some((data, mask, fill_value, hard_mask)) = parts else {
            return Err(
                self.unsupported(value, "over a class of its own, or with a mask or fill value of its own")
            );
        };
        let data = self.prepare(&data, numpy)?;
        let mask = mask.map(|mask| self.prepare(&mask, numpy)).transpose()?;
        let fill_value = fill_value.map(|fill| self.prepare(&fill, numpy)).transpose()?;
        let [mask_head, fill_head] = [&mask, &fill_value].map(|part| part.as_ref().map(|part| &part.head));
        if let Err(error) = self.writer.masked(&data.head, mask_head, fill_head) {
            let own =
                matches!(error.code(), Code::BadDtype | Code::BadShape | Code::BadType | Code::BadOrder);
            let note = error.message();
            return Err(if own { self.unsupported(value, &note) } else { error });
        }
        for part in [Some(data), mask, fill_value] {
            let placed = self.writer.masked_part(part.as_ref().map(|part| &part.head))?;
            if let (Some(placed), Some(part)) = (placed, part) {
                self.put(part, placed)?;
            }
        }
        self.writer.end_masked(hard_mask)?;
        Ok(())
    }

    /// A23: an array of objects, NumPy's or inert.
    #[inline(never)]
    pub(super) fn objects(&mut self, value: &Bound<'py, PyAny>) -> Result<()> {
        if let Ok(objects) = value.cast_exact::<InertObjects>() {
            return self.inert_objects(objects.get());
        }
        let Ok(array) = value.cast::<PyUntypedArray>() else { return Err(Error::new(Code::UnsupportedType)) };
        let array = self.contiguous(array)?;
        let (shape, len) = (shape_of(&array)?, array.len());
        self.writer.objects(&shape, len)?;
        for index in 0..len {
            // The array may be given other memory under the walk: a finaliser can run wherever memory is taken.
            let Some(item) = ndarray::object_at(&array, index) else { return Err(changed()) };
            self.value(&item).map_err(|error| error.within(|path| shape.push_step(path, wide(index))))?;
        }
        self.writer.end_sequence();
        if array.len() == len { Ok(()) } else { Err(changed()) }
    }

    /// A24.
    #[inline(never)]
    fn strings(&mut self, array: &Bound<'py, PyUntypedArray>) -> Result<()> {
        let spec = flat::spec(array);
        let Some((missing, coerce)) = self.passed(spec)? else {
            return Err(self.unsupported(array.as_any(), "an na_object that is not None, a NaN or a str"));
        };
        let array = self.contiguous(array)?;
        let shape = shape_of(&array)?;
        let items =
            array.call_method1(Str("ravel"), (Str("K"),)).and_then(|flat| flat.call_method0(Str("tolist")));
        let items = self.passed(items)?;
        let Ok(items) = items.cast_into::<PyList>() else { return Err(Error::new(Code::UnsupportedType)) };
        self.writer.strings(&missing, coerce, &shape, items.len())?;
        let mut text = Vec::new();
        for (index, item) in items.iter().enumerate() {
            text.clear();
            let found = if exact(&item) == Exact::Str { chars::of(&item) } else { None };
            let item = match found {
                Some(found) => {
                    found.append_to(&mut text);
                    std::str::from_utf8(&text).ok().filter(|text| !missing.is(text))
                }
                None => None,
            };
            self.writer
                .string(&missing, item)
                .map_err(|error| error.within(|path| shape.push_step(path, wide(index))))?;
        }
        self.writer.end_sequence();
        Ok(())
    }

    /// What a host without NumPy makes of masked arrays and arrays of texts.
    pub(super) fn inert_arrays(&mut self, value: &Bound<'py, PyAny>) -> Option<Result<()>> {
        if let Ok(masked) = value.cast_exact::<InertMasked>() {
            return Some(self.inert_masked(masked.get()));
        }
        let strings = value.cast_exact::<InertStrings>().ok()?;
        Some(strings.get().write(self.writer))
    }

    fn inert_masked(&mut self, masked: &InertMasked) -> Result<()> {
        let py = self.py;
        let parts = [Some(&masked.data), masked.mask.as_ref(), masked.fill_value.as_ref()];
        let [data, mask, fill] = parts.map(|part| part.map(|part| part.bind(py).get()));
        let Some(data) = data else { return Ok(()) };
        self.writer.masked(&data.head, mask.map(|part| &part.head), fill.map(|part| &part.head))?;
        for part in [Some(data), mask, fill] {
            if let (Some(placed), Some(part)) = (self.writer.masked_part(part.map(|part| &part.head))?, part)
            {
                self.inert_data(part, placed)?;
            }
        }
        self.writer.end_masked(masked.hard_mask)?;
        Ok(())
    }

    fn inert_objects(&mut self, array: &InertObjects) -> Result<()> {
        let items = array.items.bind(self.py).clone();
        self.writer.objects(&array.shape, items.len())?;
        for (index, item) in items.iter_borrowed().enumerate() {
            self.value(&item)
                .map_err(|error| error.within(|path| array.shape.push_step(path, wide(index))))?;
        }
        self.writer.end_sequence();
        Ok(())
    }
}

/// Whether the elements of an array are objects. A `recarray` of objects has no form of its own.
pub(super) fn is_of_objects(value: &Bound<'_, PyAny>) -> bool {
    value.get_type_ptr() as usize == ndarray::array_type(value.py())
        && value.cast::<PyUntypedArray>().is_ok_and(|array| array.dtype().num() == ndarray::NPY_OBJECT)
}

/// Whether a value is an array of objects of a host without NumPy.
pub(super) fn is_inert_objects(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<InertObjects>()
}

/// Dimensions, and the order in which an array is sent (A12).
fn shape_of(array: &Bound<'_, PyUntypedArray>) -> Result<Shape> {
    let order = if array.is_c_contiguous() || !array.is_fortran_contiguous() { Order::C } else { Order::F };
    Shape::new(array.shape().iter().map(|&extent| extent as u64).collect(), order)
}

/// The bytes of a contiguous array, which has to be what its head says: its dtype may have been changed in place since that was read, for a
/// finaliser can run wherever memory is taken.
fn lent_bytes<'a>(array: &'a Bound<'_, PyUntypedArray>, head: &ArrayHead) -> Result<&'a [u8]> {
    let bytes = ndarray::contiguous_bytes(array).unwrap_or_default();
    if wide(bytes.len()) == head.nbytes() { Ok(bytes) } else { Err(changed()) }
}

/// A copy with zeros in what lies under no field, or is no part of a number.
fn zeroed(head: &ArrayHead, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
    copy.extend_from_slice(bytes);
    head.elements()?.zero_gaps(&mut copy);
    Ok(copy)
}
