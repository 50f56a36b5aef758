//! What the bodies of a session's frames are, naively: S2, S4, S7, S13, S15, S17.

use hookless::session::Role;
use hookless::{Limits, Value, encode};

use super::kind;

/// What a HELLO says that matters.
#[derive(Debug, Clone)]
pub struct Hello {
    /// The lowest and the highest version.
    pub versions: (u8, u8),
    /// Which end says it.
    pub role: Role,
    /// The limits that it names.
    pub limits: Vec<u64>,
}

/// An element of a control body.
#[derive(Debug, Clone, PartialEq)]
enum Element {
    Nil,
    Number(u64),
    Float(f64),
    Text(String),
    Array(Vec<Element>),
}

use Element::{Array, Float, Nil, Number, Text};

/// The whole of a body, in shortest forms and nothing else.
fn whole(body: &[u8]) -> Option<Vec<Element>> {
    match element(body)? {
        (Array(elements), []) => Some(elements),
        _ => None,
    }
}

/// The first element, and what follows.
fn element(bytes: &[u8]) -> Option<(Element, &[u8])> {
    let (&marker, rest) = bytes.split_first()?;
    let number = |len: usize, least: u64| {
        let (digits, rest) = rest.split_at_checked(len)?;
        let value = digits.iter().fold(0u64, |value, &digit| value << 8 | u64::from(digit));
        (value >= least).then_some((value, rest))
    };
    Some(match marker {
        0x00..=0x7f => (Number(marker.into()), rest),
        0xc0 => (Nil, rest),
        0xcc => number(1, 1 << 7).map(|(value, rest)| (Number(value), rest))?,
        0xcd => number(2, 1 << 8).map(|(value, rest)| (Number(value), rest))?,
        0xce => number(4, 1 << 16).map(|(value, rest)| (Number(value), rest))?,
        0xcf => number(8, 1 << 32).map(|(value, rest)| (Number(value), rest))?,
        0xcb => number(8, 0).map(|(bits, rest)| (Float(f64::from_bits(bits)), rest))?,
        0xa0..=0xbf => text(u64::from(marker - 0xa0), rest)?,
        0xd9 => number(1, 32).and_then(|(len, rest)| text(len, rest))?,
        0xda => number(2, 1 << 8).and_then(|(len, rest)| text(len, rest))?,
        0xdb => number(4, 1 << 16).and_then(|(len, rest)| text(len, rest))?,
        0x90..=0x9f => array(u64::from(marker - 0x90), rest)?,
        0xdc => number(2, 16).and_then(|(len, rest)| array(len, rest))?,
        _ => return None,
    })
}

fn text(len: u64, bytes: &[u8]) -> Option<(Element, &[u8])> {
    let (text, rest) = bytes.split_at_checked(len as usize)?;
    Some((Text(String::from_utf8(text.to_vec()).ok()?), rest))
}

fn array(len: u64, mut bytes: &[u8]) -> Option<(Element, &[u8])> {
    let mut elements = Vec::new();
    for _ in 0..len {
        // None has another inside that holds a further one.
        let (one, rest) = element(bytes).filter(|(one, _)| !nested(one))?;
        elements.push(one);
        bytes = rest;
    }
    Some((Array(elements), bytes))
}

fn nested(one: &Element) -> bool {
    matches!(one, Array(inner) if inner.iter().any(|inner| matches!(inner, Array(_))))
}

/// S2: a HELLO's body, in its one form.
pub fn hello(body: &[u8]) -> Option<Hello> {
    let elements = whole(body)?;
    let [Number(low), Number(high), Number(node), Number(leaf), Text(role), Array(limits)] = &elements[..]
    else {
        return None;
    };
    let role = match &role[..] {
        "host" => Role::Host,
        "worker" => Role::Worker,
        _ => return None,
    };
    let number = |one: &Element| if let Number(number) = one { Some(*number) } else { None };
    let limits: Vec<u64> = limits.iter().map(number).collect::<Option<_>>()?;
    let small = [low, high, node, leaf].into_iter().all(|number| *number < 256);
    (small && limits.len() <= 64).then_some(Hello { versions: (*low as u8, *high as u8), role, limits })
}

