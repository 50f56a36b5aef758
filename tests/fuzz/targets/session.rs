//! The session, against the naive model of it.
#![cfg_attr(fuzzing, no_main)]

use fuzz::support::check::session;

fn check(input: &[u8]) {
    session::check(input, fuzz::planted());
}

fuzz::target!(check);
