//! The session against a naive model of it: [`model`] is written from `proto/session.md` alone, [`real`] is hookless's own state machines
//! behind its own decoder, and [`play`] has bytes decide what both of them meet.
//!
//! Values with a data region are not among it: `Limits.region` is 0 here, and the checks of streams have them.

pub mod bodies;
pub mod model;
pub mod play;
pub mod real;

use hookless::Limits;

/// One thing that an end of a session tells its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Told {
    /// The peer said HELLO.
    Ready,
    /// The call of this id was opened by the host itself.
    Opened(u64),
    /// The open call returned.
    Returned(u64),
    /// The open call failed.
    Failed(u64),
    /// A call of this id arrived at the worker.
    Called(u64),
    /// The worker itself ended the call of this id.
    Answered(u64),
    /// The stream ended between frames.
    Ended,
    /// Something was refused: code and offset.
    Refused(&'static str, Option<u64>),
}

/// What the driver of an end does on its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Host: begin a call. Worker: answer the open one.
    Act,
    /// Host: the open call could not be sent.
    Undo,
    /// End the session.
    Close,
}

/// The limits of both.
pub fn limits() -> Limits {
    Limits { region: 0, body: 70_000, ..Limits::default() }
}
