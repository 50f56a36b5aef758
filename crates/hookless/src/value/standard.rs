//! Values of Python's standard library (`proto/standard.md`, D1–D14): each checked when it is made, each with one payload.

mod coprime;
mod fields;
mod net;
mod number;
mod path;
mod time;

pub use net::{Ip, IpKind, Uuid, UuidSafety};
pub use number::{Decimal, Fraction, Range};
pub(crate) use number::{Exact, exact_decimal, exact_fraction, range_form};
pub use path::{Path, PathClass};
pub use time::{Date, DateTime, Offset, StructTime, Time, TimeDelta, Zone, ZoneKey};

use crate::error::{Code, Error, Result};
use crate::limits::{Limits, over};
use fields::Fields;

/// A scalar of Python's standard library.
///
/// Equality compares every field: fold and `is_safe` count, `Decimal('1.0')` is not `Decimal('1')`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standard {
    /// `...`
    Ellipsis,
    /// `datetime.date`
    Date(Date),
    /// `datetime.time`
    Time(Time),
    /// `datetime.datetime`
    DateTime(DateTime),
    /// `datetime.timedelta`
    TimeDelta(TimeDelta),
    /// `datetime.timezone` or `zoneinfo.ZoneInfo`
    Zone(Zone),
    /// `uuid.UUID`
    Uuid(Uuid),
    /// `uuid.SafeUUID`
    SafeUuid(UuidSafety),
    /// `decimal.Decimal`
    Decimal(Decimal),
    /// `fractions.Fraction`
    Fraction(Fraction),
    /// `range`
    Range(Range),
    /// One of the six classes of `ipaddress`.
    Ip(Ip),
    /// A path of `pathlib`.
    Path(Path),
    /// `time.struct_time`
    StructTime(StructTime),
}

/// The ext type of each leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardLeaf {
    Ellipsis,
    Date,
    Time,
    DateTime,
    TimeDelta,
    Zone,
    Uuid,
    SafeUuid,
    Decimal,
    Fraction,
    Range,
    Ip,
    Path,
    StructTime,
}

impl StandardLeaf {
    /// In the order of their ext types, from 9 on.
    const ALL: [StandardLeaf; 14] = [
        StandardLeaf::Ellipsis,
        StandardLeaf::Date,
        StandardLeaf::Time,
        StandardLeaf::DateTime,
        StandardLeaf::TimeDelta,
        StandardLeaf::Zone,
        StandardLeaf::Uuid,
        StandardLeaf::SafeUuid,
        StandardLeaf::Decimal,
        StandardLeaf::Fraction,
        StandardLeaf::Range,
        StandardLeaf::Ip,
        StandardLeaf::Path,
        StandardLeaf::StructTime,
    ];

    pub(crate) fn from_ext(ext: u8) -> Option<StandardLeaf> {
        StandardLeaf::ALL.get(usize::from(ext.checked_sub(9)?)).copied()
    }

    pub(crate) const fn ext(self) -> u8 {
        match self {
            StandardLeaf::Ellipsis => 9,
            StandardLeaf::Date => 10,
            StandardLeaf::Time => 11,
            StandardLeaf::DateTime => 12,
            StandardLeaf::TimeDelta => 13,
            StandardLeaf::Zone => 14,
            StandardLeaf::Uuid => 15,
            StandardLeaf::SafeUuid => 16,
            StandardLeaf::Decimal => 17,
            StandardLeaf::Fraction => 18,
            StandardLeaf::Range => 19,
            StandardLeaf::Ip => 20,
            StandardLeaf::Path => 21,
            StandardLeaf::StructTime => 22,
        }
    }

    /// K2, as far as the ext type alone tells.
    pub(crate) const fn may_be_key(self) -> bool {
        !matches!(self, StandardLeaf::Zone | StandardLeaf::StructTime)
    }

