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
