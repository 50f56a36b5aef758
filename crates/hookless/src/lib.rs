//! Typed MessagePack frames that decode to a closed set of values, without running any hook.
//!
//! A host runs code that it does not trust in a child process. What the child sends back is decoded here into [`Value`]s: nothing
//! on the wire names code, so decoding imports, looks up and calls nothing.
//!
//! ```
//! use hookless::{Limits, Value, decode, encode};
//!
//! let value = Value::List(vec![Value::from(1), Value::from("two"), Value::from(3.0)]);
//! let frame = encode(&value, &Limits::default())?;
//! assert_eq!(decode(&frame, &Limits::default())?, value);
//! # Ok::<(), hookless::Error>(())
//! ```
//!
//! [`to_vec`] and [`from_slice`] do the same with types of your own that implement serde's traits: see [`mod@typed`].
//!
//! # Where a rule lives
//!
//! The wire is stated in `proto/`, in numbered rules.
//!
//! | rules | written by | read by |
//! |---|---|---|
//! | F1–F9 the head | [`frame::Head::to_bytes`] | [`frame::Head::parse`] |
//! | F10–F14 body and region | [`encode_parts`] | [`frame::split`], [`frame::Assembler`] |
//! | V1–V18 values, K1–K8 keys | [`wire::Writer`] | [`wire::read`] |
//! | D1–D18 the standard library | [`wire::Writer::standard`], [`wire::Writer`] | [`wire::read`], [`Standard`] |
//! | A1–A24 arrays, scalars | [`wire::Writer::array`], [`wire::Writer::scalar`] | [`wire::read`], [`mod@array`] |
//! | R1–R5 records | [`wire::Writer::record`] | [`wire::read`] |
//! | X1–X10 exceptions | [`wire::Writer::report`] | [`wire::read`] |
//! | S1–S18 the session | [`session::Host`], [`session::Worker`] | the same |
//! | T1–T12 the host's own types | [`to_value`], [`to_vec`] | [`from_value`], [`from_slice`] |
//! | L1–L12 limits and charges | [`limits`] | the same |
//!
//! This crate does no I/O, looks at no clock and contains no unsafe code.
//!
//! # Features
//!
//! `ndarray`: views of arrays as those of the crate `ndarray`, arrays made of them, and fields of its types (the module `nd`).
#![forbid(unsafe_code)]
// On every path that bytes can take: nothing that panics, no arithmetic that overflows, no allocation that ends the process, and of
// clippy.toml's bans no clock, file, socket or thread. What is relaxed has its reason beside it.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

pub mod array;
pub mod display;
mod error;
mod failure;
pub mod frame;
pub mod limits;
mod memory;
#[cfg(feature = "ndarray")]
pub mod nd;
pub mod session;
pub mod typed;
mod value;
pub mod wire;

pub use array::{
    Array, ByteOrder, Dtype, Element, Extension, Field, Letter, LongFormat, MaskedArray, ObjectArray, Order,
    Scalar, ScalarKind, StringArray, StructureFlags, TypeCode, TypedArray,
};
pub use error::{Class, Code, Error, Result};
pub use failure::RemoteError;
pub use limits::Limits;
pub use memory::{Boxed, Steps};
pub use typed::{from_slice, from_value, to_value, to_vec};
pub use value::{
    Date, DateTime, Decimal, Fraction, Ip, IpKind, Offset, Path, PathClass, Range, Standard, StructTime,
    Time, TimeDelta, Uuid, UuidSafety, Zone, ZoneKey,
};
pub use value::{
    Deque, Entry, EnumMember, Int, IntForm, Record, RecordKind, Report, Surrogates, Text, TextRef,
    TraceFrame, Value,
};

use frame::{FrameKind, HEAD_LEN, Head, padding};
use memory::Full;
use wire::{Tree, Writer, wide};

/// Encodes a value as one VALUE frame.
///
/// # Errors
/// A limit, or keys that are not keyable or equal; with the path, and without an offset.
pub fn encode(value: &Value, limits: &Limits) -> Result<Vec<u8>> {
    let mut region = Vec::new();
    let mut frame = encode_parts(value, FrameKind::Value, 0, limits, &mut region)?;
    for part in region {
        let gap = usize::try_from(padding(wide(frame.len()))).unwrap_or_default();
        frame.try_reserve(part.len().saturating_add(gap)).map_err(Full::from)?;
        let len = frame.len().saturating_add(gap);
        memory::resize(&mut frame, len, 0)?;
        memory::extend(&mut frame, part)?;
    }
    Ok(frame)
}

/// Encodes a value as head and body of a frame, and adds to `region` the buffers that follow: each after as many zero bytes as
/// [`frame::padding`] says. No large buffer is copied.
///
/// # Errors
/// As [`encode`].
pub fn encode_parts<'v>(
    value: &'v Value,
    kind: FrameKind,
    call_id: u64,
    limits: &Limits,
    region: &mut Vec<&'v [u8]>,
) -> Result<Vec<u8>> {
    let write = |region: &mut Vec<&'v [u8]>| {
        let mut writer = Writer::new(memory::filled(HEAD_LEN, 0)?, limits, false)?;
        wire::write_value(value, &mut writer, region)?;
        writer.finish()
    };
    let (mut frame, data_len) = write(region).map_err(|error| error.within(|path| path.push('$')))?;
    let body_len = wide(frame.len().saturating_sub(HEAD_LEN));
    let head = Head { kind, call_id, body_len, data_len }.to_bytes();
    frame.iter_mut().zip(head).for_each(|(to, from)| *to = from);
    Ok(frame)
}

/// Decodes one VALUE frame, whole.
///
/// # Errors
/// Every error of the wire, with the offset from the frame's first byte and the path in the value.
pub fn decode(frame: &[u8], limits: &Limits) -> Result<Value> {
    let split = frame::split(frame, limits)?;
    if split.head.kind != FrameKind::Value {
        return Err(Error::at(Code::UnknownFrameKind, 5)
            .note(format_args!("{} is not VALUE", split.head.kind.name())));
    }
    let (mut value, plan) = wire::read(split.body, &split.head, limits, &mut Tree::whole())?;
    frame::check_region(&split, &plan)?;
    let mut slots = plan.slots().iter();
    Tree::fill(&mut value, &mut |place| match slots.next() {
        Some(slot) => memory::extend(place, frame::slice(split.region, slot)),
        None => Ok(()),
    })?;
    Ok(value)
}
