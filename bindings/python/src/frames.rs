//! The frames of a report: bytes in one piece until somebody asks for the objects, for most reports are never looked at so closely.

use std::ops::Range;

use hookless::wire::FrameParts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::failure::{Chars, TraceFrame};
use crate::ffi::fallible;
use crate::warm::once;

/// File, position, function and source line of a frame.
pub(crate) type FrameTexts = (Chars, [Option<u32>; 4], Chars, Option<Chars>);

/// The frames of one exception, outermost first.
pub(crate) struct Frames {
    /// Texts of all rows, one after the other.
    text: Vec<u8>,
    rows: Vec<Row>,
    made: PyOnceLock<Py<PyTuple>>,
}

struct Row {
    file: Range<usize>,
    function: Range<usize>,
    source: Option<Range<usize>>,
    position: [Option<u32>; 4],
}

impl Frames {
    pub(crate) fn given(frames: Bound<'_, PyTuple>) -> Frames {
        let found = Frames { text: Vec::new(), rows: Vec::new(), made: PyOnceLock::new() };
        found.made.get_or_init(frames.py(), || frames.unbind());
        found
    }

    pub(crate) fn packed(frames: &[FrameParts<'_>]) -> Frames {
        let len = |frame: &FrameParts<'_>| {
            let source = frame.source.map_or(0, |source| source.as_bytes().len());
            frame.file.as_bytes().len() + frame.function.as_bytes().len() + source
        };
        let mut text = Vec::with_capacity(frames.iter().map(len).sum());
        let mut keep = |bytes: &[u8]| {
            let start = text.len();
            text.extend_from_slice(bytes);
            start..text.len()
        };
        let rows = frames.iter().map(|frame| Row {
            file: keep(frame.file.as_bytes()),
            function: keep(frame.function.as_bytes()),
            source: frame.source.map(|source| keep(source.as_bytes())),
            position: frame.position,
        });
        let rows = rows.collect();
        Frames { text, rows, made: PyOnceLock::new() }
    }

    /// The frames as `TraceFrame`s, the same ones each time.
    pub(crate) fn tuple<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyTuple>> {
        let made = once(py, &self.made, || {
            let frames = self.unpacked().map(|(file, position, function, source)| {
                let [line, end_line, column, end_column] = position;
                Bound::new(py, TraceFrame { file, line, end_line, column, end_column, function, source })
            });
            fallible::tuple(py, &frames.collect::<PyResult<Vec<_>>>()?).map(Bound::unbind)
        });
        made.map(|made| made.bind(py))
    }

    /// The contents of each, held while they are written.
    pub(crate) fn texts(&self, py: Python<'_>) -> PyResult<Vec<FrameTexts>> {
        let Some(made) = self.made.get(py) else { return Ok(self.unpacked().collect()) };
        let read = |frame: Bound<'_, PyAny>| {
            let frame = frame.cast_into::<TraceFrame>()?;
            let frame = frame.get();
            let position = [frame.line, frame.end_line, frame.column, frame.end_column];
            Ok((frame.file.clone(), position, frame.function.clone(), frame.source.clone()))
        };
        made.bind(py).iter().map(read).collect()
    }

    fn unpacked(&self) -> impl Iterator<Item = FrameTexts> {
        let text = |range: &Range<usize>| {
            Chars::from_bytes(self.text.get(range.clone()).unwrap_or_default().to_vec())
        };
        self.rows.iter().map(move |row| {
            (text(&row.file), row.position, text(&row.function), row.source.as_ref().map(text))
        })
    }
}
