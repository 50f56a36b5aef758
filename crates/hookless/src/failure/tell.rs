//! The remote traceback as lines: every text of the child's escaped, every count bounded.

use std::collections::HashSet;

use crate::display::{MARK, escape, escape_line};
use crate::value::{Entry, Report, TraceFrame};

use super::lossy;

/// All of it is in the report; what is shown stays readable.
const LINES: usize = 400;
const FRAMES: usize = 24;
const LINE: usize = 500;
const MESSAGE: usize = 4000;
const TEXTS: usize = 8;
const CHAIN: usize = 16;
const NESTING: usize = 3;
/// Exceptions shown in all: a small report can link each of its entries many times over.
const SHOWN: usize = 48;

const BY_CAUSE: &str = "The above exception was the direct cause of the following exception:";
const BY_CONTEXT: &str = "During handling of the above exception, another exception occurred:";

pub(super) fn traceback(report: &Report, at: usize) -> String {
    let mut teller = Teller { report, shown: HashSet::new() };
    let body = teller.chain(at, NESTING);
    let left_out = body.len().saturating_sub(LINES);
    let mut lines = vec!["Remote traceback, as the child tells it:".to_owned()];
    if left_out > 0 {
        lines.push(format!("({left_out} lines left out)"));
    }
    lines.extend(body.into_iter().skip(left_out));
    lines.join(&format!("\n{MARK}"))
}

struct Teller<'r> {
    report: &'r Report,
    /// Entries that are told already.
    shown: HashSet<usize>,
}

impl Teller<'_> {
    /// Lines of an exception and of the causes and contexts behind it.
    fn chain(&mut self, at: usize, nesting: usize) -> Vec<String> {
        let mut chain = vec![(at, "")];
        while let Some(&(last, _)) = chain.last()
            && chain.len() < CHAIN
            && let Some(entry) = self.report.entries.get(last)
            && let Some(next) = entry.led_to()
        {
            chain.push((next, if entry.cause.is_some() { BY_CAUSE } else { BY_CONTEXT }));
        }
        let mut lines = Vec::new();
        for (at, joint) in chain.into_iter().rev() {
            lines.extend(self.single(at, nesting));
            if !joint.is_empty() {
                lines.extend([String::new(), joint.to_owned(), String::new()]);
            }
        }
        lines
    }

    /// Lines of one exception with its members, which bounded nesting follows.
    fn single(&mut self, at: usize, nesting: usize) -> Vec<String> {
        let Some(entry) = self.report.entries.get(at) else { return Vec::new() };
        let name = escape_line(&entry.type_name(), LINE);
        if self.shown.contains(&at) {
            return vec![format!("({name}: told above)")];
        }
        if self.shown.len() >= SHOWN {
            return vec![format!("({name}: not shown)")];
        }
        self.shown.insert(at);
        let mut lines = own(entry, &name);
        for (number, &member) in entry.members.iter().take(CHAIN).enumerate() {
            lines.push(format!("+ member {} of {}", number.saturating_add(1), entry.members.len()));
            if nesting > 0 && self.shown.len() < SHOWN {
                let member = usize::try_from(member).unwrap_or(usize::MAX);
                let told = self.chain(member, nesting.saturating_sub(1));
                lines.extend(told.into_iter().take(LINES).map(|line| format!("{MARK}{line}")));
            }
        }
        // Of what is not shown anyway, nothing is missed.
        let cut =
            entry.cut.iter().map(lossy).filter(|one| !one.starts_with("args") && !one.starts_with("fields"));
        let cut: Vec<_> = cut.take(TEXTS).collect();
        if !cut.is_empty() {
            lines.push(escape_line(&format!("(not sent in full: {})", cut.join(", ")), LINE));
        }
        lines
    }
}

/// Frames, type and message, notes and denials of an exception.
fn own(entry: &Entry, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if !entry.frames.is_empty() {
        lines.push("Traceback (most recent call last):".to_owned());
    }
    let middle = entry.frames.len().saturating_sub(FRAMES);
    let first = if middle > 0 { FRAMES / 2 } else { entry.frames.len() };
    lines.extend(entry.frames.iter().take(first).flat_map(frame));
    if middle > 0 {
        lines.push(format!("  ({middle} frames not shown)"));
        lines.extend(entry.frames.iter().skip(first.saturating_add(middle)).flat_map(frame));
    }
    let message = beginning(&lossy(&entry.message));
    let shown = if message.is_empty() { name.to_owned() } else { format!("{name}: {}", escape(&message)) };
    lines.extend(shown.split('\n').map(str::to_owned));
    for note in entry.notes.iter().take(TEXTS) {
        lines.extend(escape(&beginning(&lossy(note))).split('\n').map(str::to_owned));
    }
    let denials = entry.denials.iter().take(TEXTS);
    lines.extend(denials.map(|text| format!("(denied: {})", escape_line(&lossy(text), LINE))));
    lines
}

fn beginning(text: &str) -> String {
    text.chars().take(MESSAGE).collect()
}

fn frame(frame: &TraceFrame) -> Vec<String> {
    // Not a name that exists: whoever prints the traceback must not open a file that the child named.
    let file = escape_line(&lossy(&frame.file), LINE);
    let line = frame.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
    let function = escape_line(&lossy(&frame.function), LINE);
    let place = format!("  File \"<sandbox>/{}\", line {line}, in {function}", file.trim_start_matches('/'));
    let source = frame.source.as_ref().map(|source| escape_line(lossy(source).trim(), LINE));
    let source = source.filter(|source| !source.is_empty()).map(|source| format!("    {source}"));
    std::iter::once(place).chain(source).collect()
}
