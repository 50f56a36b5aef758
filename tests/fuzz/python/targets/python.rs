//! Whole frames, decoded to Python objects and arrays of NumPy.
#![cfg_attr(fuzzing, no_main)]

use std::sync::LazyLock;

use embedded::Host;
use fuzz::support::craft;

static HOST: LazyLock<Host> = LazyLock::new(|| Host::new(true));

fn check(frame: &[u8]) {
    HOST.check(frame, fuzz::planted());
}

fuzz::target!(check, craft::fuzzed);
