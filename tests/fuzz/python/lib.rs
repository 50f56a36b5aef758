//! The Python host in a fuzz target's own process: what `hookless.loads` makes of a frame, compared with what Rust's `decode` does.
//!
//! libpython is linked into the target, the binding with it, so libFuzzer sees the binding's branches as it sees the reader's. Of each
//! frame `loads`, `loads(copy=False)`, `decode` of parts and `load` of a file say what Rust says, and what is accepted is written as the
//! same bytes; `Decoder` says what Rust's does of a stream; now and then [`Host::check`] looks at what decoding must leave as it is (`watch.py`).
//!
//! It needs `PYTHONHOME` and `PYTHONPATH` (the package's folder, and NumPy's), which `tools/fuzz.py` sets.

pub mod channel;
mod stream;

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

use hookless::{Class, Code, Limits, decode};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

/// So many inputs lie between two looks at what decoding must leave as it is.
const LOOK_EVERY: u64 = 2048;

/// Python, with hookless imported.
#[derive(Debug)]
pub struct Host {
    loads: Py<PyAny>,
    decode: Py<PyAny>,
    load: Py<PyAny>,
    /// `hookless.Decoder`.
    decoder: Py<PyAny>,
    /// `io.BytesIO`.
    file: Py<PyAny>,
    dumps: Py<PyAny>,
    /// `hookless.DecodeError`.
    refusal: Py<PyAny>,
    /// `copy=False`.
    views: Py<PyDict>,
    /// `watch.changed`.
    changed: Py<PyAny>,
    checked: AtomicU64,
    limits: Limits,
}

/// What came of some bytes in one host: the frame that the value is written as, or code, offset and path.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Accepted(Vec<u8>),
    Refused(String, Option<u64>, String),
}

impl Verdict {
    fn is_of_this_host(&self) -> bool {
        let Verdict::Refused(code, ..) = self else { return false };
        let found = Code::ALL.iter().find(|known| known.as_str() == code);
        stays_of_this_host(*found.unwrap_or_else(|| panic!("no such code: {code}")))
    }
}

/// Class *environment*, in which hosts may differ. Of memory there is enough for what a fuzzer sends.
fn stays_of_this_host(code: Code) -> bool {
    code.class() == Class::Environment && code != Code::OutOfMemory
}

