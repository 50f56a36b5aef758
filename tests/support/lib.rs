//! What the tests of this folder share: the vectors of `proto/vectors`, and values described as JSON.
//!
//! Nothing here is published. Mistakes in the vector files panic with the name of the file or vector: they are mistakes of the
//! repository, not of the code under test.

pub mod allocator;
pub mod arrays;
pub mod by_hand;
pub mod check;
pub mod craft;
pub mod describe;
pub mod generate;
mod generate_standard;
pub mod hex;
pub mod mutate;
pub mod naive;
pub mod session;
mod standard;
pub mod typed;
pub mod vectors;

use std::path::{Path, PathBuf};

/// The folder that holds the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_path_buf()
}
