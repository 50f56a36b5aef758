//! An exception of a child as a Rust error: inert text, shown escaped, with what led to it as its source.

mod tell;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::display::{escape, escape_line};
use crate::value::{Entry, Report, Text, Value};

/// The longest chain of sources: no decoder lets a longer one in (L7), but a [`Report`] can be made by hand.
const CHAIN: usize = 128;

/// Characters of the name of a class, or of a message on one line, that are shown.
const SHOWN: usize = 500;

/// What [`RemoteError::entry`] gives where a report made by hand has no such entry.
static NONE: Entry = Entry {
    module: Text::Str(String::new()),
    qualname: Text::Str(String::new()),
    bases: Vec::new(),
    message: Text::Str(String::new()),
    notes: Vec::new(),
    denials: Vec::new(),
    cut: Vec::new(),
    frames: Vec::new(),
    suppress_context: false,
    cause: None,
    context: None,
    members: Vec::new(),
    args: Vec::new(),
    fields: Vec::new(),
};

/// An exception that was raised in a child.
///
/// [`Display`](fmt::Display) gives its type and message, escaped; [`source`](Error::source) its cause, or its context unless that is
/// suppressed; [`traceback`](RemoteError::traceback) all that there is to read. The raw texts are those of [`entry`](RemoteError::entry).
///
/// ```
/// use std::error::Error as _;
/// use hookless::{Entry, RemoteError, Report};
///
/// let entry = |name: &str, cause| Entry {
///     module: "app".into(),
///     qualname: name.into(),
///     bases: vec!["builtins.ValueError".into()],
///     message: "no\x1b[31m".into(),
///     cause,
///     ..Entry::default()
/// };
/// let error = RemoteError::new(Report { entries: vec![entry("Quota", Some(1)), entry("Full", None)] });
/// assert_eq!(error.to_string(), r"app.Quota: no\u{1b}[31m");
/// assert!(error.matches("builtins.ValueError"));
/// assert_eq!(error.source().map(ToString::to_string), Some(r"app.Full: no\u{1b}[31m".to_owned()));
/// ```
#[derive(Clone)]
pub struct RemoteError {
    report: Arc<Report>,
    at: usize,
    source: Option<Box<RemoteError>>,
}

impl RemoteError {
    /// The error of a report's first entry. Links that lead back, or nowhere, are passed over.
    #[must_use]
    pub fn new(report: Report) -> RemoteError {
        let report = Arc::new(report);
        let mut path = vec![0usize];
        while let Some(&at) = path.last()
            && path.len() < CHAIN
            && let Some(next) = report.entries.get(at).and_then(Entry::led_to)
            // X4: links lead forward.
            && next > at
            && next < report.entries.len()
        {
            path.push(next);
        }
        let mut source = None;
        while let Some(at) = path.pop() {
            let error = RemoteError { report: Arc::clone(&report), at, source };
            if path.is_empty() {
                return error;
            }
            source = Some(Box::new(error));
        }
        RemoteError { report, at: 0, source: None }
    }

    /// The error that a value is; the value itself if it is none.
    ///
    /// # Errors
    /// Any value but [`Value::Exception`].
    pub fn from_value(value: Value) -> Result<RemoteError, Value> {
        match value {
            Value::Exception(report) => Ok(RemoteError::new(*report)),
            other => Err(other),
        }
    }

    /// The whole report.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What is known of this exception, raw.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        self.report.entries.get(self.at).unwrap_or(&NONE)
    }

    /// `module.qualname` of its class, raw; for builtins the plain name.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.entry().type_name()
    }

    /// Whether its class has this name, or derives from one that has: `pkg.mod.Error`; a builtin with or without `builtins.`.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let entry = self.entry();
        let full =
            if name.contains('.') { Cow::Borrowed(name) } else { Cow::Owned(format!("builtins.{name}")) };
        let own = format!("{}.{}", lossy(&entry.module), lossy(&entry.qualname));
        own == full || entry.bases.iter().any(|base| lossy(base) == full)
    }

    /// The remote traceback as text: escaped, with what led to the exception and its members, at most some hundred lines long.
    #[must_use]
    pub fn traceback(&self) -> String {
        tell::traceback(&self.report, self.at)
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = lossy(&self.entry().message);
        let name = escape_line(&self.type_name(), SHOWN);
        if message.is_empty() { f.write_str(&name) } else { write!(f, "{name}: {}", escape(&message)) }
    }
}

/// On one line: what `unwrap` prints is the child's text too.
impl fmt::Debug for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = format!("{}: {}", self.type_name(), lossy(&self.entry().message));
        write!(f, "RemoteError({})", escape_line(&shown, SHOWN))
    }
}

impl Error for RemoteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl Entry {
    /// The entry that led to this one, as a traceback tells it: the cause, or the context unless it is suppressed.
    fn led_to(&self) -> Option<usize> {
        let context = if self.suppress_context { None } else { self.context };
        self.cause.or(context).and_then(|to| usize::try_from(to).ok())
    }

    /// `module.qualname` of the class, raw; for builtins the plain name.
    fn type_name(&self) -> String {
        match (lossy(&self.module), lossy(&self.qualname)) {
            (module, name) if module == "builtins" => name.into_owned(),
            (module, name) => format!("{module}.{name}"),
        }
    }
}

/// The characters of a text, each lone surrogate as U+FFFD.
fn lossy(text: &Text) -> Cow<'_, str> {
    match text {
        Text::Str(text) => Cow::Borrowed(text),
        Text::Surrogates(text) => Cow::Owned(text.to_string_lossy()),
    }
}
