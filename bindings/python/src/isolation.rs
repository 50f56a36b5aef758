//! What the child gives up, called by its bootstrap before foreign code.

use std::path::PathBuf;

use hookless_sandbox::{Barriers, Lockdown, Resources};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::ffi::fallible::{self, Str};

/// What is in force and what is missing, by the name of the layer.
type Told = (Vec<(&'static str, String)>, Vec<(&'static str, String)>);

/// Gives up privileges and lowers limits of this process, for good; with `mode` other than "none", closes files and system calls as well.
#[pyfunction]
#[pyo3(signature = (mode, *, readable, required, writable, memory, cpu_seconds, file_size, open_files, processes))]
#[expect(clippy::too_many_arguments, reason = "named by the caller, once")]
pub(crate) fn lockdown(
    py: Python<'_>,
    mode: &str,
    readable: Vec<PathBuf>,
    required: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    memory: Option<u64>,
    cpu_seconds: Option<u64>,
    file_size: Option<u64>,
    open_files: Option<u64>,
    processes: Option<u64>,
) -> PyResult<Told> {
    let best_effort = mode == "auto";
    let barriers = Barriers { readable, required, writable, best_effort };
    let lockdown = Lockdown {
        resources: Resources { memory, cpu_seconds, file_size, open_files, processes },
        // Whatever is not exactly "none" is held to be "strict".
        barriers: (mode != "none").then_some(barriers),
    };
    let applied = lockdown.apply().map_err(|error| {
        let make = || {
            let fields = fallible::dict(py)?;
            fields.set_item(Str("layer"), Str(error.layer))?;
            raised(py, "IsolationError", &error.to_string(), Some(&fields))
        };
        make().unwrap_or_else(|error| error)
    })?;
    let layers = applied.layers.into_iter().map(|layer| (layer.name, layer.detail));
    let missing = applied.missing.into_iter().map(|layer| (layer.layer, layer.reason));
    Ok((layers.collect(), missing.collect()))
}

/// The highest descriptor that is looked for; one past a process's hard limit cannot be open.
const HIGHEST: i32 = 1 << 20;

/// Closes every descriptor of this process but 0, 1, 2 and those in `keep`.
#[pyfunction]
pub(crate) fn close_descriptors(py: Python<'_>, mut keep: Vec<i32>) -> PyResult<()> {
    keep.sort_unstable();
    // The standard library closes a range in one system call, where the kernel has one.
    let close = py.import(Str("os"))?.getattr(Str("closerange"))?;
    let mut from = 3;
    for kept in keep.into_iter().filter(|&kept| kept > 2).chain([HIGHEST]) {
        close.call1((from, kept))?;
        from = kept.saturating_add(1);
    }
    Ok(())
}
