//! Every vector of `proto/vectors/typed`: read as its type, and written again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug};

use hookless::{Array, Code, Error, Limits, Value, decode, encode, from_slice, to_value, to_vec};
use ndarray::Array2;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use serde_json::Value as Json;
use support::describe::{describe, normal};
use support::mutate::{Dice, mutate};
use support::typed::{TypedVector, accept, reject};

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    x: i64,
    y: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Empty {}

#[derive(Debug, Serialize, Deserialize)]
enum Figure {
    Dot,
    Circle(f64),
    Segment(i64, i64),
    Box { w: u8, h: u8 },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Side {
    Left,
    Right,
}

#[derive(Debug, Serialize, Deserialize)]
struct Triple(u8, bool, char);

#[derive(Debug, Serialize, Deserialize)]
struct Metres(f64);

#[derive(Debug, Serialize, Deserialize)]
struct Nothing;

#[derive(Debug, Serialize, Deserialize)]
struct Endless(Option<Box<Endless>>);

#[derive(Debug, Serialize, Deserialize)]
struct Nested(Vec<Nested>);

#[derive(Serialize, Deserialize)]
struct Blob {
    data: ByteBuf,
}

impl Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob {{ {} bytes }}", self.data.len())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Held {
    value: Value,
}

#[derive(Serialize, Deserialize)]
struct Grid {
    #[serde(with = "hookless::nd")]
    cells: Array2<i16>,
}

impl Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Grid {{ cells: {} }}", self.cells)
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Int(i64),
    Str(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Loose {
    Value(Value),
}

/// What was read: its text, its value, and its frame.
struct Read {
    rust: String,
    value: Value,
    again: Vec<u8>,
}

type Reader = fn(&[u8], &Limits) -> Result<Read, Error>;

fn read<T: Debug + Serialize + DeserializeOwned>(frame: &[u8], limits: &Limits) -> Result<Read, Error> {
    let found = from_slice::<T>(frame, limits)?;
    let again = to_vec(&found, limits).expect("what was read can be written");
    let value = to_value(&found).expect("what was read has a value");
    Ok(Read { rust: format!("{found:?}"), value, again })
}

macro_rules! types {
    ($($type:ty,)*) => {
        /// Each type by the name that vectors give it.
        fn reader(name: &str) -> Reader {
            match name {
                $(stringify!($type) => read::<$type>,)*
                _ => panic!("no such type in this test: {name}"),
            }
        }
    };
}

types! {
    Point, Empty, Figure, Triple, Metres, Nothing, Endless, Nested, Blob, Held, Grid, Either, Loose, Json, Array,
    u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64, bool, char, String, ByteBuf, (), [u8; 3],
    (i64, String), Option<i64>, Vec<i64>, Vec<u8>, Vec<char>, BTreeSet<i64>,
    BTreeMap<String, i64>, BTreeMap<i64, bool>, BTreeMap<(i64, String), ()>, BTreeMap<Side, i64>,
    BTreeMap<Vec<i64>, i64>,
}

fn all(vectors: &[TypedVector], check: impl Fn(&TypedVector) -> Result<(), String>) {
    let complaints: Vec<_> =
        vectors.iter().filter_map(|v| check(v).err().map(|why| format!("{}: {why}", v.name))).collect();
    let (failed, of) = (complaints.len(), vectors.len());
    assert!(complaints.is_empty(), "{failed} of {of} vectors failed\n{}", complaints.join("\n"));
}

fn same(what: &str, found: &impl Debug, wanted: &impl Debug) -> Result<(), String> {
    let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
    if found == wanted { Ok(()) } else { Err(format!("{what} is {found:.300}, expected {wanted:.300}")) }
}

#[test]
fn accept_reads_and_writes_again() {
    all(&accept(), |vector| {
        let value = decode(&vector.frame, &vector.limits).map_err(|error| format!("refused: {error}"))?;
        same("value", &describe(&value), &vector.value.as_ref().map(normal).expect("a value"))?;
        let found = reader(&vector.rust_type)(&vector.frame, &vector.limits)
            .map_err(|error| format!("does not fit: {error}"))?;
        if let Some(rust) = &vector.rust {
            same("Rust's value", &found.rust, rust)?;
        }
        same("the frame", &found.again, &vector.again)?;
        let encoded = encode(&found.value, &vector.limits).map_err(|error| error.to_string())?;
        same("encode(to_value)", &encoded, &vector.again)
    });
}

#[test]
fn reject_has_code_and_path() {
    all(&reject(), |vector| {
        let (code, path) = vector.error.as_ref().expect("a reject vector has a code");
        match (reader(&vector.rust_type)(&vector.frame, &vector.limits), path) {
            (Ok(found), _) => Err(format!("read as {:.300}", found.rust)),
            (Err(error), Some(path)) => {
                decode(&vector.frame, &vector.limits).map_err(|error| format!("bad bytes: {error}"))?;
                same(
                    "the error",
                    &(error.code().as_str(), error.path(), error.offset()),
                    &(code, path, None::<u64>),
                )
            }
            (Err(error), None) => {
                same("the error", &error.code().as_str(), code)?;
                let decoded = decode(&vector.frame, &vector.limits);
                same("the decoder's error", &decoded.err(), &Some(error))
            }
        }
    });
}

/// Damaged frames: the decoder's error, a mismatch, or a value that is read again as it was.
#[test]
fn damaged_frames_have_one_verdict() {
    let vectors: Vec<_> = accept().into_iter().filter(|vector| vector.frame.len() < 1000).collect();
    let mut dice = Dice(7);
    let (mut read, mut unfit, mut bad) = (0, 0, 0);
    for round in 0..200 {
        for vector in &vectors {
            let damaged = mutate(&vector.frame, &mut dice);
            let reader = reader(&vector.rust_type);
            let decoded = decode(&damaged, &vector.limits);
            match (reader(&damaged, &vector.limits), decoded) {
                (Ok(found), Ok(_)) => {
                    let again = reader(&found.again, &vector.limits).expect("what was read is read again");
                    assert_eq!(
                        (again.rust, again.again),
                        (found.rust, found.again),
                        "{round} {}",
                        vector.name
                    );
                    read += 1;
                }
                (Err(error), Ok(_)) => {
                    assert!(matches!(error.code(), Code::TypeMismatch | Code::DepthLimit), "{error}");
                    assert!(error.offset().is_none() && error.path().starts_with('$'), "{error}");
                    unfit += 1;
                }
                (Err(error), Err(decoded)) => {
                    assert_eq!(error, decoded);
                    bad += 1;
                }
                (Ok(found), Err(error)) => panic!("{error}, and read as {}", found.rust),
            }
        }
    }
    assert!(read > 500 && unfit > 200 && bad > 1000, "{read} read, {unfit} unfit, {bad} bad");
}
