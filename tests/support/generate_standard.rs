//! Values of the standard library, at random and at their edges.

use hookless::{
    Date, DateTime, Decimal, Fraction, Int, Ip, IpKind, Path, PathClass, Range, Standard, StructTime, Text,
    Time, TimeDelta, TypeCode, TypedArray, Uuid, UuidSafety, Value, Zone,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{int, text};

/// Any scalar (D1 to D14).
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    let aware = (time(), zone()).prop_map(|(at, zone)| {
        Standard::Time(Time::new(at.hms(), at.microsecond(), at.fold(), Some(zone)).unwrap())
    });
    let moment = (date(), time(), zone()).prop_map(|(date, at, zone)| {
        let at = Time::new(at.hms(), at.microsecond(), at.fold(), Some(zone)).unwrap();
        Standard::DateTime(DateTime::new(date, at))
    });
    let when = ([(); 9].map(|()| any::<i64>()), option::of(any::<i64>()), option::of(text()))
        .prop_map(|(fields, gmtoff, zone)| Standard::StructTime(StructTime { fields, gmtoff, zone }));
    let signalling = (any::<bool>(), "([1-9][0-9]{0,9})?")
        .prop_map(|(negative, digits)| Decimal::nan(negative, true, &digits));
    let other = prop_oneof![
        aware,
        moment,
        zone().prop_map(Standard::Zone),
        when,
        signalling.prop_map(|number| Standard::Decimal(number.unwrap())),
    ];
    prop_oneof![3 => key(), 1 => other.prop_map(|value| Value::Standard(hookless::Boxed::new(value)))]
}

/// Any keyable scalar (K2).
pub(crate) fn key() -> impl Strategy<Value = Value> {
    let delta = (-999_999_999i32..=999_999_999, 0u32..86_400, 0u32..1_000_000)
        .prop_map(|(days, seconds, micros)| TimeDelta::new(days, seconds, micros).unwrap());
    let safety = || select(vec![UuidSafety::Unknown, UuidSafety::Safe, UuidSafety::Unsafe]);
    let uuid = (any::<[u8; 16]>(), safety()).prop_map(|(bytes, safety)| Uuid { bytes, safety });
    let nonzero = int().prop_filter("a step of zero", |int| *int != Int::from(0u64));
    let range =
        (int(), int(), nonzero).prop_map(|(start, stop, step)| Range::new(start, stop, step).unwrap());
    prop_oneof![
        Just(Standard::Ellipsis),
        date().prop_map(Standard::Date),
        time().prop_map(Standard::Time),
        (date(), time()).prop_map(|(date, time)| Standard::DateTime(DateTime::new(date, time))),
        delta.prop_map(Standard::TimeDelta),
        uuid.prop_map(Standard::Uuid),
        safety().prop_map(Standard::SafeUuid),
        decimal().prop_map(Standard::Decimal),
        fraction().prop_map(Standard::Fraction),
        range.prop_map(Standard::Range),
        ip().prop_map(Standard::Ip),
        path().prop_map(Standard::Path),
    ]
    .prop_map(|value| Value::Standard(hookless::Boxed::new(value)))
}

/// An `array.array` (D18), now and then one that goes into the region.
pub(crate) fn typed_array() -> impl Strategy<Value = Value> {
    let codes: Vec<_> = TypeCode::TABLE
        .iter()
        .flat_map(|(letter, sizes)| sizes.iter().map(|size| (u64::from(*letter), u64::from(*size))))
        .collect();
    let len = prop_oneof![20 => 0u64..20, 1 => Just(16_384u64)];
    (select(codes), len, any::<u8>()).prop_map(|((letter, size), len, byte)| {
        let code = TypeCode::new(letter, size).unwrap();
        // Of four bytes each, a character is at most 0x10ffff.
        let mut data = vec![byte; usize::try_from(len * size).unwrap()];
        data.chunks_mut(4).filter(|_| size == 4).for_each(|unit| {
            unit[2] &= 0x0f;
            unit[3] = 0;
        });
        Value::TypedArray(hookless::Boxed::new(TypedArray::new(code, data).unwrap()))
    })
}

fn date() -> impl Strategy<Value = Date> {
    let any_day = (1u16..=9999, 1u8..=12, 1u8..=28);
    let edge = select(vec![(1, 1, 1), (9999, 12, 31), (2000, 2, 29), (2024, 2, 29), (1900, 2, 28)]);
    prop_oneof![any_day, edge].prop_map(|(year, month, day)| Date::new(year, month, day).unwrap())
}

