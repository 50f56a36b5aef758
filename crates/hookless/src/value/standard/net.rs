//! UUIDs and IP addresses: D7, D8, D12.

use super::bad_value;
use super::fields::{Fields, bad};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::value::Text;

/// D8: `uuid.SafeUUID`, whether a UUID was made in a way that is safe for several processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UuidSafety {
    /// Not known, as for every UUID that is read.
    Unknown,
    /// Made safely.
    Safe,
    /// Not made safely.
    Unsafe,
}

impl UuidSafety {
    /// The wire number.
    pub const fn number(self) -> u8 {
        match self {
            UuidSafety::Unknown => 0,
            UuidSafety::Safe => 1,
            UuidSafety::Unsafe => 2,
        }
    }

    /// The name of the member in Python.
    pub const fn name(self) -> &'static str {
        match self {
            UuidSafety::Unknown => "unknown",
            UuidSafety::Safe => "safe",
            UuidSafety::Unsafe => "unsafe",
        }
    }

    /// The safety for a wire number.
    pub const fn from_number(number: u8) -> Option<UuidSafety> {
        match number {
            0 => Some(UuidSafety::Unknown),
            1 => Some(UuidSafety::Safe),
            2 => Some(UuidSafety::Unsafe),
            _ => None,
        }
    }
}

/// D7: a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid {
    /// Big-endian.
    pub bytes: [u8; 16],
    /// `is_safe`.
    pub safety: UuidSafety,
}

impl Uuid {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Uuid> {
        let bytes = fields.take(16, "uuid")?.try_into().map_err(|_| bad_value("a UUID is 16 bytes"))?;
        if fields.is_empty() {
            return Ok(Uuid { bytes, safety: UuidSafety::Unknown });
        }
        match UuidSafety::from_number(fields.u8("is_safe")?) {
            Some(UuidSafety::Unknown) => {
                Err(Error::new(Code::NotCanonical).note("an unknown is_safe is left out"))
            }
            Some(safety) => Ok(Uuid { bytes, safety }),
            None => Err(bad_value("is_safe is 1 or 2")),
        }
    }

    pub(super) fn write(self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::extend(out, &self.bytes)?;
        if self.safety != UuidSafety::Unknown {
            memory::push(out, self.safety.number())?;
        }
        Ok(())
    }
}

/// Which of three classes of `ipaddress`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpKind {
    /// `IPv4Address`, `IPv6Address`
    Address,
    /// `IPv4Network`, `IPv6Network`: no host bits.
    Network,
    /// `IPv4Interface`, `IPv6Interface`
    Interface,
}

/// D12: an address, network or interface of IPv4 or IPv6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ip {
    kind: IpKind,
    address: std::net::IpAddr,
    prefix: u8,
    scope: Option<Text>,
}

impl Ip {
    /// An IP of its parts; for an address the prefix is that of the whole address.
    ///
    /// # Errors
    /// `bad_payload` for a prefix that is too long, host bits in a network, or a scope that is empty, on IPv4, or holds `%` or `/`.
    pub fn new(kind: IpKind, address: std::net::IpAddr, prefix: u8, scope: Option<Text>) -> Result<Ip> {
        let (bits, width) = match address {
            std::net::IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, 32),
            std::net::IpAddr::V6(v6) => (v6.to_bits(), 128),
        };
        if prefix > width || (kind == IpKind::Address && prefix != width) {
            return Err(bad(format_args!("a prefix of {prefix} bits")));
        }
        let host = bits.checked_shl(u32::from(prefix)).unwrap_or(0);
        if kind == IpKind::Network && host != 0 {
            return Err(bad_value("a network has no host bits"));
        }
        if let Some(scope) = &scope {
            let bytes = scope.as_bytes();
            if address.is_ipv4() || bytes.is_empty() || bytes.iter().any(|byte| b"%/".contains(byte)) {
                return Err(bad_value("a scope is of IPv6, not empty, and holds neither % nor /"));
            }
        }
        Ok(Ip { kind, address, prefix, scope })
    }

    /// Which class.
    pub fn kind(&self) -> IpKind {
        self.kind
    }

    /// The address.
    pub fn address(&self) -> std::net::IpAddr {
        self.address
    }

    /// Bits of the network part.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// The scope of an IPv6 address.
    pub fn scope(&self) -> Option<&Text> {
        self.scope.as_ref()
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Ip> {
        let number = fields.u8("kind")?;
        let kind = match number {
            0 | 3 => IpKind::Address,
            1 | 4 => IpKind::Network,
            2 | 5 => IpKind::Interface,
            other => return Err(bad(format_args!("kind {other} is past 5"))),
        };
        let address: std::net::IpAddr = if number < 3 {
            <[u8; 4]>::try_from(fields.take(4, "address")?)
                .map(Into::into)
                .map_err(|_| bad_value("address"))?
        } else {
            <[u8; 16]>::try_from(fields.take(16, "address")?)
                .map(Into::into)
                .map_err(|_| bad_value("address"))?
        };
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let prefix = if kind == IpKind::Address { whole } else { fields.u8("prefix")? };
        // A prefix and host bits are told before the scope behind them.
        let plain = Ip::new(kind, address, prefix, None)?;
        if fields.is_empty() {
            return Ok(plain);
        }
        if address.is_ipv4() {
            return Ok(plain); // What is left is refused by `finish`.
        }
        Ip::new(kind, address, prefix, Some(Fields::text(fields.all(), "scope")?))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        let class = match self.kind {
            IpKind::Address => 0u8,
            IpKind::Network => 1,
            IpKind::Interface => 2,
        };
        match self.address {
            std::net::IpAddr::V4(v4) => {
                memory::push(out, class)?;
                memory::extend(out, &v4.octets())?;
            }
            std::net::IpAddr::V6(v6) => {
                memory::push(out, class.saturating_add(3))?;
                memory::extend(out, &v6.octets())?;
            }
        }
        if self.kind != IpKind::Address {
            memory::push(out, self.prefix)?;
        }
        memory::extend(out, self.scope.as_ref().map_or(&[], Text::as_bytes))
    }
}
