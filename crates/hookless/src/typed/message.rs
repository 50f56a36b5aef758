//! Errors that serde and the host's own types word themselves.

use std::fmt::{self, Display, Write};

use crate::error::{Code, Error};

/// Characters of a message that are kept: it may quote what a peer sent.
const LONGEST: usize = 400;

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Error::new(Code::UnsupportedType).note(shown(&message))
    }
}

impl serde::de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Error::new(Code::TypeMismatch).note(shown(&message))
    }
}

/// A message with its control, bidi and invisible characters escaped, cut to a length. The formatter is stopped where the cut is.
fn shown(message: &dyn Display) -> String {
    let mut line = Line { text: String::new(), left: LONGEST };
    // An error is the cut, or comes from the message's own formatter: what there is of it is kept.
    let _ = write!(line, "{message}");
    line.text
}

struct Line {
    text: String,
    left: usize,
}

impl Write for Line {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for character in piece.chars() {
            let Some(left) = self.left.checked_sub(1) else {
                self.text.push('…');
                return Err(fmt::Error);
            };
            self.left = left;
            match character {
                '\'' | '"' => self.text.push(character),
                other => self.text.extend(other.escape_debug()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_and_escaped() {
        let long = "x".repeat(LONGEST);
        assert_eq!(shown(&long), long);
        assert_eq!(shown(&format!("{long}y")), format!("{long}…"));
        assert_eq!(shown(&"it's \"fine\": ü\u{1b}[31m\u{202e}\n"), "it's \"fine\": ü\\u{1b}[31m\\u{202e}\\n");
    }
}
