//! From the wire's fields, all checked, to Python's objects.

use std::net::IpAddr;

use hookless::wire::{BytesKind, Data};
use hookless::{
    Code, Date, Decimal, Error, Fraction, Int, Ip, IpKind, Path, Result, Standard, StructTime, Text, Time,
    TypeCode, Uuid, Zone,
};
use pyo3::prelude::*;
use pyo3::types::{PyDate, PyDateTime, PyDelta, PyRange, PyTime, PyTzInfo};

use super::shelf::{Shelf, shelf, zones};
use crate::ffi::fallible::{self, Str};
use crate::ffi::targets::Targets;
use crate::ffi::{chars, make};
use crate::scalars;

/// Makes a value of the standard library.
pub(crate) fn from_standard<'py>(py: Python<'py>, value: &Standard) -> Result<Bound<'py, PyAny>> {
    let refuse = |error: PyErr| scalars::table_error(py, &error);
    if let Standard::Ellipsis = value {
        return Ok(py.Ellipsis().into_bound(py));
    }
    let shelf = shelf(py).map_err(refuse)?;
    let made = match value {
        Standard::Ellipsis => Ok(py.Ellipsis().into_bound(py)),
        Standard::Date(date) => {
            let (year, month, day) = date.ymd();
            PyDate::new(py, i32::from(year), month, day).map(Bound::into_any)
        }
        Standard::Time(at) => {
            let zone = zone_of(py, shelf, at)?;
            let (hour, minute, second) = at.hms();
            PyTime::new_with_fold(py, hour, minute, second, at.microsecond(), zone.as_ref(), at.fold())
                .map(Bound::into_any)
        }
        Standard::DateTime(moment) => {
            let (date, at): (Date, &Time) = (moment.date(), moment.time());
            let zone = zone_of(py, shelf, at)?;
            let ((year, month, day), (hour, minute, second)) = (date.ymd(), at.hms());
            let (year, micro, fold) = (i32::from(year), at.microsecond(), at.fold());
            PyDateTime::new_with_fold(py, year, month, day, hour, minute, second, micro, zone.as_ref(), fold)
                .map(Bound::into_any)
        }
        Standard::TimeDelta(delta) => {
            let (days, seconds, micros) = delta.parts();
            self::delta(py, days, seconds, micros).map(Bound::into_any)
        }
        Standard::Zone(zone) => return self::zone(py, shelf, zone),
        Standard::Uuid(uuid) => self::uuid(py, shelf, uuid),
        Standard::SafeUuid(safety) => shelf.safe_uuid.bind(py).getattr(Str(safety.name())),
        Standard::Decimal(number) => shelf.decimal.bind(py).call1((Str(&decimal_text(number)),)),
        Standard::Fraction(number) => return fraction(py, shelf, number),
        Standard::Range(range) => {
            let [start, stop, step] = range.parts();
            let parts = (int(py, start)?, int(py, stop)?, int(py, step)?);
            py.get_type::<PyRange>().call1(parts)
        }
        Standard::Ip(ip) => return self::ip(py, shelf, ip),
        Standard::Path(path) => return self::path(py, shelf, path),
        Standard::StructTime(time) => return struct_time(py, shelf, time),
    };
    made.map_err(refuse)
}

fn text<'py>(py: Python<'py>, text: &Text) -> Result<Bound<'py, PyAny>> {
    chars::utf8(py, text.as_bytes())
}

fn int<'py>(py: Python<'py>, int: &Int) -> Result<Bound<'py, PyAny>> {
    match (int.as_i64(), int.as_u64()) {
        (Some(small), _) => make::signed(py, small),
        (None, Some(small)) => make::unsigned(py, small),
        (None, None) => scalars::big_int(py, int.is_negative(), &int.magnitude_be()),
    }
}

