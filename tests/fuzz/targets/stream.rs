//! Streams of frames, by the push decoder.
#![cfg_attr(fuzzing, no_main)]

use fuzz::support::check::stream;
use fuzz::support::craft;

fn check(bytes: &[u8]) {
    stream::check(bytes, fuzz::planted());
}

fuzz::target!(check, craft::fuzzed_stream);
