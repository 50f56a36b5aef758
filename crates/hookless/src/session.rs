//! The session of `proto/session.md` as pure state machines: frames in, decisions out.
//!
//! ```text
//! host    Start --HELLO--> Idle --CALL--> Open(id) --RESULT/ERROR(id)--> Idle
//! worker  Start --HELLO--> Idle <--CALL-- Open(id)  any violation --> Closed
//! ```

mod call;
mod hello;
mod host;
mod worker;

pub use call::Verb;
pub(crate) use call::check_shape;
pub use hello::{Hello, Role};
pub use host::{Host, HostEvent};
pub use worker::{Worker, WorkerEvent};
