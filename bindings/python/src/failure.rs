//! Exceptions as inert values: `Failure` and `TraceFrame`, to and from the wire's table of entries.

use std::cell::RefCell;
use std::collections::HashMap;

use hookless::wire::{EntryHead, EntryParts, FrameParts};
use hookless::{Code, Error, Result, TextRef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyTuple};

use crate::ffi::chars;
use crate::ffi::fallible::{self, Owned, Str, Unsigned};
use crate::frames::{FrameTexts, Frames};
use crate::imports::imported;
use crate::scalars::table_error;

/// What is known of an exception that happened elsewhere: text, numbers and closed values.
///
/// Nothing in it is ever looked up, imported, opened or called.
#[pyclass(frozen, module = "hookless")]
pub(crate) struct Failure {
    /// Module of the class, as text.
    #[pyo3(get)]
    pub(crate) module: Py<PyAny>,
    /// Qualified name of the class, as text.
    #[pyo3(get)]
    pub(crate) qualname: Py<PyAny>,
    /// `module.qualname` of the other classes in its MRO.
    #[pyo3(get)]
    pub(crate) bases: Py<PyTuple>,
    /// What `str(e)` gave.
    #[pyo3(get)]
    pub(crate) message: Py<PyAny>,
    /// The arguments; one that could not be sent is its repr, and named in `cut`.
    #[pyo3(get)]
    pub(crate) args: Py<PyTuple>,
    /// Notes.
    #[pyo3(get)]
    pub(crate) notes: Py<PyTuple>,
    /// What a builtin class keeps beside its arguments.
    pub(crate) fields: Py<PyDict>,
    /// What the sandbox denied.
    #[pyo3(get)]
    pub(crate) denials: Py<PyTuple>,
    pub(crate) frames: Frames,
    /// The explicit cause.
    #[pyo3(get)]
    pub(crate) cause: Option<Py<Failure>>,
    /// The exception that was being handled.
    #[pyo3(get)]
    pub(crate) context: Option<Py<Failure>>,
    /// Whether the context is hidden when the report is shown.
    #[pyo3(get)]
    pub(crate) suppress_context: bool,
    /// Members of an exception group.
    #[pyo3(get)]
    pub(crate) members: Py<PyTuple>,
    /// What was left out or replaced.
    #[pyo3(get)]
    pub(crate) cut: Py<PyTuple>,
}

#[pymethods]
impl Failure {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the fields of a descriptor, most of them by keyword")]
    #[pyo3(signature = (module, qualname, bases, message, args=None, *, notes=None, fields=None, denials=None, frames=None, cause=None,
        context=None, suppress_context=false, members=None, cut=None))]
    fn new(
        py: Python<'_>,
        module: Py<PyAny>,
        qualname: Py<PyAny>,
        bases: Bound<'_, PyTuple>,
        message: Py<PyAny>,
        args: Option<Bound<'_, PyTuple>>,
        notes: Option<Bound<'_, PyTuple>>,
        fields: Option<Bound<'_, PyDict>>,
        denials: Option<Bound<'_, PyTuple>>,
        frames: Option<Bound<'_, PyTuple>>,
        cause: Option<Py<Failure>>,
        context: Option<Py<Failure>>,
        suppress_context: bool,
        members: Option<Bound<'_, PyTuple>>,
        cut: Option<Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        let tuple = |given: Option<Bound<'_, PyTuple>>| given.unwrap_or_else(|| PyTuple::empty(py)).unbind();
        Ok(Failure {
            module,
            qualname,
            bases: bases.unbind(),
            message,
            args: tuple(args),
            notes: tuple(notes),
            fields: fields.map_or_else(|| fallible::dict(py), |fields| fields.copy())?.unbind(),
            denials: tuple(denials),
            frames: Frames::given(frames.unwrap_or_else(|| PyTuple::empty(py))),
            cause,
            context,
            suppress_context,
            members: tuple(members),
            cut: tuple(cut),
        })
    }

    /// What a builtin class keeps beside its arguments, read-only.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        fallible::proxy(self.fields.bind(py))
    }

    /// The traceback, outermost frame first.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.frames.tuple(py).cloned()
    }

    /// `module.qualname`; for builtins the plain name.
    #[getter]
    fn type_name(&self, py: Python<'_>) -> PyResult<Owned> {
        let text = |part: &Py<PyAny>| lossy(part.bind(py));
        let (module, qualname) = (text(&self.module)?, text(&self.qualname)?);
        Ok(Owned(if module == "builtins" { qualname } else { format!("{module}.{qualname}") }))
    }

    /// Whether the class has this name, or derives from one that has: `pkg.mod.Error`; a builtin with or without `builtins.`.
    fn matches(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        let full = if name.contains('.') { name.to_owned() } else { format!("builtins.{name}") };
        if format!("{}.{}", lossy(self.module.bind(py))?, lossy(self.qualname.bind(py))?) == full {
            return Ok(true);
        }
        Ok(self.bases.bind(py).iter().any(|base| lossy(&base).is_ok_and(|base| base == full)))
    }

    /// The remote traceback as text, escaped and of bounded length; with `colour` for a terminal.
    #[pyo3(signature = (*, colour=false))]
    fn format<'py>(slf: &Bound<'py, Self>, colour: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let options = fallible::dict(py)?;
        options.set_item(Str("colour"), colour)?;
        imported(py, "hookless._note")?
            .getattr(Str("note_of"))?
            .call((slf,), Some(&options))?
            .str()
            .map(Bound::into_any)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<Owned> {
        let shown: String = self.type_name(py)?.0.chars().take(120).flat_map(char::escape_debug).collect();
        Ok(Owned(format!("<hookless.Failure {shown}>")))
    }

    /// Two reports are equal when they encode to the same bytes.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !other.is_exact_instance_of::<Failure>() {
            return Ok(false);
        }
        if slf.is(other) {
            return Ok(true);
        }
        let (mine, theirs) =
            (crate::codec::dumps(slf.as_any(), None, None)?, crate::codec::dumps(other, None, None)?);
        Ok(mine.as_bytes() == theirs.as_bytes())
    }
}

