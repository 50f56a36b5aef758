//! What the reader drives: one method per kind of value.

use crate::array::{ArrayHead, Dtype, Missing, ScalarKind, Shape, TypeCode};
use crate::error::Result;
use crate::value::{RecordKind, Standard, TextRef};

/// Text that the reader has checked.
#[derive(Debug, Clone, Copy)]
pub enum Characters<'b> {
    /// Bytes below 0x80 only.
    Ascii(&'b [u8]),
    /// UTF-8 with other characters.
    Utf8(&'b str),
    /// Generalised UTF-8 with lone surrogates (V7).
    Surrogates(&'b [u8]),
}

/// bytes or bytearray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BytesKind {
    /// Immutable.
    Bytes,
    /// Mutable.
    ByteArray,
}

/// A container whose items are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceKind {
    /// A list.
    List,
    /// A tuple.
    Tuple,
    /// Three items: start, stop, step (D15).
    Slice,
    /// A deque, and the most it may hold (D16).
    Deque(Option<u64>),
}

/// A container of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// A dict.
    Dict,
    /// A `collections.OrderedDict`.
    OrderedDict,
    /// A `collections.Counter`, whose values are bools, ints or floats (D17).
    Counter,
}

/// set or frozenset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// A set.
    Set,
    /// A frozenset.
    FrozenSet,
}

/// Where the bytes of a buffer are.
#[derive(Debug, Clone, Copy)]
pub enum Data<'b> {
    /// In the body.
    Inline(&'b [u8]),
    /// In the data region, which may not have arrived: the builder reserves `len` bytes, to be filled later, and the reader
    /// adds a [`Slot`](crate::wire::Slot) to its plan.
    Region {
        /// From the first byte of the region.
        offset: u64,
        /// In bytes.
        len: u64,
    },
}

/// An array that is part of a masked one.
#[derive(Debug)]
pub struct ArrayParts<'b> {
    /// Everything but its bytes.
    pub head: ArrayHead,
    /// Its bytes.
    pub data: Data<'b>,
}

/// A masked array whose parts go together (A21, A22).
#[derive(Debug)]
pub struct MaskedParts<'b> {
    /// The elements.
    pub data: ArrayParts<'b>,
    /// The mask, unless nothing is masked.
    pub mask: Option<ArrayParts<'b>>,
    /// The fill value, where it has been set.
    pub fill_value: Option<ArrayParts<'b>>,
    /// Whether the mask is hard.
    pub hard_mask: bool,
}

/// An array of StringDType, its items checked (A24).
#[derive(Debug)]
pub struct StringParts<'b> {
    /// What stands for a missing text.
    pub missing: Missing,
    /// Whether NumPy takes other objects by their `str()`.
    pub coerce: bool,
    /// Dimensions and order.
    pub shape: Shape,
    /// The items, in the order in which they lie.
    pub items: Vec<Option<&'b str>>,
}

/// The elements of an exception entry that are not values: `proto/exceptions.md`, 0 to 11.
#[derive(Debug, Clone)]
pub struct EntryHead<'b> {
    /// Module of the class.
    pub module: TextRef<'b>,
    /// Qualified name of the class.
    pub qualname: TextRef<'b>,
    /// The classes after the first in the MRO.
    pub bases: Vec<TextRef<'b>>,
    /// `str(e)`.
    pub message: TextRef<'b>,
    /// Notes.
    pub notes: Vec<TextRef<'b>>,
    /// Denials.
    pub denials: Vec<TextRef<'b>>,
    /// What was left out.
    pub cut: Vec<TextRef<'b>>,
    /// Traceback frames.
    pub frames: Vec<FrameParts<'b>>,
    /// Whether the context is hidden.
    pub suppress_context: bool,
    /// Index of the cause.
    pub cause: Option<u32>,
    /// Index of the context.
    pub context: Option<u32>,
    /// Indices of the members of a group.
    pub members: Vec<u32>,
}

