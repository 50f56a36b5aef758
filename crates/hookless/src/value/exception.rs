//! Exceptions as inert descriptors (`proto/exceptions.md`).

use crate::value::{Text, Value};

/// One exception with everything it is linked to: X1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The exception itself, then the others, numbered as X4 says.
    pub entries: Vec<Entry>,
}

/// One exception object of a [`Report`]. The default has no names, which X10 does not allow on the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Module of the class.
    pub module: Text,
    /// Qualified name of the class.
    pub qualname: Text,
    /// `module.qualname` of the classes in the MRO after the first.
    pub bases: Vec<Text>,
    /// `str(e)` in the child.
    pub message: Text,
    /// Notes added by `add_note`.
    pub notes: Vec<Text>,
    /// What the sandbox denied.
    pub denials: Vec<Text>,
    /// What was left out or replaced.
    pub cut: Vec<Text>,
    /// The traceback, outermost frame first.
    pub frames: Vec<TraceFrame>,
    /// Whether the context is hidden when the report is shown.
    pub suppress_context: bool,
    /// Index of the explicit cause.
    pub cause: Option<u32>,
    /// Index of the exception that was being handled.
    pub context: Option<u32>,
    /// Indices of the members of an exception group.
    pub members: Vec<u32>,
    /// The arguments.
    pub args: Vec<Value>,
    /// What a builtin class keeps beside its arguments.
    pub fields: Vec<(Text, Value)>,
}

/// One line of a traceback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFrame {
    /// File name, as the child has it; never opened by a host.
    pub file: Text,
    /// First line, counted from 1.
    pub line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// First column in bytes, counted from 0.
    pub column: Option<u32>,
    /// Column after the last.
    pub end_column: Option<u32>,
    /// Name of the function.
    pub function: Text,
    /// The source line, as the child read it.
    pub source: Option<Text>,
}
