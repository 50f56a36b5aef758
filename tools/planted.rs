//! Errors of memory, to show that a sanitizer finds them. Part of no package; `tools/asan.py` and `tools/valgrind.py` build it alone.

/// Reads one byte past the end of an allocation.
#[unsafe(no_mangle)]
pub extern "C" fn read_past() -> u8 {
    let bytes = std::hint::black_box(vec![7u8; 100]);
    // SAFETY: there is none; this is the error.
    unsafe { std::hint::black_box(bytes.as_ptr()).add(100).read_volatile() }
}

/// Reads an allocation that has been freed.
#[unsafe(no_mangle)]
pub extern "C" fn read_freed() -> u8 {
    let bytes = std::hint::black_box(vec![7u8; 100]);
    let place = std::hint::black_box(bytes.as_ptr());
    drop(bytes);
    // SAFETY: there is none; this is the error.
    unsafe { place.read_volatile() }
}
