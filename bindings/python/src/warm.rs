//! What a process needs before it decodes its first byte: imported and looked up once, so that nothing is imported later.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use hookless::{Dtype, Extension, LongFormat, ScalarKind};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::dtypes::Number;
use crate::ffi::fallible::{Str, interned};
use crate::ffi::ndarray;
use crate::imports::{attribute, imported};
use crate::plain::Known;
use crate::records::Records;

/// The host's own classes and settings.
pub(crate) struct Warm {
    /// `hookless._family.error_of`, which makes every exception value.
    pub(crate) error_of: Py<PyAny>,
    /// The classes that it may make, which stay for ever, by address.
    pub(crate) remote_classes: HashSet<usize>,
    /// `hookless.failure.describe`, which the encoder asks about live exceptions.
    pub(crate) describe: Py<PyAny>,
    /// What tells plain exceptions, which are not described.
    pub(crate) plain: Known,
    pub(crate) records: Records,
    /// Whether str and bytes hash with a secret.
    pub(crate) keyed_hashes: bool,
    /// `sys.modules`.
    pub(crate) modules: Py<PyDict>,
}

/// Both of what there is, looked up once in a call.
#[derive(Clone, Copy)]
pub(crate) struct Loaded<'py> {
    pub(crate) warm: &'py Warm,
    pub(crate) numpy: Option<&'py Numpy>,
}

impl<'py> Loaded<'py> {
    /// What is loaded by now.
    #[inline]
    pub(crate) fn now(py: Python<'py>) -> PyResult<Loaded<'py>> {
        Ok(Loaded { warm: warm(py)?, numpy: numpy(py)? })
    }
}

static WARM: PyOnceLock<Warm> = PyOnceLock::new();
static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// What a cell holds, made when it is first asked for.
///
/// The cell is not held meanwhile: what makes it may run Python's collector, and with it a finaliser that decodes, which would wait for itself.
/// Made twice, the first stays.
pub(crate) fn once<'a, T>(
    py: Python<'_>,
    cell: &'a PyOnceLock<T>,
    make: impl FnOnce() -> PyResult<T>,
) -> PyResult<&'a T> {
    if let Some(found) = cell.get(py) {
        return Ok(found);
    }
    let made = make()?;
    Ok(cell.get_or_init(py, || made))
}

/// The fixed list of imports: hookless's own modules, and nothing of the values'.
#[inline]
pub(crate) fn warm(py: Python<'_>) -> PyResult<&Warm> {
    match WARM.get(py) {
        Some(found) => Ok(found),
        None => warmed(py),
    }
}

#[cold]
fn warmed(py: Python<'_>) -> PyResult<&Warm> {
    once(py, &WARM, || {
        let sys = py.import(Str("sys"))?;
        let family = imported(py, "hookless._family")?;
        let classes = family.getattr(Str("CLASSES"))?.cast_into::<PyTuple>()?;
        Ok(Warm {
            error_of: family.getattr(Str("error_of"))?.unbind(),
            remote_classes: classes.iter().map(|class| class.as_ptr() as usize).collect(),
            describe: attribute(py, "hookless.failure", "describe")?.unbind(),
            plain: Known::load(py)?,
            records: Records::load(py)?,
            keyed_hashes: attribute(py, "hookless._hashing", "KEYED")?.extract()?,
            modules: sys.getattr(Str("modules"))?.cast_into::<PyDict>()?.unbind(),
        })
    })
}

/// Says that arrays shall be NumPy's: imports it.
#[pyfunction]
pub(crate) fn use_numpy(py: Python<'_>) -> PyResult<()> {
    py.import(Str("numpy"))?;
    numpy(py).map(|_| ())
}

/// NumPy, if this process has loaded it. Called before a byte is looked at.
#[inline]
pub(crate) fn numpy(py: Python<'_>) -> PyResult<Option<&Numpy>> {
    if let Some(found) = NUMPY.get(py) {
        extensions(py, found)?;
        return Ok(Some(found));
    }
    let Some(module) = loaded(py, interned!(py, c"numpy")?)? else { return Ok(None) };
    loaded_numpy(py, &module)
}

/// A module, if this process has loaded it. The names are kept, hashes and all: this is asked in each call, and is most of what a small one
/// would cost if it made them.
#[inline]
fn loaded<'py>(py: Python<'py>, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    warm(py)?.modules.bind(py).get_item(name)
}

