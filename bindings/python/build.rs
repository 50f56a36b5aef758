//! Says which Python the extension is built for: `cfg(Py_3_12)` and the like, by which layouts of CPython's objects differ.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
