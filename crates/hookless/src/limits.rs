//! Limits and charges, as `proto/limits.md` states them.

use crate::error::{Code, Error, Result};

macro_rules! limits {
    ($($name:ident $strict:expr, $default:expr, $generous:expr, $ceiling:expr, $code:ident, $doc:literal;)*) => {
        /// Where a decoder, and an encoder, stops: [`Limits::strict`], the default, [`Limits::generous`], or any of them with
        /// changes. Each field quotes its rule in `proto/limits.md`.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct Limits {
            $(#[doc = $doc] pub $name: u64,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits::DEFAULT
            }
        }

        impl Limits {
            /// What [`Limits::default`] gives.
            pub const DEFAULT: Limits = Limits { $($name: $default,)* };

            /// Name, default and hard ceiling of each limit.
            pub const TABLE: &'static [(&'static str, u64, u64)] = &[$((stringify!($name), $default, $ceiling),)*];

            /// For answers that are small: what an honest child sends of text, numbers and short tables. See `proto/limits.md`.
            #[must_use]
            pub const fn strict() -> Limits {
                Limits { $($name: $strict,)* }
            }

            /// For large data on a large machine, from a child that is mistrusted less. See `proto/limits.md`.
            #[must_use]
            pub const fn generous() -> Limits {
                Limits { $($name: $generous,)* }
            }

            /// The limits with one of them changed; none when the name is unknown or the value past the ceiling.
            pub fn with(mut self, name: &str, value: u64) -> Option<Limits> {
                match name {
                    $(stringify!($name) if value <= $ceiling => self.$name = value,)*
                    _ => return None,
                }
                Some(self)
            }

            /// The names of the limits that a code stands for; none for a code of another kind, and for L8.
            pub fn names(code: Code) -> impl Iterator<Item = &'static str> {
                let all = [$((stringify!($name), Code::$code),)*];
                all.into_iter().filter(move |(_, of)| *of == code).map(|(name, _)| name)
            }

            /// Each limit as a number chosen by its place in the table.
            pub(crate) fn by_place(mut choose: impl FnMut(usize) -> u64) -> Limits {
                let mut places = 0..;
                let mut next = || choose(places.next().unwrap_or(usize::MAX));
                Limits { $($name: next(),)* }
            }

            /// The smaller of the two, limit by limit.
            #[must_use]
            pub fn within(&self, other: &Limits) -> Limits {
                Limits { $($name: self.$name.min(other.$name),)* }
            }

            /// Each limit at its hard ceiling: for bytes that this process has just written itself.
            pub(crate) fn ceilings() -> Limits {
                Limits { $($name: $ceiling,)* }
            }

            /// Each limit by name, in the order of the table.
            pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

