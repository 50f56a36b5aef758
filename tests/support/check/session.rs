//! The session's state machines against the naive model of [`crate::session`].

use crate::session::play::play;

/// Checks one course of a session.
///
/// # Panics
/// With what is wrong.
pub fn check(input: &[u8], planted: bool) {
    play(input, planted);
}
