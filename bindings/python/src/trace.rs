//! The frames of a live traceback. Tracebacks, frames and code objects are CPython's own, so reading them runs no code of anybody's.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyList, PyTraceback};

use crate::failure::{Chars, TraceFrame};
use crate::ffi::code;

/// Characters of a source line that are kept; generated code can have very long ones.
const SOURCE: usize = 512;

/// Reads the frame of one traceback entry, and whether its texts are whole.
///
/// traceback: the entry. lines: what is known of files, each a list of lines. read: asked for the lines of another one, by file name and
/// globals; it must not raise. text: bytes of each text that are kept.
#[pyfunction]
pub(crate) fn trace_frame(
    traceback: &Bound<'_, PyTraceback>,
    lines: &Bound<'_, PyDict>,
    read: &Bound<'_, PyAny>,
    text: usize,
) -> PyResult<(TraceFrame, bool)> {
    let py = traceback.py();
    let frame = traceback.getattr(intern!(py, "tb_frame"))?;
    let code = frame.getattr(intern!(py, "f_code"))?.cast_into::<PyCode>()?;
    let instruction = traceback.getattr(intern!(py, "tb_lasti"))?.extract()?;
    let [line, end_line, column, end_column] =
        code::position(&code, instruction).map(|number| number.filter(|&number| number < 1 << 31));
    let line = match line {
        Some(line) => Some(line),
        None => traceback.getattr(intern!(py, "tb_lineno"))?.extract().ok(),
    };
    let file = code.getattr(intern!(py, "co_filename"))?;
    let source = match line {
        Some(line) => {
            let known = match lines.get_item(&file)? {
                Some(known) => known,
                None => {
                    let found = read.call1((&file, frame.getattr(intern!(py, "f_globals"))?))?;
                    lines.set_item(&file, &found)?;
                    found
                }
            };
            let at = (line as usize).checked_sub(1);
            at.and_then(|at| known.cast_exact::<PyList>().ok()?.get_item(at).ok())
        }
        None => None,
    };
    let mut whole = true;
    let mut kept = |mut chars: Chars| {
        whole &= chars.keep_bytes(text);
        chars
    };
    let source = source.and_then(|source| Chars::of(&source).ok()).map(|source| source.line(SOURCE));
    let frame = TraceFrame {
        file: kept(Chars::of(&file)?),
        line,
        end_line,
        column,
        end_column,
        function: kept(Chars::of(&code.getattr(intern!(py, "co_name"))?)?),
        source: source.filter(|source| !source.is_empty()).map(kept),
    };
    Ok((frame, whole))
}
