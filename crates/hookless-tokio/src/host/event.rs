//! What comes while a call is open.

use std::sync::Arc;

use bytes::Bytes;
use hookless::session;

/// Which of the child's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What comes while a call is open; all of it is the child's word, raw.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// How far the call is (S15). Only the latest is kept while nobody asks.
    Progress {
        /// What has been done, in units of the call's own.
        done: u64,
        /// What there is to do, where it is known.
        total: Option<u64>,
        /// For people.
        text: String,
    },
    /// A record of the child's log, of this call or of none (S15): one that all calls share, however many are told of it.
    Log(Arc<Log>),
    /// Bytes that the child wrote while the call was open, this one or another: 16 MiB at most, and then [`Event::OutputDropped`], once.
    Output(Output, Bytes),
    /// More was written than is kept.
    OutputDropped,
}

/// A record of the child's log.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// The level, as Python's logging numbers it: 20 is info, 30 a warning.
    pub level: u16,
    /// The logger's name.
    pub logger: String,
    /// The message.
    pub message: String,
    /// Seconds since 1970.
    pub created: f64,
    /// The source file.
    pub path: String,
    /// The line in it; 0 where it is not known.
    pub line: u32,
    /// The function.
    pub function: String,
}

impl Event {
    pub(crate) fn progress(told: session::Progress<'_>) -> Event {
        Event::Progress { done: told.done, total: told.total, text: told.text.to_owned() }
    }

    pub(crate) fn log(told: session::Log<'_>) -> Event {
        Event::Log(Arc::new(Log {
            level: told.level,
            logger: told.logger.to_owned(),
            message: told.message.to_owned(),
            created: told.created,
            path: told.path.to_owned(),
            line: told.line,
            function: told.function.to_owned(),
        }))
    }
}
