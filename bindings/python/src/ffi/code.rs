//! Where an instruction of a code object stands in its source.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCode;

unsafe extern "C" {
    /// CPython's own since 3.11 (`cpython/code.h`); PyO3 does not declare it.
    fn PyCode_Addr2Location(
        code: *mut ffi::PyCodeObject,
        address: c_int,
        line: *mut c_int,
        column: *mut c_int,
        end_line: *mut c_int,
        end_column: *mut c_int,
    ) -> c_int;
}

/// First and last line, first column and the one after the last; none where the compiler left none.
pub(crate) fn position(code: &Bound<'_, PyCode>, instruction: c_int) -> [Option<u32>; 4] {
    let (mut line, mut column, mut end_line, mut end_column) = (-1, -1, -1, -1);
    // SAFETY: the GIL is held, `code` is a live code object, and the four places are ours. The table of positions, which `code.replace` can
    // set, is read as `code.co_positions()` reads it. An instruction outside of the code finds none.
    let found = unsafe {
        PyCode_Addr2Location(
            code.as_ptr().cast(),
            instruction,
            &raw mut line,
            &raw mut column,
            &raw mut end_line,
            &raw mut end_column,
        )
    };
    if found == 0 {
        return [None; 4];
    }
    [line, end_line, column, end_column].map(|number| u32::try_from(number).ok())
}
