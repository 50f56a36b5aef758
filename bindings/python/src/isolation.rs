//! What the child gives up, called by its bootstrap before foreign code.

use std::collections::HashMap;

use hookless_sandbox::Lockdown;
use pyo3::prelude::*;

use crate::errors::raise;

/// Sets no_new_privs and lowers the resource limits of this process, for good: each layer with what it does.
#[pyfunction]
#[pyo3(signature = (*, file_size, open_files, address_space=None, cpu_seconds=None))]
pub(crate) fn lockdown(
    py: Python<'_>,
    file_size: u64,
    open_files: u64,
    address_space: Option<u64>,
    cpu_seconds: Option<u64>,
) -> PyResult<HashMap<&'static str, String>> {
    let lockdown = Lockdown { file_size, open_files, address_space, cpu_seconds };
    let layers = lockdown.apply().map_err(|error| raise(py, "IsolationError", &error.to_string(), None))?;
    Ok(layers.into_iter().map(|layer| (layer.name, layer.detail)).collect())
}

/// The highest descriptor that is looked for; one past a process's hard limit cannot be open.
const HIGHEST: i32 = 1 << 20;

/// Closes every descriptor of this process but 0, 1, 2 and those in `keep`.
#[pyfunction]
pub(crate) fn close_descriptors(py: Python<'_>, mut keep: Vec<i32>) -> PyResult<()> {
    keep.sort_unstable();
    // The standard library closes a range in one system call, where the kernel has one.
    let close = py.import("os")?.getattr("closerange")?;
    let mut from = 3;
    for kept in keep.into_iter().filter(|&kept| kept > 2).chain([HIGHEST]) {
        close.call1((from, kept))?;
        from = kept.saturating_add(1);
    }
    Ok(())
}
