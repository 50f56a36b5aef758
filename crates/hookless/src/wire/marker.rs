//! Markers, ext types and node kinds (`proto/values.md`).

pub(crate) const NIL: u8 = 0xc0;
pub(crate) const FALSE: u8 = 0xc2;
pub(crate) const TRUE: u8 = 0xc3;
pub(crate) const BIN8: u8 = 0xc4;
pub(crate) const BIN16: u8 = 0xc5;
pub(crate) const BIN32: u8 = 0xc6;
pub(crate) const EXT8: u8 = 0xc7;
pub(crate) const EXT16: u8 = 0xc8;
pub(crate) const EXT32: u8 = 0xc9;
pub(crate) const FLOAT64: u8 = 0xcb;
pub(crate) const UINT8: u8 = 0xcc;
pub(crate) const UINT16: u8 = 0xcd;
pub(crate) const UINT32: u8 = 0xce;
pub(crate) const UINT64: u8 = 0xcf;
pub(crate) const INT8: u8 = 0xd0;
pub(crate) const INT16: u8 = 0xd1;
pub(crate) const INT32: u8 = 0xd2;
pub(crate) const INT64: u8 = 0xd3;
pub(crate) const FIXEXT1: u8 = 0xd4;
pub(crate) const FIXEXT2: u8 = 0xd5;
pub(crate) const FIXEXT4: u8 = 0xd6;
pub(crate) const FIXEXT8: u8 = 0xd7;
pub(crate) const FIXEXT16: u8 = 0xd8;
pub(crate) const STR8: u8 = 0xd9;
pub(crate) const STR16: u8 = 0xda;
pub(crate) const STR32: u8 = 0xdb;
pub(crate) const ARRAY16: u8 = 0xdc;
pub(crate) const ARRAY32: u8 = 0xdd;
pub(crate) const MAP16: u8 = 0xde;
pub(crate) const MAP32: u8 = 0xdf;

/// Ext types: the leaves.
pub(crate) mod leaf {
    pub(crate) const NODE: u8 = 1;
    pub(crate) const BIG_INT: u8 = 2;
    pub(crate) const COMPLEX: u8 = 3;
    pub(crate) const SURROGATES: u8 = 4;
    pub(crate) const BYTEARRAY: u8 = 5;
    pub(crate) const REGION_BYTES: u8 = 6;
    pub(crate) const REGION_BYTEARRAY: u8 = 7;
    pub(crate) const DTYPE: u8 = 8;
}

/// Node kinds that this version reads; the others of `proto/values.md` are reserved and refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Tuple,
    Set,
    FrozenSet,
    Deque,
    OrderedDict,
    Counter,
    Slice,
    TypedArray,
    Array,
    Masked,
    Objects,
    Strings,
    Element,
    Record,
    NamedRecord,
    EnumMember,
    Exception,
}

impl Node {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Node::Tuple => 1,
            Node::Set => 2,
            Node::FrozenSet => 3,
            Node::Deque => 4,
            Node::OrderedDict => 5,
            Node::Counter => 6,
            Node::Slice => 8,
            Node::TypedArray => 11,
            Node::Array => 16,
            Node::Masked => 17,
            Node::Objects => 18,
            Node::Strings => 19,
            Node::Element => 23,
            Node::Record => 20,
            Node::NamedRecord => 21,
            Node::EnumMember => 22,
            Node::Exception => 24,
        }
    }

    pub(crate) const fn from_number(number: u8) -> Option<Node> {
        match number {
            1 => Some(Node::Tuple),
            2 => Some(Node::Set),
            3 => Some(Node::FrozenSet),
            4 => Some(Node::Deque),
            5 => Some(Node::OrderedDict),
            6 => Some(Node::Counter),
            8 => Some(Node::Slice),
            11 => Some(Node::TypedArray),
            16 => Some(Node::Array),
            17 => Some(Node::Masked),
            18 => Some(Node::Objects),
            19 => Some(Node::Strings),
            23 => Some(Node::Element),
            20 => Some(Node::Record),
            21 => Some(Node::NamedRecord),
            22 => Some(Node::EnumMember),
            24 => Some(Node::Exception),
            _ => None,
        }
    }

    /// The first two bytes of every node's marker.
    pub(crate) const BEGINS: [u8; 2] = [FIXEXT1, leaf::NODE];

    /// The three bytes that open a node (V12).
    pub(crate) const fn marker(self) -> [u8; 3] {
        let [first, second] = Node::BEGINS;
        [first, second, self.number()]
    }
}

/// The highest node kind that this version reads, for HELLO.
pub const HIGHEST_NODE: u8 = Node::Exception.number();

/// The highest leaf that this version reads, for HELLO.
pub const HIGHEST_LEAF: u8 = 50;
