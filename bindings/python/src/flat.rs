//! Arrays of objects and of texts: NumPy's, and those of a host that has not loaded it.

use hookless::array::{Missing, Shape};
use hookless::wire::{SequenceKind, StringParts, Writer, wide};
use hookless::{Code, Error, Order, Result};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::dtypes::twice;
use crate::ffi::fallible::{self, Owned, Str};
use crate::ffi::sequence::Unfilled;
use crate::ffi::types::{Exact, exact};
use crate::ffi::{chars, make, ndarray};
use crate::scalars::table_error;
use crate::warm::Numpy;

/// An array of dtype object without NumPy: shape and items.
#[pyclass(frozen, module = "hookless", name = "ObjectArray")]
pub(crate) struct InertObjects {
    pub(crate) shape: Shape,
    pub(crate) items: Py<PyTuple>,
}

#[pymethods]
impl InertObjects {
    /// The dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        fallible::ints(py, self.shape.dimensions().iter().copied())
    }

    /// `C` when the last index runs fastest, `F` when the first does.
    #[getter]
    fn order(&self) -> Str<'static> {
        Str(order_name(&self.shape))
    }

    /// The items, in the order in which they lie.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.items.bind(py).clone()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast_exact::<InertObjects>() else { return Ok(false) };
        Ok(self.shape == other.get().shape && self.items.bind(py).eq(&other.get().items)?)
    }

    fn __repr__(&self) -> Owned {
        Owned(format!("<hookless.ObjectArray ({})>", dimensions(&self.shape)))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> std::result::Result<(), pyo3::PyTraverseError> {
        visit.call(&self.items)
    }
}

/// An array of NumPy's StringDType without NumPy: shape, items, and what stands for a missing one.
#[pyclass(frozen, module = "hookless", name = "StringArray")]
pub(crate) struct InertStrings {
    missing: Missing,
    coerce: bool,
    shape: Shape,
    items: Py<PyTuple>,
}

#[pymethods]
impl InertStrings {
    /// The dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        fallible::ints(py, self.shape.dimensions().iter().copied())
    }

    /// `C` when the last index runs fastest, `F` when the first does.
    #[getter]
    fn order(&self) -> Str<'static> {
        Str(order_name(&self.shape))
    }

    /// The items, in the order in which they lie; None where one is missing.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.items.bind(py).clone()
    }

    /// Whether an item can be missing.
    #[getter]
    fn has_na_object(&self) -> bool {
        self.missing != Missing::Never
    }

    /// What NumPy gives for a missing item: None, a NaN or a str; None where no item can be missing, too.
    #[getter]
    fn na_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        na_object(py, &self.missing).map_err(|error| crate::errors::decode_error(py, &error))
    }

    /// Whether NumPy takes other objects by their `str()`.
    #[getter]
    fn coerce(&self) -> bool {
        self.coerce
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast_exact::<InertStrings>() else { return Ok(false) };
        let other = other.get();
        let spec = (&self.missing, self.coerce, &self.shape) == (&other.missing, other.coerce, &other.shape);
        Ok(spec && self.items.bind(py).eq(&other.items)?)
    }

    fn __repr__(&self) -> Owned {
        Owned(format!("<hookless.StringArray ({})>", dimensions(&self.shape)))
    }
}

impl InertStrings {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<()> {
        Python::attach(|py| {
            let items = self.items.bind(py);
            writer.strings(&self.missing, self.coerce, &self.shape, items.len())?;
            let mut text = Vec::new();
            for (index, item) in items.iter_borrowed().enumerate() {
                text.clear();
                let item = match chars::of(&item) {
                    Some(found) => {
                        found.append_to(&mut text);
                        Some(std::str::from_utf8(&text).map_err(|_| Error::new(Code::BadUtf8))?)
                    }
                    None => None,
                };
                let place = |path: &mut hookless::Steps| self.shape.push_step(path, wide(index));
                writer.string(&self.missing, item).map_err(|error| error.within(place))?;
            }
            writer.end_sequence();
            Ok(())
        })
    }
}

pub(crate) fn order_name(shape: &Shape) -> &'static str {
    match shape.order() {
        Order::C => "C",
        Order::F => "F",
    }
}

