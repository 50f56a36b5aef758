//! From Python's objects to the wire's fields. Types are exact, so what is called is the standard library's own code.

use std::net::IpAddr;

use hookless::{
    Code, Date, DateTime, Decimal, Error, Fraction, Int, Ip, Path, PathClass, Range, Standard, StructTime,
    Text, TextRef, Time, TimeDelta, TypeCode, Uuid, UuidSafety, Zone,
};
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDateAccess, PyDelta, PyDeltaAccess, PyInt, PyString, PyTimeAccess, PyTuple};
use pyo3::types::{PyDate, PyDateTime, PyTime, PyTzInfoAccess};

use super::shelf::{Kind, kind_of, shelf};
use crate::ffi::chars;
use crate::ffi::fallible::{self, Str, Unsigned};

/// Why a value of the standard library has no form on the wire.
pub(crate) enum Unreadable {
    /// A field of it is out of the wire's range, or of another type.
    Field(String),
    /// A limit, or a field that a rule forbids.
    Refused(Error),
    /// An exception that must pass.
    Raised(PyErr),
}

impl From<PyErr> for Unreadable {
    fn from(error: PyErr) -> Unreadable {
        Unreadable::Raised(error)
    }
}

impl From<Error> for Unreadable {
    fn from(error: Error) -> Unreadable {
        Unreadable::Refused(error)
    }
}

type Read<T> = Result<T, Unreadable>;

fn field<T>(what: &str) -> Read<T> {
    Err(Unreadable::Field(what.to_owned()))
}

/// Reads a scalar of the standard library.
pub(crate) fn read(value: &Bound<'_, PyAny>, kind: Kind) -> Read<Option<Standard>> {
    let py = value.py();
    let read = match kind {
        Kind::Ellipsis => Standard::Ellipsis,
        Kind::Date => Standard::Date(date(value.cast::<PyDate>().map_err(PyErr::from)?)?),
        Kind::Time => Standard::Time(time(value.cast::<PyTime>().map_err(PyErr::from)?)?),
        Kind::DateTime => {
            let moment = value.cast::<PyDateTime>().map_err(PyErr::from)?;
            Standard::DateTime(DateTime::new(date(moment)?, time(moment)?))
        }
        Kind::TimeDelta => {
            let delta = value.cast::<PyDelta>().map_err(PyErr::from)?;
            let (seconds, micros) = (delta.get_seconds(), delta.get_microseconds());
            Standard::TimeDelta(TimeDelta::new(
                delta.get_days(),
                seconds.cast_unsigned(),
                micros.cast_unsigned(),
            )?)
        }
        Kind::TimeZone | Kind::ZoneInfo => Standard::Zone(zone(value, kind)?),
        Kind::Uuid => Standard::Uuid(uuid(value)?),
        Kind::SafeUuid => Standard::SafeUuid(safety(value)?),
        Kind::Decimal => Standard::Decimal(decimal(value)?),
        Kind::Fraction => {
            let numerator = whole(&value.getattr(fallible::interned!(value.py(), c"numerator")?)?)?;
            let denominator = whole(&value.getattr(fallible::interned!(value.py(), c"denominator")?)?)?;
            let parts = (numerator.magnitude_be(), denominator.magnitude_be());
            if denominator.is_negative() {
                return field("its denominator is negative");
            }
            Standard::Fraction(Fraction::new(numerator.is_negative(), &parts.0, &parts.1)?)
        }
        Kind::Range => {
            let part = |name: &str| -> Read<Int> { whole(&value.getattr(Str(name))?) };
            Standard::Range(Range::new(part("start")?, part("stop")?, part("step")?)?)
        }
        Kind::Ip(_) => Standard::Ip(ip(value, kind)?),
        Kind::Path(class) => {
            let (drive, root, parts) = split(shelf(py)?.split.bind(py).call1((value,))?)?;
            Standard::Path(Path::new(class, drive, root, parts)?)
        }
        Kind::ForeignPath => {
            let windows: bool =
                value.getattr(fallible::interned!(value.py(), c"flavour")?)?.eq(Str("windows"))?;
            let class = if windows { PathClass::Windows } else { PathClass::Posix };
            let fields = (
                value.getattr(fallible::interned!(value.py(), c"drive")?)?,
                value.getattr(fallible::interned!(value.py(), c"root")?)?,
                value.getattr(fallible::interned!(value.py(), c"names")?)?,
            );
            let (drive, root, parts) =
                split(fallible::tuple(py, &[fields.0, fields.1, fields.2])?.into_any())?;
            Standard::Path(Path::new(class, drive, root, parts)?)
        }
        Kind::StructTime => Standard::StructTime(struct_time(value)?),
        Kind::Slice | Kind::Deque | Kind::OrderedDict | Kind::Counter | Kind::TypedArray => return Ok(None),
    };
    Ok(Some(read))
}

