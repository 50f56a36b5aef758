//! Errors that serde and the host's own types word themselves.

use std::fmt::{self, Display, Write};

use crate::error::{Code, Error};
use crate::memory::{Full, NAME, Steps};

/// Characters of a message that are kept: it may quote what a peer sent.
const LONGEST: usize = 400;

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        error(Code::UnsupportedType, &message)
    }
}

impl serde::de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        error(Code::TypeMismatch, &message)
    }
}

fn error(code: Code, message: &dyn Display) -> Error {
    if is_full(message) { Full.into() } else { Error::new(code).note(shown(message)) }
}

/// Whether a message is that there is no memory, in which case there may be none to write it down.
fn is_full(message: &dyn Display) -> bool {
    struct Rest(Option<&'static str>);

    impl Write for Rest {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            self.0 = self.0.and_then(|rest| rest.strip_prefix(piece));
            if self.0.is_some() { Ok(()) } else { Err(fmt::Error) }
        }
    }

    let mut rest = Rest(Some(NAME));
    write!(rest, "{message}").is_ok() && rest.0 == Some("")
}

/// A message with its control, bidi and invisible characters escaped, cut to a length. The formatter is stopped where the cut is.
fn shown(message: &dyn Display) -> String {
    let mut line = Line { text: Steps::default(), left: LONGEST };
    // An error is the cut, or comes from the message's own formatter: what there is of it is kept.
    let _ = write!(line, "{message}");
    line.text.into_string()
}

struct Line {
    text: Steps,
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
                other => other.escape_debug().for_each(|one| self.text.push(one)),
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
