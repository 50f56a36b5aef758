//! What a process needs before it decodes its first byte: imported and looked up once, so that nothing is imported later.

use std::collections::HashMap;
use std::sync::Mutex;

use hookless::array::{ArrayHead, Unit};
use hookless::{ByteOrder, Code, Dtype, Error, Letter, Result, ScalarKind};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::ffi::ndarray;

/// The host's own classes and settings.
pub(crate) struct Warm {
    /// `hookless.remote.RemoteError`, the class of every exception value.
    pub(crate) remote_error: Py<PyType>,
    /// `hookless.failure.describe`, which the encoder asks about live exceptions.
    pub(crate) describe: Py<PyAny>,
    /// Whether str and bytes hash with a secret key.
    pub(crate) keyed_hashes: bool,
    modules: Py<PyDict>,
}

static WARM: PyOnceLock<Warm> = PyOnceLock::new();
static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// The fixed list of imports: hookless's own modules, and nothing of the values'.
pub(crate) fn warm(py: Python<'_>) -> PyResult<&Warm> {
    WARM.get_or_try_init(py, || {
        let sys = py.import("sys")?;
        let keyed: i64 = sys.getattr("flags")?.getattr("hash_randomization")?.extract()?;
        Ok(Warm {
            remote_error: py
                .import("hookless.remote")?
                .getattr("RemoteError")?
                .cast_into::<PyType>()?
                .unbind(),
            describe: py.import("hookless.failure")?.getattr("describe")?.unbind(),
            keyed_hashes: keyed != 0,
            modules: sys.getattr("modules")?.cast_into::<PyDict>()?.unbind(),
        })
    })
}

/// Says that arrays shall be NumPy's: imports it.
#[pyfunction]
pub(crate) fn use_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    numpy(py).map(|_| ())
}

/// NumPy, if this process has loaded it. Called before a byte is looked at.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<Option<&Numpy>> {
    if let Some(found) = NUMPY.get(py) {
        return Ok(Some(found));
    }
    let modules = warm(py)?.modules.bind(py);
    let ready = match modules.get_item("numpy")? {
        // A module that is still being imported by another thread has no array type yet.
        Some(module) => {
            module.hasattr("ndarray")? && module.hasattr("datetime_data")? && module.hasattr("void")?
        }
        None => false,
    };
    if !ready {
        return Ok(None);
    }
    NUMPY.get_or_try_init(py, || Numpy::load(py)).map(Some)
}

/// NumPy's types, looked up once.
pub(crate) struct Numpy {
    pub(crate) array: usize,
    /// Address of each scalar type, with its kind.
    scalars: Vec<(usize, ScalarKind)>,
    types: HashMap<ScalarKind, Py<PyType>>,
    longlong: [usize; 2],
    dtype: Py<PyAny>,
    datetime_data: Py<PyAny>,
    zeros: Py<PyAny>,
    descrs: Mutex<HashMap<Dtype, Py<PyArrayDescr>>>,
}

/// How many dtypes are remembered: all numeric ones, and then some.
const REMEMBERED: usize = 128;

impl Numpy {
    fn load(py: Python<'_>) -> PyResult<Numpy> {
        let module = py.import("numpy")?;
        if !ndarray::load_api(py) {
            return Err(pyo3::exceptions::PyImportError::new_err("NumPy gives no C API"));
        }
        let mut scalars = Vec::new();
        let mut types = HashMap::new();
        for &kind in ScalarKind::ALL {
            let found = module.getattr(scalar_name(kind))?.cast_into::<PyType>()?;
            scalars.push((found.as_ptr() as usize, kind));
            types.insert(kind, found.unbind());
        }
        let address = |name: &str| module.getattr(name).map(|found| found.as_ptr() as usize);
        Ok(Numpy {
            array: ndarray::array_type(py),
            longlong: [address("longlong")?, address("ulonglong")?],
            scalars,
            types,
            dtype: module.getattr("dtype")?.unbind(),
            datetime_data: module.getattr("datetime_data")?.unbind(),
            zeros: module.getattr("zeros")?.unbind(),
            descrs: Mutex::new(HashMap::new()),
        })
    }

    /// The kind of NumPy scalar that a type is, exactly.
    #[inline]
    pub(crate) fn scalar_kind(&self, type_address: usize) -> Option<ScalarKind> {
        self.scalars.iter().find(|(address, _)| *address == type_address).map(|&(_, kind)| kind)
    }

