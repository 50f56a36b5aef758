//! Dates, times, zones: D2–D6, D14.

use super::bad_value;
use super::fields::{Fields, bad};
use crate::error::{Code, Error, Result};
use crate::memory::{self, Full};
use crate::value::Text;

/// D2: a day of the proleptic Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// A date of its fields.
    ///
    /// # Errors
    /// `bad_payload` that names the field out of range.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Date> {
        if !(1..=9999).contains(&year) {
            return Err(bad(format_args!("year {year} is not from 1 to 9999")));
        }
        if !(1..=12).contains(&month) {
            return Err(bad(format_args!("month {month} is not from 1 to 12")));
        }
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let last = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if !(1..=last).contains(&day) {
            return Err(bad(format_args!("day {day} is not from 1 to {last}")));
        }
        Ok(Date { year, month, day })
    }

    /// Year, month, day.
    pub fn ymd(self) -> (u16, u8, u8) {
        (self.year, self.month, self.day)
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Date> {
        Date::new(fields.u16("year")?, fields.u8("month")?, fields.u8("day")?)
    }

    pub(super) fn write(self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::extend(out, &self.year.to_be_bytes())?;
        memory::extend(out, &[self.month, self.day])
    }
}

/// D3: a time of day, naive or with a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    hour: u8,
    minute: u8,
    second: u8,
    fold: bool,
    microsecond: u32,
    zone: Option<Zone>,
}

impl Time {
    /// A time of its fields.
    ///
    /// # Errors
    /// `bad_payload` that names the field out of range.
    pub fn new(
        (hour, minute, second): (u8, u8, u8),
        microsecond: u32,
        fold: bool,
        zone: Option<Zone>,
    ) -> Result<Time> {
        if hour > 23 {
            return Err(bad(format_args!("hour {hour} is past 23")));
        }
        if minute > 59 {
            return Err(bad(format_args!("minute {minute} is past 59")));
        }
        if second > 59 {
            return Err(bad(format_args!("second {second} is past 59")));
        }
        if microsecond >= 1_000_000 {
            return Err(bad(format_args!("microsecond {microsecond} is past 999999")));
        }
        Ok(Time { hour, minute, second, fold, microsecond, zone })
    }

    /// Hour, minute, second.
    pub fn hms(&self) -> (u8, u8, u8) {
        (self.hour, self.minute, self.second)
    }

    /// 0 to 999 999.
    pub fn microsecond(&self) -> u32 {
        self.microsecond
    }

    /// Whether this is the second of two equal readings of a clock that was put back.
    pub fn fold(&self) -> bool {
        self.fold
    }

    /// The zone of an aware time.
    pub fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref()
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Time> {
        let hms = (fields.u8("hour")?, fields.u8("minute")?, fields.u8("second")?);
        let fold = match fields.u8("fold")? {
            0 => false,
            1 => true,
            other => return Err(bad(format_args!("fold {other} is not 0 or 1"))),
        };
        let microsecond = fields.u32("microsecond")?;
        // The fields in front are told before those behind.
        let naive = Time::new(hms, microsecond, fold, None)?;
        let zone = if fields.is_empty() { None } else { Some(Zone::read(fields)?) };
        Ok(Time { zone, ..naive })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::extend(out, &[self.hour, self.minute, self.second, u8::from(self.fold)])?;
        memory::extend(out, &self.microsecond.to_be_bytes())?;
        self.zone.as_ref().map_or(Ok(()), |zone| zone.write(out))
    }
}

/// D4: a date and a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateTime {
    date: Date,
    time: Time,
}

impl DateTime {
    /// A datetime of its parts.
    pub fn new(date: Date, time: Time) -> DateTime {
        DateTime { date, time }
    }

    /// The date.
    pub fn date(&self) -> Date {
        self.date
    }

    /// The time, and the zone.
    pub fn time(&self) -> &Time {
        &self.time
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<DateTime> {
        Ok(DateTime { date: Date::read(fields)?, time: Time::read(fields)? })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        self.date.write(out)?;
        self.time.write(out)
    }
}

/// D5: a difference of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeDelta {
    days: i32,
    seconds: u32,
    microseconds: u32,
}

impl TimeDelta {
    /// A difference in Python's normal form: days may be negative, seconds are 0 to 86 399, microseconds 0 to 999 999.
    ///
    /// # Errors
    /// `bad_payload` that names the field out of range.
    pub fn new(days: i32, seconds: u32, microseconds: u32) -> Result<TimeDelta> {
        if days.unsigned_abs() > 999_999_999 {
            return Err(bad(format_args!("{days} days are past 999999999")));
        }
        if seconds >= 86_400 {
            return Err(bad(format_args!("{seconds} seconds are past 86399")));
        }
        if microseconds >= 1_000_000 {
            return Err(bad(format_args!("{microseconds} microseconds are past 999999")));
        }
        Ok(TimeDelta { days, seconds, microseconds })
    }

