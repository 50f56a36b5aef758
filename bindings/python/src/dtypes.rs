//! Dtypes between NumPy and the wire.

use hookless::array::{ArrayClass, ArrayHead, Structure, Unit};
use hookless::{ByteOrder, Code, Dtype, Error, Field, Letter, Order, Result, StructureFlags, Text, TextRef};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyException, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::ffi::chars;
use crate::ffi::fallible::{self, Str, Unsigned};
use crate::warm::{self, Numpy};

/// How many dtypes are remembered: all numeric ones, and then some.
const REMEMBERED: usize = 128;
/// NumPy's own types have numbers below this; those of other packages, such as ml_dtypes, begin at 256.
const BUILTIN_TYPES: std::ffi::c_int = 24;
/// NumPy's numbers for long doubles, which share their kinds with floats and complex numbers.
const NPY_LONGDOUBLE: std::ffi::c_int = 13;
const NPY_CLONGDOUBLE: std::ffi::c_int = 16;
/// Structures inside structures, past which no limit allows a dtype anyway.
const DEEPEST: usize = 33;

/// NumPy's numbers for bool, ints, floats and complex numbers, long doubles aside.
const fn is_number(num: std::ffi::c_int) -> bool {
    matches!(num, 0..=12 | 14 | 15 | 23)
}

/// Letters of numbers, and how many sizes there are at most: 1, 2, 4, 8, 16.
const LETTERS: [Letter; 5] = [Letter::Bool, Letter::Int, Letter::UInt, Letter::Float, Letter::Complex];
const SIZES: usize = 5;

/// A dtype of numbers in this machine's byte order, on both sides.
pub(crate) struct Number {
    dtype: Dtype,
    descr: Py<PyArrayDescr>,
}

/// Where a number in this machine's byte order is kept; none for other dtypes.
#[inline]
fn place(letter: u8, itemsize: u64) -> Option<usize> {
    let row = LETTERS.iter().position(|one| one.byte() == letter)?;
    itemsize.is_power_of_two().then(|| row * SIZES + itemsize.trailing_zeros() as usize)
}

impl Numpy {
    /// The wire's dtype of numbers in this machine's byte order, by four fields of NumPy's; none for any other. That it is the one of
    /// [`Numpy::dtype_of`] was seen when the table was made.
    #[inline]
    pub(crate) fn number_of(&self, descr: &Bound<'_, PyArrayDescr>) -> Option<&Dtype> {
        if !is_number(descr.num()) || !matches!(descr.byteorder(), b'=' | b'|') {
            return None;
        }
        let place = place(descr.kind(), descr.itemsize() as u64)?;
        self.numbers.get(place)?.as_ref().map(|number| &number.dtype)
    }

    /// All numbers in this machine's byte order, by place.
    pub(crate) fn numbers(&self, py: Python<'_>) -> PyResult<Vec<Option<Number>>> {
        let mut all = Vec::new();
        for letter in LETTERS {
            for size in 0..SIZES {
                let order = if size == 0 { ByteOrder::None } else { ByteOrder::NATIVE };
                let number = match Dtype::new(letter, order, 1 << size, None) {
                    Ok(dtype) => match self.checked(py, &dtype) {
                        Ok(descr) => Some(Number { dtype, descr: descr.unbind() }),
                        Err(Formless(Some(error))) => return Err(error),
                        Err(Formless(None)) => None,
                    },
                    Err(_) => None,
                };
                all.push(number);
            }
        }
        Ok(all)
    }