/// Days may be as many as a timedelta holds, and the other fields are in range: nothing is left to be normalised.
fn delta(py: Python<'_>, days: i32, seconds: u32, micros: u32) -> PyResult<Bound<'_, PyDelta>> {
    let small = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    PyDelta::new(py, days, small(seconds), small(micros), false)
}

fn zone_of<'py>(py: Python<'py>, shelf: &Shelf, at: &Time) -> Result<Option<Bound<'py, PyTzInfo>>> {
    let Some(found) = at.zone() else { return Ok(None) };
    let made = zone(py, shelf, found)?;
    made.cast_into::<PyTzInfo>().map(Some).map_err(|_| Error::new(Code::ZoneUnknown))
}

fn zone<'py>(py: Python<'py>, shelf: &Shelf, zone: &Zone) -> Result<Bound<'py, PyAny>> {
    let refuse = |error: PyErr| scalars::table_error(py, &error);
    if let Some(key) = zone.key() {
        // Looked up in the host's own list before a path is made of it.
        if !zones(py).map_err(refuse)?.contains(key) {
            return Err(Error::new(Code::ZoneUnknown).note(key.to_owned()));
        }
        let made = shelf.zone_info.bind(py).call1((Str(key),));
        return made.map_err(|error| match scalars::table_error(py, &error).code() {
            Code::OutOfMemory => Error::new(Code::OutOfMemory),
            _ => Error::new(Code::ZoneUnknown).note(key.to_owned()),
        });
    }
    let (micros, name) = zone.offset().unwrap_or_default();
    let (seconds, rest) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (days, seconds) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let small = |value: i64| u32::try_from(value).unwrap_or_default();
    let days = i32::try_from(days).unwrap_or_default();
    let offset = delta(py, days, small(seconds), small(rest)).map_err(refuse)?;
    let timezone = shelf.timezone.bind(py);
    match name {
        None => timezone.call1((offset,)).map_err(refuse),
        Some(name) => timezone.call1((offset, text(py, name)?)).map_err(refuse),
    }
}

fn uuid<'py>(py: Python<'py>, shelf: &Shelf, uuid: &Uuid) -> PyResult<Bound<'py, PyAny>> {
    let fields = fallible::dict(py)?;
    fields.set_item(Str("bytes"), fallible::bytes(py, &uuid.bytes)?)?;
    fields.set_item(Str("is_safe"), shelf.safe_uuid.bind(py).getattr(Str(uuid.safety.name()))?)?;
    shelf.uuid.bind(py).call((), Some(&fields))
}

/// The text that `decimal.Decimal` reads exactly, whatever the context.
fn decimal_text(number: &Decimal) -> String {
    let sign = |negative: &bool| if *negative { "-" } else { "" };
    match number {
        Decimal::Finite { negative, digits, exponent } => format!("{}{digits}E{exponent}", sign(negative)),
        Decimal::Infinity { negative } => format!("{}Infinity", sign(negative)),
        Decimal::NaN { negative, signalling, digits } => {
            format!("{}{}NaN{digits}", sign(negative), if *signalling { "s" } else { "" })
        }
    }
}

fn fraction<'py>(py: Python<'py>, shelf: &Shelf, number: &Fraction) -> Result<Bound<'py, PyAny>> {
    let numerator = int(py, &Int::from_sign_magnitude(number.is_negative(), number.numerator()))?;
    let denominator = int(py, &Int::from_sign_magnitude(false, number.denominator()))?;
    let made = shelf.fraction.bind(py).call1((numerator, denominator));
    made.map_err(|error| scalars::table_error(py, &error))
}

