//! Values of the standard library as JSON, in the form of `proto/vectors/README.md`.

use hookless::{Decimal, Int, IpKind, Standard, Text, Time, Zone};
use serde_json::{Value as Json, json};

use crate::describe::{each, int, normal_int, string, text};
use crate::hex;

pub(crate) fn describe(value: &Standard) -> Json {
    match value {
        Standard::Ellipsis => json!(["Ellipsis"]),
        Standard::Date(date) => {
            let (year, month, day) = date.ymd();
            json!(["date", year, month, day])
        }
        Standard::Time(at) => Json::Array([vec![json!("time")], clock(at)].concat()),
        Standard::DateTime(moment) => {
            let (year, month, day) = moment.date().ymd();
            Json::Array(
                [vec![json!("datetime"), json!(year), json!(month), json!(day)], clock(moment.time())]
                    .concat(),
            )
        }
        Standard::TimeDelta(delta) => {
            let (days, seconds, micros) = delta.parts();
            json!(["timedelta", days, seconds, micros])
        }
        Standard::Zone(found) => zone(found),
        Standard::Uuid(uuid) => json!(["UUID", hex::of(&uuid.bytes), uuid.safety.name()]),
        Standard::SafeUuid(safety) => json!(["SafeUUID", safety.name()]),
        Standard::Decimal(Decimal::Finite { negative, digits, exponent }) => {
            json!(["Decimal", u8::from(*negative), digits, exponent])
        }
        Standard::Decimal(Decimal::Infinity { negative }) => json!(["Decimal", u8::from(*negative), "", "F"]),
        Standard::Decimal(Decimal::NaN { negative, signalling, digits }) => {
            json!(["Decimal", u8::from(*negative), digits, if *signalling { "N" } else { "n" }])
        }
        Standard::Fraction(number) => {
            let part = |negative: bool, magnitude: &[u8]| int(&Int::from_sign_magnitude(negative, magnitude));
            json!([
                "Fraction",
                part(number.is_negative(), number.numerator()),
                part(false, number.denominator())
            ])
        }
        Standard::Range(range) => {
            let [start, stop, step] = range.parts().map(int);
            json!(["range", start, stop, step])
        }
        Standard::Ip(ip) => {
            let (family, packed) = match ip.address() {
                std::net::IpAddr::V4(v4) => ("IPv4", v4.octets().to_vec()),
                std::net::IpAddr::V6(v6) => ("IPv6", v6.octets().to_vec()),
            };
            let (class, prefix) = match ip.kind() {
                IpKind::Address => ("Address", None),
                IpKind::Network => ("Network", Some(ip.prefix())),
                IpKind::Interface => ("Interface", Some(ip.prefix())),
            };
            json!(["ip", format!("{family}{class}"), hex::of(&packed), prefix, ip.scope().map(text)])
        }
        Standard::Path(path) => {
            let parts: Vec<_> = path.parts().iter().map(text).collect();
            json!(["path", path.class().name(), text(path.drive()), text(path.root()), parts])
        }
        Standard::StructTime(time) => {
            json!(["struct_time", time.fields, time.gmtoff, time.zone.as_ref().map(text)])
        }
    }
}

fn clock(at: &Time) -> Vec<Json> {
    let (hour, minute, second) = at.hms();
    let zone = at.zone().map_or(Json::Null, zone);
    vec![json!(hour), json!(minute), json!(second), json!(at.microsecond()), json!(u8::from(at.fold())), zone]
}

fn zone(zone: &Zone) -> Json {
    match (zone.offset(), zone.key()) {
        (Some((offset, name)), _) => json!(["timezone", offset, name.map(|name: &Text| text(name))]),
        (None, key) => json!(["ZoneInfo", key]),
    }
}

/// A described value of the standard library with each hex written out and each int as hex.
pub(crate) fn normal(kind: &str, value: &Json) -> Json {
    let described =
        |value: &Json| if value.is_array() { crate::describe::normal(value) } else { value.clone() };
    match kind {
        "Ellipsis" | "date" | "timedelta" | "ZoneInfo" | "UUID" | "SafeUUID" | "Decimal" => value.clone(),
        "Fraction" => json!([kind, normal_int(string(&value[1])), normal_int(string(&value[2]))]),
        "range" => {
            let part = |index: usize| normal_int(string(&value[index]));
            json!([kind, part(1), part(2), part(3)])
        }
        "timezone" => json!([kind, value[1], described(&value[2])]),
        "time" | "datetime" => {
            let mut fields = value.as_array().expect("a list").clone();
            if let Some(zone) = fields.last_mut() {
                *zone = described(zone);
            }
            Json::Array(fields)
        }
        "ip" => json!([kind, value[1], value[2], value[3], described(&value[4])]),
        "path" => json!([kind, value[1], described(&value[2]), described(&value[3]), each(&value[4])]),
        "struct_time" => json!([kind, value[1], value[2], described(&value[3])]),
        other => panic!("no such kind in a described value: {other}"),
    }
}