thread_local! {
    /// Failures, and tuples of them, that are to be let go, while one is being dropped.
    static FALLEN: RefCell<Option<Vec<Py<PyAny>>>> = const { RefCell::new(None) };
}

/// A report may be a path of as many failures as it has entries. They are dropped one after the other, and not one inside the other,
/// which a small stack would not hold.
impl Drop for Failure {
    fn drop(&mut self) {
        let links = [self.cause.take(), self.context.take()].into_iter().flatten().map(Py::into_any);
        let members = Python::try_attach(|py| match self.members.bind(py).is_empty() {
            true => None,
            false => Some(std::mem::replace(&mut self.members, PyTuple::empty(py).unbind()).into_any()),
        });
        let mut fallen: Vec<Py<PyAny>> = links.chain(members.flatten()).collect();
        if fallen.is_empty() {
            return;
        }
        let waiting = FALLEN.with_borrow_mut(|queue| match queue {
            Some(queue) => {
                queue.append(&mut fallen);
                true
            }
            None => {
                *queue = Some(std::mem::take(&mut fallen));
                false
            }
        });
        if waiting {
            return;
        }
        while let Some(next) = FALLEN.with_borrow_mut(|queue| queue.as_mut().and_then(Vec::pop)) {
            drop(next);
        }
        FALLEN.set(None);
    }
}

/// One line of a remote traceback.
#[pyclass(frozen, eq, module = "hookless")]
#[derive(PartialEq)]
pub(crate) struct TraceFrame {
    pub(crate) file: Chars,
    /// First line, from 1.
    pub(crate) line: Option<u32>,
    /// Last line.
    pub(crate) end_line: Option<u32>,
    /// First column, in bytes from 0.
    pub(crate) column: Option<u32>,
    /// Column after the last.
    pub(crate) end_column: Option<u32>,
    pub(crate) function: Chars,
    pub(crate) source: Option<Chars>,
}

/// Generalised UTF-8 of a str.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Chars {
    bytes: Vec<u8>,
}

impl Chars {
    /// Keeps the beginning, at most so many bytes and no part of a character; says whether that is all.
    pub(crate) fn keep_bytes(&mut self, most: usize) -> bool {
        let whole = self.bytes.len() <= most;
        if !whole {
            let end = (0..=most).rev().find(|&end| self.bytes[end] & 0xc0 != 0x80);
            self.bytes.truncate(end.unwrap_or_default());
        }
        whole
    }