/// S13: how many items a CREDIT allows.
pub fn credit(body: &[u8]) -> Option<u32> {
    match whole(body)?[..] {
        [Number(items @ 1..=65_536)] => Some(items as u32),
        _ => None,
    }
}

/// S15: what a PROGRESS or a LOG says.
pub fn note(kind: u8, body: &[u8]) -> Option<String> {
    let elements = whole(body)?;
    let fits = |text: &String, most: usize| text.len() <= most;
    match (kind, &elements[..]) {
        (kind::PROGRESS, [Number(done), Nil, Text(text)]) => {
            fits(text, 1024).then(|| format!("{done} of None {text:?}"))
        }
        (kind::PROGRESS, [Number(done), Number(total), Text(text)]) => {
            fits(text, 1024).then(|| format!("{done} of Some({total}) {text:?}"))
        }
        (
            kind::LOG,
            [
                Number(level),
                Text(logger),
                Text(message),
                Float(created),
                Text(path),
                Number(line),
                Text(function),
            ],
        ) => {
            let time = !created.is_sign_negative() && *created < 253_402_300_800.0;
            let numbers = *level < 1 << 16 && *line < 1 << 32;
            let texts = fits(logger, 256) && fits(message, 32_768) && fits(path, 4096) && fits(function, 256);
            (time && numbers && texts)
                .then(|| format!("{level} {logger:?} {message:?} {created} {path:?} {line} {function:?}"))
        }
        _ => None,
    }
}

/// S2: whether a control body has its one form.
pub fn is_control(kind: u8, body: &[u8]) -> bool {
    match kind {
        kind::HELLO => hello(body).is_some(),
        kind::CREDIT => credit(body).is_some(),
        kind::PROGRESS | kind::LOG => note(kind, body).is_some(),
        _ => body == [0x90],
    }
}

/// S7: the head of an array, and then the marker of an exception.
pub fn begins_as_exception(body: &[u8]) -> bool {
    let rest = match body {
        [0x90..=0x9f, rest @ ..] | [0xdc, _, _, rest @ ..] | [0xdd, _, _, _, _, rest @ ..] => rest,
        _ => return false,
    };
    rest.starts_with(&[0xd4, 1, 24])
}

/// S4: where a value is at fault, that is no CALL; and else its verb.
pub fn call(value: &Value) -> Result<u8, u64> {
    let mut at = 32;
    let Value::List(parts) = value else { return Err(at) };
    let [verb, name, source, args, kwargs] = &parts[..] else { return Err(at) };
    at += 1;
    let verbs = [Value::from(0), Value::from(1), Value::from(2)];
    let number = verbs.iter().position(|one| one == verb);
    let script = number == Some(1);
    let good = [
        number.is_some(),
        matches!(name, Value::Str(name) if !name.is_empty()),
        if script { matches!(source, Value::Str(_)) } else { *source == Value::None },
        matches!(args, Value::Tuple(_)),
        matches!(kwargs, Value::Dict(_)),
    ];
    for (good, part) in good.into_iter().zip(parts) {
        if !good {
            return Err(at);
        }
        at += span(part);
    }
    let Value::Dict(pairs) = kwargs else { return Err(at) };
    at -= span(kwargs);
    at += match pairs.len() {
        ..16 => 1,
        16..65_536 => 3,
        _ => 5,
    };
    for (key, value) in pairs {
        if !matches!(key, Value::Str(_)) {
            return Err(at);
        }
        at += span(key) + span(value);
    }
    number.map(|number| number as u8).ok_or(at)
}

/// How many bytes of a body a value takes.
fn span(value: &Value) -> u64 {
    let frame = encode(value, &Limits::default()).expect("it was decoded");
    u64::from_be_bytes(frame[16..24].try_into().expect("eight"))
}