    /// What the value costs, from its payload's length and, for an IP, its first byte (`proto/limits.md`).
    pub(crate) fn charge(self, payload: &[u8]) -> u64 {
        let len = u64::try_from(payload.len()).unwrap_or(u64::MAX);
        let linear = |fixed: u64, each: u64| len.saturating_mul(each).saturating_add(fixed);
        let square = len.saturating_mul(len);
        // What follows the plain fields is a time zone's payload, and costs what that would alone.
        let zone = |plain: u64| match len.saturating_sub(plain) {
            0 => 0,
            more => more.saturating_mul(4).saturating_add(320),
        };
        match self {
            StandardLeaf::Ellipsis | StandardLeaf::SafeUuid => 32,
            StandardLeaf::Date | StandardLeaf::TimeDelta => 96,
            StandardLeaf::Time => zone(8).saturating_add(96),
            StandardLeaf::DateTime => zone(12).saturating_add(96),
            StandardLeaf::Zone => linear(320, 4),
            StandardLeaf::Uuid => 160,
            StandardLeaf::Decimal => linear(160, 1),
            StandardLeaf::Fraction => linear(192, 2).saturating_add(square / 16),
            StandardLeaf::Range => linear(256, 4).saturating_add(square / 1024),
            StandardLeaf::Ip => linear(if matches!(payload.first(), Some(0 | 3)) { 192 } else { 1536 }, 4),
            StandardLeaf::Path => linear(640, 16),
            StandardLeaf::StructTime => linear(640, 4),
        }
    }
}

impl Standard {
    pub(crate) fn leaf(&self) -> StandardLeaf {
        match self {
            Standard::Ellipsis => StandardLeaf::Ellipsis,
            Standard::Date(_) => StandardLeaf::Date,
            Standard::Time(_) => StandardLeaf::Time,
            Standard::DateTime(_) => StandardLeaf::DateTime,
            Standard::TimeDelta(_) => StandardLeaf::TimeDelta,
            Standard::Zone(_) => StandardLeaf::Zone,
            Standard::Uuid(_) => StandardLeaf::Uuid,
            Standard::SafeUuid(_) => StandardLeaf::SafeUuid,
            Standard::Decimal(_) => StandardLeaf::Decimal,
            Standard::Fraction(_) => StandardLeaf::Fraction,
            Standard::Range(_) => StandardLeaf::Range,
            Standard::Ip(_) => StandardLeaf::Ip,
            Standard::Path(_) => StandardLeaf::Path,
            Standard::StructTime(_) => StandardLeaf::StructTime,
        }
    }

