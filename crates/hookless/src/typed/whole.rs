//! T11: a [`Value`] or an [`Array`] as part of the host's own type.
//!
//! serde's data model has no place for most kinds of value, so they pass through it in pieces: the head and body of a frame, and the
//! entries of its region, which are moved and not copied where that is possible. Only the serializer and the deserializer of this crate take
//! them: to every other one the pieces would be meaningless, so it gets an error. The two sides know each other by the answers to
//! `is_human_readable`, which every other format gives always alike.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeTuple, Serializer};

use crate::array::{Array, ArrayHead};
use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, HEAD_LEN, Head};
use crate::limits::Limits;
use crate::value::Value;
use crate::wire::{self, Placed, Tree, Writer, wide};

/// What the pieces are called for serde.
pub(super) const NAME: &str = "$hookless::Value";

/// Containers that the pieces, or the error in their place, are made of.
pub(super) const DEPTH: u64 = 2;

const WRITTEN_ELSEWHERE: &str =
    "a hookless Value, Array or ndarray field is written by hookless::to_value and hookless::to_vec alone";
const READ_ELSEWHERE: &str = "a hookless Value, Array or ndarray field is read by hookless::from_value and hookless::from_slice \
    alone, and not inside untagged, flattened or internally tagged types";

/// The answers to `is_human_readable`.
#[derive(Debug, Clone)]
pub(super) struct Answer(Option<Cell<bool>>);

impl Answer {
    /// Always yes.
    pub(super) fn usual() -> Answer {
        Answer(None)
    }

    /// Yes and no in turn.
    pub(super) fn ours() -> Answer {
        Answer(Some(Cell::new(false)))
    }

    pub(super) fn give(&self) -> bool {
        self.0.as_ref().is_none_or(|last| {
            last.set(!last.get());
            last.get()
        })
    }
}

fn is_ours(ask: impl Fn() -> bool) -> bool {
    let first = ask();
    first != ask()
}

/// What is to pass.
#[derive(Debug)]
pub(crate) enum Whole<'v> {
    /// Any value.
    Value(&'v Value),
    /// An array by its head and bytes.
    Array(&'v ArrayHead, &'v [u8]),
}

impl<'v> Whole<'v> {
    /// Head and body of a frame; what belongs into its region is added to `region`.
    fn encode(&self, region: &mut Vec<&'v [u8]>) -> Result<Vec<u8>> {
        let before = region.len();
        Limits::at_ceilings(|limits| {
            region.truncate(before);
            self.encode_within(limits, region)
        })
    }

    fn encode_within(&self, limits: &Limits, region: &mut Vec<&'v [u8]>) -> Result<Vec<u8>> {
        match *self {
            Whole::Value(value) => crate::encode_parts(value, FrameKind::Value, 0, limits, region),
            Whole::Array(head, data) => {
                let mut writer = Writer::new(vec![0; HEAD_LEN], limits, false)?;
                match writer.array(head)? {
                    Placed::Inline => writer.array_data(data),
                    Placed::Region => region.push(data),
                }
                let (mut frame, data_len) = writer.finish()?;
                let body_len = wide(frame.len().saturating_sub(HEAD_LEN));
                let head = Head { kind: FrameKind::Value, call_id: 0, body_len, data_len }.to_bytes();
                frame.iter_mut().zip(head).for_each(|(to, from)| *to = from);
                Ok(frame)
            }
        }
    }

    /// Hands the pieces to the serializer of this crate.
    pub(crate) fn pass<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, self)
    }
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if !is_ours(|| serializer.is_human_readable()) {
            return Err(S::Error::custom(WRITTEN_ELSEWHERE));
        }
        let mut region = Vec::new();
        let frame = match self.encode(&mut region) {
            Ok(frame) => frame,
            Err(error) => return refuse(&error, serializer),
        };
        let mut pieces = serializer.serialize_tuple(region.len().saturating_add(1))?;
        pieces.serialize_element(&Piece(&frame))?;
        region.into_iter().try_for_each(|entry| pieces.serialize_element(&Piece(entry)))?;
        pieces.end()
    }
}

struct Piece<'v>(&'v [u8]);

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Hands over why there are no pieces, so that code and path are not lost in a text.
fn refuse<S: Serializer>(error: &Error, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let path = error.path().strip_prefix('$').unwrap_or_default();
    serializer.serialize_newtype_variant(NAME, 0, error.code().as_str(), &(path, error.found()))
}