fn text(value: &Bound<'_, PyAny>) -> Read<Text> {
    let Some(found) = value.cast_exact::<PyString>().ok().and_then(|text| chars::of(text.as_any())) else {
        return field("a text in it is no str");
    };
    let mut bytes = Vec::new();
    found.append_to(&mut bytes);
    match TextRef::from_generalised(&bytes) {
        Some(text) => Ok(text.to_text()),
        None => Err(Error::new(Code::BadUtf8).into()),
    }
}

fn optional_text(value: &Bound<'_, PyAny>) -> Read<Option<Text>> {
    if value.is_none() { Ok(None) } else { text(value).map(Some) }
}

/// An int of any size; a number of another type that is one (`__index__`) as well.
fn whole(value: &Bound<'_, PyAny>) -> Read<Int> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(Int::from(small));
    }
    let int = value.cast::<PyInt>().map_err(PyErr::from)?;
    let bits: u64 = int.call_method0(Str("bit_length"))?.extract()?;
    // Far past every ceiling of L6, and before the bytes are made.
    if bits > 1 << 26 {
        return Err(Error::new(Code::IntLimit).note(format!("{bits} bits")).into());
    }
    let magnitude = int.abs()?.call_method1(Str("to_bytes"), (Unsigned(bits.div_ceil(8)), Str("big")))?;
    let magnitude = magnitude.cast_into::<PyBytes>().map_err(PyErr::from)?;
    Ok(Int::from_sign_magnitude(int.lt(0)?, magnitude.as_bytes()))
}

fn date(value: &impl PyDateAccess) -> Read<Date> {
    let year = u16::try_from(value.get_year()).unwrap_or_default();
    Ok(Date::new(year, value.get_month(), value.get_day())?)
}

fn time<'a, 'py: 'a, T>(value: &'a Bound<'py, T>) -> Read<Time>
where
    Bound<'py, T>: PyTimeAccess + PyTzInfoAccess<'py>,
{
    let zone = match value.get_tzinfo() {
        None => None,
        Some(zone) => match kind_of(zone.as_any())? {
            Some(kind @ (Kind::TimeZone | Kind::ZoneInfo)) => Some(self::zone(zone.as_any(), kind)?),
            _ => return field("its tzinfo is neither a datetime.timezone nor a zoneinfo.ZoneInfo"),
        },
    };
    let hms = (value.get_hour(), value.get_minute(), value.get_second());
    Ok(Time::new(hms, value.get_microsecond(), value.get_fold(), zone)?)
}

fn zone(value: &Bound<'_, PyAny>, kind: Kind) -> Read<Zone> {
    if kind == Kind::ZoneInfo {
        let key = value.getattr(fallible::interned!(value.py(), c"key")?)?;
        let Ok(key) = key.cast_exact::<PyString>() else {
            return field("its ZoneInfo has no key: it was made from a file");
        };
        return match Zone::named(&key.to_string_lossy()) {
            Ok(zone) => Ok(zone),
            Err(_) => field("the key of its ZoneInfo is not of the IANA pattern"),
        };
    }
    let parts = value.call_method0(Str("__getinitargs__"))?.cast_into::<PyTuple>().map_err(PyErr::from)?;
    let offset = parts.get_item(0)?.cast_into::<PyDelta>().map_err(PyErr::from)?;
    let seconds = i64::from(offset.get_days()) * 86_400 + i64::from(offset.get_seconds());
    let micros = seconds * 1_000_000 + i64::from(offset.get_microseconds());
    let name = if parts.len() > 1 { Some(text(&parts.get_item(1)?)?) } else { None };
    Ok(Zone::fixed(micros, name)?)
}

fn uuid(value: &Bound<'_, PyAny>) -> Read<Uuid> {
    let bytes = value
        .getattr(fallible::interned!(value.py(), c"bytes")?)?
        .cast_into::<PyBytes>()
        .map_err(PyErr::from)?;
    let Ok(bytes) = bytes.as_bytes().try_into() else { return field("its int is not of 128 bits") };
    Ok(Uuid { bytes, safety: safety(&value.getattr(fallible::interned!(value.py(), c"is_safe")?)?)? })
}

fn safety(value: &Bound<'_, PyAny>) -> Read<UuidSafety> {
    let members = shelf(value.py())?.safe_uuid.bind(value.py());
    for safety in [UuidSafety::Unknown, UuidSafety::Safe, UuidSafety::Unsafe] {
        if members.getattr(Str(safety.name()))?.is(value) {
            return Ok(safety);
        }
    }
    field("its is_safe is no SafeUUID")
}

