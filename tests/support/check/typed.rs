//! Typed results: `from_slice` is `decode` and `from_value`, for types of each row of `proto/typed.md`; and what was read is written and
//! read again as the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use hookless::{Array, Code, Error, Limits, Value, decode, from_slice, from_value, to_vec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{place, tight};

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    x: i64,
    y: f64,
}

#[derive(Debug, Serialize, Deserialize)]
enum Figure {
    Dot,
    Circle(f64),
    Segment(i64, i64),
    Box { w: u8, h: Option<Point> },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Int(i64),
    Text(String),
    Many(Vec<Either>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Held {
    value: Value,
}

#[derive(Debug, Serialize, Deserialize)]
struct Nested(Vec<Nested>);

/// Checks one frame against each type.
///
/// # Panics
/// With what is wrong.
pub fn check(frame: &[u8], planted: bool) {
    for limits in [Limits::default(), tight(frame)] {
        let decoded = decode(frame, &limits);
        let of = Of { frame, limits: &limits, decoded: &decoded, planted };
        of.check::<(i8, u16, i128)>();
        of.check::<i64>();
        of.check::<u64>();
        of.check::<f64>();
        of.check::<f32>();
        of.check::<Option<bool>>();
        of.check::<char>();
        of.check::<String>();
        of.check::<ByteBuf>();
        of.check::<Vec<i64>>();
        of.check::<Vec<Option<f64>>>();
        of.check::<BTreeSet<String>>();
        of.check::<BTreeMap<String, Value>>();
        of.check::<Vec<Value>>();
        of.check::<(Value, Value)>();
        of.check::<Value>();
        of.check::<Array>();
        of.check::<Held>();
        of.check::<Point>();
        of.check::<Figure>();
        of.check::<Either>();
        of.check::<Nested>();
        of.check::<serde_json::Value>();
    }
}

struct Of<'f> {
    frame: &'f [u8],
    limits: &'f Limits,
    decoded: &'f Result<Value, Error>,
    planted: bool,
}

impl Of<'_> {
    fn check<T: DeserializeOwned + Serialize + Debug>(&self) {
        let found = from_slice::<T>(self.frame, self.limits);
        let value = match self.decoded {
            Ok(value) => value,
            Err(error) => {
                let found = found.expect_err("no type makes the reader take other bytes");
                assert_eq!(
                    (place(&found), found.path()),
                    (place(error), error.path()),
                    "the bytes are at fault"
                );
                return;
            }
        };
        // The planted conversion says of each mismatch that the whole value is at fault.
        let wanted = from_value::<T>(value.clone());
        let path = |error: &Error| if self.planted { "$".to_owned() } else { error.path().to_owned() };
        match (found, wanted) {
            (Ok(found), Ok(wanted)) => self.again(&found, &wanted),
            (Err(found), Err(wanted)) => {
                let wanted = (wanted.code(), wanted.offset(), path(&wanted));
                assert_eq!((found.code(), found.offset(), found.path().to_owned()), wanted);
                assert!(matches!(found.code(), Code::TypeMismatch | Code::DepthLimit), "{found}");
                assert!(found.offset().is_none() && found.path().starts_with('$'), "{found}");
            }
            (found, wanted) => panic!("from_slice {found:?}, from_value {wanted:?}"),
        }
    }

    /// Compared by what they are written as, so that the bits of floats count.
    fn again<T: DeserializeOwned + Serialize + Debug>(&self, found: &T, wanted: &T) {
        let limits = Limits::default();
        let (one, other) = (to_vec(found, &limits), to_vec(wanted, &limits));
        let Ok(bytes) = &one else {
            panic!("{found:?} was read, and cannot be written: {one:?}");
        };
        assert!(one == other, "from_slice {found:?}, from_value {wanted:?}");
        let back = from_slice::<T>(bytes, &limits).unwrap_or_else(|error| panic!("{found:?}: {error}"));
        assert!(to_vec(&back, &limits).as_ref() == Ok(bytes), "{found:?} came back as {back:?}");
    }
}
