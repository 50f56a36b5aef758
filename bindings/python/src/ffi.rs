//! The only unsafe code of hookless: raw CPython and NumPy calls behind safe functions.
//!
//! PyO3's own constructors abort the process when memory runs out and cost up to a third more in the hot loops. Everything here gives a
//! typed error instead, and states for each block why it is sound.
#![expect(unsafe_code, reason = "this folder is the one place where it is allowed")]

pub(crate) mod buffer;
pub(crate) mod chars;
pub(crate) mod code;
pub(crate) mod descriptor;
pub(crate) mod fallible;
pub(crate) mod leaf;
pub(crate) mod make;
pub(crate) mod mapped;
pub(crate) mod ndarray;
pub(crate) mod pinned;
pub(crate) mod raised;
pub(crate) mod sequence;
pub(crate) mod strided;
pub(crate) mod targets;
pub(crate) mod types;
