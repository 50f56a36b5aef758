//! The bodies whose shape the kind of the frame fixes: S4.

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, HEAD_LEN};
use crate::session::control::check_empty;
use crate::session::{Credit, Hello, Log, Progress};
use crate::wire::{Cursor, Head, Node, skip, wide};

/// What a CALL asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Call a function by `module:qualname`.
    Function,
    /// Run the text of a script.
    Script,
    /// Call a function by `module:qualname`, and send what its generator yields (S12).
    Stream,
}

impl Verb {
    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Verb::Function => 0,
            Verb::Script => 1,
            Verb::Stream => 2,
        }
    }

    /// The verb of a number.
    pub const fn from_number(number: u64) -> Option<Verb> {
        match number {
            0 => Some(Verb::Function),
            1 => Some(Verb::Script),
            2 => Some(Verb::Stream),
            _ => None,
        }
    }

    /// The verb of a CALL, of whose body the first two bytes tell it.
    ///
    /// # Errors
    /// `bad_call`.
    pub fn of_body(body: &[u8]) -> Result<Verb> {
        match body {
            [0x95, number, ..] => Verb::from_number(u64::from(*number)),
            _ => None,
        }
        .ok_or_else(|| {
            Error::at(Code::BadCall, wide(HEAD_LEN)).note("a list of five that begins with a verb")
        })
    }
}

/// Checks what the reader cannot know: that the value in a body is of the shape that the frame's kind wants.
///
/// ERROR is not among them, since the reader itself wants an exception there.
///
/// # Errors
/// `bad_call` (S4), `bad_control` (S2).
pub(crate) fn check_shape(kind: FrameKind, body: &[u8]) -> Result<()> {
    match kind {
        FrameKind::Call => check_call(body),
        FrameKind::Hello => Hello::parse(body).map(|_| ()),
        FrameKind::Cancel | FrameKind::Cancelled | FrameKind::Shutdown => check_empty(body),
        FrameKind::Credit => Credit::parse(body).map(|_| ()),
        FrameKind::Progress => Progress::parse(body).map(|_| ()),
        FrameKind::Log => Log::parse(body).map(|_| ()),
        FrameKind::Value | FrameKind::Result | FrameKind::Error | FrameKind::Item => Ok(()),
    }
}

/// The same for control frames alone: a value's shape was checked when it was read.
pub(crate) fn check_control(kind: FrameKind, body: &[u8]) -> Result<()> {
    if kind.carries_value() { Ok(()) } else { check_shape(kind, body) }
}

