//! Damaged frames: a typed error or a value whose encoding is the frame, and the same from whole frames and from chunks.
//!
//! `HOOKLESS_FUZZ_SECONDS=60 cargo test --release -p hookless-tests --test mutation` goes on for longer.

#![expect(clippy::print_stdout, reason = "the figures are asked for with --nocapture")]

use std::time::{Duration, Instant};

use hookless::frame::Decoder;
use hookless::{Error, Limits, Value, decode, encode};
use support::mutate::{Dice, mutate};
use support::vectors::accept;

fn place(error: &Error) -> (&'static str, Option<u64>) {
    (error.code().as_str(), error.offset())
}

/// The verdict of the push decoder on exactly these bytes.
fn pushed(frame: &[u8], limits: &Limits, dice: &mut Dice) -> Result<Value, Error> {
    let mut decoder = Decoder::new(limits.clone());
    let mut rest = frame;
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(1 + dice.below(rest.len().min(300)));
        frames.extend(decoder.feed(now)?);
        rest = later;
    }
    decoder.finish()?;
    Ok(frames.remove(0).value)
}

#[test]
fn damaged_frames_have_one_verdict() {
    let seconds = std::env::var("HOOKLESS_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let vectors = accept().into_iter().filter(|vector| vector.for_decode());
    let corpus: Vec<Vec<u8>> =
        vectors.map(|vector| vector.frame).filter(|frame| frame.len() < 100_000).collect();
    assert!(corpus.len() > 100, "the accept vectors are the corpus");
    let limits = Limits::default();
    let mut dice = Dice(1);
    let (mut rounds, mut accepted, mut refused) = (0u64, 0u64, std::collections::BTreeMap::new());
    while rounds < 60_000 || Instant::now() < end {
        rounds += 1;
        let seed = dice.0;
        let damaged = mutate(&corpus[dice.below(corpus.len())], &mut dice);
        match decode(&damaged, &limits) {
            Ok(value) => {
                accepted += 1;
                let again = encode(&value, &limits).unwrap();
                assert!(again == damaged, "seed {seed}: accepted, and encodes to other bytes");
                assert_eq!(pushed(&damaged, &limits, &mut dice).unwrap(), value, "seed {seed}");
            }
            Err(error) => {
                *refused.entry(error.code().as_str()).or_insert(0u64) += 1;
                assert!(error.offset().is_some_and(|at| at <= damaged.len() as u64), "seed {seed}: {error}");
                // A stream does not know where its frame should end, nor which kinds a caller wants.
                if !matches!(error.code().as_str(), "truncated" | "trailing_bytes" | "unknown_frame_kind") {
                    let other = pushed(&damaged, &limits, &mut dice).unwrap_err();
                    assert_eq!(place(&other), place(&error), "seed {seed}");
                }
            }
        }
    }
    println!("{rounds} damaged frames, {accepted} accepted; refused: {refused:?}");
    assert!(accepted > rounds / 100 && refused.len() > 20, "the damage must reach the reader");
}
