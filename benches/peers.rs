//! Types of Rust through serde, beside rmp-serde and postcard: `cargo bench -p hookless-benches --bench peers`.
//!
//! Not the same service: hookless and `rmp-serde (named)` write the names of fields, the other two rows leave them out and
//! need the same type at the other end; only hookless is canonical, checks keys, and charges what it builds against a budget.

use std::fmt::Debug;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use hookless::Limits;
use hookless_benches::typed::{ints, records};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut criterion = Criterion::default().configure_from_args();
    compare(&mut criterion, "typed W1", &records(1))?;
    compare(&mut criterion, "typed W2", &records(1000))?;
    compare(&mut criterion, "typed W3", &ints(1_000_000))?;
    criterion.final_summary();
    Ok(())
}

/// Encode and decode of one value by each format, after each round trip has been looked at.
fn compare<T>(criterion: &mut Criterion, name: &str, value: &T) -> Result<(), Failure>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let limits = Limits::default();
    let mut group = criterion.benchmark_group(name);
    pair(
        &mut group,
        "hookless",
        value,
        |v| Ok(hookless::to_vec(v, &limits)?),
        |w| Ok(hookless::from_slice(w, &limits)?),
    )?;
    pair(
        &mut group,
        "rmp-serde (named)",
        value,
        |v| Ok(rmp_serde::to_vec_named(v)?),
        |w| Ok(rmp_serde::from_slice(w)?),
    )?;
    pair(&mut group, "rmp-serde", value, |v| Ok(rmp_serde::to_vec(v)?), |w| Ok(rmp_serde::from_slice(w)?))?;
    pair(&mut group, "postcard", value, |v| Ok(postcard::to_stdvec(v)?), |w| Ok(postcard::from_bytes(w)?))?;
    group.finish();
    Ok(())
}

fn pair<T: PartialEq + Debug>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    value: &T,
    encode: impl Fn(&T) -> Result<Vec<u8>, Failure>,
    decode: impl Fn(&[u8]) -> Result<T, Failure>,
) -> Result<(), Failure> {
    let wire = encode(value)?;
    assert!(decode(&wire)? == *value, "{name} does not bring the value back");
    group.bench_function(format!("encode {name}"), |b| b.iter(|| encode(black_box(value))));
    group.bench_function(format!("decode {name}"), |b| b.iter(|| decode(black_box(&wire))));
    Ok(())
}