#[cold]
fn loaded_numpy<'py>(py: Python<'py>, module: &Bound<'py, PyAny>) -> PyResult<Option<&'py Numpy>> {
    // A module that is still being imported by another thread has no array type yet.
    let ready = module.hasattr(Str("ndarray"))?
        && module.hasattr(Str("datetime_data"))?
        && module.hasattr(Str("void"))?;
    if !ready {
        return Ok(None);
    }
    let found = once(py, &NUMPY, || Numpy::load(py))?;
    extensions(py, found)?;
    Ok(Some(found))
}

/// The types of ml_dtypes (A19), if this process has loaded it, and with it NumPy.
pub(crate) struct Extensions(Vec<(Extension, Py<PyType>)>);

static EXTENSIONS: PyOnceLock<Extensions> = PyOnceLock::new();

/// Looks for ml_dtypes among the modules that are loaded, once somebody has told NumPy of types of his own.
#[inline]
fn extensions(py: Python<'_>, numpy: &Numpy) -> PyResult<()> {
    if numpy.foreign_types.count(py) == 0 || EXTENSIONS.get(py).is_some() {
        return Ok(());
    }
    match loaded(py, interned!(py, c"ml_dtypes")?)? {
        Some(module) => loaded_extensions(py, &module),
        None => Ok(()),
    }
}

#[cold]
fn loaded_extensions(py: Python<'_>, module: &Bound<'_, PyAny>) -> PyResult<()> {
    // `real` or, before there were complex types, `iinfo` is the last thing that the module gets.
    if !module.hasattr(Str("__all__"))? || !module.hasattr(Str("iinfo"))? {
        return Ok(());
    }
    let mut found = Vec::new();
    for &extension in Extension::ALL {
        if let Some(one) = module.getattr_opt(Str(extension.name()))? {
            found.push((extension, one.cast_into::<PyType>()?.unbind()));
        }
    }
    EXTENSIONS.get_or_init(py, || Extensions(found));
    Ok(())
}

