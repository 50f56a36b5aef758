//! Plain exceptions: those of which the encoder itself can say all that `hookless.failure.describe` would, in a small part of the time.
//!
//! What is plain is a chain of exceptions with arguments that are short leaves, with no attributes, notes, fields or denials of their own,
//! and shown by CPython's own `str`; and their report is far from every limit. No code of theirs runs. All others are left to `describe`,
//! which decides what is cut.

use hookless::wire::{EntryHead, FrameParts};
use hookless::{Code, Error, Limits, Result, TextRef};
use pyo3::exceptions::{PyBaseException, PyBaseExceptionGroup};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::failure::{Chars, Failure};
use crate::ffi::chars::{self, Chars as Stored};
use crate::ffi::fallible::{self, Str};
use crate::ffi::make;
use crate::ffi::raised;
use crate::ffi::types::{Exact, exact};
use crate::frames::Frames;
use crate::imports::{attribute, imported};
use crate::trace::{Lines, Read, SOURCE};

/// Arguments of one exception, and bytes of one.
const ARGS: usize = 8;
const ARG: usize = 256;
/// Exceptions of a chain.
const CHAIN: usize = 16;
/// Base classes of one.
const BASES: usize = 32;

/// What is looked up once, before any exception is read.
pub(crate) struct Known {
    /// Python's own classes that keep nothing but `args`, by address, and `object`; they stay for ever.
    own: Vec<(usize, Own)>,
    /// `hookless.remote.RemoteError`, which is described by the report that it was made of.
    remote_error: Py<PyAny>,
    /// `hookless._frames._read_lines`.
    read_lines: Py<PyAny>,
    /// `hookless._frames._OWN`: the files of the child's loop.
    loop_files: Py<PyAny>,
    /// The getters of `type` itself, which no metaclass can replace.
    module: Py<PyAny>,
    qualname: Py<PyAny>,
}

struct Own {
    qualname: String,
    full: String,
}

impl Known {
    pub(crate) fn load(py: Python<'_>) -> PyResult<Known> {
        let frames = imported(py, "hookless._frames")?;
        let with_fields = attribute(py, "hookless._attributes", "_FIELDS")?.cast_into::<PyDict>()?;
        let builtins = py.import(Str("builtins"))?.dict();
        let mut own = Vec::new();
        for (name, value) in &builtins {
            let (Ok(name), Ok(kind)) = (name.extract::<String>(), value.cast_into_exact::<PyType>()) else {
                continue;
            };
            let is_error = kind.is_subclass_of::<PyBaseException>()?;
            if raised::heap_dict(&kind).is_some()
                || !(is_error || name == "object")
                || kind.qualname()? != name.as_str()
                || kind.is_subclass_of::<PyBaseExceptionGroup>()?
            {
                continue;
            }
            let mut has_fields = false;
            for class in with_fields.keys() {
                has_fields |= kind.is_subclass(&class)?;
            }
            if !has_fields {
                own.push((kind.as_ptr() as usize, Own { full: format!("builtins.{name}"), qualname: name }));
            }
        }
        own.sort_by_key(|&(address, _)| address);
        let getters = py.get_type::<PyType>().getattr(Str("__dict__"))?;
        Ok(Known {
            own,
            remote_error: attribute(py, "hookless.remote", "RemoteError")?.unbind(),
            read_lines: frames.getattr(Str("_read_lines"))?.unbind(),
            loop_files: frames.getattr(Str("_OWN"))?.unbind(),
            module: getters.get_item(Str("__module__"))?.unbind(),
            qualname: getters.get_item(Str("__qualname__"))?.unbind(),
        })
    }

    fn class<'a, 'py>(&'a self, kind: &Bound<'py, PyType>) -> PyResult<Option<Class<'a, 'py>>> {
        let address = kind.as_ptr() as usize;
        if let Ok(at) = self.own.binary_search_by_key(&address, |&(address, _)| address) {
            return Ok(self.own.get(at).map(|(_, own)| Class::Own(own)));
        }
        let py = kind.py();
        let Some(dict) = raised::heap_dict(kind) else { return Ok(None) };
        if kind.is(self.remote_error.bind(py))
            || dict.contains(fallible::interned!(py, c"__notes__")?)?
            || dict.contains(fallible::interned!(py, c"__denials__")?)?
        {
            return Ok(None);
        }
        let read =
            |getter: &Py<PyAny>| getter.bind(py).call_method1(fallible::interned!(py, c"__get__")?, (kind,));
        let (module, qualname) = (read(&self.module)?, read(&self.qualname)?);
        let named =
            |text: &Bound<'py, PyAny>| exact(text) == Exact::Str && text.len().is_ok_and(|len| len > 0);
        if !named(&module) || !named(&qualname) || chars::is_ascii_text(&module, b"builtins") {
            return Ok(None);
        }
        Ok(Some(Class::Made { module, qualname }))
    }
}

