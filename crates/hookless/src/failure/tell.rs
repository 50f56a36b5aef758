//! The remote traceback as lines: every text of the child's escaped, every count bounded.

use std::collections::HashSet;
use std::fmt::{self, Display};

use crate::display::{Escaping, MARK};
use crate::memory::{self, Full, Steps};
use crate::value::{Entry, Report, Text, TraceFrame};

use super::{TypeName, lossy};

type Told = Result<(), Full>;

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
    let mut lines = Lines::default();
    teller.chain(at, NESTING, &mut lines).and_then(|()| lines.joined()).unwrap_or_default()
}

/// Lines that are put together.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn add(&mut self, what: fmt::Arguments<'_>) -> Told {
        let mut line = Steps::default();
        line.add(what);
        memory::push(&mut self.0, line.finish()?)
    }

    /// Each line of a text that a child chose.
    fn add_text(&mut self, before: &dyn Display, text: &Text) -> Told {
        let mut lines = Steps::default();
        lines.add(format_args!("{before}"));
        let mut beginning = First { out: Escaping::lines(&mut lines), left: MESSAGE };
        let _ = fmt::write(&mut beginning, format_args!("{}", lossy(text)));
        lines.finish()?.split('\n').try_for_each(|line| self.add(format_args!("{line}")))
    }

    fn joined(self) -> Result<String, Full> {
        let left_out = self.0.len().saturating_sub(LINES);
        let mut text = Steps::default();
        text.push_str("Remote traceback, as the child tells it:");
        if left_out > 0 {
            text.add(format_args!("\n{MARK}({left_out} lines left out)"));
        }
        self.0.iter().skip(left_out).for_each(|line| text.add(format_args!("\n{MARK}{line}")));
        text.finish()
    }
}

/// Passes on so many characters, and leaves the others out.
struct First<'o> {
    out: Escaping<'o>,
    left: usize,
}

impl fmt::Write for First<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|one| {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.out.write_char(one)
        })
    }
}

/// Text of a child's on one line.
struct Line<T>(T);

impl<T: Display> Display for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaping::line(f, LINE).show(format_args!("{}", self.0))
    }
}

struct Teller<'r> {
    report: &'r Report,
    /// Entries that are told already.
    shown: HashSet<usize>,
}

impl Teller<'_> {
    /// Lines of an exception and of the causes and contexts behind it.
    fn chain(&mut self, at: usize, nesting: usize, lines: &mut Lines) -> Told {
        let mut chain = memory::copied(&[(at, "")])?;
        while let Some(&(last, _)) = chain.last()
            && chain.len() < CHAIN
            && let Some(entry) = self.report.entries.get(last)
            && let Some(next) = entry.led_to()
        {
            memory::push(&mut chain, (next, if entry.cause.is_some() { BY_CAUSE } else { BY_CONTEXT }))?;
        }
        for (at, joint) in chain.into_iter().rev() {
            self.single(at, nesting, lines)?;
            if !joint.is_empty() {
                ["", joint, ""].iter().try_for_each(|line| lines.add(format_args!("{line}")))?;
            }
        }
        Ok(())
    }

    /// Lines of one exception with its members, which bounded nesting follows.
    fn single(&mut self, at: usize, nesting: usize, lines: &mut Lines) -> Told {
        let Some(entry) = self.report.entries.get(at) else { return Ok(()) };
        let name = Line(TypeName(entry));
        if self.shown.contains(&at) {
            return lines.add(format_args!("({name}: told above)"));
        }
        if self.shown.len() >= SHOWN {
            return lines.add(format_args!("({name}: not shown)"));
        }
        memory::insert(&mut self.shown, at)?;
        own(entry, &name, lines)?;
        for (number, &member) in entry.members.iter().take(CHAIN).enumerate() {
            let number = number.saturating_add(1);
            lines.add(format_args!("+ member {number} of {}", entry.members.len()))?;
            if nesting > 0 && self.shown.len() < SHOWN {
                let member = usize::try_from(member).unwrap_or(usize::MAX);
                let mut told = Lines::default();
                self.chain(member, nesting.saturating_sub(1), &mut told)?;
                told.0.iter().take(LINES).try_for_each(|line| lines.add(format_args!("{MARK}{line}")))?;
            }
        }
        cut(entry, lines)
    }
}

/// What was not sent. Of what is not shown anyway, nothing is missed.
fn cut(entry: &Entry, lines: &mut Lines) -> Told {
    struct Cut<'e>(&'e Entry);

    impl Display for Cut<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (index, text) in missed(self.0).take(TEXTS).enumerate() {
                write!(f, "{}{}", if index == 0 { "" } else { ", " }, lossy(text))?;
            }
            Ok(())
        }
    }

    fn missed(entry: &Entry) -> impl Iterator<Item = &Text> {
        let shown =
            |text: &&Text| !text.as_bytes().starts_with(b"args") && !text.as_bytes().starts_with(b"fields");
        entry.cut.iter().filter(shown)
    }

    match missed(entry).next() {
        Some(_) => lines.add(format_args!("{}", Line(format_args!("(not sent in full: {})", Cut(entry))))),
        None => Ok(()),
    }
}

/// Frames, type and message, notes and denials of an exception.
fn own(entry: &Entry, name: &dyn Display, lines: &mut Lines) -> Told {
    if !entry.frames.is_empty() {
        lines.add(format_args!("Traceback (most recent call last):"))?;
    }
    let middle = entry.frames.len().saturating_sub(FRAMES);
    let first = if middle > 0 { FRAMES / 2 } else { entry.frames.len() };
    entry.frames.iter().take(first).try_for_each(|one| frame(one, lines))?;
    if middle > 0 {
        lines.add(format_args!("  ({middle} frames not shown)"))?;
        entry.frames.iter().skip(first.saturating_add(middle)).try_for_each(|one| frame(one, lines))?;
    }
    match entry.message.as_bytes() {
        [] => lines.add(format_args!("{name}"))?,
        _ => lines.add_text(&format_args!("{name}: "), &entry.message)?,
    }
    entry.notes.iter().take(TEXTS).try_for_each(|note| lines.add_text(&"", note))?;
    let mut denials = entry.denials.iter().take(TEXTS);
    denials.try_for_each(|text| lines.add(format_args!("(denied: {})", Line(lossy(text)))))
}

fn frame(frame: &TraceFrame, lines: &mut Lines) -> Told {
    // Not a name that exists: whoever prints the traceback must not open a file that the child named.
    let mut file = Steps::default();
    file.add(format_args!("{}", Line(lossy(&frame.file))));
    let file = file.finish()?;
    let file = file.trim_start_matches('/');
    let function = Line(lossy(&frame.function));
    match frame.line {
        Some(line) => lines.add(format_args!("  File \"<sandbox>/{file}\", line {line}, in {function}"))?,
        None => lines.add(format_args!("  File \"<sandbox>/{file}\", line ?, in {function}"))?,
    }
    let Some(source) = &frame.source else { return Ok(()) };
    let mut text = Steps::default();
    text.add(format_args!("{}", lossy(source)));
    let source = text.finish()?;
    match source.trim() {
        "" => Ok(()),
        source => lines.add(format_args!("    {}", Line(source))),
    }
}
