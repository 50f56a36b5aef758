//! What an end knows of the other's limits: S17.

use crate::error::{Class, Error, Result};
use crate::limits::Limits;
use crate::session::{Hello, Role};

/// Both sides of a HELLO.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    own: Hello,
    /// `u64::MAX` where the peer says nothing, or has said nothing yet.
    limits: Limits,
}

impl Peer {
    pub(crate) fn new(role: Role, limits: Limits) -> Peer {
        Peer { own: Hello::of(role, limits), limits: Limits::by_place(|_| u64::MAX) }
    }

    /// What this end says.
    pub(crate) fn hello(&self) -> &Hello {
        &self.own
    }

    /// Takes the peer's HELLO.
    ///
    /// # Errors
    /// `bad_control`, `bad_role`, `version_mismatch`.
    pub(crate) fn take(&mut self, body: &[u8]) -> Result<()> {
        let hello = Hello::parse(body)?;
        self.own.agree(&hello)?;
        self.limits = hello.limits;
        Ok(())
    }

    /// The smaller of an encoder's own limits and the peer's.
    pub(crate) fn limits(&self, own: &Limits) -> Limits {
        self.limits.within(own)
    }

    /// The error of an encoder, which says so where a limit of the peer's was met.
    #[cold]
    pub(crate) fn blame(&self, own: &Limits, error: Error) -> Error {
        if error.code().class() != Class::Limit {
            return error;
        }
        let value = |limits: &Limits, wanted: &str| {
            limits.entries().find(|(name, _)| *name == wanted).map_or(u64::MAX, |(_, value)| value)
        };
        let theirs = Limits::names(error.code()).find(|name| value(&self.limits, name) < value(own, name));
        match theirs {
            Some(name) => {
                let found = error.clone();
                error.note(format_args!("{}, by the peer's limit `{name}`", found.found()))
            }
            None => error,
        }
    }
}