/// A class of the MRO, by its names.
enum Class<'a, 'py> {
    Own(&'a Own),
    Made { module: Bound<'py, PyAny>, qualname: Bound<'py, PyAny> },
}

/// One exception, read.
pub(crate) struct Plain<'a, 'py> {
    classes: Vec<Class<'a, 'py>>,
    message: Bound<'py, PyString>,
    pub(crate) args: Bound<'py, PyTuple>,
    frames: Vec<Read<'py>>,
    /// Whether the exception after it is its cause, and its context.
    links: [bool; 2],
    suppress_context: bool,
}

/// Reads a chain of plain exceptions, the first one first; none if one of them is not plain.
pub(crate) fn read<'a, 'py>(
    error: &Bound<'py, PyBaseException>,
    known: &'a Known,
    limits: &Limits,
) -> PyResult<Option<Vec<Plain<'a, 'py>>>> {
    let py = error.py();
    let lines = fallible::dict(py)?;
    let mut lines = Lines::new(&lines, known.read_lines.bind(py));
    let mut room = Room::of(limits);
    let mut found = Vec::with_capacity(2);
    // Held, so that no address is used twice.
    let mut seen: Vec<Bound<'py, PyBaseException>> = Vec::with_capacity(2);
    let mut next = Some(error.clone());
    while let Some(error) = next {
        if seen.len() == CHAIN || seen.iter().any(|one| one.is(&error)) {
            return Ok(None);
        }
        let Some((plain, below)) = one(&error, known, &mut lines, &mut room)? else { return Ok(None) };
        found.push(plain);
        seen.push(error);
        next = below;
    }
    let count = found.len() as u64;
    Ok((count <= limits.chain && count <= limits.exceptions && room.is_enough(limits)).then_some(found))
}

/// One exception, and the one that it leads to.
type One<'a, 'py> = (Plain<'a, 'py>, Option<Bound<'py, PyBaseException>>);

fn one<'a, 'py>(
    error: &Bound<'py, PyBaseException>,
    known: &'a Known,
    lines: &mut Lines<'_, 'py>,
    room: &mut Room,
) -> PyResult<Option<One<'a, 'py>>> {
    let kind = error.get_type();
    let Some(parts) = raised::parts(error).filter(|_| raised::shows_args(&kind)) else { return Ok(None) };
    let links = [&parts.cause, &parts.context];
    let next = match links {
        [Some(cause), Some(context)] if !cause.is(context) => return Ok(None),
        [cause, context] => cause.as_ref().or(context.as_ref()),
    };
    let mro = kind.mro();
    if mro.len() > BASES || !mro.get_item(0)?.is(&kind) {
        return Ok(None);
    }
    let mut classes = Vec::with_capacity(mro.len());
    for class in mro.iter_borrowed() {
        let Ok(class) = class.cast::<PyType>() else { return Ok(None) };
        let Some(class) = known.class(&class)? else { return Ok(None) };
        if !room.class(&class) {
            return Ok(None);
        }
        classes.push(class);
    }
    if parts.args.len() > ARGS || !parts.args.iter_borrowed().all(|value| room.argument(&value)) {
        return Ok(None);
    }
    let message = error.str()?;
    if !room.text(message.as_any()) {
        return Ok(None);
    }
    let mut frames = Vec::new();
    let mut traceback = parts.traceback;
    while let Some(this) = traceback {
        let Some(entry) = raised::entry(&this) else { return Ok(None) };
        let frame = match frames.is_empty() && is_loop(&entry, known)? {
            true => None,
            false => Some(lines.read(&this, &entry)?),
        };
        if let Some(frame) = frame {
            if frames.len() as u64 >= room.frames || !room.frame(&frame) {
                return Ok(None);
            }
            frames.push(frame);
        }
        traceback = entry.next;
    }
    let [cause, context] = links.map(Option::is_some);
    let next = next.cloned();
    let suppress_context = parts.suppress_context;
    let plain =
        Plain { classes, message, args: parts.args, frames, links: [cause, context], suppress_context };
    Ok(Some((plain, next)))
}

/// Whether a frame is one of the child's own loop.
fn is_loop(entry: &raised::Entry<'_>, known: &Known) -> PyResult<bool> {
    let py = entry.code.py();
    known.loop_files.bind(py).contains(entry.code.getattr(fallible::interned!(py, c"co_filename")?)?)
}

/// What a report takes at the most, whatever it holds: it is plain while this is below half of every limit.
struct Room {
    most_text: u64,
    frames: u64,
    bytes: u64,
    memory: u64,
    nodes: u64,
}

impl Room {
    fn of(limits: &Limits) -> Room {
        Room { most_text: limits.text, frames: limits.frames, bytes: 256, memory: 1024, nodes: 1 }
    }

    fn text(&mut self, text: &Bound<'_, PyAny>) -> bool {
        let len = match chars::of(text) {
            Some(Stored::Ascii(text)) => text.len(),
            Some(Stored::Latin1(units)) => units.len() * 2,
            Some(Stored::Ucs2(units)) => units.len() * 3,
            Some(Stored::Ucs4(units)) => units.len() * 4,
            None => return false,
        } as u64;
        self.bytes += 8 + len;
        self.memory += 128 + 4 * len;
        len <= self.most_text
    }

    fn class(&mut self, class: &Class<'_, '_>) -> bool {
        let most = self.most_text;
        match class {
            Class::Own(own) => {
                let len = own.full.len() as u64;
                self.bytes += 8 + len;
                self.memory += 128 + 4 * len;
                len <= most
            }
            Class::Made { module, qualname } => {
                let before = self.bytes;
                // As one text, in `bases`, they take more than apart.
                self.text(module) && self.text(qualname) && self.bytes - before <= most
            }
        }
    }

    fn argument(&mut self, value: &Bound<'_, PyAny>) -> bool {
        self.nodes += 1;
        let len = match exact(value) {
            Exact::None | Exact::Bool | Exact::Float => 0,
            Exact::Int if make::small_int(value).is_some() => 0,
            Exact::Str => match chars::of(value) {
                Some(Stored::Ascii(text)) => text.len(),
                _ => value.len().unwrap_or(ARG) * 4,
            },
            Exact::Bytes => make::bytes_contents(value).map_or(ARG, <[u8]>::len),
            _ => return false,
        };
        self.bytes += 16 + len as u64;
        self.memory += 128 + 4 * len as u64;
        len < ARG
    }

    fn frame(&mut self, frame: &Read<'_>) -> bool {
        self.bytes += 32;
        self.memory += 192;
        let source = match &frame.source {
            // A long line is cut to so many characters, of at most four bytes.
            Some(source) if source.len().is_ok_and(|len| len > SOURCE) => {
                self.bytes += 4 * SOURCE as u64;
                self.memory += 16 * SOURCE as u64;
                4 * SOURCE as u64 <= self.most_text
            }
            Some(source) => self.text(source),
            None => true,
        };
        source && self.text(&frame.file) && self.text(&frame.function)
    }

    fn is_enough(&self, limits: &Limits) -> bool {
        let entries = CHAIN as u64;
        let bytes = self.bytes + 64 * entries;
        let memory = self.memory + 1024 * entries;
        bytes <= limits.body.min(limits.descriptor) / 2
            && memory <= limits.memory / 2
            && self.nodes + entries <= limits.nodes / 2
            && limits.depth >= 8
            && limits.group_depth >= 1
            && limits.int_bytes >= 8
    }
}

/// A text as the wire has it.
enum Piece<'a> {
    Ascii(&'a str),
    Wide(Vec<u8>),
}

impl<'a> Piece<'a> {
    fn of(text: &'a Bound<'_, PyAny>) -> Result<Piece<'a>> {
        match chars::of(text) {
            Some(Stored::Ascii(text)) => Ok(Piece::Ascii(text)),
            Some(wide) => {
                let mut bytes = Vec::new();
                wide.append_to(&mut bytes);
                Ok(Piece::Wide(bytes))
            }
            None => Err(Error::new(Code::OutOfMemory)),
        }
    }

    /// A source line without its end, cut where it is very long; none if there is nothing in it.
    fn line(source: Option<&'a Bound<'_, PyAny>>) -> Result<Option<Piece<'a>>> {
        let Some(source) = source else { return Ok(None) };
        let piece = match Piece::of(source)? {
            Piece::Ascii(text) => {
                let text = text.trim_end_matches(['\r', '\n']);
                Piece::Ascii(text.get(..SOURCE).unwrap_or(text))
            }
            Piece::Wide(bytes) => Piece::Wide(Chars::from_bytes(bytes).line(SOURCE).into_bytes()),
        };
        Ok(Some(piece).filter(|piece| !piece.bytes().is_empty()))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Ascii(text) => text.as_bytes(),
            Piece::Wide(bytes) => bytes,
        }
    }

    fn text(&self) -> Result<TextRef<'_>> {
        match self {
            Piece::Ascii(text) => Ok(TextRef::Str(text)),
            Piece::Wide(bytes) => TextRef::from_generalised(bytes).ok_or_else(|| Error::new(Code::BadUtf8)),
        }
    }
}

