//! Text that a child chose, made fit to be shown: it may hold terminal sequences, characters that hide or reorder text, and lines
//! that look like the host's own.

use std::fmt::{self, Write};

use crate::memory::Steps;

/// Begins each further line of text that a child chose.
pub const MARK: &str = "  | ";

/// Text for display: one line stays as it is, each further one begins with [`MARK`].
///
/// Control, bidirectional and invisible characters, and code points that are not assigned, become escapes such as `\u{1b}`. Without
/// memory for all of it, it is empty.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut shown = Steps::default();
    let _ = Escaping::lines(&mut shown).write_str(text);
    shown.into_string()
}

/// Text for display on one line: line ends are escaped too, and it is cut to `most` characters. Without memory for it, it is empty.
#[must_use]
pub fn escape_line(text: &str, most: usize) -> String {
    let mut shown = Steps::default();
    let _ = Escaping::line(&mut shown, most).write_str(text);
    shown.into_string()
}

/// Escapes what is written, and passes it on.
pub(crate) struct Escaping<'o> {
    out: &'o mut dyn Write,
    /// Characters that may still come; none for any number of lines.
    left: Option<usize>,
}

impl<'o> Escaping<'o> {
    /// As [`escape`].
    pub(crate) fn lines(out: &'o mut dyn Write) -> Self {
        Escaping { out, left: None }
    }

    /// As [`escape_line`].
    pub(crate) fn line(out: &'o mut dyn Write, most: usize) -> Self {
        Escaping { out, left: Some(most) }
    }

    /// The same of whatever can be shown. That the cut has been reached is no error.
    pub(crate) fn show(mut self, what: fmt::Arguments<'_>) -> fmt::Result {
        let written = self.write_fmt(what);
        if self.left == Some(usize::MAX) { Ok(()) } else { written }
    }
}

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for one in text.chars() {
            if let Some(left) = &mut self.left {
                let Some(fewer) = left.checked_sub(1) else {
                    *left = usize::MAX;
                    self.out.write_char('…')?;
                    return Err(fmt::Error);
                };
                *left = fewer;
            }
            match one {
                ' ' => self.out.write_char(one)?,
                '\n' if self.left.is_none() => {
                    self.out.write_char(one)?;
                    self.out.write_str(MARK)?;
                }
                one if one.is_ascii_graphic() || is_plain(one) => self.out.write_char(one)?,
                one => write!(self.out, "{}", one.escape_unicode())?,
            }
        }
        Ok(())
    }
}

/// Whether a character beyond ASCII shows as what it is. The standard library knows which ones print; behind another character, so
/// that a combining accent counts as one that does.
fn is_plain(one: char) -> bool {
    if one.is_ascii() || is_invisible(one) {
        return false;
    }
    let mut text = [b'x', 0, 0, 0, 0];
    let [_, place @ ..] = &mut text;
    let end = one.encode_utf8(place).len().saturating_add(1);
    let text = text.get(..end).and_then(|text| std::str::from_utf8(text).ok());
    text.is_some_and(|text| text.escape_debug().nth(1) == Some(one))
}

/// Invisible, though they count as letters, spaces or marks: fillers, joiners, selectors of variants, spaces that are not U+0020.
fn is_invisible(one: char) -> bool {
    matches!(one,
        '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{16fe4}' | '\u{e0100}'..='\u{e01ef}')
        || one.is_whitespace()
}
