//! What a process needs before it decodes its first byte: imported and looked up once, so that nothing is imported later.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use hookless::{Dtype, ScalarKind};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::ffi::ndarray;

/// The host's own classes and settings.
pub(crate) struct Warm {
    /// `hookless._family.error_of`, which makes every exception value.
    pub(crate) error_of: Py<PyAny>,
    /// The classes that it may make, which stay for ever, by address.
    pub(crate) remote_classes: HashSet<usize>,
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
        let family = py.import("hookless._family")?;
        let classes = family.getattr("CLASSES")?.cast_into::<PyTuple>()?;
        Ok(Warm {
            error_of: family.getattr("error_of")?.unbind(),
            remote_classes: classes.iter().map(|class| class.as_ptr() as usize).collect(),
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
    /// Addresses of the array types: `ndarray`, and `memmap`, which travels as a plain array.
    pub(crate) arrays: [usize; 2],
    /// Address of each scalar type, with its kind.
    scalars: Vec<(usize, ScalarKind)>,
    types: HashMap<ScalarKind, Py<PyType>>,
    longlong: [usize; 2],
    pub(crate) dtype: Py<PyAny>,
    pub(crate) datetime_data: Py<PyAny>,
    pub(crate) zeros: Py<PyAny>,
    pub(crate) descrs: Mutex<HashMap<Dtype, Py<PyArrayDescr>>>,
}

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
            arrays: [ndarray::array_type(py), address("memmap")?],
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
