//! The session's state machines against the naive model of [`crate::session`].

use crate::session::pair::pair;
use crate::session::play::play;

/// Checks one course of a session: of one end, or of two.
///
/// # Panics
/// With what is wrong.
pub fn check(input: &[u8], planted: bool) {
    match input {
        [0..64, rest @ ..] => drop(pair(rest, planted)),
        [_, rest @ ..] => drop(play(rest, planted)),
        [] => {}
    }
}