/// The class of a type of ml_dtypes, where that is loaded and has it.
pub(crate) fn extension_type(py: Python<'_>, extension: Extension) -> Option<&Bound<'_, PyType>> {
    let all = &EXTENSIONS.get(py)?.0;
    all.iter().find(|(known, _)| *known == extension).map(|(_, found)| found.bind(py))
}

/// Which type of ml_dtypes a class is, exactly.
pub(crate) fn extension_of(py: Python<'_>, type_address: usize) -> Option<Extension> {
    let all = &EXTENSIONS.get(py)?.0;
    all.iter().find(|(_, found)| found.as_ptr() as usize == type_address).map(|&(known, _)| known)
}

/// What masked arrays need of `numpy.ma`.
pub(crate) struct Masked {
    /// `numpy.ma.MaskedArray`.
    pub(crate) class: Py<PyType>,
    /// `numpy.ma.nomask`, which stands for a mask where nothing is masked.
    pub(crate) nomask: Py<PyAny>,
    /// `numpy.ndarray.view`, for masked arrays have one of their own.
    pub(crate) view: Py<PyAny>,
}

/// NumPy's types, looked up once.
pub(crate) struct Numpy {
    /// Addresses of the array types: `ndarray`, `memmap`, which travels as a plain array, and `recarray`.
    pub(crate) arrays: [usize; 3],
    pub(crate) recarray: Py<PyType>,
    /// The type of a structured dtype's scalars, where it is not `void`.
    pub(crate) record: Py<PyType>,
    /// Addresses of scalar types without a leaf: `record`, `longdouble`, `clongdouble`.
    elements: [usize; 3],
    /// How a long double lies in this process's memory; none where it is a double.
    pub(crate) long_format: Option<LongFormat>,
    pub(crate) ma: Masked,
    /// `numpy.dtypes.StringDType`; none before NumPy 2.
    pub(crate) strings: Option<Py<PyAny>>,
    /// `numpy.array`, which makes arrays of texts.
    pub(crate) array: Py<PyAny>,
    /// Address of each scalar type, with its kind.
    scalars: Vec<(usize, ScalarKind)>,
    types: HashMap<ScalarKind, Py<PyType>>,
    longlong: [usize; 2],
    pub(crate) dtype: Py<PyAny>,
    pub(crate) datetime_data: Py<PyAny>,
    pub(crate) zeros: Py<PyAny>,
    foreign_types: ndarray::ForeignTypes,
    /// The numbers in this machine's byte order, each in its place.
    pub(crate) numbers: Vec<Option<Number>>,
    pub(crate) descrs: Mutex<HashMap<Dtype, Py<PyArrayDescr>>>,
}

impl Numpy {
    fn load(py: Python<'_>) -> PyResult<Numpy> {
        let module = imported(py, "numpy")?;
        if !ndarray::load_api(py) {
            return Err(pyo3::exceptions::PyImportError::new_err("NumPy gives no C API"));
        }
        let mut scalars = Vec::new();
        let mut types = HashMap::new();
        for &kind in ScalarKind::ALL {
            let found = module.getattr(Str(scalar_name(kind)))?.cast_into::<PyType>()?;
            scalars.push((found.as_ptr() as usize, kind));
            types.insert(kind, found.unbind());
        }
        let address = |name: &str| module.getattr(Str(name)).map(|found| found.as_ptr() as usize);
        let class = |name: &str| -> PyResult<Py<PyType>> {
            Ok(module.getattr(Str(name))?.cast_into::<PyType>()?.unbind())
        };
        // NumPy imports this one only when it is asked for.
        let ma = imported(py, "numpy.ma")?;
        let strings = match module.getattr_opt(Str("dtypes"))? {
            Some(dtypes) => dtypes.getattr_opt(Str("StringDType"))?.map(Bound::unbind),
            None => None,
        };
        let multiarray = |core: &str| match module.getattr_opt(Str(core))? {
            Some(core) => core.getattr_opt(Str("multiarray")),
            None => Ok(None),
        };
        // NumPy 1.26 has the first as well, for pickles of NumPy 2 alone.
        let multiarray = match multiarray("_core")? {
            Some(found) => found,
            None => multiarray("core")?.ok_or_else(|| PyImportError::new_err("numpy.core.multiarray"))?,
        };
        let numpy = Numpy {
            arrays: [ndarray::array_type(py), address("memmap")?, address("recarray")?],
            recarray: class("recarray")?,
            record: class("record")?,
            elements: [address("record")?, address("longdouble")?, address("clongdouble")?],
            long_format: long_format(&module)?,
            ma: Masked {
                class: ma.getattr(Str("MaskedArray"))?.cast_into::<PyType>()?.unbind(),
                nomask: ma.getattr(Str("nomask"))?.unbind(),
                view: module.getattr(Str("ndarray"))?.getattr(Str("view"))?.unbind(),
            },
            strings,
            array: module.getattr(Str("array"))?.unbind(),
            longlong: [address("longlong")?, address("ulonglong")?],
            scalars,
            types,
            dtype: module.getattr(Str("dtype"))?.unbind(),
            datetime_data: module.getattr(Str("datetime_data"))?.unbind(),
            zeros: module.getattr(Str("zeros"))?.unbind(),
            foreign_types: ndarray::ForeignTypes::of(&multiarray)?,
            numbers: Vec::new(),
            descrs: Mutex::new(HashMap::new()),
        };
        Ok(Numpy { numbers: numpy.numbers(py)?, ..numpy })
    }

    /// Whether a value's type is exactly `ndarray`.
    #[inline]
    pub(crate) fn is_plain_array(&self, value: &Bound<'_, PyAny>) -> bool {
        let [ndarray, ..] = self.arrays;
        value.get_type_ptr() as usize == ndarray
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

    /// Whether scalars of a type may have the form of A20, and that one only.
    pub(crate) fn is_element(&self, py: Python<'_>, type_address: usize) -> bool {
        self.elements.contains(&type_address) || extension_of(py, type_address).is_some()
    }

    /// The type of a scalar kind.
    pub(crate) fn scalar_type<'py>(&self, py: Python<'py>, kind: ScalarKind) -> Option<Bound<'py, PyType>> {
        self.types.get(&kind).map(|found| found.bind(py).clone())
    }
}

/// A18: told by the bytes of a one.
fn long_format(module: &Bound<'_, PyAny>) -> PyResult<Option<LongFormat>> {
    let one = module.getattr(Str("longdouble"))?.call1((1,))?.call_method0(Str("tobytes"))?;
    let mut bytes = one.cast::<PyBytes>()?.as_bytes().to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    Ok(match *bytes {
        [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, _, _, _, _, _, _] => Some(LongFormat::X87),
        [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, _, _] => Some(LongFormat::X87Short),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x3f] => Some(LongFormat::Binary128),
        [_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] => Some(LongFormat::DoubleDouble),
        _ => None,
    })
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