    /// Whether a type is `longlong` or `ulonglong` where they are not `int64` and `uint64`.
    pub(crate) fn is_longlong(&self, type_address: usize) -> bool {
        self.longlong.contains(&type_address)
    }

    /// The type of a scalar kind.
    pub(crate) fn scalar_type<'py>(&self, py: Python<'py>, kind: ScalarKind) -> Option<Bound<'py, PyType>> {
        self.types.get(&kind).map(|found| found.bind(py).clone())
    }

    /// NumPy's object for a dtype that the reader has checked.
    pub(crate) fn descr<'py>(&self, py: Python<'py>, dtype: Dtype) -> Result<Bound<'py, PyArrayDescr>> {
        if let Ok(known) = self.descrs.lock()
            && let Some(descr) = known.get(&dtype)
        {
            return Ok(descr.bind(py).clone());
        }
        let made = self
            .dtype
            .bind(py)
            .call1((dtype.to_string(),))
            .and_then(|made| Ok(made.cast_into::<PyArrayDescr>()?));
        let descr = made.map_err(|error| {
            let memory = error.is_instance_of::<pyo3::exceptions::PyMemoryError>(py);
            Error::new(if memory { Code::OutOfMemory } else { Code::DtypeUnsupported })
                .note(dtype.to_string())
        })?;
        if let Ok(mut known) = self.descrs.lock()
            && known.len() < REMEMBERED
        {
            known.insert(dtype, descr.clone().unbind());
        }
        Ok(descr)
    }

    /// An array of `S0` or `U0`: as a field of a structured one, since NumPy makes its own of width 1.
    pub(crate) fn zero_width<'py>(&self, py: Python<'py>, head: &ArrayHead) -> PyResult<Bound<'py, PyAny>> {
        let field = ("f", head.dtype().to_string());
        let shape = PyTuple::new(py, head.shape().dimensions())?;
        self.zeros.bind(py).call1((shape, PyList::new(py, [field])?))?.get_item("f")
    }

    /// Unit and count of a datetime64 or timedelta64 dtype.
    pub(crate) fn unit(&self, descr: &Bound<'_, PyAny>) -> Option<Unit> {
        let (name, count): (String, u32) =
            self.datetime_data.bind(descr.py()).call1((descr,)).ok()?.extract().ok()?;
        Unit::by_name(&name, count)
    }

    /// The wire's dtype for one of NumPy's; none for those that have no kind of their own on the wire yet.
    pub(crate) fn dtype_of(&self, descr: &Bound<'_, PyArrayDescr>) -> Option<Dtype> {
        if descr.has_object() || descr.has_fields() || descr.has_subarray() {
            return None;
        }
        let letter = Letter::from_byte(descr.kind())?;
        let order = match descr.byteorder() {
            b'=' => ByteOrder::NATIVE,
            other => ByteOrder::from_byte(other)?,
        };
        let itemsize = u32::try_from(descr.itemsize()).ok()?;
        let unit = match letter {
            Letter::Datetime | Letter::Timedelta => Some(self.unit(descr.as_any())?),
            _ => None,
        };
        // NumPy says `|` for single bytes, and for structured and void types; `=` or `<` never for them.
        Dtype::new(letter, order, itemsize, unit).ok()
    }
}

fn scalar_name(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Bool => "bool_",
        ScalarKind::Int8 => "int8",
        ScalarKind::Int16 => "int16",
        ScalarKind::Int32 => "int32",
        ScalarKind::Int64 => "int64",
        ScalarKind::UInt8 => "uint8",
        ScalarKind::UInt16 => "uint16",
        ScalarKind::UInt32 => "uint32",
        ScalarKind::UInt64 => "uint64",
        ScalarKind::Float16 => "float16",
        ScalarKind::Float32 => "float32",
        ScalarKind::Float64 => "float64",
        ScalarKind::Complex64 => "complex64",
        ScalarKind::Complex128 => "complex128",
        ScalarKind::Datetime64 => "datetime64",
        ScalarKind::Timedelta64 => "timedelta64",
        ScalarKind::Bytes => "bytes_",
        ScalarKind::Str => "str_",
        ScalarKind::Void => "void",
    }
}