fn time() -> impl Strategy<Value = Time> {
    ((0u8..24, 0u8..60, 0u8..60), 0u32..1_000_000, any::<bool>())
        .prop_map(|(hms, micros, fold)| Time::new(hms, micros, fold, None).unwrap())
}

fn zone() -> impl Strategy<Value = Zone> {
    let day = 86_400_000_000i64;
    prop_oneof![
        (1 - day..day, option::of(text())).prop_map(|(offset, name)| Zone::fixed(offset, name).unwrap()),
        select(vec!["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+9"])
            .prop_map(|key| Zone::named(key).unwrap()),
    ]
}

fn decimal() -> impl Strategy<Value = Decimal> {
    let exponent = prop_oneof![
        -40i64..40,
        -1_999_999_999_999_999_997i64..900_000_000_000_000_000,
        Just(-1_999_999_999_999_999_997),
    ];
    prop_oneof![
        8 => (any::<bool>(), "0|[1-9][0-9]{0,30}0{0,3}", exponent)
            .prop_map(|(negative, digits, exponent)| Decimal::finite(negative, &digits, exponent).unwrap()),
        1 => any::<bool>().prop_map(|negative| Decimal::Infinity { negative }),
        1 => (any::<bool>(), "([1-9][0-9]{0,9})?")
            .prop_map(|(negative, digits)| Decimal::nan(negative, false, &digits).unwrap()),
    ]
}

/// Of small parts often, so that some equal a float or a decimal; of two powers of odd primes otherwise, which share no divisor.
fn fraction() -> impl Strategy<Value = Fraction> {
    let small = (any::<bool>(), 1u64..200, 1u64..200).prop_map(|(negative, mut a, mut b)| {
        let (numerator, denominator) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (negative, numerator / a, denominator / a)
    });
    let large = (any::<bool>(), 1u32..40, 1u32..27).prop_map(|(n, a, b)| (n, 3u64.pow(a), 5u64.pow(b)));
    prop_oneof![3 => small, 1 => large].prop_map(|(negative, numerator, denominator)| {
        let bytes = |value: u64| Int::from(value).magnitude_be();
        Fraction::new(negative, &bytes(numerator), &bytes(denominator)).unwrap()
    })
}

fn ip() -> impl Strategy<Value = Ip> {
    let kind = || select(vec![IpKind::Address, IpKind::Network, IpKind::Interface]);
    let v4 = (kind(), any::<u32>(), 0u8..=32).prop_map(|(kind, bits, prefix)| {
        let prefix = if kind == IpKind::Address { 32 } else { prefix };
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
        let bits = if kind == IpKind::Network { bits & mask } else { bits };
        Ip::new(kind, std::net::Ipv4Addr::from_bits(bits).into(), prefix, None).unwrap()
    });
    let v6 = (kind(), any::<u128>(), 0u8..=128, option::of("[a-z0-9]{1,8}")).prop_map(
        |(kind, bits, prefix, scope)| {
            let prefix = if kind == IpKind::Address { 128 } else { prefix };
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            let bits = if kind == IpKind::Network { bits & mask } else { bits };
            Ip::new(kind, std::net::Ipv6Addr::from_bits(bits).into(), prefix, scope.map(Text::Str)).unwrap()
        },
    );
    prop_oneof![v4, v6]
}

fn path() -> impl Strategy<Value = Path> {
    let names = vec("[A-Za-zÄäßΣ]{1,6}", 0..4);
    let windows = (select(vec!["", "c:", "C:", "\\\\host\\share"]), select(vec!["", "\\"]));
    let posix = (Just(""), select(vec!["", "/", "//"]));
    let text = |text: &str| Text::from(text);
    prop_oneof![
        (any::<bool>(), posix, names.clone()).prop_map(move |(pure, (drive, root), names)| {
            let class = if pure { PathClass::PurePosix } else { PathClass::Posix };
            (class, text(drive), text(root), names)
        }),
        (any::<bool>(), windows, names).prop_map(move |(pure, (drive, root), names)| {
            let class = if pure { PathClass::PureWindows } else { PathClass::Windows };
            (class, text(drive), text(root), names)
        }),
    ]
    .prop_map(|(class, drive, root, names)| {
        Path::new(class, drive, root, names.into_iter().map(Text::Str).collect()).unwrap()
    })
}
