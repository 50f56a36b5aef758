//! What the bodies of a session's frames are, naively: S2, S4, S7.

use hookless::session::Role;
use hookless::{Limits, Value, encode};

/// What a HELLO says that matters.
#[derive(Debug, Clone, Copy)]
pub struct Hello {
    /// The lowest and the highest version.
    pub versions: (u8, u8),
    /// Which end says it.
    pub role: Role,
}

/// S2: a HELLO's body, in its one form.
pub fn hello(body: &[u8]) -> Option<Hello> {
    let mut rest = body.strip_prefix(b"\x95")?;
    let mut numbers = [0; 4];
    for number in &mut numbers {
        (*number, rest) = match rest {
            [0xcc, byte @ 0x80..=0xff, rest @ ..] | [byte @ 0..=0x7f, rest @ ..] => (*byte, rest),
            _ => return None,
        };
    }
    let role = match rest {
        b"\xa4host" => Role::Host,
        b"\xa6worker" => Role::Worker,
        _ => return None,
    };
    Some(Hello { versions: (numbers[0], numbers[1]), role })
}

/// S7: the head of an array, and then the marker of an exception.
pub fn begins_as_exception(body: &[u8]) -> bool {
    let rest = match body {
        [0x90..=0x9f, rest @ ..] | [0xdc, _, _, rest @ ..] | [0xdd, _, _, _, _, rest @ ..] => rest,
        _ => return false,
    };
    rest.starts_with(&[0xd4, 1, 24])
}

/// S4: where a value is at fault, that is no CALL.
pub fn not_a_call(value: &Value) -> Option<u64> {
    let mut at = 32;
    let Value::List(parts) = value else { return Some(at) };
    let [verb, name, source, args, kwargs] = &parts[..] else { return Some(at) };
    at += 1;
    let script = *verb == Value::from(1);
    let good = [
        script || *verb == Value::from(0),
        matches!(name, Value::Str(name) if !name.is_empty()),
        if script { matches!(source, Value::Str(_)) } else { *source == Value::None },
        matches!(args, Value::Tuple(_)),
        matches!(kwargs, Value::Dict(_)),
    ];
    for (good, part) in good.into_iter().zip(parts) {
        if !good {
            return Some(at);
        }
        at += span(part);
    }
    let Value::Dict(pairs) = kwargs else { return Some(at) };
    at -= span(kwargs);
    at += match pairs.len() {
        ..16 => 1,
        16..65_536 => 3,
        _ => 5,
    };
    for (key, value) in pairs {
        if !matches!(key, Value::Str(_)) {
            return Some(at);
        }
        at += span(key) + span(value);
    }
    None
}

/// How many bytes of a body a value takes.
fn span(value: &Value) -> u64 {
    let frame = encode(value, &Limits::default()).expect("it was decoded");
    u64::from_be_bytes(frame[16..24].try_into().expect("eight"))
}