/// The texts of one exception, held while its entry is written.
pub(crate) struct Texts<'a> {
    module: Piece<'a>,
    qualname: Piece<'a>,
    bases: Vec<Piece<'a>>,
    message: Piece<'a>,
    frames: Vec<FrameTexts<'a>>,
}

/// File, function, source line and position.
type FrameTexts<'a> = (Piece<'a>, Piece<'a>, Option<Piece<'a>>, [Option<u32>; 4]);

impl<'py> Plain<'_, 'py> {
    pub(crate) fn texts(&self) -> Result<Texts<'_>> {
        let Some((first, others)) = self.classes.split_first() else { return Err(Error::new(Code::BadName)) };
        let (module, qualname) = match first {
            Class::Own(own) => (Piece::Ascii("builtins"), Piece::Ascii(&own.qualname)),
            Class::Made { module, qualname } => (Piece::of(module)?, Piece::of(qualname)?),
        };
        let bases = others.iter().map(|class| match class {
            Class::Own(own) => Ok(Piece::Ascii(&own.full)),
            Class::Made { module, qualname } => {
                let mut full = Piece::of(module)?.bytes().to_vec();
                full.push(b'.');
                full.extend_from_slice(Piece::of(qualname)?.bytes());
                Ok(Piece::Wide(full))
            }
        });
        let frames = self.frames.iter().map(|frame| {
            let source = Piece::line(frame.source.as_ref())?;
            Ok((Piece::of(&frame.file)?, Piece::of(&frame.function)?, source, frame.position))
        });
        Ok(Texts {
            module,
            qualname,
            bases: bases.collect::<Result<_>>()?,
            message: Piece::of(self.message.as_any())?,
            frames: frames.collect::<Result<_>>()?,
        })
    }

    /// The head of the entry of this number; what it leads to has the next one (X4).
    pub(crate) fn head<'t>(&self, texts: &'t Texts<'_>, number: u32) -> Result<EntryHead<'t>> {
        let [cause, context] = self.links.map(|linked| linked.then_some(number + 1));
        let frames = texts.frames.iter().map(|(file, function, source, position)| {
            Ok(FrameParts {
                file: file.text()?,
                position: *position,
                function: function.text()?,
                source: source.as_ref().map(Piece::text).transpose()?,
            })
        });
        Ok(EntryHead {
            module: texts.module.text()?,
            qualname: texts.qualname.text()?,
            bases: texts.bases.iter().map(Piece::text).collect::<Result<_>>()?,
            message: texts.message.text()?,
            notes: Vec::new(),
            denials: Vec::new(),
            cut: Vec::new(),
            frames: frames.collect::<Result<_>>()?,
            suppress_context: self.suppress_context,
            cause,
            context,
            members: Vec::new(),
        })
    }

    fn failure(&self, py: Python<'py>, below: Option<Bound<'py, Failure>>) -> Result<Failure> {
        let texts = self.texts()?;
        let refuse = |error: PyErr| crate::scalars::table_error(py, &error);
        let text = |piece: &Piece<'_>| chars::utf8(py, piece.bytes());
        let tuple =
            |items: Vec<Bound<'py, PyAny>>| fallible::tuple(py, &items).map(Bound::unbind).map_err(refuse);
        let link = |linked: bool| below.clone().filter(|_| linked).map(Bound::unbind);
        let [cause, context] = self.links.map(link);
        let (module, qualname) = (text(&texts.module)?.unbind(), text(&texts.qualname)?.unbind());
        let bases = tuple(texts.bases.iter().map(text).collect::<Result<_>>()?)?;
        let frames = Frames::packed(&self.head(&texts, 0)?.frames);
        let none = || PyTuple::empty(py).unbind();
        Ok(Failure {
            module,
            qualname,
            bases,
            message: self.message.clone().into_any().unbind(),
            args: tuple(self.args.iter().collect())?,
            notes: none(),
            fields: make::dict(py)?.unbind(),
            denials: none(),
            frames,
            cause,
            context,
            suppress_context: self.suppress_context,
            members: none(),
            cut: none(),
        })
    }
}

/// The report of a plain exception; None for any other.
#[pyfunction]
pub(crate) fn plain_failure<'py>(
    error: &Bound<'py, PyBaseException>,
    limits: &Bound<'py, crate::limits::Limits>,
) -> PyResult<Option<Bound<'py, Failure>>> {
    let py = error.py();
    let Some(found) = read(error, &crate::warm::warm(py)?.plain, &limits.get().core)? else {
        return Ok(None);
    };
    let mut below = None;
    for plain in found.iter().rev() {
        let failure =
            plain.failure(py, below).map_err(|error| crate::errors::encode_error(py, &error, None))?;
        below = Some(Bound::new(py, failure)?);
    }
    Ok(below)
}
