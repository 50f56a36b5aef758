//! HELLO: S2, S3, S17.

use crate::error::{Code, Error, Result};
use crate::frame::{HEAD_LEN, VERSION};
use crate::limits::Limits;
use crate::memory;
use crate::session::control::Parts;
use crate::wire::{HIGHEST_LEAF, HIGHEST_NODE, raw, wide};

/// S17: the most limits that a HELLO names.
pub const HELLO_LIMITS: usize = 64;

/// Which end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The trusted end.
    Host,
    /// The sandboxed end.
    Worker,
}

/// The first frame of each end (S2): positional, six elements.
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
    /// S17: the limits with which it decodes; `u64::MAX` where it says none.
    pub limits: Limits,
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
    /// What this crate says for an end that decodes with these limits.
    pub fn of(role: Role, limits: Limits) -> Hello {
        Hello {
            min_version: VERSION,
            max_version: VERSION,
            highest_node: HIGHEST_NODE,
            highest_leaf: HIGHEST_LEAF,
            role,
            limits,
        }
    }

    /// The body of its frame.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn to_body(&self) -> Result<Vec<u8>> {
        let mut out = memory::room(160)?;
        raw::array(&mut out, 6)?;
        for number in [self.min_version, self.max_version, self.highest_node, self.highest_leaf] {
            raw::unsigned(&mut out, u64::from(number))?;
        }
        raw::str(&mut out, self.role.name())?;
        raw::array(&mut out, u32::try_from(Limits::TABLE.len()).unwrap_or_default())?;
        for (_, limit) in self.limits.entries() {
            raw::unsigned(&mut out, limit)?;
        }
        Ok(out)
    }

    /// Reads the body of a HELLO frame, in its one form.
    ///
    /// # Errors
    /// `bad_control`.
    pub fn parse(body: &[u8]) -> Result<Hello> {
        let note = "a list of min_version, max_version, highest_node, highest_leaf, role and limits, in its one form";
        Hello::read(body).ok_or_else(|| Error::at(Code::BadControl, wide(HEAD_LEN)).note(note))
    }

    /// Without memory of its own.
    fn read(body: &[u8]) -> Option<Hello> {
        let mut parts = Parts::of(body, 6)?;
        let mut number = || u8::try_from(parts.number()?).ok();
        let (min_version, max_version) = (number()?, number()?);
        let (highest_node, highest_leaf) = (number()?, number()?);
        let name = parts.text(16)?;
        let role = [Role::Host, Role::Worker].into_iter().find(|role| role.name() == name)?;
        let count = usize::try_from(parts.array()?).ok().filter(|count| *count <= HELLO_LIMITS)?;
        let mut named = [u64::MAX; HELLO_LIMITS];
        for limit in named.iter_mut().take(count) {
            *limit = parts.number()?;
        }
        let limits = Limits::by_place(|place| named.get(place).copied().unwrap_or(u64::MAX));
        parts.end(Hello { min_version, max_version, highest_node, highest_leaf, role, limits })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Vec<u8> {
        Hello::of(Role::Worker, Limits::default()).to_body().unwrap()
    }

    /// A HELLO's body that names so many limits.
    fn naming(count: u16) -> Vec<u8> {
        let mut body = b"\x96\x01\x01\x18\x32\xa6worker".to_vec();
        match count {
            0..16 => body.push(0x90 | count as u8),
            _ => body.extend([0xdc, (count >> 8) as u8, count as u8]),
        }
        body.extend((0..count).map(|number| number as u8 & 0x7f));
        body
    }

    #[test]
    fn s2_hello_has_one_form() {
        let body = body();
        let hello = Hello::parse(&body).unwrap();
        assert_eq!(hello, Hello::of(Role::Worker, Limits::default()));
        assert_eq!(hello.to_body().unwrap(), body);
        let longer = [&body[..], &[0xc0]].concat();
        let wide = [&[0xdc, 0, 6], &body[1..]].concat();
        for bad in [&longer[..], &wide, &body[..body.len() - 1], &[], b"\x86", b"\xc0"] {
            assert_eq!(Hello::parse(bad).unwrap_err().code(), Code::BadControl, "{bad:02x?}");
        }
    }

    #[test]
    fn s17_up_to_64_limits_are_named_and_those_left_out_are_no_bound() {
        let none = Hello::parse(&naming(0)).unwrap().limits;
        assert!(none.entries().all(|(_, limit)| limit == u64::MAX));
        let two = Hello::parse(&naming(2)).unwrap().limits;
        assert_eq!((two.depth, two.body, two.region, two.undelivered), (0, 1, u64::MAX, u64::MAX));
        let most = Hello::parse(&naming(64)).unwrap().limits;
        assert!(most.entries().map(|(_, limit)| limit).eq(0..Limits::TABLE.len() as u64));
        assert_eq!(Hello::parse(&naming(65)).unwrap_err().code(), Code::BadControl);
    }
}
