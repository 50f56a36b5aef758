//! Instances of a child's own classes as inert values (`proto/records.md`).

use crate::value::{Text, Value};

/// Which of the two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// An instance of a dataclass and the like: fields by name.
    Record,
    /// A namedtuple: fields by name and by position.
    Named,
}

/// An inert instance: R1. The names are claims of the sender's and choose nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Record or named record.
    pub kind: RecordKind,
    /// Module of the class; not empty (R3).
    pub module: Text,
    /// Qualified name of the class; not empty.
    pub qualname: Text,
    /// Names and values in order. No name is empty, and no two are equal (R4).
    pub fields: Vec<(Text, Value)>,
}

/// An inert member of an enum: R1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumMember {
    /// Module of the class; not empty (R3).
    pub module: Text,
    /// Qualified name of the class; not empty.
    pub qualname: Text,
    /// Name of the member; none for flags that have no name together.
    pub name: Option<Text>,
    /// Its value.
    pub value: Value,
}
