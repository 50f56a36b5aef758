//! HELLO: S2 and S3.

use crate::error::{Code, Error, Result};
use crate::frame::{HEAD_LEN, VERSION};
use crate::memory;
use crate::wire::{Cursor, HIGHEST_LEAF, HIGHEST_NODE, Head, raw, wide};

/// Which end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The trusted end.
    Host,
    /// The sandboxed end.
    Worker,
}

/// The first frame of each end (S2): positional, five elements.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Role::Host => "host",
            Role::Worker => "worker",
        }
    }
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
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn to_body(&self) -> Result<Vec<u8>> {
        let mut out = memory::room(16)?;
        raw::array(&mut out, 5)?;
        for number in [self.min_version, self.max_version, self.highest_node, self.highest_leaf] {
            raw::unsigned(&mut out, u64::from(number))?;
        }
        raw::str(&mut out, self.role.name())?;
        Ok(out)
    }

    /// Reads the body of a HELLO frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &[u8]) -> Result<Hello> {
        let note = "a list of min_version, max_version, highest_node, highest_leaf and role, in its one form";
        Hello::read(body).ok_or_else(|| Error::at(Code::BadControl, wide(HEAD_LEN)).note(note))
    }

    /// By the cursor of the wire, which takes nothing but shortest forms, and needs no memory.
    fn read(body: &[u8]) -> Option<Hello> {
        let mut cursor = Cursor::new(body, wide(HEAD_LEN));
        let Ok(Head::Array(5)) = cursor.head() else { return None };
        let mut number = || match cursor.head() {
            Ok(Head::Unsigned(number)) => u8::try_from(number).ok(),
            _ => None,
        };
        let (min_version, max_version) = (number()?, number()?);
        let (highest_node, highest_leaf) = (number()?, number()?);
        let Ok(Head::Str(len)) = cursor.head() else { return None };
        let name = cursor.take(len).ok().filter(|_| cursor.rest.is_empty())?;
        let role = [Role::Host, Role::Worker].into_iter().find(|role| role.name().as_bytes() == name)?;
        Some(Hello { min_version, max_version, highest_node, highest_leaf, role })
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
            return Err(Error::new(Code::VersionMismatch).note(format_args!(
                "this end reads {} to {}, the peer {} to {}",
                self.min_version, self.max_version, peer.min_version, peer.max_version
            )));
        }
        Ok(version)
    }
}