fn decimal(value: &Bound<'_, PyAny>) -> Read<Decimal> {
    let (sign, digits, exponent): (u8, Vec<u8>, Bound<'_, PyAny>) =
        value.call_method0(Str("as_tuple"))?.extract()?;
    let negative = sign == 1;
    let digits: String = digits.into_iter().map(|digit| char::from(b'0' + digit)).collect();
    if let Ok(exponent) = exponent.extract::<i64>() {
        return Ok(Decimal::finite(negative, &digits, exponent)?);
    }
    let class: String = exponent.extract()?;
    Ok(match class.as_str() {
        "F" => Decimal::Infinity { negative },
        class => Decimal::nan(negative, class == "N", &digits)?,
    })
}

fn ip(value: &Bound<'_, PyAny>, kind: Kind) -> Read<Ip> {
    let Kind::Ip(kind) = kind else { return field("it is no IP") };
    // Of a network, what an address has is that of its first one.
    let address = match kind {
        hookless::IpKind::Network => value.getattr(fallible::interned!(value.py(), c"network_address")?)?,
        _ => value.clone(),
    };
    let packed = address
        .getattr(fallible::interned!(address.py(), c"packed")?)?
        .cast_into::<PyBytes>()
        .map_err(PyErr::from)?;
    let found = match *packed.as_bytes() {
        [a, b, c, d] => IpAddr::from([a, b, c, d]),
        ref bytes => match <[u8; 16]>::try_from(bytes) {
            Ok(bytes) => IpAddr::from(bytes),
            Err(_) => return field("its address has neither 4 nor 16 bytes"),
        },
    };
    let scope = if found.is_ipv6() {
        optional_text(&address.getattr(fallible::interned!(address.py(), c"scope_id")?)?)?
    } else {
        None
    };
    let prefix = match kind {
        hookless::IpKind::Address if found.is_ipv4() => 32,
        hookless::IpKind::Address => 128,
        hookless::IpKind::Network => {
            value.getattr(fallible::interned!(value.py(), c"prefixlen")?)?.extract()?
        }
        hookless::IpKind::Interface => value
            .getattr(fallible::interned!(value.py(), c"network")?)?
            .getattr(Str("prefixlen"))?
            .extract()?,
    };
    Ok(Ip::new(kind, found, prefix, scope)?)
}

/// Drive, root and names.
fn split(fields: Bound<'_, PyAny>) -> Read<(Text, Text, Vec<Text>)> {
    let (drive, root, parts): (Bound<'_, PyAny>, Bound<'_, PyAny>, Vec<Bound<'_, PyAny>>) =
        fields.extract()?;
    let parts = parts.iter().map(text).collect::<Read<Vec<_>>>()?;
    Ok((text(&drive)?, text(&root)?, parts))
}

fn struct_time(value: &Bound<'_, PyAny>) -> Read<StructTime> {
    let tuple = value.cast::<PyTuple>().map_err(PyErr::from)?;
    let mut fields = [0; 9];
    let small = |value: &Bound<'_, PyAny>, name: &str| -> Read<i64> {
        match value.cast_exact::<PyInt>().map(|int| int.extract::<i64>()) {
            Ok(Ok(small)) => Ok(small),
            _ => field(&format!("its {name} is no int of 64 bits")),
        }
    };
    for (index, (to, name)) in fields.iter_mut().zip(StructTime::NAMES).enumerate() {
        *to = small(&tuple.get_item(index)?, name)?;
    }
    let gmtoff = value.getattr(fallible::interned!(value.py(), c"tm_gmtoff")?)?;
    let gmtoff = if gmtoff.is_none() { None } else { Some(small(&gmtoff, "tm_gmtoff")?) };
    Ok(StructTime {
        fields,
        gmtoff,
        zone: optional_text(&value.getattr(fallible::interned!(value.py(), c"tm_zone")?)?)?,
    })
}

/// Type code of an `array.array`, and its elements' bytes as an object with the buffer protocol.
///
/// Large ones are not copied: a view of the array's own memory, which keeps it from being resized.
pub(crate) fn typed_array_parts<'py>(value: &Bound<'py, PyAny>) -> Read<(TypeCode, Bound<'py, PyAny>)> {
    let letter: char = value.getattr(fallible::interned!(value.py(), c"typecode")?)?.extract()?;
    let itemsize: u64 = value.getattr(fallible::interned!(value.py(), c"itemsize")?)?.extract()?;
    let code = TypeCode::new(u64::from(u32::from(letter)), itemsize)?;
    let len = value.len()? as u64;
    let large = code.nbytes(len)? >= hookless::limits::REGION_THRESHOLD;
    // A memoryview cannot be had of characters.
    if !large || matches!(letter, 'u' | 'w') || cfg!(target_endian = "big") {
        let copy = value.call_method0(Str("__copy__"))?;
        super::make::swap(&copy)?;
        let bytes = copy.call_method0(Str("tobytes"))?;
        let contents = bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
        hookless::TypedArray::new(code, contents.to_vec())?;
        return Ok((code, bytes));
    }
    let view = pyo3::types::PyMemoryView::from(value)?;
    Ok((code, view.call_method1(Str("cast"), (Str("B"),))?.call_method0(Str("toreadonly"))?))
}

/// Whether an exception of the standard library's getters says that the value is malformed, rather than that memory or time is out.
pub(crate) fn is_malformed(error: &PyErr, py: Python<'_>) -> bool {
    error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyMemoryError>(py)
}
