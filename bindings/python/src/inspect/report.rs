//! The parts of an exception that are not values: texts and traceback frames, told with where they lie.

use std::fmt::Write as _;

use hookless::TextRef;
use hookless::frame::HEAD_LEN;
use hookless::wire::{EntryParts, FrameParts};

use super::{Inspector, SHOWN, shown};

/// How many exceptions a report holds, and which led to which: `of 2, !0.cause is !1`.
pub(super) fn links<V>(entries: &[EntryParts<'_, V>]) -> String {
    let mut text = format!("of {}", entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let single = [("cause", entry.head.cause), ("context", entry.head.context)];
        let members = entry.head.members.iter().map(|&to| ("member", Some(to)));
        for (name, to) in single.into_iter().chain(members) {
            if let (Some(to), true) = (to, text.len() < 4 * SHOWN) {
                let _ = write!(text, ", !{number}.{name} is !{to}");
            }
        }
    }
    text
}

impl Inspector<'_, '_> {
    /// Notes what an entry of an exception holds beside its values, and names those as error paths do: `!0.args[1]`.
    pub(super) fn entry(&mut self, depth: usize, number: usize, entry: &EntryParts<'_, Option<usize>>) {
        let head = &entry.head;
        let single = [("module", head.module), ("qualname", head.qualname), ("message", head.message)];
        for (name, text) in single {
            self.text_of(depth, format!("!{number}.{name}"), text);
        }
        let many =
            [("bases", &head.bases), ("notes", &head.notes), ("denials", &head.denials), ("cut", &head.cut)];
        for (name, texts) in many {
            for (place, text) in texts.iter().enumerate() {
                self.text_of(depth, format!("!{number}.{name}[{place}]"), *text);
            }
        }
        for (place, frame) in head.frames.iter().enumerate() {
            self.frame_of(depth, format!("!{number}.frames[{place}]"), frame);
        }
        let mut name = |value: Option<usize>, label: String| {
            if let Some(index) = value {
                self.nodes[index].5 = label;
            }
        };
        for (place, value) in entry.args.iter().enumerate() {
            name(*value, format!("!{number}.args[{place}]"));
        }
        for (field, value) in &entry.fields {
            name(*value, format!("!{number}.{}", shown(field.as_bytes())));
        }
    }

    /// Where bytes of the body begin, from the frame's first byte.
    fn offset_of(&self, bytes: &[u8]) -> u64 {
        (bytes.as_ptr() as usize).wrapping_sub(self.body.as_ptr() as usize).wrapping_add(HEAD_LEN) as u64
    }

    /// Notes a text of an exception.
    fn text_of(&mut self, depth: usize, label: String, text: TextRef<'_>) {
        let bytes = text.as_bytes();
        let start = self.offset_of(bytes);
        let end = start.saturating_add(bytes.len() as u64);
        let head = match (text, bytes.len()) {
            (TextRef::Str(_), 0..=31) => 1,
            (TextRef::Str(_), 32..=255) | (_, 1 | 2 | 4 | 8 | 16) => 2,
            (TextRef::Str(_), ..=65_535) | (_, ..=255) => 3,
            (_, ..=65_535) => 4,
            _ => 5,
        };
        self.note((start.saturating_sub(head), Some(end), depth, "str", shown(bytes), label));
    }

    fn frame_of(&mut self, depth: usize, label: String, frame: &FrameParts<'_>) {
        let mut text = shown(frame.file.as_bytes());
        if let [Some(line), ..] = frame.position {
            let _ = write!(text, ":{line}");
        }
        let _ = write!(text, " in {}", shown(frame.function.as_bytes()));
        let last = frame.source.unwrap_or(frame.function);
        let end = self.offset_of(last.as_bytes()).saturating_add(last.as_bytes().len() as u64);
        let end = end.saturating_add(u64::from(frame.source.is_none()));
        // The frame's array head is the byte before the head of its first text, which is short as a rule.
        let file = frame.file.as_bytes();
        let head = if file.len() < 32 {
            2
        } else if file.len() < 256 {
            3
        } else {
            4
        };
        let start = self.offset_of(file).saturating_sub(head);
        self.note((start, Some(end), depth, "frame", text, label));
    }
}