    /// The kind, as Python calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Standard::Ellipsis => "Ellipsis",
            Standard::Date(_) => "date",
            Standard::Time(_) => "time",
            Standard::DateTime(_) => "datetime",
            Standard::TimeDelta(_) => "timedelta",
            Standard::Zone(Zone::Fixed(_)) => "timezone",
            Standard::Zone(Zone::Named(_)) => "ZoneInfo",
            Standard::Uuid(_) => "UUID",
            Standard::SafeUuid(_) => "SafeUUID",
            Standard::Decimal(_) => "Decimal",
            Standard::Fraction(_) => "Fraction",
            Standard::Range(_) => "range",
            Standard::Ip(ip) => match (ip.kind(), ip.address().is_ipv4()) {
                (IpKind::Address, true) => "IPv4Address",
                (IpKind::Network, true) => "IPv4Network",
                (IpKind::Interface, true) => "IPv4Interface",
                (IpKind::Address, false) => "IPv6Address",
                (IpKind::Network, false) => "IPv6Network",
                (IpKind::Interface, false) => "IPv6Interface",
            },
            Standard::Path(path) => path.class().name(),
            Standard::StructTime(_) => "struct_time",
        }
    }

    /// K2, by the content: not an aware time or datetime, not a signalling NaN.
    pub fn is_keyable(&self) -> bool {
        match self {
            Standard::Time(time) => time.zone().is_none(),
            Standard::DateTime(at) => at.time().zone().is_none(),
            Standard::Decimal(number) => !matches!(number, Decimal::NaN { signalling: true, .. }),
            _ => self.leaf().may_be_key(),
        }
    }

    /// Whether Python's own table may see equality otherwise than K4–K7 do: NaNs, and paths whose case or class counts.
    pub(crate) fn is_odd(&self) -> bool {
        match self {
            Standard::Decimal(Decimal::NaN { .. }) => true,
            Standard::Path(path) => path.class() != PathClass::PurePosix,
            _ => false,
        }
    }

    /// Reads the payload of a leaf, all of it.
    ///
    /// # Errors
    /// `bad_payload`, `not_canonical` or `bad_utf8`, without an offset; `int_limit` (L6).
    pub(crate) fn parse(leaf: StandardLeaf, payload: &[u8], limits: &Limits) -> Result<Standard> {
        let mut fields = Fields::over(payload, limits.int_bytes);
        let value = match leaf {
            StandardLeaf::Ellipsis => Standard::Ellipsis,
            StandardLeaf::Date => Standard::Date(Date::read(&mut fields)?),
            StandardLeaf::Time => Standard::Time(Time::read(&mut fields)?),
            StandardLeaf::DateTime => Standard::DateTime(DateTime::read(&mut fields)?),
            StandardLeaf::TimeDelta => Standard::TimeDelta(TimeDelta::read(&mut fields)?),
            StandardLeaf::Zone => Standard::Zone(Zone::read(&mut fields)?),
            StandardLeaf::Uuid => Standard::Uuid(Uuid::read(&mut fields)?),
            StandardLeaf::SafeUuid => {
                let safety = UuidSafety::from_number(fields.u8("safety")?);
                Standard::SafeUuid(safety.ok_or_else(|| fields::bad("safety is 0, 1 or 2"))?)
            }
            StandardLeaf::Decimal => Standard::Decimal(Decimal::read(&mut fields)?),
            StandardLeaf::Fraction => Standard::Fraction(Fraction::read(&mut fields)?),
            StandardLeaf::Range => Standard::Range(Range::read(&mut fields)?),
            StandardLeaf::Ip => Standard::Ip(Ip::read(&mut fields)?),
            StandardLeaf::Path => Standard::Path(Path::read(&mut fields)?),
            StandardLeaf::StructTime => Standard::StructTime(StructTime::read(&mut fields)?),
        };
        fields.finish()?;
        Ok(value)
    }

    /// Appends the payload of the leaf.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Standard::Ellipsis => {}
            Standard::Date(date) => date.write(out),
            Standard::Time(time) => time.write(out),
            Standard::DateTime(at) => at.write(out),
            Standard::TimeDelta(delta) => delta.write(out),
            Standard::Zone(zone) => zone.write(out),
            Standard::Uuid(uuid) => uuid.write(out),
            Standard::SafeUuid(safety) => out.push(safety.number()),
            Standard::Decimal(number) => number.write(out),
            Standard::Fraction(number) => number.write(out),
            Standard::Range(range) => range.write(out),
            Standard::Ip(ip) => ip.write(out),
            Standard::Path(path) => path.write(out),
            Standard::StructTime(time) => time.write(out),
        }
    }

    /// L6 for a value that did not come by the wire.
    pub(crate) fn check_limits(&self, limits: &Limits) -> Result<()> {
        let longest = match self {
            Standard::Decimal(Decimal::Finite { digits, .. } | Decimal::NaN { digits, .. }) => digits.len(),
            Standard::Fraction(number) => number.numerator().len().max(number.denominator().len()),
            Standard::Range(range) => range.longest(),
            _ => 0,
        };
        let longest = u64::try_from(longest).unwrap_or(u64::MAX);
        if longest > limits.int_bytes { Err(over(Code::IntLimit, longest, limits.int_bytes)) } else { Ok(()) }
    }
}

/// The error for fields that make no value.
fn bad_value(what: &'static str) -> Error {
    fields::bad(what)
}