    /// The beginning of a line, at most so many characters, without its end.
    pub(crate) fn line(mut self, most: usize) -> Chars {
        let kept =
            self.bytes.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
        self.bytes.truncate(kept);
        let beyond = self.bytes.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80).nth(most);
        if let Some((end, _)) = beyond {
            self.bytes.truncate(end);
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn of(text: &Bound<'_, PyAny>) -> PyResult<Chars> {
        let Some(found) = chars::of(text) else {
            return Err(pyo3::exceptions::PyTypeError::new_err("text belongs here"));
        };
        let mut bytes = Vec::new();
        found.append_to(&mut bytes);
        Ok(Chars { bytes })
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Chars {
        Chars { bytes }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn as_ref(&self) -> Result<TextRef<'_>> {
        TextRef::from_generalised(&self.bytes).ok_or_else(|| Error::new(Code::BadUtf8))
    }

    fn to_py<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        chars::utf8(py, &self.bytes).map_err(|error| crate::errors::decode_error(py, &error))
    }
}

#[pymethods]
impl TraceFrame {
    #[new]
    #[pyo3(signature = (file, line=None, end_line=None, column=None, end_column=None, function=None, source=None))]
    fn new(
        file: &Bound<'_, PyAny>,
        line: Option<u32>,
        end_line: Option<u32>,
        column: Option<u32>,
        end_column: Option<u32>,
        function: Option<&Bound<'_, PyAny>>,
        source: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let function = function.map_or(Ok(Chars { bytes: Vec::new() }), Chars::of)?;
        let source = source.map(Chars::of).transpose()?;
        Ok(TraceFrame { file: Chars::of(file)?, line, end_line, column, end_column, function, source })
    }

    /// File name in the child; never opened.
    #[getter]
    fn file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.file.to_py(py)
    }

    /// First line, from 1.
    #[getter]
    fn line(&self) -> Option<Unsigned> {
        self.line.map(|line| Unsigned(line.into()))
    }

    /// Last line.
    #[getter]
    fn end_line(&self) -> Option<Unsigned> {
        self.end_line.map(|line| Unsigned(line.into()))
    }

    /// First column, in bytes from 0.
    #[getter]
    fn column(&self) -> Option<Unsigned> {
        self.column.map(|column| Unsigned(column.into()))
    }

    /// Column after the last.
    #[getter]
    fn end_column(&self) -> Option<Unsigned> {
        self.end_column.map(|column| Unsigned(column.into()))
    }

    /// Name of the function.
    #[getter]
    fn function<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.to_py(py)
    }

    /// The source line, as the child read it.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.source.as_ref().map(|source| source.to_py(py)).transpose()
    }

    fn __repr__(&self) -> Owned {
        let show = |text: &Chars| -> String {
            String::from_utf8_lossy(&text.bytes).chars().take(80).flat_map(char::escape_debug).collect()
        };
        let line = self.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
        Owned(format!("<hookless.TraceFrame {}:{line} in {}>", show(&self.file), show(&self.function)))
    }
}

fn lossy(text: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(String::from_utf8_lossy(&Chars::of(text)?.bytes).into_owned())
}

/// Makes a dict of these pairs, whose keys are counted.
pub(crate) type Table<'a, 'py> =
    dyn FnMut(Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>) -> Result<Bound<'py, PyDict>> + 'a;

/// The entries of a checked report as `Failure`s: the first of them. `table` makes the dict of an entry's fields.
pub(crate) fn from_entries<'py>(
    py: Python<'py>,
    entries: Vec<EntryParts<'_, Bound<'py, PyAny>>>,
    table: &mut Table<'_, 'py>,
) -> Result<Bound<'py, Failure>> {
    let mut made: Vec<Option<Py<Failure>>> = Vec::new();
    made.resize_with(entries.len(), || None);
    // Links lead to later entries only (X4), so those are made first.
    for (index, entry) in entries.into_iter().enumerate().rev() {
        let failure = one(py, entry, &made, table)?;
        made[index] = Some(failure.unbind());
    }
    match made.into_iter().next().flatten() {
        Some(first) => Ok(first.into_bound(py)),
        None => Err(Error::new(Code::BadArity)),
    }
}

fn one<'py>(
    py: Python<'py>,
    entry: EntryParts<'_, Bound<'py, PyAny>>,
    made: &[Option<Py<Failure>>],
    table: &mut Table<'_, 'py>,
) -> Result<Bound<'py, Failure>> {
    let refuse = |error: PyErr| table_error(py, &error);
    let head = entry.head;
    let text = |text: TextRef<'_>| chars::utf8(py, text.as_bytes());
    let tuple =
        |items: Vec<Bound<'py, PyAny>>| fallible::tuple(py, &items).map(Bound::unbind).map_err(refuse);
    let texts = |all: &[TextRef<'_>]| tuple(all.iter().map(|&one| text(one)).collect::<Result<_>>()?);
    let link =
        |to: Option<u32>| to.and_then(|to| made.get(to as usize)?.as_ref().map(|found| found.clone_ref(py)));
    let members =
        head.members.iter().filter_map(|&to| link(Some(to))).map(|found| found.into_bound(py).into_any());
    let fields =
        entry.fields.into_iter().map(|(name, value)| Ok((text(name)?, value))).collect::<Result<_>>()?;
    let failure = Failure {
        module: text(head.module)?.unbind(),
        qualname: text(head.qualname)?.unbind(),
        bases: texts(&head.bases)?,
        message: text(head.message)?.unbind(),
        args: tuple(entry.args)?,
        notes: texts(&head.notes)?,
        fields: table(fields)?.unbind(),
        denials: texts(&head.denials)?,
        frames: Frames::packed(&head.frames),
        cause: link(head.cause),
        context: link(head.context),
        suppress_context: head.suppress_context,
        members: tuple(members.collect())?,
        cut: texts(&head.cut)?,
    };
    Bound::new(py, failure).map_err(refuse)
}

