//! The session against a naive model of it: [`model`] is written from `proto/session.md` alone, [`real`] is hookless's own state machines
//! behind its own decoder. [`play`] has bytes decide what one end of both meets, [`pair`] joins two ends by queues with faults.
//!
//! Values with a data region are not among it: `Limits.region` is 0 here, and the checks of streams have them.

pub mod bodies;
pub mod both;
pub mod draw;
pub mod model;
pub mod pair;
pub mod play;
pub mod real;

use hookless::Limits;

/// One thing that an end of a session tells its driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Told {
    /// The peer said HELLO.
    Ready,
    /// The call of this id was opened by the host itself.
    Opened(u64),
    /// This call returned.
    Returned(u64),
    /// This call failed.
    Failed(u64),
    /// This call ended because of CANCEL.
    Cancelled(u64),
    /// An item of this stream arrived.
    Item(u64),
    /// How far this call is, in words.
    Progress(u64, String),
    /// A record of a log, in words.
    Log(u64, String),
    /// A call of this id arrived at the worker.
    Called(u64),
    /// The host no longer wants this call.
    Unwanted(u64),
    /// This stream may send more.
    Credited(u64),
    /// The host begins no further call.
    Ending,
    /// What came means nothing any more.
    Ignored,
    /// A step of the driver's was possible; whether anything is to be sent.
    Done(bool),
    /// The stream ended between frames.
    Ended,
    /// Something was refused: code and offset.
    Refused(&'static str, Option<u64>),
}

/// What the driver of an end does on its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Host: begin a call of this verb.
    Begin(u8),
    /// Host: this call could not be sent.
    Unsent(u64),
    /// Host: no longer want a call.
    Cancel(u64),
    /// Host: allow a stream more items.
    Credit(u64, u32),
    /// Host: begin no further call.
    Shutdown,
    /// Worker: send an item of a stream.
    Item(u64),
    /// Worker: end a call by a frame of this kind.
    Answer(u64, u8),
    /// Worker: send PROGRESS or LOG of a call.
    Note(u64),
    /// End the session.
    Close,
}

/// The kinds of frames, by their numbers in `proto/frame.md`.
pub mod kind {
    #![expect(missing_docs, reason = "the document has them")]
    pub const HELLO: u8 = 2;
    pub const CALL: u8 = 3;
    pub const RESULT: u8 = 4;
    pub const ERROR: u8 = 5;
    pub const ITEM: u8 = 6;
    pub const CANCEL: u8 = 7;
    pub const CANCELLED: u8 = 8;
    pub const CREDIT: u8 = 9;
    pub const PROGRESS: u8 = 10;
    pub const LOG: u8 = 11;
    pub const SHUTDOWN: u8 = 12;
}

/// The limits of both.
pub fn limits() -> Limits {
    Limits { region: 0, body: 70_000, ..Limits::default() }
}