fn ip<'py>(py: Python<'py>, shelf: &Shelf, ip: &Ip) -> Result<Bound<'py, PyAny>> {
    let (family, packed) = match ip.address() {
        IpAddr::V4(v4) => (0, v4.octets().to_vec()),
        IpAddr::V6(v6) => (3, v6.octets().to_vec()),
    };
    let (kind, whole) = match ip.kind() {
        IpKind::Address => (0, true),
        IpKind::Network => (1, false),
        IpKind::Interface => (2, false),
    };
    let address = match ip.scope() {
        None => make::bytes(py, &packed)?,
        Some(scope) => {
            let mut full = ip.address().to_string().into_bytes();
            full.push(b'%');
            full.extend_from_slice(scope.as_bytes());
            chars::utf8(py, &full)?
        }
    };
    let class = shelf.ip[family + kind].bind(py);
    let made = if whole {
        class.call1((address,))
    } else {
        {
            let prefix = make::unsigned(py, ip.prefix().into())?;
            fallible::tuple(py, &[address, prefix]).and_then(|pair| class.call1((pair,)))
        }
    };
    made.map_err(|error| scalars::table_error(py, &error))
}

fn path<'py>(py: Python<'py>, shelf: &Shelf, path: &Path) -> Result<Bound<'py, PyAny>> {
    let refuse = |error: PyErr| scalars::table_error(py, &error);
    let parts = fallible::list(py).map_err(refuse)?;
    for part in path.parts() {
        parts.append(text(py, part)?).map_err(refuse)?;
    }
    let fields = (Str(path.class().name()), text(py, path.drive())?, text(py, path.root())?, parts);
    shelf.path.bind(py).call1(fields).map_err(refuse)
}

fn struct_time<'py>(py: Python<'py>, shelf: &Shelf, time: &StructTime) -> Result<Bound<'py, PyAny>> {
    let refuse = |error: PyErr| scalars::table_error(py, &error);
    let mut fields = Vec::with_capacity(11);
    for field in time.fields {
        fields.push(make::signed(py, field)?);
    }
    fields.push(match &time.zone {
        Some(zone) => text(py, zone)?,
        None => py.None().into_bound(py),
    });
    fields.push(match time.gmtoff {
        Some(offset) => make::signed(py, offset)?,
        None => py.None().into_bound(py),
    });
    let fields = fallible::tuple(py, &fields).map_err(refuse)?;
    shelf.struct_time.bind(py).call1((fields,)).map_err(refuse)
}

/// Makes an `array.array`; one whose bytes have yet to arrive is filled when the frame is complete.
pub(crate) fn typed_array<'py>(
    py: Python<'py>,
    code: TypeCode,
    data: Data<'_>,
    targets: &mut Targets,
) -> Result<Bound<'py, PyAny>> {
    let refuse = |error: PyErr| scalars::table_error(py, &error);
    let letter = char::from(code.letter()).to_string();
    let key = make::unsigned(py, code.itemsize()).and_then(|itemsize| {
        let letter = chars::ascii(py, letter.as_bytes())?;
        fallible::tuple(py, &[letter, itemsize]).map_err(refuse)
    })?;
    let empty = shelf(py).map_err(refuse)?.arrays.bind(py).get_item(key);
    // A newer type code, or a C type of another size.
    let Some(empty) = empty.map_err(refuse)? else {
        let note = format!("type code {letter} with itemsize {}", code.itemsize());
        return Err(Error::new(Code::DtypeUnsupported).note(note));
    };
    let made = empty.call_method0(Str("__copy__")).map_err(refuse)?;
    match data {
        Data::Inline(bytes) => {
            made.call_method1(Str("frombytes"), (make::bytes(py, bytes)?,)).map_err(refuse)?;
            swap(&made).map_err(refuse)?;
        }
        Data::Region { len, .. } => {
            let bytes = targets.reserve_bytes(py, BytesKind::Bytes, len)?;
            targets.fill_later(&made, &bytes)?;
        }
    }
    Ok(made)
}

/// Little-endian elements on a big-endian machine.
pub(crate) fn swap(array: &Bound<'_, PyAny>) -> PyResult<()> {
    if cfg!(target_endian = "big") {
        array.call_method0(Str("byteswap"))?;
    }
    Ok(())
}