    /// Days, seconds, microseconds.
    pub fn parts(self) -> (i32, u32, u32) {
        (self.days, self.seconds, self.microseconds)
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<TimeDelta> {
        TimeDelta::new(fields.i32("days")?, fields.u32("seconds")?, fields.u32("microseconds")?)
    }

    pub(super) fn write(self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        memory::extend(out, &self.days.to_be_bytes())?;
        memory::extend(out, &self.seconds.to_be_bytes())?;
        memory::extend(out, &self.microseconds.to_be_bytes())
    }
}

/// D6: a fixed offset, or a zone by its IANA key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// `datetime.timezone`
    Fixed(Offset),
    /// `zoneinfo.ZoneInfo`
    Named(ZoneKey),
}

/// A fixed offset from UTC, and its name if it was given one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    microseconds: i64,
    name: Option<Text>,
}

/// The key of a zone, checked by its pattern alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneKey(String);

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The longest key of a zone, in bytes.
const KEY_LEN: usize = 64;

impl Zone {
    /// A fixed offset, east of UTC, in microseconds.
    ///
    /// # Errors
    /// `bad_payload` unless it is strictly between −24 h and 24 h.
    pub fn fixed(microseconds: i64, name: Option<Text>) -> Result<Zone> {
        if !(-DAY < microseconds && microseconds < DAY) {
            return Err(bad(format_args!(
                "an offset of {microseconds} microseconds is not inside of 24 hours"
            )));
        }
        Ok(Zone::Fixed(Offset { microseconds, name }))
    }

    /// A zone by its key, such as `Europe/Paris`.
    ///
    /// # Errors
    /// `bad_payload` for a key that is not of the pattern of D6.
    pub fn named(key: &str) -> Result<Zone> {
        let word = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b))
        };
        if key.len() <= KEY_LEN && key.split('/').all(word) {
            return Ok(Zone::Named(ZoneKey(memory::text(key)?)));
        }
        Err(bad_value("a zone key is at most 64 bytes of words joined by /"))
    }

    /// Microseconds and name of a fixed offset.
    pub fn offset(&self) -> Option<(i64, Option<&Text>)> {
        match self {
            Zone::Fixed(offset) => Some((offset.microseconds, offset.name.as_ref())),
            Zone::Named(_) => None,
        }
    }

    /// The key of a named zone.
    pub fn key(&self) -> Option<&str> {
        match self {
            Zone::Named(key) => Some(&key.0),
            Zone::Fixed(_) => None,
        }
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Zone> {
        match fields.u8("zone")? {
            0 => Zone::fixed(fields.i64("offset")?, None),
            1 => {
                let plain = Zone::fixed(fields.i64("offset")?, None)?;
                let name = Fields::text(fields.all(), "name")?;
                Ok(match plain {
                    Zone::Fixed(offset) => Zone::Fixed(Offset { name: Some(name), ..offset }),
                    named @ Zone::Named(_) => named,
                })
            }
            2 => match std::str::from_utf8(fields.all()) {
                Ok(key) => Zone::named(key),
                Err(_) => Err(bad_value("a zone key is ASCII")),
            },
            other => Err(bad(format_args!("zone tag {other} is not 0, 1 or 2"))),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        match self {
            Zone::Fixed(Offset { microseconds, name }) => {
                memory::push(out, u8::from(name.is_some()))?;
                memory::extend(out, &microseconds.to_be_bytes())?;
                memory::extend(out, name.as_ref().map_or(&[], Text::as_bytes))
            }
            Zone::Named(ZoneKey(key)) => {
                memory::push(out, 2)?;
                memory::extend(out, key.as_bytes())
            }
        }
    }
}

/// D14: `time.struct_time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructTime {
    /// `tm_year`, `tm_mon`, `tm_mday`, `tm_hour`, `tm_min`, `tm_sec`, `tm_wday`, `tm_yday`, `tm_isdst`: Python checks no range.
    pub fields: [i64; 9],
    /// `tm_gmtoff`, in seconds.
    pub gmtoff: Option<i64>,
    /// `tm_zone`.
    pub zone: Option<Text>,
}

impl StructTime {
    /// Names of `fields`.
    pub const NAMES: [&'static str; 9] =
        ["tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst"];

    pub(super) fn read(from: &mut Fields<'_>) -> Result<StructTime> {
        let mut fields = [0; 9];
        for (field, name) in fields.iter_mut().zip(StructTime::NAMES) {
            *field = from.i64(name)?;
        }
        let flags = from.u8("flags")?;
        if flags > 3 {
            return Err(Error::new(Code::BadPayload).note(format_args!("flags {flags} are past 3")));
        }
        let gmtoff = if flags & 1 != 0 { Some(from.i64("tm_gmtoff")?) } else { None };
        let zone = if flags & 2 != 0 { Some(Fields::text(from.all(), "tm_zone")?) } else { None };
        Ok(StructTime { fields, gmtoff, zone })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Full> {
        self.fields.iter().try_for_each(|field| memory::extend(out, &field.to_be_bytes()))?;
        memory::push(out, u8::from(self.gmtoff.is_some()) | (u8::from(self.zone.is_some()) << 1))?;
        if let Some(gmtoff) = self.gmtoff {
            memory::extend(out, &gmtoff.to_be_bytes())?;
        }
        memory::extend(out, self.zone.as_ref().map_or(&[], Text::as_bytes))
    }
}
