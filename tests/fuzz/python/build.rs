//! Lets the targets find libpython where it was linked from, and NumPy find Python's functions in a program that has libpython inside.

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
    println!("cargo:rustc-link-arg-bins=-rdynamic");
}
