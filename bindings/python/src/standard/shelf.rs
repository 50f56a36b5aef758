//! The classes of the standard library that hookless makes and reads.

use crate::ffi::fallible::Str;
use crate::imports::{attribute, imported};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use hookless::{IpKind, PathClass};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::warm::once;

/// A type of the standard library that has a form on the wire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ellipsis,
    Range,
    Slice,
    Date,
    Time,
    DateTime,
    TimeDelta,
    TimeZone,
    ZoneInfo,
    Uuid,
    SafeUuid,
    Decimal,
    Fraction,
    Ip(IpKind),
    Path(PathClass),
    ForeignPath,
    StructTime,
    Deque,
    OrderedDict,
    Counter,
    TypedArray,
}

/// Module, class, kind; those of one module together.
const TYPES: [(&str, &str, Kind); 29] = [
    ("builtins", "ellipsis", Kind::Ellipsis),
    ("builtins", "range", Kind::Range),
    ("builtins", "slice", Kind::Slice),
    ("datetime", "date", Kind::Date),
    ("datetime", "time", Kind::Time),
    ("datetime", "datetime", Kind::DateTime),
    ("datetime", "timedelta", Kind::TimeDelta),
    ("datetime", "timezone", Kind::TimeZone),
    ("zoneinfo", "ZoneInfo", Kind::ZoneInfo),
    ("uuid", "UUID", Kind::Uuid),
    ("uuid", "SafeUUID", Kind::SafeUuid),
    ("decimal", "Decimal", Kind::Decimal),
    ("fractions", "Fraction", Kind::Fraction),
    ("ipaddress", "IPv4Address", Kind::Ip(IpKind::Address)),
    ("ipaddress", "IPv6Address", Kind::Ip(IpKind::Address)),
    ("ipaddress", "IPv4Network", Kind::Ip(IpKind::Network)),
    ("ipaddress", "IPv6Network", Kind::Ip(IpKind::Network)),
    ("ipaddress", "IPv4Interface", Kind::Ip(IpKind::Interface)),
    ("ipaddress", "IPv6Interface", Kind::Ip(IpKind::Interface)),
    ("pathlib", "PurePosixPath", Kind::Path(PathClass::PurePosix)),
    ("pathlib", "PureWindowsPath", Kind::Path(PathClass::PureWindows)),
    ("pathlib", "PosixPath", Kind::Path(PathClass::Posix)),
    ("pathlib", "WindowsPath", Kind::Path(PathClass::Windows)),
    ("hookless.paths", "ForeignPath", Kind::ForeignPath),
    ("time", "struct_time", Kind::StructTime),
    ("collections", "deque", Kind::Deque),
    ("collections", "OrderedDict", Kind::OrderedDict),
    ("collections", "Counter", Kind::Counter),
    ("array", "array", Kind::TypedArray),
];

/// Types by their addresses, as far as their modules are loaded.
#[derive(Default)]
struct Known {
    kinds: HashMap<usize, Kind>,
    /// Keeps the types alive, so that no other type gets such an address.
    held: Vec<Py<PyType>>,
    modules: HashSet<&'static str>,
}

static KNOWN: PyOnceLock<Mutex<Known>> = PyOnceLock::new();

/// The kind of an object by its exact type; a module that is not loaded has made no object.
#[inline(never)]
pub(crate) fn kind_of(value: &Bound<'_, PyAny>) -> PyResult<Option<Kind>> {
    let py = value.py();
    let address = value.get_type_ptr() as usize;
    let known = KNOWN.get_or_init(py, Mutex::default);
    let missing: Vec<_> = {
        let Ok(known) = known.lock() else { return Ok(None) };
        if let Some(kind) = known.kinds.get(&address) {
            return Ok(Some(*kind));
        }
        let modules = TYPES.chunk_by(|(one, ..), (next, ..)| one == next);
        modules
            .filter(|types| types.first().is_some_and(|(module, ..)| !known.modules.contains(module)))
            .collect()
    };
    let mut kind = None;
    // Unlocked: a module may be anything that a program has put in its place, and run code when it is asked.
    for types in missing {
        let Some(&(module, ..)) = types.first() else { continue };
        let Some(found) = crate::warm::warm(py)?.modules.bind(py).get_item(Str(module))? else { continue };
        // One that is still being imported lacks some of its classes: it is asked again.
        let mut classes = Vec::with_capacity(types.len());
        for &(_, name, its) in types {
            let class = match name {
                "ellipsis" => Some(py.Ellipsis().bind(py).get_type()),
                name => class_of(&found, name)?,
            };
            classes.extend(class.map(|class| (class, its)));
        }
        let (true, Ok(mut known)) = (classes.len() == types.len(), known.lock()) else { continue };
        for (class, its) in classes {
            kind = kind.or((class.as_ptr() as usize == address).then_some(its));
            known.kinds.insert(class.as_ptr() as usize, its);
            known.held.push(class.unbind());
        }
        known.modules.insert(module);
    }
    Ok(kind)
}