/// An exception entry, whole.
#[derive(Debug)]
pub struct EntryParts<'b, V> {
    /// Elements 0 to 11.
    pub head: EntryHead<'b>,
    /// Element 12.
    pub args: Vec<V>,
    /// Element 13.
    pub fields: Vec<(TextRef<'b>, V)>,
}

/// A traceback frame (X8).
#[derive(Debug, Clone, Copy)]
pub struct FrameParts<'b> {
    /// File name.
    pub file: TextRef<'b>,
    /// Line, end line, column, end column.
    pub position: [Option<u32>; 4],
    /// Function name.
    pub function: TextRef<'b>,
    /// Source line.
    pub source: Option<TextRef<'b>>,
}

/// What a record and an enum member begin with (R2).
#[derive(Debug, Clone, Copy)]
pub struct RecordNames<'b> {
    /// Module of the class.
    pub module: TextRef<'b>,
    /// Qualified name of the class.
    pub qualname: TextRef<'b>,
}

/// Makes the host's values as the reader meets them.
///
/// The reader has checked what it hands over, and charged it. An error without an offset gets that of the value.
pub trait Build {
    /// A finished value.
    type Value;
    /// A list, tuple, slice or deque being filled.
    type Sequence;
    /// A dict of any kind being filled.
    type Map;
    /// A set or frozenset being filled.
    type Set;

    /// Whether the builder's own tables tell equal keys apart exactly as K4–K7 do, for every keyable kind but NaNs, NumPy
    /// scalars and paths (but `PurePosixPath`). If not, the reader keeps the key forms itself.
    const OWN_KEYS: bool;

    /// Whether arrays of numbers are shown to [`Build::numbers`], where the reader can.
    const BY_PARTS: bool = false;

