//! Damaged frames, by the checks that the fuzz targets run. `make fuzz` goes on for longer.

use support::allocator::Counting;
use support::check::{stream, typed, value};
use support::craft::{fuzzed, fuzzed_stream, with_wrong_lengths};
use support::hex;
use support::mutate::Dice;
use support::vectors::accept;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a check over damaged frames that come out of the accept vectors, and says which one failed.
fn over_damaged_frames(rounds: u32, damage: impl Fn(&[u8], usize, u32) -> Vec<u8>, check: fn(&[u8], bool)) {
    let vectors = accept().into_iter().filter(|vector| vector.for_decode());
    let corpus: Vec<_> = vectors.map(|vector| vector.frame).filter(|frame| frame.len() < 20_000).collect();
    assert!(corpus.len() > 100, "the accept vectors are the corpus");
    let mut dice = Dice(1);
    for _ in 0..rounds {
        let frame = damage(&corpus[dice.below(corpus.len())], 40_000, dice.roll() as u32);
        let found = std::panic::catch_unwind(|| check(&frame, false));
        assert!(found.is_ok(), "{}", hex::of(&frame));
    }
}

#[test]
fn damaged_frames_have_one_verdict() {
    over_damaged_frames(8000, fuzzed, value::check);
}

#[test]
fn v18_each_wrong_length_has_one_verdict() {
    let vectors = accept().into_iter().filter(|vector| vector.for_decode() && vector.frame.len() < 1000);
    let mut count = 0;
    for frame in vectors.flat_map(|vector| with_wrong_lengths(&vector.frame)) {
        let found = std::panic::catch_unwind(|| value::check(&frame, false));
        assert!(found.is_ok(), "{}", hex::of(&frame));
        count += 1;
    }
    assert!(count > 10_000, "{count} frames: a length of each item of the vectors");
}

#[test]
fn damaged_streams_have_one_verdict() {
    over_damaged_frames(3000, fuzzed_stream, stream::check);
}

#[test]
fn damaged_frames_have_one_typed_verdict() {
    over_damaged_frames(3000, fuzzed, typed::check);
}
