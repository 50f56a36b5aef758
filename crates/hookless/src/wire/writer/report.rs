//! Exceptions.

use crate::error::{Code, Error, Result};
use crate::limits::{charge, over};
use crate::memory;
use crate::value::TextRef;
use crate::wire::links::{self, Links};
use crate::wire::marker::{FALSE, NIL, Node, TRUE};
use crate::wire::{EntryHead, FrameParts, raw, wide};

use super::{ReportScope, Writer};

impl Writer<'_> {
    /// An exception of `entries` entries (X1): each by [`Writer::entry`].
    pub fn report(&mut self, entries: usize) -> Result<ReportScope> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        let start = self.out.len();
        links::check_count(entries, self.limits)?;
        self.open(0, wide(entries))?;
        self.node(Node::Exception, entries)?;
        Ok(ReportScope { start, links: memory::room(entries)? })
    }

    /// Elements 0 to 11 of an entry, and the head of `args`: that many values follow, then [`Writer::fields`].
    pub fn entry(&mut self, report: &mut ReportScope, entry: &EntryHead<'_>, args: usize) -> Result<()> {
        self.budget.charge(charge::EXCEPTION)?;
        raw::array(&mut self.out, 14)?;
        self.name(entry.module)?;
        self.name(entry.qualname)?;
        self.texts(&entry.bases, true)?;
        self.descriptor_text(entry.message)?;
        self.texts(&entry.notes, false)?;
        self.texts(&entry.denials, false)?;
        self.texts(&entry.cut, false)?;
        self.frames(&entry.frames)?;
        memory::push(&mut self.out, if entry.suppress_context { TRUE } else { FALSE })?;
        for link in [entry.cause, entry.context] {
            match link {
                Some(to) => raw::unsigned(&mut self.out, u64::from(to))?,
                None => memory::push(&mut self.out, NIL)?,
            }
        }
        self.array_head(entry.members.len())?;
        entry.members.iter().try_for_each(|&to| raw::unsigned(&mut self.out, u64::from(to)))?;
        memory::push(&mut report.links, Links::of(entry)?)?;
        self.budget.announce(wide(args))?;
        self.array_head(args)?;
        Ok(())
    }

    /// The head of an entry's fields: that many pairs follow, each [`Writer::descriptor_text`] and a value.
    pub fn fields(&mut self, len: usize) -> Result<()> {
        self.budget.announce(wide(len))?;
        self.map_head(len)?;
        Ok(())
    }

    /// Closes an exception: X4, X5, X6.
    pub fn end_report(&mut self, report: ReportScope) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        links::check(&report.links, self.limits)?;
        let len = wide(self.out.len().saturating_sub(report.start));
        if len > self.limits.descriptor {
            return Err(over(Code::DescriptorLimit, len, self.limits.descriptor));
        }
        Ok(())
    }

    /// A text of a descriptor (X6).
    pub fn descriptor_text(&mut self, text: TextRef<'_>) -> Result<()> {
        let len = wide(text.as_bytes().len());
        if len > self.limits.text {
            return Err(over(Code::TextLimit, len, self.limits.text));
        }
        self.text(text)
    }

    /// X10, R3.
    pub(super) fn name(&mut self, text: TextRef<'_>) -> Result<()> {
        if text.as_bytes().is_empty() {
            return Err(Error::new(Code::BadName));
        }
        self.descriptor_text(text)
    }

    fn texts(&mut self, texts: &[TextRef<'_>], names: bool) -> Result<()> {
        self.array_head(texts.len())?;
        texts.iter().try_for_each(|&text| if names { self.name(text) } else { self.descriptor_text(text) })
    }

    /// X7, X8.
    fn frames(&mut self, frames: &[FrameParts<'_>]) -> Result<()> {
        if wide(frames.len()) > self.limits.frames {
            return Err(over(Code::FrameLimit, wide(frames.len()), self.limits.frames));
        }
        self.array_head(frames.len())?;
        for frame in frames {
            self.budget.charge(charge::FRAME)?;
            raw::array(&mut self.out, 7)?;
            self.descriptor_text(frame.file)?;
            for number in frame.position {
                match number {
                    Some(number) if number >= 1 << 31 => return Err(Error::new(Code::BadNumber)),
                    Some(number) => raw::unsigned(&mut self.out, u64::from(number))?,
                    None => memory::push(&mut self.out, NIL)?,
                }
            }
            self.descriptor_text(frame.function)?;
            match frame.source {
                Some(source) => self.descriptor_text(source)?,
                None => memory::push(&mut self.out, NIL)?,
            }
        }
        Ok(())
    }
}