/// A class of a module, if it is there.
fn class_of<'py>(module: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyType>>> {
    match module.getattr(Str(name)) {
        Ok(found) => Ok(found.cast_into::<PyType>().ok()),
        // Whatever a program has put in the module's place may raise what it likes.
        Err(error) if error.is_instance_of::<PyMemoryError>(module.py()) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The classes and functions that make values.
pub(crate) struct Shelf {
    pub(super) timezone: Py<PyAny>,
    pub(super) zone_info: Py<PyAny>,
    pub(super) uuid: Py<PyAny>,
    pub(super) safe_uuid: Py<PyAny>,
    pub(super) decimal: Py<PyAny>,
    /// `decimal.getcontext` and `decimal.FloatOperation`.
    context: Py<PyAny>,
    float_operation: Py<PyAny>,
    /// Makes a Fraction of a numerator and a denominator in lowest terms.
    pub(super) fraction: Py<PyAny>,
    /// In the order of `IpKind`, IPv4 before IPv6.
    pub(super) ip: [Py<PyAny>; 6],
    /// `hookless.paths.split`
    pub(super) split: Py<PyAny>,
    /// `hookless.paths.made`
    pub(super) path: Py<PyAny>,
    pub(super) struct_time: Py<PyAny>,
    pub(crate) deque: Py<PyAny>,
    pub(crate) ordered_dict: Py<PyAny>,
    pub(crate) counter: Py<PyAny>,
    /// An empty array of each type code and itemsize: a copy of it is made without the warning that `u` is deprecated.
    pub(super) arrays: Py<PyDict>,
}

static SHELF: PyOnceLock<Shelf> = PyOnceLock::new();
static ZONES: PyOnceLock<HashSet<String>> = PyOnceLock::new();

/// The fixed list of imports.
pub(crate) fn shelf(py: Python<'_>) -> PyResult<&Shelf> {
    once(py, &SHELF, || {
        let get =
            |module: &str, name: &str| -> PyResult<Py<PyAny>> { Ok(attribute(py, module, name)?.unbind()) };
        Ok(Shelf {
            timezone: get("datetime", "timezone")?,
            zone_info: get("zoneinfo", "ZoneInfo")?,
            uuid: get("uuid", "UUID")?,
            safe_uuid: get("uuid", "SafeUUID")?,
            decimal: get("decimal", "Decimal")?,
            context: get("decimal", "getcontext")?,
            float_operation: get("decimal", "FloatOperation")?,
            fraction: get("hookless._standard", "coprime")?,
            ip: [
                get("ipaddress", "IPv4Address")?,
                get("ipaddress", "IPv4Network")?,
                get("ipaddress", "IPv4Interface")?,
                get("ipaddress", "IPv6Address")?,
                get("ipaddress", "IPv6Network")?,
                get("ipaddress", "IPv6Interface")?,
            ],
            split: get("hookless.paths", "split")?,
            path: get("hookless.paths", "made")?,
            struct_time: get("time", "struct_time")?,
            deque: get("collections", "deque")?,
            ordered_dict: get("collections", "OrderedDict")?,
            counter: get("collections", "Counter")?,
            arrays: get("hookless._standard", "empty_arrays")?
                .bind(py)
                .call0()?
                .cast_into::<PyDict>()?
                .unbind(),
        })
    })
}

/// The flag of the host's decimal context that says that a decimal has been compared with a float. Tables of keys do that, the host has
/// not; dropping this takes the flag down again.
pub(crate) struct Calm<'py> {
    flags: Bound<'py, PyAny>,
    signal: &'py Py<PyAny>,
}

/// None where the flag is up already.
pub(crate) fn calm(py: Python<'_>) -> PyResult<Option<Calm<'_>>> {
    let shelf = shelf(py)?;
    let (flags, signal) = (shelf.context.bind(py).call0()?.getattr(Str("flags"))?, &shelf.float_operation);
    let up = flags.get_item(signal)?.is_truthy()?;
    Ok((!up).then_some(Calm { flags, signal }))
}

impl Drop for Calm<'_> {
    fn drop(&mut self) {
        // The two are the context's own table and one of its keys, which it always takes.
        let _taken = self.flags.set_item(self.signal, false);
    }
}

/// The keys of all zones that this host knows, read once.
pub(super) fn zones(py: Python<'_>) -> PyResult<&HashSet<String>> {
    once(py, &ZONES, || imported(py, "zoneinfo")?.call_method0(Str("available_timezones"))?.extract())
}

/// Import now what the first value of a kind would import while it is decoded: the standard library's value classes, and the list of time
/// zones.
#[pyfunction]
pub(crate) fn warm_up(py: Python<'_>) -> PyResult<()> {
    crate::warm::warm(py)?;
    crate::warm::numpy(py)?;
    shelf(py)?;
    zones(py).map(|_| ())
}
