//! Values of the standard library in words.

use std::fmt::Write as _;

use hookless::{Decimal, Int, Ip, IpKind, Standard, Text, Time, Zone};

use super::shown;

/// The value.
pub(super) fn text(value: &Standard) -> String {
    match value {
        Standard::Ellipsis => String::new(),
        Standard::Date(date) => day(date.ymd()),
        Standard::Time(time) => clock(time),
        Standard::DateTime(moment) => format!("{} {}", day(moment.date().ymd()), clock(moment.time())),
        Standard::TimeDelta(delta) => {
            let (days, seconds, micros) = delta.parts();
            format!("{days} d {seconds}.{micros:06} s")
        }
        Standard::Zone(found) => zone(found),
        Standard::Uuid(uuid) => {
            let mut text = String::new();
            for (index, byte) in uuid.bytes.iter().enumerate() {
                let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
                let _ = write!(text, "{dash}{byte:02x}");
            }
            match uuid.safety.number() {
                0 => text,
                _ => format!("{text} {}", uuid.safety.name()),
            }
        }
        Standard::SafeUuid(safety) => safety.name().to_owned(),
        Standard::Decimal(number) => decimal(number),
        Standard::Fraction(number) => {
            let numerator = Int::from_sign_magnitude(number.is_negative(), number.numerator());
            format!("{}/{}", int(&numerator), int(&Int::from_sign_magnitude(false, number.denominator())))
        }
        Standard::Range(range) => {
            let [start, stop, step] = range.parts().map(int);
            format!("{start} to {stop} by {step}")
        }
        Standard::Ip(found) => ip(found),
        Standard::Path(path) => {
            let mut text = shown(path.drive().as_bytes()) + &shown(path.root().as_bytes());
            let separator = if path.class().is_windows() { "\\" } else { "/" };
            let names: Vec<_> = path.parts().iter().take(16).map(|part| shown(part.as_bytes())).collect();
            text.push_str(&names.join(separator));
            if path.parts().len() > 16 {
                text.push('…');
            }
            text
        }
        Standard::StructTime(time) => {
            let [year, month, day, hour, minute, second, ..] = time.fields;
            format!("{year}-{month}-{day} {hour}:{minute}:{second}")
        }
    }
}

fn day((year, month, day): (u16, u8, u8)) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock(time: &Time) -> String {
    let (hour, minute, second) = time.hms();
    let mut text = format!("{hour:02}:{minute:02}:{second:02}");
    if time.microsecond() != 0 {
        let _ = write!(text, ".{:06}", time.microsecond());
    }
    if let Some(found) = time.zone() {
        let _ = write!(text, " {}", zone(found));
    }
    if time.fold() {
        text.push_str(" fold");
    }
    text
}

fn zone(zone: &Zone) -> String {
    let Some((micros, name)) = zone.offset() else { return zone.key().unwrap_or_default().to_owned() };
    let sign = if micros < 0 { '-' } else { '+' };
    let seconds = micros.unsigned_abs() / 1_000_000;
    let mut text = format!("UTC{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    let rest = micros.unsigned_abs() % 60_000_000;
    if rest != 0 {
        let _ = write!(text, ":{:02}.{:06}", rest / 1_000_000, rest % 1_000_000);
    }
    if let Some(name) = name.map(Text::as_bytes) {
        let _ = write!(text, " \"{}\"", shown(name));
    }
    text
}

fn int(value: &Int) -> String {
    if let Some(small) = value.as_i64() {
        return small.to_string();
    }
    let sign = if value.is_negative() { "-" } else { "" };
    format!("{sign}an int of {} bytes", value.magnitude_be().len())
}

fn decimal(number: &Decimal) -> String {
    let sign = |negative: &bool| if *negative { "-" } else { "" };
    match number {
        Decimal::Finite { negative, digits, exponent } => {
            format!("{}{} E{exponent:+}", sign(negative), shown(digits.as_bytes()))
        }
        Decimal::Infinity { negative } => format!("{}Infinity", sign(negative)),
        Decimal::NaN { negative, signalling, digits } => {
            format!("{}{}NaN{}", sign(negative), if *signalling { "s" } else { "" }, shown(digits.as_bytes()))
        }
    }
}

fn ip(ip: &Ip) -> String {
    let scope = ip.scope().map(|scope| format!("%{}", shown(scope.as_bytes()))).unwrap_or_default();
    match ip.kind() {
        IpKind::Address => format!("{}{scope}", ip.address()),
        IpKind::Network | IpKind::Interface => format!("{}{scope}/{}", ip.address(), ip.prefix()),
    }
}
