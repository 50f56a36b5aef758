//! The session of `proto/session.md` as pure state machines: frames in, decisions out.
//!
//! ```text
//! host    Start --HELLO--> Idle --CALL--> Open(id) --RESULT/ERROR(id)--> Idle
//! worker  Start --HELLO--> Idle <--CALL-- Open(id)  any violation --> Closed
//! ```
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::as_conversions
    )
)]

mod call;
mod hello;
mod host;
mod worker;

pub use call::Verb;
pub(crate) use call::check_shape;
pub use hello::{Hello, Role};
pub use host::{Host, HostEvent};
pub use worker::{Worker, WorkerEvent};
