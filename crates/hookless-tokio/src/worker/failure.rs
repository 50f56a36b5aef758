//! How a handler fails: what the host is told.

use std::error::Error as StdError;
use std::io;

use hookless::{Entry, Report, Text, Value};

/// Bytes of a message that are sent; what is longer is cut.
const MESSAGE: usize = 8192;

/// How many errors that led to one another are told.
const CHAIN: usize = 16;

/// The failure of a handler: the host sees an exception of a class by name, with a message, and what led to it.
///
/// Every error converts into one by `?`; its [`source`](StdError::source)s become causes. To a Python host it is a `RemoteError`, and for
/// [`Failure::builtin`] of the builtin class as well.
///
/// ```
/// use hookless_tokio::Failure;
///
/// fn parse(text: &str) -> Result<u8, Failure> {
///     let number: u8 = text.parse()?;
///     if number > 100 {
///         return Err(Failure::builtin("ValueError", "past 100"));
///     }
///     Ok(number)
/// }
/// assert!(parse("x").is_err() && parse("101").is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Failure {
    entries: Vec<Entry>,
    pub(crate) is_cancelled: bool,
}

impl Failure {
    /// A failure of no class in particular.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::of("hookless_tokio", "Failure", &[], message)
    }

    /// One of a builtin class of Python's, such as `ValueError`.
    #[must_use]
    pub fn builtin(class: &str, message: impl Into<String>) -> Failure {
        Failure::of("builtins", class, &[], message)
    }

    /// One of a class by module and name, with the names of the classes that it derives from, nearest first, but for `builtins.Exception`
    /// and its own bases.
    #[must_use]
    pub fn of(module: &str, class: &str, bases: &[&str], message: impl Into<String>) -> Failure {
        Failure { entries: vec![entry(module, class, bases, &message.into())], is_cancelled: false }
    }

    /// What a handler returns that ends because its call was cancelled.
    #[must_use]
    pub fn cancelled() -> Failure {
        Failure { is_cancelled: true, ..Failure::of("hookless_tokio", "Cancelled", &[], "") }
    }

    /// S8: a result or an item that cannot be encoded.
    pub(crate) fn unsendable(error: &hookless::Error) -> Failure {
        let bases = ["hookless.HooklessError", "builtins.TypeError"];
        Failure::of("hookless", "EncodeError", &bases, error.to_string())
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Exception(hookless::Boxed::new(Report { entries: self.entries }))
    }
}

/// Python's class of an error of the system.
fn class_of(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "FileNotFoundError",
        io::ErrorKind::PermissionDenied => "PermissionError",
        io::ErrorKind::AlreadyExists => "FileExistsError",
        io::ErrorKind::IsADirectory => "IsADirectoryError",
        io::ErrorKind::NotADirectory => "NotADirectoryError",
        io::ErrorKind::TimedOut => "TimeoutError",
        io::ErrorKind::BrokenPipe => "BrokenPipeError",
        _ => "OSError",
    }
}

/// An error of the system is one of Python's; any other is named by its type.
impl<E: StdError + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        let any: &(dyn StdError + 'static) = &error;
        if let Some(error) = any.downcast_ref::<io::Error>() {
            return Failure::of("builtins", class_of(error), &["builtins.OSError"], error.to_string());
        }
        let name = std::any::type_name::<E>();
        let name = name.split('<').next().unwrap_or_default();
        let (module, class) = name.rsplit_once("::").unwrap_or(("", name));
        let mut entries = vec![entry(&module.replace("::", "."), class, &[], &error.to_string())];
        let chain = std::iter::successors(error.source(), |&led_to| led_to.source());
        // A cause has no type that could be asked for.
        entries.extend(chain.take(CHAIN).map(|led_to| entry("", "Error", &[], &led_to.to_string())));
        let count = entries.len();
        for (at, one) in entries.iter_mut().enumerate() {
            one.cause = (at + 1 < count).then(|| u32::try_from(at + 1).unwrap_or_default());
        }
        Failure { entries, is_cancelled: false }
    }
}

fn entry(module: &str, class: &str, bases: &[&str], message: &str) -> Entry {
    let end = (0..=MESSAGE.min(message.len())).rev().find(|&end| message.is_char_boundary(end));
    let message = message.get(..end.unwrap_or_default()).unwrap_or_default();
    let rest = ["builtins.Exception", "builtins.BaseException", "builtins.object"];
    Entry {
        // X10: names are not empty.
        module: Text::from(if module.is_empty() { "rust" } else { module }),
        qualname: Text::from(if class.is_empty() { "Error" } else { class }),
        bases: bases.iter().copied().chain(rest).map(Text::from).collect(),
        message: Text::from(message),
        args: vec![Value::from(message)],
        ..Entry::default()
    }
}