    /// NumPy's object for a dtype that the reader has checked.
    #[inline]
    pub(crate) fn descr<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Result<Bound<'py, PyArrayDescr>> {
        match self.number(py, dtype) {
            Some(number) => Ok(number.clone()),
            None => self.other_descr(py, dtype),
        }
    }

    /// The same for numbers in this machine's byte order; none for any other.
    #[inline]
    pub(crate) fn number<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Option<&Bound<'py, PyArrayDescr>> {
        if !matches!(dtype.order(), ByteOrder::NATIVE | ByteOrder::None) {
            return None;
        }
        let number = self.numbers.get(place(dtype.letter().byte(), dtype.itemsize())?)?;
        number.as_ref().map(|number| number.descr.bind(py))
    }

    #[inline(never)]
    fn other_descr<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Result<Bound<'py, PyArrayDescr>> {
        if let Ok(known) = self.descrs.lock()
            && let Some(descr) = known.get(dtype)
        {
            return Ok(descr.bind(py).clone());
        }
        let descr = twice(py, || self.checked(py, dtype), || dtype.to_string())?;
        // Structured ones are not kept: whoever chooses the bytes could fill the table with them.
        if dtype.fields().is_none()
            && let Ok(mut known) = self.descrs.lock()
            && known.len() < REMEMBERED
        {
            known.insert(dtype.clone(), descr.clone().unbind());
        }
        Ok(descr)
    }

    /// What NumPy made, if it is what was asked for: where memory runs out it leaves out a title, and says nothing.
    fn checked<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Formed<Bound<'py, PyArrayDescr>> {
        let made = self.make(py, dtype)?;
        match self.dtype_within(&made, 0)? == *dtype {
            true => Ok(made),
            false => Err(PyValueError::new_err("another dtype").into()),
        }
    }

    fn make<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Formed<Bound<'py, PyArrayDescr>> {
        let maker = self.dtype.bind(py);
        let made = match dtype.fields() {
            None => match dtype.letter() {
                Letter::LongDouble | Letter::LongComplex => self.long(py, dtype)?,
                Letter::Extension => self.extension(py, dtype)?,
                _ => maker.call1((Str(&dtype.to_string()),))?,
            },
            // NumPy 1 divides by the alignment of such a structure, which is zero there, and the process ends.
            Some(structure)
                if structure.flags().align && structure.fields().is_empty() && self.strings.is_none() =>
            {
                return Err(Formless(None));
            }
            Some(structure) => {
                let spec = self.spec(py, dtype, structure)?;
                let align = fallible::dict(py)?;
                align.set_item(Str("align"), structure.flags().align)?;
                let plain = maker.call(fallible::tuple(py, &[spec.into_any()])?, Some(&align))?;
                if structure.flags().record {
                    {
                        let pair = fallible::tuple(py, &[self.record.bind(py).as_any().clone(), plain])?;
                        maker.call1((pair,))?
                    }
                } else {
                    plain
                }
            }
        };
        Ok(made.cast_into::<PyArrayDescr>().map_err(PyErr::from)?)
    }

    /// A18: a long double in this process's own format.
    fn long<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Formed<Bound<'py, PyAny>> {
        if dtype.long_format() != self.long_format {
            return Err(Formless(None));
        }
        let name = [dtype.order().byte(), dtype.letter().byte()].map(char::from);
        Ok(self.dtype.bind(py).call1((Str(&String::from_iter(name)),))?)
    }

    /// A19: a type of ml_dtypes.
    fn extension<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Formed<Bound<'py, PyAny>> {
        let found = dtype.as_extension().and_then(|extension| warm::extension_type(py, extension));
        let Some(class) = found else {
            return Err(Formless(None));
        };
        let descr = self.dtype.bind(py).call1((class,))?;
        match dtype.order() {
            ByteOrder::None => Ok(descr),
            order => {
                Ok(descr.call_method1(Str("newbyteorder"), (Str(&char::from(order.byte()).to_string()),))?)
            }
        }
    }

    /// What `numpy.dtype` takes for a structure: plain lists of names, formats, offsets and titles.
    fn spec<'py>(&self, py: Python<'py>, dtype: &Dtype, structure: &Structure) -> Formed<Bound<'py, PyDict>> {
        let lists = [(), (), (), ()].map(|()| fallible::list(py));
        let [names, formats, offsets, titles] = lists;
        let (names, formats, offsets, titles) = (names?, formats?, offsets?, titles?);
        for field in structure.fields() {
            names.append(text(py, &field.name)?)?;
            titles.append(field.title.as_ref().map(|title| text(py, title)).transpose()?)?;
            offsets.append(Unsigned(field.offset.into()))?;
            let one = self.make(py, &field.dtype)?;
            match field.shape.is_empty() {
                true => formats.append(one)?,
                false => {
                    let shape = fallible::ints(py, field.shape.iter().map(|&extent| extent.into()))?;
                    let pair = fallible::tuple(py, &[one.into_any(), shape.into_any()])?;
                    formats.append(self.dtype.bind(py).call1((pair,))?)?
                }
            }
        }
        let spec = fallible::dict(py)?;
        spec.set_item(Str("names"), names)?;
        spec.set_item(Str("formats"), formats)?;
        spec.set_item(Str("offsets"), offsets)?;
        if structure.fields().iter().any(|field| field.title.is_some()) {
            spec.set_item(Str("titles"), titles)?;
        }
        spec.set_item(Str("itemsize"), Unsigned(dtype.itemsize()))?;
        Ok(spec)
    }

    /// An array of `S0` or `U0`: as a field of a structured one, since NumPy makes its own of width 1.
    pub(crate) fn zero_width<'py>(&self, py: Python<'py>, head: &ArrayHead) -> Result<Bound<'py, PyAny>> {
        twice(py, || Ok(self.zero_width_once(py, head)?), || "zero width".to_owned())
    }

    fn zero_width_once<'py>(&self, py: Python<'py>, head: &ArrayHead) -> PyResult<Bound<'py, PyAny>> {
        let (name, dtype) = (Str("f").into_pyobject(py)?, Str(&head.dtype().to_string()).into_pyobject(py)?);
        let fields = fallible::list_of(py, [fallible::tuple(py, &[name, dtype])?])?;
        let shape = fallible::ints(py, head.shape().dimensions().iter().copied())?;
        let order = if head.shape().order() == Order::F { "F" } else { "C" };
        let made = self.zeros.bind(py).call1((shape, fields, Str(order)))?.get_item(Str("f"))?;
        match head.class() {
            ArrayClass::Plain => Ok(made),
            ArrayClass::Record => made.call_method1(Str("view"), (&self.recarray,)),
        }
    }

    /// Unit and count of a datetime64 or timedelta64 dtype; none for those that have no form on the wire.
    pub(crate) fn unit(&self, descr: &Bound<'_, PyAny>) -> PyResult<Option<Unit>> {
        let ask =
            || -> PyResult<(String, u32)> { self.datetime_data.bind(descr.py()).call1((descr,))?.extract() };
        // Twice, as in `twice`.
        let (name, count) = ask().or_else(|error| {
            let final_word = !error.is_instance_of::<PyException>(descr.py())
                || error.is_instance_of::<PyMemoryError>(descr.py());
            if final_word { Err(error) } else { ask() }
        })?;
        Ok(Unit::by_name(&name, count))
    }

    /// The wire's dtype for one of NumPy's; none for those that have no form on the wire.
    pub(crate) fn dtype_of(&self, descr: &Bound<'_, PyArrayDescr>) -> PyResult<Option<Dtype>> {
        match self.dtype_within(descr, 0) {
            Ok(dtype) => Ok(Some(dtype)),
            Err(Formless(Some(error))) if !error.is_instance_of::<PyException>(descr.py()) => Err(error),
            Err(Formless(Some(error))) if error.is_instance_of::<PyMemoryError>(descr.py()) => Err(error),
            Err(Formless(_)) => Ok(None),
        }
    }

    fn dtype_within(&self, descr: &Bound<'_, PyArrayDescr>, depth: usize) -> Formed<Dtype> {
        if descr.has_object() || depth > DEEPEST {
            return Err(Formless(None));
        }
        let itemsize = u32::try_from(descr.itemsize()).map_err(|_| Formless(None))?;
        let order = match descr.byteorder() {
            b'=' => ByteOrder::NATIVE,
            other => ByteOrder::from_byte(other).ok_or(Formless(None))?,
        };
        if !(0..BUILTIN_TYPES).contains(&descr.num()) {
            let extension = warm::extension_of(descr.py(), descr.typeobj().as_ptr() as usize);
            let order = if itemsize == 1 { ByteOrder::None } else { order };
            return Ok(Dtype::extension(order, extension.ok_or(Formless(None))?)?);
        }
        let letter = Letter::from_byte(descr.kind()).ok_or(Formless(None))?;
        if let (NPY_LONGDOUBLE | NPY_CLONGDOUBLE, Some(format)) = (descr.num(), self.long_format) {
            return Ok(Dtype::long(letter == Letter::Complex, order, format)?);
        }
        if letter == Letter::Void {
            // A subclass of void other than numpy.record would not come back.
            let plain = self.scalar_type(descr.py(), hookless::ScalarKind::Void).ok_or(Formless(None))?;
            let record = descr.typeobj().is(&self.record);
            if !(descr.typeobj().is(&plain) || record && descr.has_fields()) || descr.has_subarray() {
                return Err(Formless(None));
            }
        }
        if descr.has_fields() {
            return self.structure_of(descr, itemsize, depth);
        }
        let unit = match letter {
            Letter::Datetime | Letter::Timedelta => Some(self.unit(descr.as_any())?.ok_or(Formless(None))?),
            _ => None,
        };
        // NumPy says `|` for single bytes, and for structured and void types; `=` or `<` never for them.
        Ok(Dtype::new(letter, order, itemsize, unit)?)
    }

    fn structure_of(&self, descr: &Bound<'_, PyArrayDescr>, itemsize: u32, depth: usize) -> Formed<Dtype> {
        let names = descr
            .getattr(fallible::interned!(descr.py(), c"names")?)?
            .cast_into::<PyTuple>()
            .map_err(PyErr::from)?;
        let by_name = descr.getattr(fallible::interned!(descr.py(), c"fields")?)?;
        let mut fields = Vec::with_capacity(names.len());
        for name in names.iter() {
            // (dtype, offset), and a title where there is one.
            let entry = by_name.get_item(&name)?.cast_into::<PyTuple>().map_err(PyErr::from)?;
            let title = match entry.len() {
                2 => None,
                _ => Some(owned_text(&entry.get_item(2)?)?),
            };
            let whole = entry.get_item(0)?.cast_into::<PyArrayDescr>().map_err(PyErr::from)?;
            // Not by `whole.shape()`, which panics when memory runs out.
            let shape = if whole.has_subarray() {
                let shape = whole.getattr(Str("shape"))?.cast_into::<PyTuple>().map_err(PyErr::from)?;
                shape.iter().map(|extent| extent.extract()).collect::<PyResult<_>>()?
            } else {
                Vec::new()
            };
            let dtype = self.dtype_within(&whole.base(), depth + 1)?;
            let offset = entry.get_item(1)?.extract()?;
            fields.push(Field { name: owned_text(&name)?, title, offset, shape, dtype });
        }
        let record = descr.typeobj().is(&self.record);
        Ok(Dtype::structure(itemsize, StructureFlags { align: descr.is_aligned_struct(), record }, fields)?)
    }
}

