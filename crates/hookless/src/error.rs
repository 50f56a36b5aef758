//! One error for everything: a stable [`Code`], the byte offset, the path in the value, and a sentence.

use std::fmt;

use crate::memory::{self, Boxed, Steps};

/// What a code means for the one who catches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The bytes break a rule of the wire.
    Wire,
    /// The bytes, or the value to encode, go past a limit.
    Limit,
    /// This host cannot build the value; another host might.
    Environment,
    /// The value to encode is not of the closed set.
    Encode,
    /// The peer sent a frame that the session does not allow now.
    Session,
}

macro_rules! codes {
    ($($variant:ident $name:literal $class:ident $doc:literal,)*) => {
        /// Stable error codes, held equal to `proto/errors.md` by a test.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $doc] $variant,)*
        }

        impl Code {
            /// Every code, in the order of `proto/errors.md`.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable name, such as `bad_magic`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The class that the code belongs to.
            pub const fn class(self) -> Class {
                match self { $(Code::$variant => Class::$class,)* }
            }

            const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    BadMagic "bad_magic" Wire "not a hookless frame (F1)",
    BadVersion "bad_version" Wire "a frame version that this decoder does not read (F2)",
    UnknownFrameKind "unknown_frame_kind" Wire "unknown kind of frame (F3)",
    BadFlags "bad_flags" Wire "flags must be zero (F4)",
    BadCallId "bad_call_id" Wire "this kind of frame forbids this call id (F5)",
    BadLength "bad_length" Wire "this kind of frame forbids this length (F6, F8)",
    BadPadding "bad_padding" Wire "a padding byte is not zero (F11)",
    RegionMismatch "region_mismatch" Wire "body and data region disagree (F12)",
    Truncated "truncated" Wire "the bytes end too soon (F14, V18)",
    TrailingBytes "trailing_bytes" Wire "bytes after the end (V1, F14)",
    NotCanonical "not_canonical" Wire "not the one canonical form of this value",
    BadMarker "bad_marker" Wire "a MessagePack marker that no value uses (V4)",
    BadUtf8 "bad_utf8" Wire "invalid UTF-8 (V6, V7, A9, D6, D12 to D14)",
    BadPayload "bad_payload" Wire "an ext of the wrong length or content",
    MisplacedMarker "misplaced_marker" Wire "a node marker where none belongs (V12)",
    UnknownKind "unknown_kind" Wire "a node kind that this decoder does not know (V13)",
    UnknownExt "unknown_ext" Wire "an ext type that this decoder does not know (V13)",
    BadArity "bad_arity" Wire "a node with the wrong number of elements",
    BadType "bad_type" Wire "another type belongs here",
    UnorderedSet "unordered_set" Wire "set members are not in ascending order (V15)",
    DuplicateKey "duplicate_key" Wire "an equal key, member or name came before (V15, K3, R4)",
    NotKeyable "not_keyable" Wire "this kind cannot be a key or a set member (K2)",
    BadDtype "bad_dtype" Wire "no such dtype (A2-A5, A13-A15, A18-A20)",
    BadShape "bad_shape" Wire "no such shape (A6)",
    BadOrder "bad_order" Wire "no such array order, or class (A7)",
    BadDataLength "bad_data_length" Wire "dtype and shape ask for another number of bytes (A8)",
    BadElement "bad_element" Wire "an element that NumPy could not hold (A10)",
    BadLink "bad_link" Wire "a wrong link between exceptions (X3, X4)",
    BadNumber "bad_number" Wire "a number past its range (X8)",
    BadName "bad_name" Wire "an empty name (X10, R3)",
    BadControl "bad_control" Wire "a control frame that is not in its one form (S2)",
    BadCall "bad_call" Wire "a CALL body of the wrong shape (S4)",
    DepthLimit "depth_limit" Limit "too deeply nested (L1)",
    BodyLimit "body_limit" Limit "body too large (L2)",
    RegionLimit "region_limit" Limit "data region too large (L3)",
    MemoryLimit "memory_limit" Limit "the values would take too much memory (L4)",
    NodeLimit "node_limit" Limit "too many values (L5)",
    IntLimit "int_limit" Limit "int too large (L6)",
    ChainLimit "chain_limit" Limit "chain of exceptions too long (L7)",
    GroupLimit "group_limit" Limit "exception groups nested too deeply (L7)",
    ExceptionLimit "exception_limit" Limit "too many exceptions in one report (L7)",
    FrameLimit "frame_limit" Limit "too many traceback frames (L7)",
    TextLimit "text_limit" Limit "text of a descriptor too long (L7)",
    DescriptorLimit "descriptor_limit" Limit "exception report too large (L7)",
    DtypeLimit "dtype_limit" Limit "too many fields in a dtype, or nested too deeply (L9)",
    RegionEntryLimit "region_entry_limit" Limit "too many entries in the data region (L8)",
    UndeliveredLimit "undelivered_limit" Limit "the frames not yet handed on would hold too much together (L10)",
    OpenCallLimit "open_call_limit" Limit "too many calls open at once (L11, S5)",
    KeyCollision "key_collision" Environment "keys chosen so that the host's hash table degrades",
    KeyError "key_error" Environment "the host refused a key",
    ZoneUnknown "zone_unknown" Environment "this host knows no time zone of that key (D6)",
    DtypeUnsupported "dtype_unsupported" Environment "this host lacks the dtype, shape or type code",
    OutOfMemory "out_of_memory" Environment "an allocation was refused",
    TypeMismatch "type_mismatch" Environment "the value does not fit the type that the host asked for",
    UnsupportedType "unsupported_type" Encode "the value is not of the closed set",
    Mutated "mutated" Encode "a container changed its size while it was encoded",
    UnexpectedFrame "unexpected_frame" Session "this frame is not allowed now (S1, S5, S6, S9, S11 to S16)",
    Busy "busy" Session "this decoder or channel is in use: it was entered again from within",
    UnknownCall "unknown_call" Session "a frame for a call that is not open (S5, S6, S14)",
    NoCredit "no_credit" Session "an item without credit (S13)",
    VersionMismatch "version_mismatch" Session "the peers share no version (S3)",
    BadRole "bad_role" Session "the peer claims this end's own role (S3)",
}

/// Result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and in which value.
///
/// One pointer wide, so that the hot paths return it in a register. It can always be made: where there is no memory for what it says,
/// it is a bare `out_of_memory`, and where there is none for its path or its sentence, it has none.
#[derive(PartialEq, Eq)]
pub struct Error(Option<Boxed<Detail>>);

#[derive(PartialEq, Eq)]
struct Detail {
    code: Code,
    offset: Option<u64>,
    path: String,
    note: String,
}

impl Error {
    /// An error without a place; whoever knows the place adds it.
    #[cold]
    pub fn new(code: Code) -> Self {
        Error(memory::boxed(Detail { code, offset: None, path: String::new(), note: String::new() }).ok())
    }

    /// The same at a byte, counted from the first byte of the frame.
    #[cold]
    pub fn at(code: Code, offset: u64) -> Self {
        Error::new(code).or_at(offset)
    }

    #[cold]
    fn with(mut self, change: impl FnOnce(&mut Detail)) -> Self {
        if let Some(detail) = &mut self.0 {
            change(detail);
        }
        self
    }

    /// The same under another code, where the limit that was met stood for another.
    #[cold]
    pub(crate) fn recoded(self, code: Code) -> Self {
        self.with(|detail| detail.code = code)
    }

    /// Adds a sentence: what was found, which limit.
    #[cold]
    pub fn note(self, note: impl fmt::Display) -> Self {
        self.with(|detail| detail.note = memory::shown(note))
    }

    /// Sets the offset unless one is known already.
    #[cold]
    pub fn or_at(self, offset: u64) -> Self {
        self.with(|detail| {
            detail.offset.get_or_insert(offset);
        })
    }

    /// Sets the path unless one is known already.
    #[cold]
    pub fn or_path(self, spell: impl FnOnce(&mut Steps)) -> Self {
        match self.path() {
            "" => self.within(spell),
            _ => self,
        }
    }

    /// Puts a step in front of the path: an encoder's error collects its path on the way out.
    #[cold]
    pub fn within(self, step: impl FnOnce(&mut Steps)) -> Self {
        self.with(|detail| {
            let mut path = Steps::default();
            step(&mut path);
            path.push_str(&detail.path);
            detail.path = path.into_string();
        })
    }

    fn detail(&self) -> Option<&Detail> {
        self.0.as_deref()
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.detail().map_or(Code::OutOfMemory, |detail| detail.code)
    }

    /// Bytes from the first byte of the frame; none for errors of encoding and of the session.
    pub fn offset(&self) -> Option<u64> {
        self.detail().and_then(|detail| detail.offset)
    }

    /// The path in the value, such as `$.rows[3]`; empty outside a body.
    pub fn path(&self) -> &str {
        self.detail().map_or("", |detail| &detail.path)
    }

    /// What was found, in words, without the meaning of the code; may be empty.
    pub fn found(&self) -> &str {
        self.detail().map_or("", |detail| &detail.note)
    }

    /// The meaning of the code, with what was found.
    pub fn message(&self) -> String {
        memory::shown(Message(self))
    }
}

/// A copy says less than what it is of, or is a bare `out_of_memory`, when there is no memory for all of it.
impl Clone for Error {
    fn clone(&self) -> Error {
        let Some(detail) = self.detail() else { return Error(None) };
        Error::new(detail.code).with(|copy| {
            copy.offset = detail.offset;
            copy.path = memory::text(&detail.path).unwrap_or_default();
            copy.note = memory::text(&detail.note).unwrap_or_default();
        })
    }
}

struct Message<'e>(&'e Error);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.code().meaning())?;
        match self.0.found() {
            "" => Ok(()),
            note => write!(f, ": {note}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code().as_str())?;
        if let Some(offset) = self.offset() {
            write!(f, " at byte {offset}")?;
        }
        if !self.path().is_empty() {
            write!(f, " in {}", self.path())?;
        }
        write!(f, ": {}", Message(self))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}