/// The number of each entry, by the address of its object.
pub(crate) type Numbers = HashMap<usize, u32>;

/// The entries that a failure leads to, numbered as X4 says, with the number of each.
pub(crate) fn entries<'py>(root: &Bound<'py, Failure>) -> PyResult<(Vec<Bound<'py, Failure>>, Numbers)> {
    let py = root.py();
    let mut seen = HashMap::new();
    let mut finished: Vec<Bound<'py, Failure>> = Vec::new();
    let mut stack = vec![(root.clone(), false)];
    while let Some((failure, done)) = stack.pop() {
        if done {
            finished.push(failure);
            continue;
        }
        if seen.insert(failure.as_ptr() as usize, 0u32).is_some() {
            continue;
        }
        let this = failure.get();
        stack.push((failure.clone(), true));
        // The walk of X4 takes the members from last to first, then context, then cause; a stack gives back the last first.
        for next in [&this.cause, &this.context].into_iter().flatten() {
            stack.push((next.bind(py).clone(), false));
        }
        for member in this.members.bind(py) {
            stack.push((member.cast_into::<Failure>()?, false));
        }
    }
    finished.reverse();
    for (number, failure) in finished.iter().enumerate() {
        seen.insert(failure.as_ptr() as usize, u32::try_from(number).unwrap_or(u32::MAX));
    }
    Ok((finished, seen))
}

/// The texts of a failure, held while its entry is written.
pub(crate) struct EntryTexts {
    single: [Chars; 3],
    many: [Vec<Chars>; 4],
    frames: Vec<FrameTexts>,
}

impl EntryTexts {
    pub(crate) fn of(failure: &Bound<'_, Failure>) -> PyResult<EntryTexts> {
        let (py, this) = (failure.py(), failure.get());
        let many = |texts: &Py<PyTuple>| {
            texts.bind(py).iter().map(|text| Chars::of(&text)).collect::<PyResult<Vec<_>>>()
        };
        let text = |text: &Py<PyAny>| Chars::of(text.bind(py));
        Ok(EntryTexts {
            single: [text(&this.module)?, text(&this.qualname)?, text(&this.message)?],
            many: [many(&this.bases)?, many(&this.notes)?, many(&this.denials)?, many(&this.cut)?],
            frames: this.frames.texts(py)?,
        })
    }

    /// The head of the entry, with links by the numbers of [`entries`].
    pub(crate) fn head(&self, failure: &Bound<'_, Failure>, numbers: &Numbers) -> Result<EntryHead<'_>> {
        let (py, this) = (failure.py(), failure.get());
        let number = |to: &Bound<'_, PyAny>| numbers.get(&(to.as_ptr() as usize)).copied();
        let link = |to: &Option<Py<Failure>>| to.as_ref().and_then(|to| number(to.bind(py).as_any()));
        let [module, qualname, message] = &self.single;
        let [bases, notes, denials, cut] = &self.many;
        Ok(EntryHead {
            module: module.as_ref()?,
            qualname: qualname.as_ref()?,
            bases: refs(bases)?,
            message: message.as_ref()?,
            notes: refs(notes)?,
            denials: refs(denials)?,
            cut: refs(cut)?,
            frames: self
                .frames
                .iter()
                .map(|(file, position, function, source)| {
                    Ok(FrameParts {
                        file: file.as_ref()?,
                        position: *position,
                        function: function.as_ref()?,
                        source: source.as_ref().map(Chars::as_ref).transpose()?,
                    })
                })
                .collect::<Result<_>>()?,
            suppress_context: this.suppress_context,
            cause: link(&this.cause),
            context: link(&this.context),
            members: this.members.bind(py).iter().filter_map(|member| number(&member)).collect(),
        })
    }
}

fn refs(texts: &[Chars]) -> Result<Vec<TextRef<'_>>> {
    texts.iter().map(Chars::as_ref).collect()
}
