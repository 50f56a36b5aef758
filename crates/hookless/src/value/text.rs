//! Text: UTF-8, or UTF-8 that also admits lone surrogates.

use std::fmt;

use crate::memory::{self, Full};

/// V7: generalised UTF-8 with at least one surrogate, as CPython's `surrogatepass` writes it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Surrogates(Vec<u8>);

impl Surrogates {
    /// The text of these bytes; none when they are not generalised UTF-8, or hold no surrogate.
    pub fn new(bytes: Vec<u8>) -> Option<Surrogates> {
        matches!(generalised(&bytes), Ok(true)).then_some(Surrogates(bytes))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The characters, each surrogate as U+FFFD; nothing where there is no memory for them.
    pub fn to_string_lossy(&self) -> String {
        memory::shown(Lossy(&self.0))
    }
}

impl fmt::Debug for Surrogates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Surrogates({:?})", self.to_string_lossy())
    }
}

/// Shows text by its bytes: each surrogate as U+FFFD.
pub(crate) struct Lossy<'t>(pub(crate) &'t [u8]);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            // A surrogate is three bytes, which the standard library reports as three invalid chunks of one.
            match chunk.invalid().first() {
                Some(0xed) => f.write_str("\u{fffd}"),
                _ => Ok(()),
            }
        })
    }
}

/// Text of an exception descriptor or a record, owned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Text {
    /// Ordinary text.
    Str(String),
    /// Text with lone surrogates.
    Surrogates(Surrogates),
}

impl Text {
    /// The bytes, as the wire writes them.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Surrogates(text) => text.as_bytes(),
        }
    }

    /// The same, borrowed.
    pub fn as_ref(&self) -> TextRef<'_> {
        match self {
            Text::Str(text) => TextRef::Str(text),
            Text::Surrogates(text) => TextRef::Surrogates(text.as_bytes()),
        }
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::Str(String::new())
    }
}

impl From<&str> for Text {
    /// Ends the process when there is no memory for it.
    fn from(text: &str) -> Text {
        Text::Str(text.into())
    }
}

/// Text borrowed from the wire or from a value; the surrogate form is checked already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRef<'a> {
    /// Ordinary text.
    Str(&'a str),
    /// Generalised UTF-8 with at least one surrogate.
    Surrogates(&'a [u8]),
}

impl<'a> TextRef<'a> {
    /// The bytes, as the wire writes them.
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            TextRef::Str(text) => text.as_bytes(),
            TextRef::Surrogates(bytes) => bytes,
        }
    }

    /// An owned copy, for which memory may be refused.
    pub(crate) fn try_to_text(self) -> Result<Text, Full> {
        Ok(match self {
            TextRef::Str(text) => Text::Str(memory::text(text)?),
            TextRef::Surrogates(bytes) => Text::Surrogates(Surrogates(memory::copied(bytes)?)),
        })
    }

    /// An owned copy. Ends the process when there is no memory for it.
    pub fn to_text(self) -> Text {
        match self {
            TextRef::Str(text) => Text::Str(text.into()),
            TextRef::Surrogates(bytes) => Text::Surrogates(Surrogates(bytes.into())),
        }
    }

    /// Text of checked generalised UTF-8, with or without surrogates; none when it is neither.
    pub fn from_generalised(bytes: &'a [u8]) -> Option<TextRef<'a>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(TextRef::Str(text)),
            Err(_) => generalised(bytes).ok().map(|_| TextRef::Surrogates(bytes)),
        }
    }
}

/// Checks generalised UTF-8: whether it holds a surrogate, or else where the first bad sequence starts.
pub(crate) fn generalised(bytes: &[u8]) -> std::result::Result<bool, usize> {
    let (mut rest, mut at, mut found) = (bytes, 0usize, false);
    loop {
        let Err(error) = std::str::from_utf8(rest) else { return Ok(found) };
        let good = error.valid_up_to();
        at = at.saturating_add(good);
        match rest.get(good..) {
            Some([0xed, 0xa0..=0xbf, 0x80..=0xbf, tail @ ..]) => {
                rest = tail;
                at = at.saturating_add(3);
                found = true;
            }
            _ => return Err(at),
        }
    }
}