fn dimensions(shape: &Shape) -> String {
    shape.dimensions().iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// An array of objects; `items` is a tuple of them.
pub(crate) fn objects<'py>(
    numpy: Option<&Numpy>,
    items: Bound<'py, PyAny>,
    shape: Shape,
) -> Result<Bound<'py, PyAny>> {
    let py = items.py();
    let items =
        items.cast_into::<PyTuple>().map_err(|_| table_error(py, &PyTypeError::new_err("a tuple")))?;
    match numpy {
        Some(numpy) => {
            let descr = numpy.dtype.bind(py).call1((Str("O"),)).map_err(|error| table_error(py, &error))?;
            let descr = descr.cast::<PyArrayDescr>().map_err(|_| Error::new(Code::DtypeUnsupported))?;
            ndarray::objects(descr, &shape, &items)
        }
        None => {
            let made = Bound::new(py, InertObjects { shape, items: items.unbind() });
            made.map(Bound::into_any).map_err(|error| table_error(py, &error))
        }
    }
}

/// An array of texts.
pub(crate) fn strings<'py>(
    py: Python<'py>,
    numpy: Option<&Numpy>,
    parts: StringParts<'_>,
) -> Result<Bound<'py, PyAny>> {
    // A list or tuple of the texts, with this one where one is missing.
    let texts = |kind: SequenceKind, missing: &Bound<'py, PyAny>| -> Result<Bound<'py, PyAny>> {
        let mut made = Unfilled::new(py, kind, parts.items.len())?;
        for item in &parts.items {
            made.push(match item {
                Some(item) => chars::utf8(py, item.as_bytes())?,
                None => missing.clone(),
            });
        }
        Ok(made.finish())
    };
    let Some(numpy) = numpy else {
        let items = texts(SequenceKind::Tuple, &py.None().into_bound(py))?;
        let items =
            items.cast_into::<PyTuple>().map_err(|_| table_error(py, &PyTypeError::new_err("a tuple")))?;
        let StringParts { missing, coerce, shape, .. } = parts;
        let made = Bound::new(py, InertStrings { missing, coerce, shape, items: items.unbind() });
        return made.map(Bound::into_any).map_err(|error| table_error(py, &error));
    };
    let Some(class) = &numpy.strings else {
        return Err(Error::new(Code::DtypeUnsupported).note("StringDType comes with NumPy 2"));
    };
    let missing = na_object(py, &parts.missing)?;
    let items = texts(SequenceKind::List, &missing)?;
    let build = || {
        let options = fallible::dict(py)?;
        options.set_item(Str("coerce"), parts.coerce)?;
        if parts.missing != Missing::Never {
            options.set_item(Str("na_object"), &missing)?;
        }
        let descr = class.bind(py).call((), Some(&options))?;
        let flat = numpy.array.bind(py).call1((&items, descr))?;
        if let [_] = parts.shape.dimensions() {
            return Ok(flat);
        }
        let order = fallible::dict(py)?;
        order.set_item(Str("order"), Str(order_name(&parts.shape)))?;
        let shape = fallible::ints(py, parts.shape.dimensions().iter().copied())?;
        Ok(flat.call_method(Str("reshape"), fallible::tuple(py, &[shape])?, Some(&order))?)
    };
    twice(py, build, || "an array of texts".to_owned())
}

fn na_object<'py>(py: Python<'py>, missing: &Missing) -> Result<Bound<'py, PyAny>> {
    match missing {
        Missing::Never | Missing::None => Ok(py.None().into_bound(py)),
        Missing::Nan(value) => make::float(py, *value),
        Missing::Text(text) => chars::utf8(py, text.as_bytes()),
    }
}

/// What stands for a missing text in an array of StringDType, and whether it coerces; none when the wire has no form for it.
pub(crate) fn spec(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<(Missing, bool)>> {
    let descr = array.dtype();
    let coerce = descr.getattr(Str("coerce"))?;
    let Ok(coerce) = coerce.cast_exact::<PyBool>() else { return Ok(None) };
    let Some(found) = descr.getattr_opt(Str("na_object"))? else {
        return Ok(Some((Missing::Never, coerce.is_true())));
    };
    let missing = match exact(&found) {
        Exact::None => Missing::None,
        Exact::Float if make::float_value(&found).is_nan() => Missing::Nan(make::float_value(&found)),
        Exact::Str => {
            let mut text = Vec::new();
            match chars::of(&found) {
                Some(found) => found.append_to(&mut text),
                None => return Ok(None),
            };
            match String::from_utf8(text) {
                Ok(text) => Missing::Text(text),
                Err(_) => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some((missing, coerce.is_true())))
}
