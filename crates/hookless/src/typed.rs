//! The host's own types: which value a type travels as, and what it reads back (`proto/typed.md`).
//!
//! [`to_value`] and [`to_vec`] take every type that implements [`Serialize`]; [`from_value`] and [`from_slice`] give every type
//! that implements [`Deserialize`](serde::Deserialize). The bytes are decoded first, inertly and under [`Limits`]; only then is the
//! value converted into the type that the caller names. Nothing on the wire chooses that type.
//!
//! ```
//! use hookless::{Limits, from_slice, to_vec};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Fit {
//!     name: String,
//!     slope: f64,
//!     residuals: Vec<f64>,
//! }
//!
//! let fit = Fit { name: "linear".into(), slope: 0.5, residuals: vec![0.0, -0.25] };
//! let frame = to_vec(&fit, &Limits::default())?;
//! assert_eq!(from_slice::<Fit>(&frame, &Limits::default())?, fit);
//! # Ok::<(), hookless::Error>(())
//! ```
//!
//! # Which type is which value
//!
//! | rule | Rust | written as | read from |
//! |---|---|---|---|
//! | T1 | struct | dict of its fields by name | dict whose keys are all str |
//! | T2 | enum | unit variant: str; others: dict of one pair, name and content | the same form |
//! | T3 | tuple, tuple struct, `[T; N]` | tuple | tuple of that length |
//! | T4 | `Vec`, slice, `HashSet`, `BTreeSet` … | list | list, tuple, set, frozenset |
//! | T5 | map | dict | dict |
//! | T6 | `u8` … `u128`, `i8` … `i128` | int | int in range |
//! | T7 | `f64`; `f32` | float; NumPy float32 scalar | float; NumPy float32 scalar |
//! | T8 | `bool`; `str`; `char` | bool; str; str of one character | the same |
//! | T9 | serde's bytes | bytes | bytes, bytearray |
//! | T10 | `()`, unit struct, `Option`; newtype struct | None or the value; the inner value | the same |
//! | T11 | [`Value`]; [`Array`](crate::Array); `ndarray` arrays | the value itself; ndarray | every value; ndarray |
//! | T12 | untagged, flattened, internally tagged | as its parts | kinds of serde's data model |
//!
//! Nothing is coerced: an int is not read from a bool or a float, a float not from an int, a tuple not from a list. What does not fit
//! is [`type_mismatch`](crate::Code::TypeMismatch), with the path. Two things are lost, because serde does not tell them apart: a set
//! becomes a list, and `Some(None)` becomes `None`. A `HashSet` merges what a list holds twice; a host that minds asks for a `Vec`.
//!
//! serde reads untagged, flattened and internally tagged types into a buffer of its own before it converts them, and then follows its own
//! rules: there an `f64` also takes an int, and a [`Value`] cannot be read. A type that is recursive through nothing but such an enum
//! recurses without end, here as with every other format.

mod found;
mod from_value;
mod keys;
mod message;
mod place;
mod to_value;
pub(crate) mod whole;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Limits, Result, Value};
use from_value::FromValue;
use place::{Keys, Place};
use to_value::ToValue;

/// The value that a host's own value travels as.
///
/// ```
/// use hookless::{Value, to_value};
///
/// assert_eq!(to_value(&("a", true))?, Value::Tuple(vec!["a".into(), true.into()]));
/// # Ok::<(), hookless::Error>(())
/// ```
///
/// # Errors
/// `depth_limit` past the default depth, `not_keyable` and `duplicate_key` for the keys of a map, `unsupported_type` for what the type's own
/// code says; with the path.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value> {
    write(value, Limits::default().depth, Keys::Check)
}

/// Converts a value into the type that the host asks for.
///
/// ```
/// use hookless::{Code, Value, from_value};
///
/// let value = Value::List(vec![1.into(), 300.into()]);
/// assert_eq!(from_value::<Vec<u16>>(value.clone())?, [1, 300]);
/// let error = from_value::<Vec<u8>>(value).unwrap_err();
/// assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$[1]"));
/// # Ok::<(), hookless::Error>(())
/// ```
///
/// # Errors
/// `type_mismatch`, with the path; for a value that was not decoded also `depth_limit` past the hard ceiling, `not_keyable` and `duplicate_key`.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    read(value, Keys::Check)
}

/// Encodes a host's own value as one VALUE frame: what [`encode`](crate::encode) makes of [`to_value`].
///
/// # Errors
/// Those of [`to_value`], and every limit that [`encode`](crate::encode) holds.
pub fn to_vec<T: Serialize + ?Sized>(value: &T, limits: &Limits) -> Result<Vec<u8>> {
    // The encoder checks the keys.
    crate::encode(&write(value, limits.depth, Keys::Trust)?, limits)
}

/// Decodes one VALUE frame, whole, and then converts its value into the type that the host asks for.
///
/// # Errors
/// Every error of the wire, with offset and path, before the type is looked at; then those of [`from_value`].
pub fn from_slice<T: DeserializeOwned>(frame: &[u8], limits: &Limits) -> Result<T> {
    // The decoder has checked the keys.
    read(crate::decode(frame, limits)?, Keys::Trust)
}

fn write<T: Serialize + ?Sized>(value: &T, depth: u64, keys: Keys) -> Result<Value> {
    let found = value.serialize(ToValue::new(Place::within(depth), keys));
    found.map_err(|error| error.within(|path| path.push('$')))
}

fn read<T: DeserializeOwned>(value: Value, keys: Keys) -> Result<T> {
    let found = T::deserialize(FromValue::new(value, Place::within(Limits::ceilings().depth), keys));
    found.map_err(|error| error.within(|path| path.push('$')))
}