/// Imports hookless, whose binding is linked into this program and never looked for on disk.
fn start(py: Python<'_>, numpy: bool) -> PyResult<Bound<'_, PyModule>> {
    let extension = pyo3::wrap_pymodule!(_hookless::_hookless)(py);
    let modules = py.import("sys")?.getattr("modules")?;
    modules.set_item("hookless._hookless", extension)?;
    let package = py.import("hookless")?;
    if numpy {
        py.import("ml_dtypes")?;
        package.call_method0("use_numpy")?;
    }
    package.call_method0("warm_up")?;
    assert_eq!(modules.contains("numpy")?, numpy, "NumPy is loaded where it should not be, or is not");
    Ok(package)
}

impl Host {
    /// Starts Python in this process.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn new(numpy: bool) -> Host {
        Python::initialize();
        Python::attach(|py| {
            Host::load(py, numpy).unwrap_or_else(|error| panic!("Python cannot be used: {error}"))
        })
    }

    fn load(py: Python<'_>, numpy: bool) -> PyResult<Host> {
        let package = start(py, numpy)?;
        let code = CString::new(include_str!("watch.py"))?;
        let watch = PyModule::from_code(py, &code, c"watch.py", c"watch")?;
        let found = |name: &str| package.getattr(name).map(Bound::unbind);
        Ok(Host {
            loads: found("loads")?,
            decode: found("decode")?,
            load: found("load")?,
            decoder: found("Decoder")?,
            file: py.import("io")?.getattr("BytesIO")?.unbind(),
            dumps: found("dumps")?,
            refusal: found("DecodeError")?,
            views: [("copy", false)].into_py_dict(py)?.unbind(),
            changed: watch.getattr("changed")?.unbind(),
            checked: AtomicU64::new(0),
            limits: Limits::default(),
        })
    }

    /// Checks one frame.
    ///
    /// # Panics
    /// With what is wrong.
    pub fn check(&self, frame: &[u8], planted: bool) {
        Python::attach(|py| {
            self.compare(py, frame, planted);
            self.streams(py, frame);
            let count = self.checked.fetch_add(1, Ordering::Relaxed);
            if count % LOOK_EVERY == LOOK_EVERY - 1 {
                let changed: String =
                    self.changed.call0(py).and_then(|text| text.extract(py)).expect("it is looked at");
                assert!(changed.is_empty(), "decoding has changed the process: {changed}");
            }
        });
    }

    fn compare(&self, py: Python<'_>, frame: &[u8], planted: bool) {
        let rust = match decode(frame, &self.limits) {
            Ok(_) => Verdict::Accepted(frame.to_vec()),
            Err(error) => {
                let code = error.code().as_str().to_owned();
                Verdict::Refused(code, error.offset(), error.path().to_owned())
            }
        };
        let data = PyBytes::new(py, frame);
        let mut python = self.verdict(py, self.loads.call1(py, (&data,)));
        if planted && matches!(&python, Verdict::Refused(code, ..) if code == "unordered_set") {
            python = Verdict::Accepted(frame.to_vec());
        }
        if !python.is_of_this_host() {
            assert_eq!(python, rust, "Python (left) and Rust differ");
        }
        let views = self.verdict(py, self.loads.call(py, (&data,), Some(self.views.bind(py))));
        let parts = self.verdict(py, self.decode.call1(py, (split(py, frame),)));
        let file = self.file.call1(py, (&data,)).expect("a file");
        let file = self.verdict(py, self.load.call1(py, (file,)));
        if !planted {
            // A file is a stream: what follows a frame is the next one, and the body is read before it is known that the rest is missing.
            let known_later = |code: &str| ["trailing_bytes", "truncated"].contains(&code);
            let later = matches!(&python, Verdict::Refused(code, ..) if known_later(code));
            assert!(later || file == python, "load gives {file:?}, and loads {python:?}");
            assert_eq!(views, python, "copy=False (left) and copy=True differ");
            assert_eq!(parts, python, "decode of parts (left) and loads differ");
        }
    }

    /// What a decoder gave: a value, which is written again, or the one documented error.
    fn verdict(&self, py: Python<'_>, outcome: PyResult<Py<PyAny>>) -> Verdict {
        match outcome {
            Ok(value) => {
                let again = self.dumps.call1(py, (value,)).unwrap_or_else(|error| {
                    error.print(py);
                    panic!("what was decoded cannot be encoded: {error}")
                });
                Verdict::Accepted(again.extract(py).expect("bytes"))
            }
            Err(error) => self.refused(py, &error),
        }
    }

    /// The one documented error.
    fn refused(&self, py: Python<'_>, error: &PyErr) -> Verdict {
        let raised = error.value(py);
        let known = raised.is_instance(self.refusal.bind(py)).unwrap_or_default();
        assert!(known, "an error that is none of a decoder's: {error}");
        let fields = || {
            let code = raised.getattr("code")?.extract()?;
            PyResult::Ok(Verdict::Refused(
                code,
                raised.getattr("offset")?.extract()?,
                raised.getattr("path")?.extract()?,
            ))
        };
        fields().expect("code, offset and path")
    }
}

/// A frame in parts, cut where its own bytes say.
fn split<'py>(py: Python<'py>, frame: &[u8]) -> Vec<Bound<'py, PyBytes>> {
    let seed = frame.iter().fold(1u32, |seed, &byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let (mut rest, mut size) = (frame, seed as usize % 61);
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(size.min(rest.len()));
        parts.push(PyBytes::new(py, now));
        rest = later;
        // Short parts first, where a head and small values are.
        size = size * 2 + 1;
    }
    parts
}
