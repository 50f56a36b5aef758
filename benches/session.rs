//! A call and its answer through both state machines, in memory: `cargo bench -p hookless-benches --bench session`.
//!
//! Codec and session are in it, system calls and a second process are not.

use std::hint::black_box;

use criterion::Criterion;
use hookless::Value;
use hookless_benches::session::Pair;
use hookless_benches::workloads;

fn main() -> hookless::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut cases = vec![("None", Value::None)];
    cases.extend(
        workloads()?.into_iter().filter(|one| ["W1", "W2"].contains(&one.id)).map(|one| (one.id, one.value)),
    );
    let mut group = criterion.benchmark_group("call");
    for (name, value) in &cases {
        let mut pair = Pair::new()?;
        assert!(pair.call(value)? == *value, "{name} does not come back as it went");
        group.bench_function(*name, |b| b.iter(|| pair.call(black_box(value))));
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
