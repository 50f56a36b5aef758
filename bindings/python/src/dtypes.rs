//! Dtypes between NumPy and the wire.

use hookless::array::{ArrayClass, ArrayHead, Structure, Unit};
use hookless::{ByteOrder, Code, Dtype, Error, Field, Letter, Order, Result, StructureFlags, Text, TextRef};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::ffi::chars;
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

impl Numpy {
    /// NumPy's object for a dtype that the reader has checked.
    pub(crate) fn descr<'py>(&self, py: Python<'py>, dtype: &Dtype) -> Result<Bound<'py, PyArrayDescr>> {
        if let Ok(known) = self.descrs.lock()
            && let Some(descr) = known.get(dtype)
        {
            return Ok(descr.bind(py).clone());
        }
        let descr = self.make(py, dtype).map_err(|error| {
            let memory = error.is_instance_of::<PyMemoryError>(py);
            Error::new(if memory { Code::OutOfMemory } else { Code::DtypeUnsupported })
                .note(dtype.to_string())
        })?;
        // Structured ones are not kept: whoever chooses the bytes could fill the table with them.
        if dtype.fields().is_none()
            && let Ok(mut known) = self.descrs.lock()
            && known.len() < REMEMBERED
        {
            known.insert(dtype.clone(), descr.clone().unbind());
        }
        Ok(descr)
    }

    fn make<'py>(&self, py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyArrayDescr>> {
        let maker = self.dtype.bind(py);
        let made = match dtype.fields() {
            None => match dtype.letter() {
                Letter::LongDouble | Letter::LongComplex => self.long(py, dtype)?,
                Letter::Extension => self.extension(py, dtype)?,
                _ => maker.call1((dtype.to_string(),))?,
            },
            // NumPy 1 divides by the alignment of such a structure, which is zero there, and the process ends.
            Some(structure)
                if structure.flags().align && structure.fields().is_empty() && self.strings.is_none() =>
            {
                return Err(PyTypeError::new_err("NumPy 1 has no aligned structure without fields"));
            }
            Some(structure) => {
                let spec = self.spec(py, dtype, structure)?;
                let align = PyDict::new(py);
                align.set_item("align", structure.flags().align)?;
                let plain = maker.call((spec,), Some(&align))?;
                if structure.flags().record { maker.call1(((&self.record, plain),))? } else { plain }
            }
        };
        Ok(made.cast_into::<PyArrayDescr>()?)
    }

    /// A18: a long double in this process's own format.
    fn long<'py>(&self, py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyAny>> {
        if dtype.long_format() != self.long_format {
            return Err(PyTypeError::new_err("long doubles lie otherwise in this process"));
        }
        let name = [dtype.order().byte(), dtype.letter().byte()].map(char::from);
        self.dtype.bind(py).call1((String::from_iter(name),))
    }

    /// A19: a type of ml_dtypes.
    fn extension<'py>(&self, py: Python<'py>, dtype: &Dtype) -> PyResult<Bound<'py, PyAny>> {
        let found = dtype.as_extension().and_then(|extension| warm::extension_type(py, extension));
        let Some(class) = found else {
            return Err(PyTypeError::new_err("ml_dtypes is not loaded, or lacks it"));
        };
        let descr = self.dtype.bind(py).call1((class,))?;
        match dtype.order() {
            ByteOrder::None => Ok(descr),
            order => descr.call_method1("newbyteorder", (char::from(order.byte()),)),
        }
    }

    /// What `numpy.dtype` takes for a structure: plain lists of names, formats, offsets and titles.
    fn spec<'py>(
        &self,
        py: Python<'py>,
        dtype: &Dtype,
        structure: &Structure,
    ) -> PyResult<Bound<'py, PyDict>> {
        let lists = ["names", "formats", "offsets", "titles"].map(|_| PyList::empty(py));
        let [names, formats, offsets, titles] = &lists;
        for field in structure.fields() {
            names.append(text(py, &field.name)?)?;
            titles.append(field.title.as_ref().map(|title| text(py, title)).transpose()?)?;
            offsets.append(field.offset)?;
            let one = self.make(py, &field.dtype)?;
            match field.shape.is_empty() {
                true => formats.append(one)?,
                false => {
                    formats.append(self.dtype.bind(py).call1(((one, PyTuple::new(py, &field.shape)?),))?)?
                }
            }
        }
        let spec = PyDict::new(py);
        spec.set_item("names", names)?;
        spec.set_item("formats", formats)?;
        spec.set_item("offsets", offsets)?;
        if structure.fields().iter().any(|field| field.title.is_some()) {
            spec.set_item("titles", titles)?;
        }
        spec.set_item("itemsize", dtype.itemsize())?;
        Ok(spec)
    }

    /// An array of `S0` or `U0`: as a field of a structured one, since NumPy makes its own of width 1.
    pub(crate) fn zero_width<'py>(&self, py: Python<'py>, head: &ArrayHead) -> PyResult<Bound<'py, PyAny>> {
        let field = ("f", head.dtype().to_string());
        let shape = PyTuple::new(py, head.shape().dimensions())?;
        let order = if head.shape().order() == Order::F { "F" } else { "C" };
        let made = self.zeros.bind(py).call1((shape, PyList::new(py, [field])?, order))?.get_item("f")?;
        match head.class() {
            ArrayClass::Plain => Ok(made),
            ArrayClass::Record => made.call_method1("view", (&self.recarray,)),
        }
    }

    /// Unit and count of a datetime64 or timedelta64 dtype.
    pub(crate) fn unit(&self, descr: &Bound<'_, PyAny>) -> Option<Unit> {
        let (name, count): (String, u32) =
            self.datetime_data.bind(descr.py()).call1((descr,)).ok()?.extract().ok()?;
        Unit::by_name(&name, count)
    }

    /// The wire's dtype for one of NumPy's; none for those that have no form on the wire.
    pub(crate) fn dtype_of(&self, descr: &Bound<'_, PyArrayDescr>) -> Option<Dtype> {
        self.dtype_within(descr, 0)
    }

    fn dtype_within(&self, descr: &Bound<'_, PyArrayDescr>, depth: usize) -> Option<Dtype> {
        if descr.has_object() || depth > DEEPEST {
            return None;
        }
        let itemsize = u32::try_from(descr.itemsize()).ok()?;
        let order = match descr.byteorder() {
            b'=' => ByteOrder::NATIVE,
            other => ByteOrder::from_byte(other)?,
        };
        if !(0..BUILTIN_TYPES).contains(&descr.num()) {
            let extension = warm::extension_of(descr.py(), descr.typeobj().as_ptr() as usize)?;
            return Dtype::extension(if itemsize == 1 { ByteOrder::None } else { order }, extension).ok();
        }
        let letter = Letter::from_byte(descr.kind())?;
        if let (NPY_LONGDOUBLE | NPY_CLONGDOUBLE, Some(format)) = (descr.num(), self.long_format) {
            return Dtype::long(letter == Letter::Complex, order, format).ok();
        }
        if letter == Letter::Void {
            // A subclass of void other than numpy.record would not come back.
            let plain = self.scalar_type(descr.py(), hookless::ScalarKind::Void)?;
            let record = descr.typeobj().is(&self.record);
            if !(descr.typeobj().is(&plain) || record && descr.has_fields()) || descr.has_subarray() {
                return None;
            }
        }
        if descr.has_fields() {
            return self.structure_of(descr, itemsize, depth);
        }
        let unit = match letter {
            Letter::Datetime | Letter::Timedelta => Some(self.unit(descr.as_any())?),
            _ => None,
        };
        // NumPy says `|` for single bytes, and for structured and void types; `=` or `<` never for them.
        Dtype::new(letter, order, itemsize, unit).ok()
    }

    fn structure_of(&self, descr: &Bound<'_, PyArrayDescr>, itemsize: u32, depth: usize) -> Option<Dtype> {
        let names = descr.getattr("names").ok()?.cast_into::<PyTuple>().ok()?;
        let by_name = descr.getattr("fields").ok()?;
        let mut fields = Vec::with_capacity(names.len());
        for name in names.iter() {
            // (dtype, offset), and a title where there is one.
            let entry = by_name.get_item(&name).ok()?.cast_into::<PyTuple>().ok()?;
            let title = match entry.len() {
                2 => None,
                _ => Some(owned_text(&entry.get_item(2).ok()?)?),
            };
            let whole = entry.get_item(0).ok()?.cast_into::<PyArrayDescr>().ok()?;
            let shape =
                whole.shape().into_iter().map(u32::try_from).collect::<std::result::Result<_, _>>().ok()?;
            let dtype = self.dtype_within(&whole.base(), depth + 1)?;
            let offset = entry.get_item(1).ok()?.extract().ok()?;
            fields.push(Field { name: owned_text(&name)?, title, offset, shape, dtype });
        }
        let record = descr.typeobj().is(&self.record);
        Dtype::structure(itemsize, StructureFlags { align: descr.is_aligned_struct(), record }, fields).ok()
    }
}

pub(crate) fn text<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyAny>> {
    let made = chars::utf8(py, text.as_bytes());
    made.map_err(|error| crate::errors::decode_error(py, &error))
}

/// Text of an exact str.
fn owned_text(text: &Bound<'_, PyAny>) -> Option<Text> {
    let mut bytes = Vec::new();
    text.cast_exact::<PyString>().ok()?;
    chars::of(text)?.append_to(&mut bytes);
    TextRef::from_generalised(&bytes).map(TextRef::to_text)
}