impl Limits {
    /// Work over bytes that this process writes itself, with each limit at its hard ceiling. But how far decimals are written out as keys
    /// grows with `int_bytes`: the ceiling of that is taken only where an int is in fact larger than the default.
    pub(crate) fn at_ceilings<T>(mut work: impl FnMut(&Limits) -> Result<T>) -> Result<T> {
        let ceilings = Limits::ceilings();
        match work(&Limits { int_bytes: Limits::default().int_bytes, ..ceilings.clone() }) {
            Err(error) if error.code() == Code::IntLimit => work(&ceilings),
            verdict => verdict,
        }
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

limits! {
    // strict, default, generous, hard ceiling
    depth 32, 128, 256, 512, DepthLimit, "L1: arrays, nodes and maps open at once.";
    body 16 * MIB, 256 * MIB, 2 * GIB, 4 * GIB, BodyLimit, "L2: bytes of a body.";
    region 256 * MIB, 8 * GIB, 256 * GIB, 1024 * GIB, RegionLimit, "L3: bytes of a data region.";
    memory 64 * MIB, GIB, 16 * GIB, 64 * GIB, MemoryLimit, "L4: sum of the charges of [`charge`].";
    nodes MIB, 32 * MIB, 256 * MIB, GIB, NodeLimit, "L5: values in one body.";
    int_bytes KIB, 16 * KIB, 128 * KIB, MIB, IntLimit, "L6: magnitude of an int, in bytes.";
    chain 16, 64, 128, 128, ChainLimit, "L7: exceptions linked by cause and context, on the longest path.";
    group_depth 4, 16, 32, 64, GroupLimit, "L7: exception groups inside exception groups.";
    exceptions 32, 256, 1024, 1024, ExceptionLimit, "L7: exceptions in one report.";
    frames 64, 256, 4096, 4096, FrameLimit, "L7: traceback frames of one exception.";
    text 16 * KIB, 64 * KIB, MIB, MIB, TextLimit, "L7: bytes of one text of a descriptor.";
    descriptor 256 * KIB, MIB, 16 * MIB, 64 * MIB, DescriptorLimit, "L7: bytes of one report.";
    dtype_fields 64, 1024, 16_384, 65_536, DtypeLimit, "L9: fields of one dtype, those of nested ones included.";
    dtype_depth 4, 8, 16, 32, DtypeLimit, "L9: structures inside structures.";
    undelivered 64 * MIB, GIB, 16 * GIB, 1024 * GIB, UndeliveredLimit, "L10: what the frames hold together that are complete and not handed on.";
}

/// L11: calls of a session that are open at once.
pub const OPEN_CALLS: usize = 1024;

/// L12: items that a stream may be allowed to send, and has not sent.
pub const CREDIT: u32 = 65_536;

/// L8: entries of one data region.
pub const REGION_ENTRIES: u64 = 65_536;

/// Bytes, bytearrays and arrays of this size and more travel in the data region (frame.md).
pub const REGION_THRESHOLD: u64 = 16_384;

/// How many of a buffer's bytes lie in the body: all, or none (frame.md).
pub(crate) const fn inline(nbytes: u64) -> u64 {
    if nbytes < REGION_THRESHOLD { nbytes } else { 0 }
}

/// What is left of `Limits::memory` and `Limits::nodes` while one body is read or written.
#[derive(Debug)]
pub(crate) struct Budget {
    memory: u64,
    nodes: u64,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Budget { memory: limits.memory, nodes: limits.nodes }
    }

    /// What is left of the memory.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// L4: takes a charge before the value is built.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => self.memory = left,
            None => return Err(over(Code::MemoryLimit, bytes, self.memory)),
        }
        Ok(())
    }

    /// L4: takes `count` times `bytes`, or nothing if that is more than is left.
    #[inline]
    pub(crate) fn charge_all(&mut self, bytes: u64, count: u64) -> bool {
        let left = self.memory.checked_sub(bytes.saturating_mul(count));
        self.memory = left.unwrap_or(self.memory);
        left.is_some()
    }

    /// L5: takes the values that a head announces.
    #[inline]
    pub(crate) fn announce(&mut self, values: u64) -> Result<()> {
        match self.nodes.checked_sub(values) {
            Some(left) => self.nodes = left,
            None => return Err(over(Code::NodeLimit, values, self.nodes)),
        }
        Ok(())
    }
}

/// An error that says how much was asked for and how much the limit leaves.
#[cold]
pub(crate) fn over(code: Code, asked: u64, left: u64) -> Error {
    Error::new(code).note(format_args!("{asked} asked for, {left} allowed"))
}

/// The fixed charge of each kind, in bytes of host memory (`proto/limits.md`, Charges).
pub mod charge {
    use crate::array::ScalarKind;
    use crate::wire::{MapKind, SequenceKind};

    /// L10: a frame around its value.
    pub const DELIVERED: u64 = 128;
    /// None and bool.
    pub const ATOM: u64 = 32;
    /// An int of at most 64 bits.
    pub const INT: u64 = 40;
    /// A float.
    pub const FLOAT: u64 = 40;
    /// A complex number.
    pub const COMPLEX: u64 = 48;
    /// A list or tuple, without its items.
    pub const SEQUENCE: u64 = 88;
    /// A deque, without its items.
    pub const DEQUE: u64 = 1056;
    /// A dict without its pairs.
    pub const DICT: u64 = 72;
    /// An OrderedDict without its pairs.
    pub const ORDERED_DICT: u64 = 208;
    /// A Counter without its pairs.
    pub const COUNTER: u64 = 112;
    /// A pair of an OrderedDict.
    pub const ORDERED_ENTRY: u64 = 304;
    /// A set or frozenset without its members.
    pub const SET: u64 = 240;
    /// A pair of a dict, or a member of a set: the table around key and value.
    pub const TABLE_ENTRY: u64 = 160;
    /// A record without its fields.
    pub const RECORD: u64 = 256;
    /// A member of an enum.
    pub const MEMBER: u64 = 192;
    /// An entry of an exception report.
    pub const EXCEPTION: u64 = 768;
    /// A field of a structured dtype, without its names.
    pub const FIELD: u64 = 640;
    /// A traceback frame.
    pub const FRAME: u64 = 192;
    /// A masked array beside the arrays that it is made of.
    pub const MASKED: u64 = 1024;
    /// An item of an array of objects, without the item itself.
    pub const OBJECT: u64 = 16;
    /// An item of an array of texts, without its text.
    pub const STRING: u64 = 48;

