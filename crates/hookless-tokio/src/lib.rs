//! Hosts of child processes that are not trusted, and such children, over tokio.
//!
//! | type | what it is |
//! |---|---|
//! | [`FrameCodec`] | frames for `tokio_util::codec`, without a session |
//! | [`Launch`], [`Host`] | starts a Python child or a program, and calls it; [`Host::attach`] for any stream |
//! | [`Call`], [`Stream`] | a call that is open, and its items |
//! | [`Worker`] | a child that is written in Rust |
//!
//! The bytes are read, judged and written by the crate `hookless`: see there for values, limits and the rules of the wire. This crate moves
//! them: arrays are received straight into the memory where they stay, which grows with what has arrived, and are sent by vectored
//! writes from their own memory. It starts, signals and reaps processes, and holds deadlines.
//!
//! ```no_run
//! use std::time::Duration;
//! use hookless_tokio::{Error, Launch, Request};
//!
//! # async fn example() -> Result<(), Error> {
//! let host = Launch::python("python3").path("src").start().await?;
//! let fit = Request::function("analysis:fit").arg("penguins").deadline(Duration::from_secs(5));
//! match host.request(fit)?.typed::<Vec<f64>>().await {
//!     Ok(slopes) => println!("{slopes:?}"),
//!     Err(Error::Remote(error)) => println!("{}", error.traceback()),
//!     Err(other) => return Err(other),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Who may be dropped
//!
//! | dropped | what becomes of it |
//! |---|---|
//! | [`Call`], the future of [`Host::call`] | the call is cancelled; the session goes on |
//! | [`Stream`] | the same |
//! | futures of [`Stream::next`], [`Call::next_event`] | nothing is lost |
//! | the future of [`Launch::start`] or [`Host::close`], a [`Host`] | the child is killed, and reaped |
//! | the runtime | the same |
//!
//! # How a child gets its channel
//!
//! As its standard input: the one descriptor besides its outputs that safe code can hand to a child, and that the child can take. The child puts
//! `/dev/null` in its place before it runs anything else.
//!
//! # Features
//!
//! `sandbox` (on): what a child that is written in Rust gives up before its functions run. `ndarray`: that of the crate `hookless`.
//!
//! Linux only: processes are held by descriptors (`pidfd`, Linux 5.3).
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod codec;
mod convert;
mod error;
mod host;
mod link;
mod packet;
mod socket;
mod worker;

pub use codec::{CodecError, FrameCodec};
pub use convert::IntoValue;
pub use error::{Death, Error};
#[cfg(feature = "sandbox")]
pub use hookless_sandbox as sandbox;
pub use host::{Call, Event, Host, Isolation, Launch, Log, Output, Request, Settings, Stream};
pub use worker::{Arguments, Context, Failure, Items, Level, Worker};
