//! The extension module `hookless._hookless`.
#![deny(unsafe_code)]
// clippy.toml of this folder: what panics when memory runs out.
#![deny(clippy::disallowed_methods, clippy::disallowed_macros)]

mod array;
mod build;
mod channel;
mod codec;
mod decode;
mod decoder;
mod dtypes;
mod errors;
mod failure;
mod ffi;
mod flat;
mod frames;
mod imports;
mod inbox;
mod inspect;
mod isolation;
mod keys;
mod limits;
mod masked;
mod plain;
mod records;
mod region;
mod scalar;
mod scalars;
mod standard;
mod trace;
mod typed;
mod walk;
mod warm;

use pyo3::prelude::*;

/// Typed MessagePack frames for a closed set of values; the names are re-exported by `hookless`.
#[pymodule]
pub mod _hookless {
    #[pymodule_export]
    use super::array::{Array, RegionBuffer};
    #[pymodule_export]
    use super::channel::Channel;
    #[pymodule_export]
    use super::codec::{dumps, encodable, encode, through_rust};
    #[pymodule_export]
    use super::decode::{py_decode, py_loads, view_mapped};
    #[pymodule_export]
    use super::decoder::{Decoder, Frame};
    #[pymodule_export]
    use super::failure::{Failure, TraceFrame};
    #[pymodule_export]
    use super::flat::{InertObjects, InertStrings};
    #[pymodule_export]
    use super::inspect::inspect;
    #[pymodule_export]
    use super::isolation::{close_descriptors, lockdown};
    #[pymodule_export]
    use super::limits::Limits;
    #[pymodule_export]
    use super::masked::InertMasked;
    #[pymodule_export]
    use super::plain::plain_failure;
    #[pymodule_export]
    use super::scalar::Scalar;
    #[pymodule_export]
    use super::standard::warm_up;
    #[pymodule_export]
    use super::trace::trace_frame;
    #[pymodule_export]
    use super::typed::KeyCosts;
    #[pymodule_export]
    use super::warm::use_numpy;

    /// Refuses an interpreter whose ints are not laid out as they are read here.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        super::ffi::leaf::check_digits(module.py())
    }

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
