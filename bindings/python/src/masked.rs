//! Masked arrays: NumPy's, and those of a host that has not loaded it.

use hookless::{Code, Error, Result};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::array::Array;
use crate::dtypes::twice;
use crate::ffi::fallible::{self, Owned, Str};
use crate::scalars::table_error;
use crate::warm::Numpy;

/// A masked array without NumPy: the arrays that it is made of.
#[pyclass(frozen, module = "hookless", name = "MaskedArray")]
pub(crate) struct InertMasked {
    /// The elements, the masked ones included.
    #[pyo3(get)]
    pub(crate) data: Py<Array>,
    /// A bool for each element, or each field of it; None where nothing is masked.
    #[pyo3(get)]
    pub(crate) mask: Option<Py<Array>>,
    /// What stands for a masked element: an array without dimensions; None where NumPy takes that of the dtype.
    #[pyo3(get)]
    pub(crate) fill_value: Option<Py<Array>>,
    /// Whether masked elements cannot be assigned to.
    #[pyo3(get)]
    pub(crate) hard_mask: bool,
}

#[pymethods]
impl InertMasked {
    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast_exact::<InertMasked>() else { return false };
        let other = other.get();
        let same = |one: Option<&Py<Array>>, two: Option<&Py<Array>>| match (one, two) {
            (Some(one), Some(two)) => one.bind(py).get().is_same(py, two.bind(py).get()),
            (None, None) => true,
            _ => false,
        };
        same(Some(&self.data), Some(&other.data))
            && same(self.mask.as_ref(), other.mask.as_ref())
            && same(self.fill_value.as_ref(), other.fill_value.as_ref())
            && self.hard_mask == other.hard_mask
    }

    fn __repr__(&self, py: Python<'_>) -> Owned {
        Owned(format!("<hookless.MaskedArray of {}>", self.data.bind(py).get().text()))
    }
}

/// A masked array of parts that go together.
pub(crate) fn made<'py>(
    numpy: Option<&Numpy>,
    data: Bound<'py, PyAny>,
    mask: Option<Bound<'py, PyAny>>,
    fill_value: Option<Bound<'py, PyAny>>,
    hard_mask: bool,
) -> Result<Bound<'py, PyAny>> {
    let py = data.py();
    let Some(numpy) = numpy else {
        let inert = |part: Bound<'py, PyAny>| {
            part.cast_into_exact::<Array>().map(Bound::unbind).map_err(|_| Error::new(Code::OutOfMemory))
        };
        let mask = mask.map(inert).transpose()?;
        let fill_value = fill_value.map(inert).transpose()?;
        let made = Bound::new(py, InertMasked { data: inert(data)?, mask, fill_value, hard_mask });
        return made.map(Bound::into_any).map_err(|error| table_error(py, &error));
    };
    let build = || {
        let view =
            |array: &Bound<'py, PyAny>, to: &Bound<'py, PyAny>| numpy.ma.view.bind(py).call1((array, to));
        let class = numpy.ma.class.bind(py).as_any();
        let descr = data.getattr(fallible::interned!(data.py(), c"dtype")?)?;
        // NumPy looks for attributes in what a view is made of, and a recarray gives its fields for them, whose names the wire chose.
        let plain = view(&data, py.get_type::<PyUntypedArray>().as_any())?;
        let size: usize = descr.getattr(fallible::interned!(descr.py(), c"itemsize")?)?.extract()?;
        let made = if size == 0 || descr.getattr(fallible::interned!(descr.py(), c"names")?)?.is_none() {
            view(&plain, class)?
        } else {
            // Seen as bytes at first: of a structure, MaskedArray would make up a mask and a fill value, which it cannot for all of them.
            let opaque = Str(&format!("V{size}")).into_pyobject(py)?.into_any();
            view(&view(&view(&plain, &opaque)?, class)?, &descr)?
        };
        made.setattr(Str("_baseclass"), data.get_type())?;
        // What MaskedArray itself keeps them in; its constructor and setters would copy, convert and compare.
        made.setattr(Str("_mask"), mask.as_ref().unwrap_or(numpy.ma.nomask.bind(py)))?;
        made.setattr(Str("_fill_value"), &fill_value)?;
        made.setattr(Str("_hardmask"), hard_mask)?;
        made.setattr(Str("_sharedmask"), false)?;
        Ok(made)
    };
    twice(py, build, || "a masked array".to_owned())
}

/// Data, mask, fill value and hard mask.
type Parts<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, bool);

/// The parts of an exact MaskedArray; none when they are of classes that do not travel, or are not what MaskedArray makes them.
pub(crate) fn parts<'py>(value: &Bound<'py, PyAny>, numpy: &Numpy) -> PyResult<Option<Parts<'py>>> {
    let py = value.py();
    let base = value.getattr(fallible::interned!(value.py(), c"_baseclass")?)?;
    let [ndarray, memmap, recarray] = numpy.arrays;
    let class = match base.as_ptr() as usize {
        found if found == ndarray || found == memmap => py.get_type::<PyUntypedArray>().into_any(),
        found if found == recarray => base,
        _ => return Ok(None),
    };
    let data = numpy.ma.view.bind(py).call1((value, class))?;
    let (mask, fill) = (
        value.getattr(fallible::interned!(value.py(), c"_mask")?)?,
        value.getattr(fallible::interned!(value.py(), c"_fill_value")?)?,
    );
    let hard = value.getattr(fallible::interned!(value.py(), c"_hardmask")?)?;
    let Ok(hard) = hard.cast_exact::<PyBool>() else { return Ok(None) };
    let plain = |part: &Bound<'py, PyAny>| part.get_type_ptr() as usize == ndarray;
    let mask = if mask.is(&numpy.ma.nomask) { None } else { Some(mask) };
    let fill = if fill.is_none() { None } else { Some(fill) };
    if mask.iter().chain(&fill).all(plain) {
        return Ok(Some((data, mask, fill, hard.is_true())));
    }
    Ok(None)
}