/// What NumPy makes, asked twice: where memory runs out it does not always say so, and raises some other exception, or none.
pub(crate) fn twice<T>(
    py: Python<'_>,
    make: impl Fn() -> Formed<T>,
    note: impl FnOnce() -> String,
) -> Result<T> {
    let unsupported = || Err(Error::new(Code::DtypeUnsupported).note(note()));
    let is_memory = |error: &PyErr| error.is_instance_of::<PyMemoryError>(py);
    match make() {
        Ok(made) => Ok(made),
        Err(Formless(None)) => unsupported(),
        Err(Formless(Some(error))) if is_memory(&error) => Err(Error::new(Code::OutOfMemory)),
        Err(Formless(Some(_))) => match make() {
            Ok(made) => Ok(made),
            Err(Formless(Some(error))) if is_memory(&error) => Err(Error::new(Code::OutOfMemory)),
            Err(_) => unsupported(),
        },
    }
}

/// Why there is no dtype: it has no form on the other side, or an exception was raised.
pub(crate) struct Formless(Option<PyErr>);

pub(crate) type Formed<T> = std::result::Result<T, Formless>;

impl From<PyErr> for Formless {
    fn from(error: PyErr) -> Formless {
        Formless(Some(error))
    }
}

impl From<Error> for Formless {
    fn from(_: Error) -> Formless {
        Formless(None)
    }
}

pub(crate) fn text<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyAny>> {
    chars::utf8(py, text.as_bytes()).map_err(|_| PyMemoryError::new_err(()))
}

/// Text of an exact str.
fn owned_text(text: &Bound<'_, PyAny>) -> Formed<Text> {
    let mut bytes = Vec::new();
    text.cast_exact::<PyString>().map_err(PyErr::from)?;
    chars::of(text).ok_or(Formless(None))?.append_to(&mut bytes);
    TextRef::from_generalised(&bytes).map(TextRef::to_text).ok_or(Formless(None))
}
