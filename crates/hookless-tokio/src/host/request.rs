//! What a call asks for.

use std::time::Duration;

use hookless::session::Verb;
use hookless::{Result, Value, to_value};
use serde::Serialize;

use crate::convert::IntoValue;

/// A call to be made: a function by `module:qualname`, or a script, with its arguments.
///
/// ```
/// use std::time::Duration;
/// use hookless_tokio::Request;
///
/// let request = Request::function("analysis:fit").arg("penguins").kwarg("order", 3);
/// let request = request.deadline(Duration::from_secs(5));
/// let plain: Request = "analysis:fit".into();
/// # let _ = (request, plain);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Request {
    pub(crate) name: String,
    pub(crate) source: Option<String>,
    pub(crate) args: Vec<Value>,
    pub(crate) kwargs: Vec<(Value, Value)>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) events: bool,
    pub(crate) window: u32,
}

impl Request {
    /// A call of a function: `module:qualname`, or the name of a handler of a child that is written in Rust.
    pub fn function(name: impl Into<String>) -> Request {
        Request {
            name: name.into(),
            source: None,
            args: Vec::new(),
            kwargs: Vec::new(),
            deadline: None,
            events: false,
            window: 16,
        }
    }

    /// A script: its text, and the name that tracebacks show. The result is what it assigns to `result`; its inputs are the keyword
    /// arguments.
    pub fn script(name: impl Into<String>, source: impl Into<String>) -> Request {
        Request { source: Some(source.into()), ..Request::function(name) }
    }

    /// Adds an argument.
    pub fn arg(mut self, value: impl IntoValue) -> Request {
        self.args.push(value.into_value());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, values: impl IntoIterator<Item = Value>) -> Request {
        self.args.extend(values);
        self
    }

    /// Adds an argument of a type of serde's.
    ///
    /// # Errors
    /// Those of [`to_value`].
    pub fn typed_arg<T: Serialize + ?Sized>(self, value: &T) -> Result<Request> {
        let value = to_value(value)?;
        Ok(self.arg(value))
    }

    /// Adds a keyword argument, or an input of a script.
    pub fn kwarg(mut self, name: &str, value: impl IntoValue) -> Request {
        self.kwargs.push((name.into(), value.into_value()));
        self
    }

    /// How long the answer may take, counted from the call; of a stream, each item, from when it is asked for. It is looked at while the
    /// call, or its next item or event, is awaited.
    pub fn deadline(mut self, after: Duration) -> Request {
        self.deadline = Some(after);
        self
    }

    /// Keeps what comes while the call is open, for [`Call::next_event`](crate::Call::next_event): progress, logs and output.
    pub fn events(mut self) -> Request {
        self.events = true;
        self
    }

    /// How many items of a stream, from 1 to 65 536, the child may make before they are asked for; 16 unless told otherwise. Fewer
    /// where they are large.
    pub fn window(mut self, items: u32) -> Request {
        self.window = items.clamp(1, hookless::limits::CREDIT);
        self
    }

    pub(crate) fn verb(&self, is_stream: bool) -> Verb {
        match (&self.source, is_stream) {
            (Some(_), _) => Verb::Script,
            (None, true) => Verb::Stream,
            (None, false) => Verb::Function,
        }
    }

    /// The list of S4.
    pub(crate) fn into_value(self, verb: Verb) -> Value {
        Value::List(vec![
            Value::from(i64::from(verb.number())),
            Value::Str(self.name),
            self.source.map_or(Value::None, Value::Str),
            Value::Tuple(self.args),
            Value::Dict(self.kwargs),
        ])
    }
}

impl From<&str> for Request {
    fn from(name: &str) -> Request {
        Request::function(name)
    }
}

impl From<String> for Request {
    fn from(name: String) -> Request {
        Request::function(name)
    }
}