    /// None.
    fn none(&mut self) -> Result<Self::Value>;
    /// A bool.
    fn bool(&mut self, value: bool) -> Result<Self::Value>;
    /// An int from 0 to 2^64-1.
    fn unsigned(&mut self, value: u64) -> Result<Self::Value>;
    /// An int from -2^63 to -1.
    fn negative(&mut self, value: i64) -> Result<Self::Value>;
    /// Any other int: sign and big-endian magnitude.
    fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<Self::Value>;
    /// A float.
    fn float(&mut self, value: f64) -> Result<Self::Value>;
    /// A complex number.
    fn complex(&mut self, re: f64, im: f64) -> Result<Self::Value>;
    /// Text; `key` says that it is a dict key or inside one, and so likely to come again.
    fn text(&mut self, text: Characters<'_>, key: bool) -> Result<Self::Value>;
    /// A dict key that the builder remembers and that has just these bytes of ASCII text; none costs no more than making it.
    #[inline]
    fn known_key(&mut self, bytes: &[u8]) -> Option<Self::Value> {
        let _ = bytes;
        None
    }
    /// bytes or bytearray.
    fn bytes(&mut self, kind: BytesKind, data: Data<'_>) -> Result<Self::Value>;
    /// A NumPy array; inline data are exactly its bytes, and its elements are checked.
    fn array(&mut self, head: ArrayHead, data: Data<'_>) -> Result<Self::Value>;
    /// A plain array in C order, by its parts: for small ones, of which making a head is most of the work.
    fn numbers(&mut self, dtype: &Dtype, shape: &[u64], data: Data<'_>) -> Result<Self::Value> {
        self.array(ArrayHead::of_parts(dtype, shape)?, data)
    }
    /// An `array.array`; inline data are exactly its bytes, little-endian and checked.
    fn typed_array(&mut self, code: TypeCode, data: Data<'_>) -> Result<Self::Value>;
    /// Says that the value of the standard library that comes next is a decimal in key position.
    fn decimal_key(&mut self) -> Result<()> {
        Ok(())
    }
    /// A value of the standard library.
    fn standard(&mut self, value: Standard) -> Result<Self::Value>;
    /// A NumPy scalar of its wire payload.
    fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<Self::Value>;
    /// A NumPy scalar of a dtype that has no leaf, its bytes checked.
    fn element(&mut self, dtype: Dtype, bytes: &[u8]) -> Result<Self::Value>;
    /// A masked array; what waits for the region, waits in the order of the parts.
    fn masked(&mut self, parts: MaskedParts<'_>) -> Result<Self::Value>;
    /// A NumPy array of texts.
    fn strings(&mut self, parts: StringParts<'_>) -> Result<Self::Value>;

    /// Begins a sequence of exactly `len` items; as many bytes, at least, have arrived.
    fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<Self::Sequence>;
    /// Adds the next item.
    fn push(&mut self, sequence: &mut Self::Sequence, item: Self::Value) -> Result<()>;
    /// The same, where the item is none, a bool, an int of at most 64 bits, a float or text.
    #[inline]
    fn push_plain(&mut self, sequence: &mut Self::Sequence, item: Self::Value) -> Result<()> {
        self.push(sequence, item)
    }
    /// Ends it, all items added.
    fn finish_sequence(&mut self, sequence: Self::Sequence) -> Result<Self::Value>;

    /// Ends a tuple whose items are those of an array of objects.
    fn finish_objects(&mut self, sequence: Self::Sequence, shape: Shape) -> Result<Self::Value>;

    /// Begins a dict of exactly `len` pairs.
    fn map(&mut self, kind: MapKind, len: usize) -> Result<Self::Map>;
    /// Adds a pair; false when an equal key is there already.
    fn insert(&mut self, map: &mut Self::Map, key: Self::Value, value: Self::Value) -> Result<bool>;
    /// The same, where the key is known to be this int of at most 64 bits.
    #[inline]
    fn insert_int(
        &mut self,
        map: &mut Self::Map,
        key: Self::Value,
        number: i128,
        value: Self::Value,
    ) -> Result<bool> {
        let _ = number;
        self.insert(map, key, value)
    }
    /// Ends it.
    fn finish_map(&mut self, map: Self::Map) -> Result<Self::Value>;

    /// Begins a set or frozenset of exactly `len` members.
    fn set(&mut self, kind: SetKind, len: usize) -> Result<Self::Set>;
    /// Adds a member; false when an equal one is there already.
    fn add(&mut self, set: &mut Self::Set, member: Self::Value) -> Result<bool>;
    /// Ends it.
    fn finish_set(&mut self, set: Self::Set) -> Result<Self::Value>;

    /// A record, its fields in order, no two of one name.
    fn record(
        &mut self,
        kind: RecordKind,
        names: RecordNames<'_>,
        fields: Vec<(TextRef<'_>, Self::Value)>,
    ) -> Result<Self::Value>;
    /// A member of an enum; no name for flags that have none together.
    fn enum_member(
        &mut self,
        names: RecordNames<'_>,
        name: Option<TextRef<'_>>,
        value: Self::Value,
    ) -> Result<Self::Value>;

    /// An exception, its links checked.
    fn report(&mut self, entries: Vec<EntryParts<'_, Self::Value>>) -> Result<Self::Value>;

    /// The first byte of a value was reached, `offset` bytes into the frame and inside `depth` containers. What that value is, if it
    /// can be read, one of the methods above says; before that, the values inside an exception are entered and left.
    #[inline]
    fn enter(&mut self, offset: u64, depth: usize) {
        let _ = (offset, depth);
    }

    /// A value is finished, and `end` bytes into the frame the next one begins.
    #[inline]
    fn leave(&mut self, value: &Self::Value, end: u64) {
        let _ = (value, end);
    }

    /// Called every 65 536 values: a host that can be interrupted looks for it here.
    fn pulse(&mut self) -> Result<()> {
        Ok(())
    }
}
