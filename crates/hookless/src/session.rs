//! The session of `proto/session.md` as pure state machines: frames in, decisions out.
//!
//! ```text
//! session  Start --HELLO--> Ready --SHUTDOWN--> Ending           any violation --> Closed
//! call     begun --CALL--> open --RESULT, ERROR, or CANCELLED after CANCEL--> over; 1024 are open at most
//! stream   open, and then ITEM for each credit
//! ```

mod call;
mod calls;
mod control;
mod hello;
mod host;
mod peer;
mod worker;

pub use call::Verb;
pub(crate) use call::check_shape;
pub use control::{CREATED_END, Credit, EMPTY_BODY, Log, Progress, TextLimits};
pub use hello::{HELLO_LIMITS, Hello, Role};
pub use host::{Host, HostEvent};
pub use worker::{End, Worker, WorkerEvent};

/// Where an end is. S1, S9, S16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has been said.
    Start,
    /// The peer has said HELLO.
    Ready,
    /// SHUTDOWN has been said: no further call begins.
    Ending,
    /// It is over.
    Closed,
}