    /// An int beyond 64 bits.
    pub const fn big_int(payload: u64) -> u64 {
        payload.saturating_mul(2).saturating_add(64)
    }

    /// Text of `bytes` bytes of UTF-8.
    pub const fn text(bytes: u64, ascii: bool) -> u64 {
        if ascii { bytes.saturating_add(72) } else { bytes.saturating_mul(4).saturating_add(112) }
    }

    /// bytes and bytearray; `inline` is 0 in the region.
    pub const fn bytes(inline: u64) -> u64 {
        inline.saturating_add(96)
    }

    /// An array; `inline` is 0 in the region. One without bytes is charged its elements (dimensions of 0 taken as 1), so that whoever
    /// goes through it does not go on for ever.
    pub fn array(shape: &[u64], nbytes: u64, inline: u64) -> u64 {
        let rank = u64::try_from(shape.len()).unwrap_or(u64::MAX);
        let elements = shape.iter().fold(1u64, |n, &extent| n.saturating_mul(extent.max(1)));
        let hollow = if nbytes == 0 { elements } else { 0 };
        rank.saturating_mul(16).saturating_add(inline).saturating_add(hollow).saturating_add(720)
    }

    /// A NumPy scalar: str\_ takes four bytes a character, and twice while it is made; bytes\_ and void twice.
    pub const fn scalar(payload: u64, kind: ScalarKind) -> u64 {
        match kind {
            ScalarKind::Str => payload.saturating_mul(8).saturating_add(160),
            ScalarKind::Bytes | ScalarKind::Void => payload.saturating_mul(2).saturating_add(128),
            _ => payload.saturating_add(96),
        }
    }

    /// A NumPy scalar of a dtype that has no leaf, and the copy from which it is made.
    pub const fn element(payload: u64) -> u64 {
        payload.saturating_mul(2).saturating_add(720)
    }

    /// A text of an array of texts, which NumPy makes of a str.
    pub const fn string(bytes: u64, ascii: bool) -> u64 {
        text(bytes, ascii).saturating_add(bytes.saturating_mul(2))
    }

    /// So many items of an array, each at the charge `one`.
    pub const fn items(one: u64, len: u64) -> u64 {
        len.saturating_mul(one)
    }

    /// An `array.array`, which CPython makes a little longer than its elements; `inline` is 0 in the region.
    pub const fn typed_array(inline: u64) -> u64 {
        inline.saturating_add(inline / 8).saturating_add(160)
    }

    /// A sequence without its items.
    pub const fn sequence(kind: SequenceKind) -> u64 {
        match kind {
            SequenceKind::List | SequenceKind::Tuple | SequenceKind::Slice => SEQUENCE,
            SequenceKind::Deque(_) => DEQUE,
        }
    }

    /// A dict of any kind that announces `pairs`.
    pub const fn map(kind: MapKind, pairs: u64) -> u64 {
        match kind {
            MapKind::Dict => table(DICT, pairs),
            MapKind::OrderedDict => pairs.saturating_mul(ORDERED_ENTRY).saturating_add(ORDERED_DICT),
            MapKind::Counter => table(COUNTER, pairs),
        }
    }

    /// A decimal in key position that takes so many digits when it is written out: the time of comparing it exactly, and the bytes of its
    /// form, of which a few copies are held, and which may be thousands for the fifteen of `1E-9999`.
    pub const fn exact_key(digits: u64) -> u64 {
        digits.saturating_mul(digits) / 16
    }

    /// A record of `fields` fields; its texts and values are charged by themselves.
    pub const fn record(fields: u64) -> u64 {
        table(RECORD, fields)
    }

    /// A key or member that is a tuple, frozenset, record or enum member: its bytes are compared again at each level.
    pub const fn compound_key(bytes: u64) -> u64 {
        bytes.saturating_mul(8)
    }

    /// A dict or set head that announces `entries`.
    pub const fn table(head: u64, entries: u64) -> u64 {
        entries.saturating_mul(TABLE_ENTRY).saturating_add(head)
    }
}
