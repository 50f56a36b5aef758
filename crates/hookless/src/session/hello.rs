//! HELLO: S2 and S3.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::frame::{HEAD_LEN, VERSION};
use crate::wire::{HIGHEST_LEAF, HIGHEST_NODE, wide};

/// Which end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The trusted end.
    Host,
    /// The sandboxed end.
    Worker,
}

/// The first frame of each end (S2): positional, five elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The lowest version that this end reads.
    pub min_version: u8,
    /// The highest version that this end reads.
    pub max_version: u8,
    /// The highest node kind that it knows.
    pub highest_node: u8,
    /// The highest leaf that it knows.
    pub highest_leaf: u8,
    /// Which end it is.
    pub role: Role,
}

impl Hello {
    /// What this crate says.
    pub fn of(role: Role) -> Hello {
        Hello {
            min_version: VERSION,
            max_version: VERSION,
            highest_node: HIGHEST_NODE,
            highest_leaf: HIGHEST_LEAF,
            role,
        }
    }

    /// The body of its frame.
    pub fn to_body(&self) -> Vec<u8> {
        // A struct of four ints and a unit variant cannot fail to be written to memory.
        rmp_serde::to_vec(self).unwrap_or_default()
    }

    /// Reads the body of a HELLO frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &[u8]) -> Result<Hello> {
        let bad = || Error::at(Code::BadControl, wide(HEAD_LEN));
        let hello: Hello = rmp_serde::from_slice(body).map_err(|error| bad().note(error.to_string()))?;
        // rmp-serde accepts trailing bytes and longer forms; only the form it would write itself is a HELLO.
        if hello.to_body() == body { Ok(hello) } else { Err(bad().note("not in its one form")) }
    }

    /// S3: the version that both ends speak.
    ///
    /// # Errors
    /// `bad_role`, `version_mismatch`.
    pub fn agree(&self, peer: &Hello) -> Result<u8> {
        if self.role == peer.role {
            return Err(Error::new(Code::BadRole));
        }
        let version = self.max_version.min(peer.max_version);
        if version < self.min_version.max(peer.min_version) {
            let note = format!(
                "this end reads {} to {}, the peer {} to {}",
                self.min_version, self.max_version, peer.min_version, peer.max_version
            );
            return Err(Error::new(Code::VersionMismatch).note(note));
        }
        Ok(version)
    }
}
