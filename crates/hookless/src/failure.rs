//! An exception of a child as a Rust error: inert text, shown escaped, with what led to it as its source.

mod tell;

use std::error::Error;
use std::fmt::{self, Write};
use std::sync::Arc;

use crate::display::Escaping;
use crate::memory::{self, Boxed};
use crate::value::{Entry, Lossy, Report, Text, Value};

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
    source: Option<Boxed<RemoteError>>,
}

impl RemoteError {
    /// The error of a report's first entry. Links that lead back, or nowhere, are passed over; without memory for them, all are.
    ///
    /// Ends the process when there is no memory for the few words that the report is shared by.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one thing that shares, and it cannot be asked for: a fixed size, once"
    )]
    pub fn new(report: Report) -> RemoteError {
        let report = Arc::new(report);
        let source = RemoteError::sources(&report).unwrap_or_default();
        RemoteError { report, at: 0, source }
    }

    /// What led to the first entry.
    fn sources(report: &Arc<Report>) -> Result<Option<Boxed<RemoteError>>, memory::Full> {
        let led_to = |at: usize| {
            // X4: links lead forward.
            report.entries.get(at)?.led_to().filter(|&next| next > at && next < report.entries.len())
        };
        let chain = std::iter::successors(led_to(0), |&at| led_to(at)).take(CHAIN.saturating_sub(1));
        let chain = memory::collect(chain.map(Ok::<_, memory::Full>))?;
        let mut source = None;
        for at in chain.into_iter().rev() {
            source = Some(memory::boxed(RemoteError { report: Arc::clone(report), at, source })?);
        }
        Ok(source)
    }

    /// The error that a value is; the value itself if it is none.
    ///
    /// # Errors
    /// Any value but [`Value::Exception`].
    pub fn from_value(value: Value) -> Result<RemoteError, Value> {
        match value {
            Value::Exception(report) => Ok(RemoteError::new(report.into_inner())),
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

    /// `module.qualname` of its class, raw; for builtins the plain name. Without memory for it, it is empty.
    #[must_use]
    pub fn type_name(&self) -> String {
        memory::shown(TypeName(self.entry()))
    }

    /// Whether its class has this name, or derives from one that has: `pkg.mod.Error`; a builtin with or without `builtins.`.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let entry = self.entry();
        let wanted = || Wanted([if name.contains('.') { "" } else { "builtins." }, name]);
        wanted().is(format_args!("{}.{}", lossy(&entry.module), lossy(&entry.qualname)))
            || entry.bases.iter().any(|base| wanted().is(format_args!("{}", lossy(base))))
    }

    /// The remote traceback as text: escaped, with what led to the exception and its members, at most some hundred lines long.
    #[must_use]
    pub fn traceback(&self) -> String {
        tell::traceback(&self.report, self.at)
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.entry();
        Escaping::line(f, SHOWN).show(format_args!("{}", TypeName(entry)))?;
        if entry.message.as_bytes().is_empty() {
            return Ok(());
        }
        f.write_str(": ")?;
        Escaping::lines(f).show(format_args!("{}", lossy(&entry.message)))
    }
}

/// On one line: what `unwrap` prints is the child's text too.
impl fmt::Debug for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.entry();
        f.write_str("RemoteError(")?;
        Escaping::line(f, SHOWN).show(format_args!("{}: {}", TypeName(entry), lossy(&entry.message)))?;
        f.write_str(")")
    }
}

impl Error for RemoteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.source.as_deref() {
            Some(source) => Some(source),
            None => None,
        }
    }
}

impl Entry {
    /// The entry that led to this one, as a traceback tells it: the cause, or the context unless it is suppressed.
    fn led_to(&self) -> Option<usize> {
        let context = if self.suppress_context { None } else { self.context };
        self.cause.or(context).and_then(|to| usize::try_from(to).ok())
    }
}

/// `module.qualname` of the class, raw; for builtins the plain name.
struct TypeName<'e>(&'e Entry);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.module.as_bytes() != b"builtins" {
            write!(f, "{}.", lossy(&self.0.module))?;
        }
        write!(f, "{}", lossy(&self.0.qualname))
    }
}

/// The text that is still to come, in two pieces.
struct Wanted<'n>([&'n str; 2]);

impl Wanted<'_> {
    /// Whether it is what is shown, which is not written down for that.
    fn is(mut self, shown: fmt::Arguments<'_>) -> bool {
        self.write_fmt(shown).is_ok() && self.0 == ["", ""]
    }
}

impl Write for Wanted<'_> {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        for piece in &mut self.0 {
            let both = text.len().min(piece.len());
            let (Some((found, rest)), Some((wanted, left))) =
                (text.split_at_checked(both), piece.split_at_checked(both))
            else {
                return Err(fmt::Error);
            };
            if found != wanted {
                return Err(fmt::Error);
            }
            (text, *piece) = (rest, left);
        }
        if text.is_empty() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The characters of a text, each lone surrogate as U+FFFD.
fn lossy(text: &Text) -> Lossy<'_> {
    Lossy(text.as_bytes())
}
