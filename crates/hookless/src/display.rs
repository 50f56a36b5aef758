//! Text that a child chose, made fit to be shown: it may hold terminal sequences, characters that hide or reorder text, and lines
//! that look like the host's own.

use std::fmt::Write as _;

/// Begins each further line of text that a child chose.
pub const MARK: &str = "  | ";

/// Text for display: one line stays as it is, each further one begins with [`MARK`].
///
/// Control, bidirectional and invisible characters, and code points that are not assigned, become escapes such as `\u{1b}`.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            shown.push('\n');
            shown.push_str(MARK);
        }
        push_line(&mut shown, line);
    }
    shown
}

/// Text for display on one line: line ends are escaped too, and it is cut to `most` characters.
#[must_use]
pub fn escape_line(text: &str, most: usize) -> String {
    let mut shown = String::new();
    match text.char_indices().nth(most) {
        None => push_line(&mut shown, text),
        Some((end, _)) => {
            push_line(&mut shown, text.get(..end).unwrap_or_default());
            shown.push('…');
        }
    }
    shown
}

fn push_line(shown: &mut String, line: &str) {
    for one in line.chars() {
        if one == ' ' || one.is_ascii_graphic() || is_plain(one) {
            shown.push(one);
        } else {
            let _ = write!(shown, "{}", one.escape_unicode());
        }
    }
}

/// Whether a character beyond ASCII shows as what it is. The standard library knows which ones print; behind another character, so
/// that a combining accent counts as one that does.
fn is_plain(one: char) -> bool {
    if one.is_ascii() || is_invisible(one) {
        return false;
    }
    let mut text = String::from("x");
    text.push(one);
    text.escape_debug().nth(1) == Some(one)
}

/// Invisible, though they count as letters, spaces or marks: fillers, joiners, selectors of variants, spaces that are not U+0020.
fn is_invisible(one: char) -> bool {
    matches!(one,
        '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{16fe4}' | '\u{e0100}'..='\u{e01ef}')
        || one.is_whitespace()
}
