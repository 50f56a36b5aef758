//! Whole frames, decoded to the host's own types.
#![cfg_attr(fuzzing, no_main)]

use fuzz::support::check::typed;
use fuzz::support::craft;

fn check(frame: &[u8]) {
    typed::check(frame, fuzz::planted());
}

fuzz::target!(check, craft::fuzzed);
