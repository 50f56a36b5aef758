//! The frames of a live traceback. Tracebacks, frames and code objects are CPython's own, so reading them runs no code of anybody's.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTraceback};

use crate::failure::{Chars, TraceFrame};
use crate::ffi::{code, fallible, raised};

/// Characters of a source line that are kept; generated code can have very long ones.
pub(crate) const SOURCE: usize = 512;

/// The source lines that are known, each file's a list.
pub(crate) struct Lines<'a, 'py> {
    pub(crate) known: &'a Bound<'py, PyDict>,
    /// Asked for the lines of another file, by file name and globals; it must not raise.
    pub(crate) read: &'a Bound<'py, PyAny>,
    /// The file that was asked for last.
    last: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

/// What a traceback entry says, as Python's own objects.
pub(crate) struct Read<'py> {
    pub(crate) file: Bound<'py, PyAny>,
    pub(crate) function: Bound<'py, PyAny>,
    /// The whole line, with its end.
    pub(crate) source: Option<Bound<'py, PyAny>>,
    /// First line, last line, first column, column after the last.
    pub(crate) position: [Option<u32>; 4],
}

impl<'a, 'py> Lines<'a, 'py> {
    pub(crate) fn new(known: &'a Bound<'py, PyDict>, read: &'a Bound<'py, PyAny>) -> Self {
        Lines { known, read, last: None }
    }

    /// The lines of a file; `scope` is the frame whose globals may know more of it.
    fn of(&mut self, file: &Bound<'py, PyAny>, scope: &Bound<'py, PyAny>) -> PyResult<&Bound<'py, PyAny>> {
        let py = file.py();
        let found = match self.last.take() {
            Some((last, lines)) if last.is(file) => lines,
            _ => match self.known.get_item(file)? {
                Some(known) => known,
                None => {
                    let found =
                        self.read.call1((file, scope.getattr(fallible::interned!(py, c"f_globals")?)?))?;
                    self.known.set_item(file, &found)?;
                    found
                }
            },
        };
        Ok(&self.last.insert((file.clone(), found)).1)
    }

    /// Reads one traceback entry.
    pub(crate) fn read(
        &mut self,
        traceback: &Bound<'py, PyTraceback>,
        entry: &raised::Entry<'py>,
    ) -> PyResult<Read<'py>> {
        let py = traceback.py();
        let mut position = code::position(&entry.code, entry.instruction)
            .map(|number| number.filter(|&number| number < 1 << 31));
        if position[0].is_none() {
            position[0] = traceback.getattr(fallible::interned!(py, c"tb_lineno")?)?.extract().ok();
        }
        let file = entry.code.getattr(fallible::interned!(py, c"co_filename")?)?;
        let source = match position[0] {
            Some(line) => {
                let lines = self.of(&file, &entry.frame)?;
                let at = (line as usize).checked_sub(1);
                // Asked first: an IndexError for each frame would take longer than all else.
                let lines = lines.cast_exact::<PyList>().ok();
                at.zip(lines)
                    .filter(|(at, lines)| *at < lines.len())
                    .and_then(|(at, lines)| lines.get_item(at).ok())
            }
            None => None,
        };
        Ok(Read {
            file,
            function: entry.code.getattr(fallible::interned!(py, c"co_name")?)?,
            source,
            position,
        })
    }
}

/// Reads the frame of one traceback entry, and whether its texts are whole.
///
/// traceback: the entry. lines: what is known of files, each a list of lines. read: asked for the lines of another one, by file name and
/// globals; it must not raise. text: bytes of each text that are kept.
#[pyfunction]
pub(crate) fn trace_frame<'py>(
    traceback: &Bound<'py, PyTraceback>,
    lines: &Bound<'py, PyDict>,
    read: &Bound<'py, PyAny>,
    text: usize,
) -> PyResult<(TraceFrame, bool)> {
    let Some(entry) = raised::entry(traceback) else {
        return Err(pyo3::exceptions::PyValueError::new_err("the traceback has no frame"));
    };
    let found = Lines::new(lines, read).read(traceback, &entry)?;
    let mut whole = true;
    let mut kept = |mut chars: Chars| {
        whole &= chars.keep_bytes(text);
        chars
    };
    let source = found.source.and_then(|source| Chars::of(&source).ok()).map(|source| source.line(SOURCE));
    let [line, end_line, column, end_column] = found.position;
    let frame = TraceFrame {
        file: kept(Chars::of(&found.file)?),
        line,
        end_line,
        column,
        end_column,
        function: kept(Chars::of(&found.function)?),
        source: source.filter(|source| !source.is_empty()).map(kept),
    };
    Ok((frame, whole))
}