/// S4: `[verb, name, source, args, kwargs]`.
fn check_call(body: &[u8]) -> Result<()> {
    let mut cursor = Cursor::new(body, wide(HEAD_LEN));
    let bad = |at: u64, note: &'static str| Error::at(Code::BadCall, at).note(note);
    let next = |cursor: &mut Cursor<'_>| -> Result<(u64, Head, bool)> {
        let (at, mut element) = (cursor.offset(), *cursor);
        skip(cursor)?;
        let head = element.head()?;
        Ok((at, head, element.rest.starts_with(&Node::Tuple.marker())))
    };
    let start = cursor.offset();
    // A node is an array as well, but no list.
    if cursor.head()? != Head::Array(5) || cursor.rest.starts_with(&Node::BEGINS) {
        return Err(bad(start, "a list of five"));
    }
    let (at, verb, _) = next(&mut cursor)?;
    let verb = match verb {
        Head::Unsigned(number) => Verb::from_number(number),
        _ => None,
    };
    let script = verb.ok_or_else(|| bad(at, "unknown verb"))? == Verb::Script;
    let (at, name, _) = next(&mut cursor)?;
    if !matches!(name, Head::Str(1..)) {
        return Err(bad(at, "the name is a str"));
    }
    let (at, source, _) = next(&mut cursor)?;
    if script != matches!(source, Head::Str(_)) || !(script || source == Head::Nil) {
        return Err(bad(at, "source is a str for a script, and None for a function"));
    }
    let (at, args, is_tuple) = next(&mut cursor)?;
    if !(matches!(args, Head::Array(_)) && is_tuple) {
        return Err(bad(at, "args are a tuple"));
    }
    let at = cursor.offset();
    let Head::Map(pairs) = cursor.head()? else { return Err(bad(at, "kwargs are a dict")) };
    for _ in 0..pairs {
        let (at, key, _) = next(&mut cursor)?;
        if !matches!(key, Head::Str(_)) {
            return Err(bad(at, "kwargs have str keys"));
        }
        skip(&mut cursor)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Decoder;
    use crate::{EnumMember, Limits, Text, Value, encode_parts};

    fn pushed(kind: FrameKind, value: &Value) -> Result<usize> {
        let mut region = Vec::new();
        let frame = encode_parts(value, kind, 1, &Limits::default(), &mut region)?;
        Decoder::new(Limits::default()).feed(&frame).map(|frames| frames.len())
    }

    fn call(parts: [Value; 5]) -> Value {
        Value::List(parts.into())
    }

    #[test]
    fn s4_a_call_has_one_shape() {
        let args = || Value::Tuple(vec![Value::from(1)]);
        let kwargs = || Value::Dict(vec![(Value::from("order"), Value::from(3))]);
        let (function, script) = (|| Value::from(0), || Value::from(1));
        let (name, text) = (|| Value::from("m:f"), || Value::from("result = 1"));
        assert_eq!(
            pushed(FrameKind::Call, &call([function(), name(), Value::None, args(), kwargs()])),
            Ok(1)
        );
        assert_eq!(pushed(FrameKind::Call, &call([script(), name(), text(), args(), kwargs()])), Ok(1));
        let stream = call([Value::from(2), name(), Value::None, args(), kwargs()]);
        assert_eq!(pushed(FrameKind::Call, &stream), Ok(1));

        let of = |name: &str| Text::Str(name.to_owned());
        let member = EnumMember { module: of("m"), qualname: of("E"), name: None, value: Value::from(1) };
        let number_key = Value::Dict(vec![(Value::from(1), Value::None)]);
        // Each with the offset of the element at fault: after the head and the array's own byte, one byte a verb, four a name.
        let bad = [
            (Value::from(5), 32),
            (Value::List(vec![Value::None; 4]), 32),
            // Five elements, but those of a node.
            (Value::EnumMember(member.into()), 32),
            (Value::Tuple(vec![Value::None; 5]), 32),
            (call([Value::from(3), name(), Value::None, args(), kwargs()]), 33),
            (call([Value::from(2), name(), text(), args(), kwargs()]), 38),
            (call([Value::None, name(), Value::None, args(), kwargs()]), 33),
            (call([function(), Value::from(""), Value::None, args(), kwargs()]), 34),
            (call([function(), Value::None, Value::None, args(), kwargs()]), 34),
            (call([function(), name(), text(), args(), kwargs()]), 38),
            (call([script(), name(), Value::None, args(), kwargs()]), 38),
            (call([function(), name(), Value::None, Value::List(vec![Value::from(1)]), kwargs()]), 39),
            (call([function(), name(), Value::None, Value::Set(vec![Value::from(1)]), kwargs()]), 39),
            (call([function(), name(), Value::None, args(), Value::None]), 44),
            (call([function(), name(), Value::None, args(), number_key]), 45),
        ];
        for (value, offset) in bad {
            let error = pushed(FrameKind::Call, &value).unwrap_err();
            assert_eq!((error.code(), error.offset()), (Code::BadCall, Some(offset)), "{value:?}");
        }
    }

    #[test]
    fn s7_an_error_frame_holds_an_exception() {
        for value in [Value::None, Value::List(Vec::new()), Value::Tuple(vec![Value::from("ValueError")])] {
            let error = pushed(FrameKind::Error, &value).unwrap_err();
            assert_eq!((error.code(), error.offset()), (Code::BadType, Some(32)), "{value:?}");
            assert_eq!(pushed(FrameKind::Result, &value), Ok(1));
        }
    }
}
