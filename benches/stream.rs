//! The push decoder over a stream that comes in pieces: `cargo bench -p hookless-benches --bench stream`.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use hookless::frame::Decoder;
use hookless::{Limits, encode};
use hookless_benches::{Workload, workloads};

/// How a stream may come: byte by byte it would measure nothing but the loop.
const PIECES: [usize; 3] = [64, 4096, 65_536];

fn main() -> hookless::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    let limits = Limits::default();
    let mut streams = Vec::new();
    for Workload { id, value } in workloads()? {
        // A thousand small frames after each other, or one of those that are large by themselves.
        let count = match id {
            "W1" => 1000,
            "W2" | "W8" => 1,
            _ => continue,
        };
        streams.push((format!("{count} x {id}"), count, encode(&value, &limits)?.repeat(count)));
    }
    let mut group = criterion.benchmark_group("stream");
    for (name, count, bytes) in &streams {
        group.throughput(Throughput::Bytes(u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
        for piece in PIECES {
            assert!(take(bytes, piece, &limits)? == *count, "{name} does not arrive in pieces of {piece}");
            let id = format!("{name} by {piece}");
            group.bench_function(id, |b| b.iter(|| take(black_box(bytes), piece, &limits)));
        }
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// Feeds the bytes in pieces; how many frames came of it.
fn take(bytes: &[u8], piece: usize, limits: &Limits) -> hookless::Result<usize> {
    let mut decoder = Decoder::new(limits.clone());
    let mut frames = 0;
    for chunk in bytes.chunks(piece) {
        frames += black_box(decoder.feed(chunk)?).len();
    }
    decoder.finish()?;
    Ok(frames)
}
