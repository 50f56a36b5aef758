//! Exception nodes: read inline, but for the values of args and fields, for which the main loop is left in charge.

use std::collections::HashSet;

use crate::error::{Code, Error, Result};
use crate::limits::{charge, over};
use crate::memory;
use crate::value::TextRef;
use crate::wire::cursor::Head;
use crate::wire::links::{self, Links};
use crate::wire::marker::leaf;
use crate::wire::{Build, EntryHead, EntryParts, FrameParts, wide};

use super::Reader;
use super::open::{Open, ReportState, Stage, What};

/// Elements of an entry (X2), and of a traceback frame (X8).
const ENTRY: u64 = 14;
const FRAME: u64 = 7;

/// Where a report begins, and what is owed to the containers around it: what X6 measures from.
#[derive(Clone, Copy)]
struct Extent<'b> {
    start: &'b [u8],
    below: u64,
}

impl<'b, B: Build> Reader<'_, 'b, B> {
    /// X1. The marker has been read, and V18 holds for the entries.
    pub(crate) fn open_report(&mut self, entries: u64, below: u64) -> Result<Option<B::Value>> {
        links::check_count(usize::try_from(entries).unwrap_or(usize::MAX), self.limits)?;
        self.admit(entries, 0)?;
        let state = ReportState {
            start: self.at,
            entries: Vec::new(),
            links: Vec::new(),
            head: None,
            args: Vec::new(),
            fields: Vec::new(),
            field: None,
            names: HashSet::new(),
            stage: Stage::Fields(0),
            entries_left: entries,
        };
        self.open(entries, below, What::Report(memory::boxed(state)?))?;
        self.continue_report()
    }

    /// Reads on inside the exception on top of the stack, up to the next value to be waited for, or to its end.
    pub(crate) fn continue_report(&mut self) -> Result<Option<B::Value>> {
        let Some(mut open) = self.stack.pop() else { return Ok(None) };
        let Open { left, below, what: What::Report(state), .. } = &mut open else { return Ok(None) };
        let mut owed = below.saturating_add(*left);
        let extent = Extent { start: state.start, below: *below };
        let ended = self.measure(extent, owed).and_then(|()| self.advance(state, extent, &mut owed));
        *left = owed.saturating_sub(*below);
        match ended {
            Ok(true) => {}
            Ok(false) => {
                memory::push(&mut self.stack, open)?;
                return Ok(None);
            }
            Err(error) => {
                memory::push(&mut self.stack, open)?;
                return Err(error);
            }
        }
        let What::Report(state) = open.what else { return Ok(None) };
        self.at = state.start;
        links::check(&state.links, self.limits)?;
        self.in_key = false;
        self.build.report(state.into_inner().entries).map(Some)
    }

    /// X6: the bytes read of a report, and one for each element that is `owed` to it, as V18 counts them.
    fn measure(&mut self, report: Extent<'b>, owed: u64) -> Result<()> {
        let read = wide(report.start.len().saturating_sub(self.cursor.rest.len()));
        let len = read.saturating_add(owed.saturating_sub(report.below));
        if len > self.limits.descriptor {
            self.at = report.start;
            return Err(over(Code::DescriptorLimit, len, self.limits.descriptor));
        }
        Ok(())
    }

    /// True at the end of the last entry, false when a value is to be read next. `owed` is kept as V18 counts it.
    fn advance(
        &mut self,
        state: &mut ReportState<'b, B::Value>,
        report: Extent<'b>,
        owed: &mut u64,
    ) -> Result<bool> {
        loop {
            match state.stage {
                Stage::Args(0) => {
                    let fields = self.map_head(owed)?;
                    self.measure(report, *owed)?;
                    self.budget.announce(fields)?;
                    state.stage = Stage::Fields(fields);
                }
                Stage::Args(_) => return Ok(false),
                Stage::Fields(0) => {
                    if let Some(head) = state.head.take() {
                        let (args, fields) =
                            (std::mem::take(&mut state.args), std::mem::take(&mut state.fields));
                        memory::push(&mut state.entries, EntryParts { head, args, fields })?;
                        state.names.clear();
                    }
                    match state.entries_left.checked_sub(1) {
                        None => return Ok(true),
                        Some(left) => state.entries_left = left,
                    }
                    let head = self.entry(state, report, owed)?;
                    memory::push(&mut state.links, Links::of(&head)?)?;
                    state.head = Some(head);
                    let args = self.report_list(report, owed)?;
                    self.budget.announce(args)?;
                    state.stage = Stage::Args(args);
                }
                Stage::Fields(_) => {
                    let name = self.descriptor_text(owed)?;
                    state.field = Some((name, self.at));
                    return Ok(false);
                }
            }
        }
    }

    /// Elements 0 to 11 of an entry: X2.
    fn entry(
        &mut self,
        state: &ReportState<'b, B::Value>,
        report: Extent<'b>,
        owed: &mut u64,
    ) -> Result<EntryHead<'b>> {
        let elements = self.report_list(report, owed)?;
        let index = wide(state.links.len());
        // This entry has been taken off those left.
        let total = index.saturating_add(state.entries_left).saturating_add(1);
        if elements != ENTRY {
            return Err(Error::new(Code::BadArity)
                .note(format_args!("entry {index} has {elements} elements, not 14")));
        }
        self.budget.charge(charge::EXCEPTION)?;
        Ok(EntryHead {
            module: self.name(owed)?,
            qualname: self.name(owed)?,
            bases: self.many_of(report, owed, Self::name)?,
            message: self.descriptor_text(owed)?,
            notes: self.many_of(report, owed, Self::descriptor_text)?,
            denials: self.many_of(report, owed, Self::descriptor_text)?,
            cut: self.many_of(report, owed, Self::descriptor_text)?,
            frames: self.frames(report, owed)?,
            suppress_context: self.flag(owed)?,
            cause: self.optional_link(owed, total)?,
            context: self.optional_link(owed, total)?,
            members: self.many_of(report, owed, |reader, owed| reader.link(owed, total))?,
        })
    }

    /// X7.
    fn frames(&mut self, report: Extent<'b>, owed: &mut u64) -> Result<Vec<FrameParts<'b>>> {
        let count = self.report_list(report, owed)?;
        if count > self.limits.frames {
            return Err(over(Code::FrameLimit, count, self.limits.frames));
        }
        memory::collect((0..count).map(|_| self.frame(report, owed)))
    }

    /// X8.
    fn frame(&mut self, report: Extent<'b>, owed: &mut u64) -> Result<FrameParts<'b>> {
        let elements = self.report_list(report, owed)?;
        if elements != FRAME {
            return Err(
                Error::new(Code::BadArity).note(format_args!("a frame has 7 elements, not {elements}"))
            );
        }
        self.budget.charge(charge::FRAME)?;
        let file = self.descriptor_text(owed)?;
        let mut position = [None; 4];
        for number in &mut position {
            *number = self.optional_number(owed)?;
        }
        let function = self.descriptor_text(owed)?;
        let source = match self.peek_nil(owed) {
            true => None,
            false => Some(self.descriptor_text(owed)?),
        };
        Ok(FrameParts { file, position, function, source })
    }

    /// An array of elements of one type, in a report.
    fn many_of<T>(
        &mut self,
        report: Extent<'b>,
        owed: &mut u64,
        one: impl Fn(&mut Self, &mut u64) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.report_list(report, owed)?;
        memory::collect((0..count).map(|_| one(self, owed)))
    }

    /// The head of an array in a report: before what it announces is made, V18 and X6 hold.
    fn report_list(&mut self, report: Extent<'b>, owed: &mut u64) -> Result<u64> {
        let count = self.list_head(owed)?;
        self.measure(report, *owed)?;
        Ok(count)
    }

    /// An array of elements of one type.
    pub(super) fn many<T>(
        &mut self,
        owed: &mut u64,
        one: impl Fn(&mut Self, &mut u64) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.list_head(owed)?;
        memory::collect((0..count).map(|_| one(self, owed)))
    }

    /// Steps onto the next inline element.
    pub(super) fn head(&mut self, owed: &mut u64) -> Result<Head> {
        self.at = self.cursor.rest;
        *owed = owed.saturating_sub(1);
        self.cursor.head()
    }

    pub(super) fn list_head(&mut self, owed: &mut u64) -> Result<u64> {
        let head = self.head(owed)?;
        let Head::Array(count) = head else {
            return Err(Error::new(Code::BadType).note("an array belongs here"));
        };
        self.claim_over(*owed, u64::from(count))?;
        if count != 0 && self.cursor.at_marker() {
            return Err(Error::new(Code::BadType).note("an array without a marker belongs here"));
        }
        *owed = owed.saturating_add(u64::from(count));
        Ok(u64::from(count))
    }

    /// X9.
    fn map_head(&mut self, owed: &mut u64) -> Result<u64> {
        let head = self.head(owed)?;
        let Head::Map(pairs) = head else { return Err(Error::new(Code::BadType).note("fields are a dict")) };
        let elements = u64::from(pairs).saturating_mul(2);
        self.claim_over(*owed, elements)?;
        *owed = owed.saturating_add(elements);
        Ok(u64::from(pairs))
    }

    /// X6, R2.
    pub(super) fn descriptor_text(&mut self, owed: &mut u64) -> Result<TextRef<'b>> {
        let (surrogates, len) = match self.head(owed)? {
            Head::Str(len) => (false, len),
            Head::Ext(leaf::SURROGATES, len) => (true, len),
            Head::Ext(..) | Head::Bin(_) | Head::Array(_) | Head::Map(_) | Head::Nil | Head::Bool(_) => {
                return Err(Error::new(Code::BadType).note("text belongs here"));
            }
            Head::Unsigned(_) | Head::Negative(_) | Head::Float(_) => {
                return Err(Error::new(Code::BadType).note("text belongs here"));
            }
        };
        let bytes = self.cursor.take(len)?;
        if u64::from(len) > self.limits.text {
            return Err(over(Code::TextLimit, u64::from(len), self.limits.text));
        }
        self.budget.charge(charge::text(u64::from(len), !surrogates && bytes.is_ascii()))?;
        if surrogates {
            self.check_surrogates(bytes)?;
            return Ok(TextRef::Surrogates(bytes));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(TextRef::Str(text)),
            Err(error) => Err(self.bad_utf8(bytes, error.valid_up_to())),
        }
    }

    /// X10, R3.
    pub(super) fn name(&mut self, owed: &mut u64) -> Result<TextRef<'b>> {
        let text = self.descriptor_text(owed)?;
        if text.as_bytes().is_empty() { Err(Error::new(Code::BadName)) } else { Ok(text) }
    }

    pub(super) fn flag(&mut self, owed: &mut u64) -> Result<bool> {
        match self.head(owed)? {
            Head::Bool(value) => Ok(value),
            _ => Err(Error::new(Code::BadType).note("a bool belongs here")),
        }
    }

    /// X3: the index of one of `total` entries.
    fn link(&mut self, owed: &mut u64, total: u64) -> Result<u32> {
        let Head::Unsigned(value) = self.head(owed)? else {
            return Err(Error::new(Code::BadType).note("an unsigned int belongs here"));
        };
        match u32::try_from(value) {
            Ok(link) if value < total => Ok(link),
            _ => Err(Error::new(Code::BadLink).note(format_args!("entry {value} of {total}"))),
        }
    }

    fn optional_link(&mut self, owed: &mut u64, total: u64) -> Result<Option<u32>> {
        if self.peek_nil(owed) { Ok(None) } else { self.link(owed, total).map(Some) }
    }

    /// An unsigned int below 2^31: a position (X8).
    pub(super) fn number(&mut self, owed: &mut u64) -> Result<u32> {
        let Head::Unsigned(value) = self.head(owed)? else {
            return Err(Error::new(Code::BadType).note("an unsigned int belongs here"));
        };
        match u32::try_from(value) {
            Ok(value) if value < 1 << 31 => Ok(value),
            _ => Err(Error::new(Code::BadNumber).note(format_args!("{value}"))),
        }
    }

    fn optional_number(&mut self, owed: &mut u64) -> Result<Option<u32>> {
        if self.peek_nil(owed) { Ok(None) } else { self.number(owed).map(Some) }
    }

    /// Steps over nil, if it is next.
    pub(super) fn peek_nil(&mut self, owed: &mut u64) -> bool {
        match self.cursor.rest {
            [0xc0, rest @ ..] => {
                self.cursor.rest = rest;
                *owed = owed.saturating_sub(1);
                true
            }
            _ => false,
        }
    }
}

/// Entries fit in memory that is charged for: an [`EntryHead`] is no larger than its charge.
const _: () = assert!(size_of::<EntryHead<'_>>() <= 400 && size_of::<FrameParts<'_>>() <= 160);
