//! The bodies whose shape the kind of the frame fixes: S4.

use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, HEAD_LEN};
use crate::session::Hello;
use crate::wire::{Cursor, Head, Node, skip, wide};

/// What a CALL asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Call a function by `module:qualname`.
    Function,
    /// Run the text of a script.
    Script,
}

impl Verb {
    /// Its number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            Verb::Function => 0,
            Verb::Script => 1,
        }
    }
}

/// Checks what the reader cannot know: that the value in a body is of the shape that the frame's kind wants.
///
/// ERROR is not among them, since the reader itself wants an exception there.
///
/// # Errors
/// `bad_call` (S4), `bad_control` (S2).
pub fn check_shape(kind: FrameKind, body: &[u8]) -> Result<()> {
    match kind {
        FrameKind::Call => check_call(body),
        FrameKind::Hello => Hello::parse(body).map(|_| ()),
        FrameKind::Value | FrameKind::Result | FrameKind::Error => Ok(()),
    }
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
    if cursor.head()? != Head::Array(5) {
        return Err(bad(start, "a list of five"));
    }
    let (at, verb, _) = next(&mut cursor)?;
    let script = match verb {
        Head::Unsigned(verb) if verb == u64::from(Verb::Function.number()) => false,
        Head::Unsigned(verb) if verb == u64::from(Verb::Script.number()) => true,
        _ => return Err(bad(at, "unknown verb")),
    };
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
