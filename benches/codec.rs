//! Encode and decode of the Rust codec, apart: `cargo bench -p hookless-benches`.

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use hookless::{Limits, decode, encode, encode_parts, frame::FrameKind};
use hookless_benches::{Workload, workloads};

fn main() -> hookless::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    let limits = Limits::default();
    let mut cases = Vec::new();
    for Workload { id, value } in workloads()? {
        let frame = encode(&value, &limits)?;
        let again = encode(&decode(&frame, &limits)?, &limits)?;
        assert!(again == frame, "{id} does not come back as it went");
        cases.push((id, value, frame));
    }

    let mut group = criterion.benchmark_group("encode");
    for (id, value, frame) in &cases {
        throughput(&mut group, frame);
        group.bench_function(*id, |b| b.iter(|| encode(black_box(value), &limits)));
    }
    group.finish();

    // Borrows what goes into the region instead of copying it: bytes per second would say nothing.
    let mut group = criterion.benchmark_group("encode_parts");
    for (id, value, _) in &cases {
        group.bench_function(*id, |b| {
            b.iter(|| encode_parts(black_box(value), FrameKind::Value, 0, &limits, &mut Vec::new()));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("decode");
    for (id, _, frame) in &cases {
        throughput(&mut group, frame);
        group.bench_function(*id, |b| b.iter(|| decode(black_box(frame), &limits)));
    }
    group.finish();

    criterion.final_summary();
    Ok(())
}

fn throughput(group: &mut BenchmarkGroup<'_, WallTime>, frame: &[u8]) {
    group.throughput(Throughput::Bytes(u64::try_from(frame.len()).unwrap_or(u64::MAX)));
}