/// The error that [`refuse`] has written.
fn refusal(code: &Value, what: &Value) -> Option<Error> {
    let (Value::Str(name), Value::Tuple(parts)) = (code, what) else { return None };
    let code = Code::ALL.iter().find(|code| code.as_str() == name)?;
    let [Value::Str(path), Value::Str(found)] = parts.as_slice() else { return None };
    Some(Error::new(*code).note(found).within(|step| step.push_str(path)))
}

/// The value of the pieces that [`Whole`] has written.
pub(super) fn join(pieces: Value) -> Result<Value> {
    let strange = || Error::new(Code::BadType).note(NAME);
    let pieces = match pieces {
        Value::Tuple(pieces) => pieces,
        Value::Dict(pairs) => {
            let refusal = pairs.first().and_then(|(code, what)| refusal(code, what));
            return Err(refusal.unwrap_or_else(strange));
        }
        _ => return Err(strange()),
    };
    let bytes = pieces.into_iter().map(|piece| match piece {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(strange()),
    });
    join_bytes(bytes.collect::<Result<_>>()?)
}

fn join_bytes(pieces: Vec<Vec<u8>>) -> Result<Value> {
    let mut pieces = pieces.into_iter();
    let frame = pieces.next().unwrap_or_default();
    let Some((head, body)) = frame.split_first_chunk::<HEAD_LEN>() else {
        return Err(Error::new(Code::Truncated).note(NAME));
    };
    let (mut value, plan) = Limits::at_ceilings(|limits| {
        let head = Head::parse(head, limits)?;
        wire::read(body, &head, limits, &mut Tree::arriving())
    })?;
    let entries: Vec<_> = pieces.collect();
    // What a Value or Array held is checked already; this says that each piece is the one of its place.
    let fits = entries.len() == plan.slots().len()
        && plan.slots().iter().zip(&entries).all(|(slot, entry)| slot.len == wide(entry.len()));
    if !fits {
        return Err(Error::new(Code::RegionMismatch).note(NAME));
    }
    for (slot, entry) in plan.slots().iter().zip(&entries) {
        if slot.find_bad(entry).is_some() {
            return Err(Error::new(Code::BadElement).note(NAME));
        }
    }
    let mut entries = entries.into_iter();
    Tree::fill(&mut value, &mut |place| *place = entries.next().unwrap_or_default());
    Ok(value)
}

/// The pieces of a value, for the visitor that joins them.
pub(super) fn split(mut value: Value) -> Result<Value> {
    let mut region = Vec::new();
    let frame = Whole::Value(&value).encode(&mut region)?;
    let moved = matches!(value, Value::Array(_)) && !region.is_empty();
    let mut entries = Vec::new();
    if !moved {
        for entry in region {
            let mut copy = Vec::new();
            copy.try_reserve_exact(entry.len()).map_err(|_| Error::new(Code::OutOfMemory))?;
            copy.extend_from_slice(entry);
            entries.push(copy);
        }
    }
    if let (true, Value::Array(array)) = (moved, &mut value) {
        entries.push(std::mem::take(array.data_mut()));
    }
    Ok(Value::Tuple(std::iter::once(frame).chain(entries).map(Value::Bytes).collect()))
}

impl Serialize for Value {
    /// Only by [`to_value`](crate::to_value) and [`to_vec`](crate::to_vec); an error by every other serializer.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Whole::Value(self).pass(serializer)
    }
}

impl Serialize for Array {
    /// Likewise.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Whole::Array(self.head(), self.data()).pass(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Only by [`from_value`](crate::from_value) and [`from_slice`](crate::from_slice); an error by every other deserializer.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NAME, Joined)
    }
}

impl<'de> Deserialize<'de> for Array {
    /// Likewise.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Array(array) => Ok(*array),
            other => Err(de::Error::invalid_type(super::found::unexpected(&other), &"ndarray")),
        }
    }
}

/// Takes what [`split`] gives.
struct Joined;

impl<'de> Visitor<'de> for Joined {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(READ_ELSEWHERE)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, pieces: D) -> std::result::Result<Value, D::Error> {
        if !is_ours(|| pieces.is_human_readable()) {
            return Err(de::Error::custom(READ_ELSEWHERE));
        }
        pieces.deserialize_seq(Pieces)
    }
}

struct Pieces;

impl<'de> Visitor<'de> for Pieces {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(READ_ELSEWHERE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Value, A::Error> {
        let mut pieces = Vec::new();
        while let Some(Owned(piece)) = access.next_element()? {
            pieces.push(piece);
        }
        join_bytes(pieces).map_err(de::Error::custom)
    }
}

/// A piece, moved.
struct Owned(Vec<u8>);

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Taken).map(Owned)
    }
}

struct Taken;

impl Visitor<'_> for Taken {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(READ_ELSEWHERE)
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> std::result::Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
