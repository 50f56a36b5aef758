//! Whole frames, decoded to [`hookless::Value`].
#![cfg_attr(fuzzing, no_main)]

use fuzz::support::check::value;
use fuzz::support::counting::Counting;
use fuzz::support::craft;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn check(frame: &[u8]) {
    value::check(frame, fuzz::planted());
}

fuzz::target!(check, craft::fuzzed);
