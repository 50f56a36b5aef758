//! The one writer: a method per kind, each in its one canonical form.

use std::ops::Range;

use crate::array::{ArrayHead, Order, ScalarKind};
use crate::error::{Code, Error, Result};
use crate::frame::RegionCursor;
use crate::limits::{Budget, Limits, REGION_THRESHOLD, charge, over};
use crate::value::TextRef;
use crate::wire::links::{self, Links};
use crate::wire::marker::*;
use crate::wire::{BytesKind, EntryHead, FrameParts, SequenceKind, SetKind, keys, raw, size, wide};

/// Where [`Writer::bytes`] or [`Writer::array`] put a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// Into the body.
    Inline,
    /// Nowhere yet: the caller sends it as the next entry of the data region.
    Region,
}

/// Writes one body.
///
/// A container is opened with its exact length, its items are written, and its scope is given back. Nothing is back-patched, and
/// nothing leaves this process before the whole value has been written.
#[derive(Debug)]
pub struct Writer<'l> {
    out: Vec<u8>,
    base: usize,
    limits: &'l Limits,
    budget: Budget,
    region: RegionCursor,
    depth: u64,
    in_key: bool,
    /// Whether a NaN or a NumPy scalar was written in key position since the innermost table asked.
    odd: bool,
    /// Whether the caller's own tables hold no equal keys, odd ones aside.
    unique: bool,
}

/// A dict being written.
#[derive(Debug)]
pub struct MapScope {
    table: Table,
}

/// A set or frozenset being written.
#[derive(Debug)]
pub struct SetScope {
    table: Table,
    outer_key: bool,
    members: Vec<Range<usize>>,
}

/// An exception being written.
#[derive(Debug)]
pub struct ReportScope {
    start: usize,
    links: Vec<Links>,
}

/// What both tables need to refuse equal keys.
#[derive(Debug)]
struct Table {
    items: usize,
    done: u64,
    key: usize,
    outer_odd: bool,
    forms: Option<Box<keys::Forms<'static>>>,
}

impl<'l> Writer<'l> {
    /// A writer that appends a body to `out`.
    ///
    /// `unique` says that the caller's tables cannot hold equal keys (K4–K6) other than NaNs and NumPy scalars, as Python's cannot.
    pub fn new(out: Vec<u8>, limits: &'l Limits, unique: bool) -> Result<Self> {
        let mut budget = Budget::new(limits);
        budget.announce(1)?;
        let base = out.len();
        let region = RegionCursor::within(limits.region);
        Ok(Writer { out, base, limits, budget, region, depth: 0, in_key: false, odd: false, unique })
    }

    /// Ends the body: the buffer with the body appended, and the length of the data region.
    pub fn finish(self) -> Result<(Vec<u8>, u64)> {
        self.check_body()?;
        Ok((self.out, self.region.end()))
    }

    /// The bytes written so far, so that a failed encoding can give its buffer back.
    pub fn into_buffer(self) -> Vec<u8> {
        self.out
    }

    /// L2.
    fn check_body(&self) -> Result<()> {
        let len = wide(self.out.len().saturating_sub(self.base));
        if len > self.limits.body { Err(over(Code::BodyLimit, len, self.limits.body)) } else { Ok(()) }
    }

    /// Makes room, after looking whether the body may still grow by so much.
    fn room(&mut self, more: usize) -> Result<()> {
        let len = wide(self.out.len().saturating_sub(self.base).saturating_add(more));
        if len > self.limits.body {
            return Err(over(Code::BodyLimit, len, self.limits.body));
        }
        self.out.try_reserve(more).map_err(|_| Error::new(Code::OutOfMemory))
    }

    /// None.
    #[inline]
    pub fn none(&mut self) -> Result<()> {
        self.budget.charge(charge::ATOM)?;
        self.out.push(NIL);
        Ok(())
    }

    /// A bool.
    #[inline]
    pub fn bool(&mut self, value: bool) -> Result<()> {
        self.budget.charge(charge::ATOM)?;
        self.out.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    /// An int from 0 to 2^64-1 (V2).
    #[inline]
    pub fn unsigned(&mut self, value: u64) -> Result<()> {
        self.budget.charge(charge::INT)?;
        raw::unsigned(&mut self.out, value);
        Ok(())
    }

    /// An int that an `i64` holds (V2).
    #[inline]
    pub fn signed(&mut self, value: i64) -> Result<()> {
        self.budget.charge(charge::INT)?;
        match u64::try_from(value) {
            Ok(value) => raw::unsigned(&mut self.out, value),
            Err(_) => raw::negative(&mut self.out, value),
        }
        Ok(())
    }

    /// An int beyond 64 bits: sign and magnitude without leading zeros (V8). Smaller ones take their native form.
    pub fn big_int(&mut self, negative: bool, magnitude: &[u8]) -> Result<()> {
        let zeros = magnitude.iter().take_while(|&&byte| byte == 0).count();
        let magnitude = magnitude.get(zeros..).unwrap_or_default();
        if let (true, Some(small)) =
            (crate::value::fits_native(negative, magnitude), crate::value::to_u64(magnitude))
        {
            return if negative { self.signed(0i64.wrapping_sub_unsigned(small)) } else { self.unsigned(small) };
        }
        let len = wide(magnitude.len());
        if len > self.limits.int_bytes {
            return Err(over(Code::IntLimit, len, self.limits.int_bytes));
        }
        self.budget.charge(charge::big_int(len.saturating_add(1)))?;
        self.room(magnitude.len().saturating_add(8))?;
        raw::big_int(&mut self.out, negative, magnitude);
        Ok(())
    }

    /// A float (V5).
    #[inline]
    pub fn float(&mut self, value: f64) -> Result<()> {
        self.budget.charge(charge::FLOAT)?;
        self.odd |= self.in_key && value.is_nan();
        raw::float(&mut self.out, value);
        Ok(())
    }

    /// A complex number (V9).
    pub fn complex(&mut self, re: f64, im: f64) -> Result<()> {
        self.budget.charge(charge::COMPLEX)?;
        self.odd |= self.in_key && (re.is_nan() || im.is_nan());
        raw::complex(&mut self.out, re, im);
        Ok(())
    }

    /// Text without surrogates.
    #[inline]
    pub fn str(&mut self, text: &str) -> Result<()> {
        self.utf8(text, text.is_ascii())
    }

    /// The same where the caller knows whether it is ASCII.
    #[inline]
    pub fn utf8(&mut self, text: &str, ascii: bool) -> Result<()> {
        self.budget.charge(charge::text(wide(text.len()), ascii))?;
        if text.len() > 64 {
            self.check_length(text.len())?;
            self.room(text.len().saturating_add(8))?;
        }
        raw::str(&mut self.out, text);
        Ok(())
    }

    /// Text with surrogates, or without: generalised UTF-8 (V7).
    pub fn text(&mut self, text: TextRef<'_>) -> Result<()> {
        match text {
            TextRef::Str(text) => self.str(text),
            TextRef::Surrogates(bytes) => {
                self.budget.charge(charge::text(wide(bytes.len()), false))?;
                self.check_length(bytes.len())?;
                self.room(bytes.len().saturating_add(8))?;
                raw::ext(&mut self.out, leaf::SURROGATES, bytes);
                Ok(())
            }
        }
    }

    /// bytes or bytearray of this length and, where they go into the body, these contents (V10, V11).
    pub fn bytes(&mut self, kind: BytesKind, contents: &[u8]) -> Result<Placed> {
        if self.in_key && kind == BytesKind::ByteArray {
            return Err(Error::new(Code::NotKeyable));
        }
        if wide(contents.len()) >= REGION_THRESHOLD && !self.in_key {
            self.budget.charge(charge::bytes(0))?;
            self.region.next(wide(contents.len()))?;
            let leaf = match kind {
                BytesKind::Bytes => leaf::REGION_BYTES,
                BytesKind::ByteArray => leaf::REGION_BYTEARRAY,
            };
            raw::ext(&mut self.out, leaf, &wide(contents.len()).to_be_bytes());
            return Ok(Placed::Region);
        }
        self.budget.charge(charge::bytes(wide(contents.len())))?;
        self.check_length(contents.len())?;
        self.room(contents.len().saturating_add(8))?;
        match kind {
            BytesKind::Bytes => raw::bin(&mut self.out, contents),
            BytesKind::ByteArray => raw::ext(&mut self.out, leaf::BYTEARRAY, contents),
        }
        Ok(Placed::Inline)
    }

    /// A list or tuple of `len` items, to be written next; closed by [`Writer::end_sequence`].
    pub fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<()> {
        if self.in_key && kind == SequenceKind::List {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::SEQUENCE, wide(len))?;
        match kind {
            SequenceKind::List => self.array_head(len)?,
            SequenceKind::Tuple => self.node(Node::Tuple, len)?,
        }
        Ok(())
    }

    /// Closes a list or tuple.
    pub fn end_sequence(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A dict of `len` pairs (V16): for each, [`Writer::key`], the key, [`Writer::value`], the value.
    pub fn map(&mut self, len: usize) -> Result<MapScope> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::table(charge::DICT, wide(len)), wide(len).saturating_mul(2))?;
        self.map_head(len)?;
        Ok(MapScope { table: self.table() })
    }

    /// The next thing written is a key.
    #[inline]
    pub fn key(&mut self, map: &mut MapScope) {
        self.in_key = true;
        map.table.key = self.out.len();
    }

    /// The key is written; the next thing is its value.
    #[inline]
    pub fn value(&mut self, map: &mut MapScope) -> Result<()> {
        self.in_key = false;
        self.admit(&mut map.table, true)
    }

    /// Closes a dict.
    pub fn end_map(&mut self, map: MapScope) {
        self.depth = self.depth.saturating_sub(1);
        // A dict is never part of a key, so what was odd in its keys ends with it.
        self.odd = map.table.outer_odd;
    }

    /// A set or frozenset of `len` members: for each, the member and [`Writer::member`].
    pub fn set(&mut self, kind: SetKind, len: usize) -> Result<SetScope> {
        if self.in_key && kind == SetKind::Set {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::table(charge::SET, wide(len)), wide(len))?;
        let node = match kind {
            SetKind::Set => Node::Set,
            SetKind::FrozenSet => Node::FrozenSet,
        };
        self.node(node, len)?;
        let outer_key = std::mem::replace(&mut self.in_key, true);
        Ok(SetScope { table: self.table(), outer_key, members: Vec::with_capacity(len.min(1024)) })
    }

    /// A member is written.
    #[inline]
    pub fn member(&mut self, set: &mut SetScope) -> Result<()> {
        let end = self.out.len();
        set.members.push(set.table.key..end);
        self.admit(&mut set.table, false)?;
        set.table.key = end;
        Ok(())
    }

    /// Closes a set: puts its members in order (V15).
    pub fn end_set(&mut self, mut set: SetScope) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        self.in_key = set.outer_key;
        self.odd = set.table.outer_odd || (self.odd && self.in_key);
        let out = &self.out;
        let bytes = |range: &Range<usize>| out.get(range.clone()).unwrap_or_default();
        if set.members.is_sorted_by(|a, b| bytes(a) < bytes(b)) {
            return Ok(());
        }
        set.members.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
        if !set.members.is_sorted_by(|a, b| bytes(a) < bytes(b)) {
            return Err(Error::new(Code::DuplicateKey));
        }
        let mut sorted = Vec::new();
        let len = self.out.len().saturating_sub(set.table.items);
        sorted.try_reserve_exact(len).map_err(|_| Error::new(Code::OutOfMemory))?;
        set.members.iter().for_each(|member| sorted.extend_from_slice(bytes(member)));
        self.out.truncate(set.table.items);
        self.out.extend_from_slice(&sorted);
        Ok(())
    }

    /// An array (A1): its bytes follow by [`Writer::array_data`] when this says [`Placed::Inline`].
    pub fn array(&mut self, head: &ArrayHead) -> Result<Placed> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        let (shape, nbytes) = (head.shape().dimensions(), head.nbytes());
        let placed = if nbytes < REGION_THRESHOLD { Placed::Inline } else { Placed::Region };
        let inline = if placed == Placed::Inline { nbytes } else { 0 };
        self.open(charge::array(wide(shape.len()), inline), 0)?;
        self.depth = self.depth.saturating_sub(1);
        self.node(Node::Array, 4)?;
        let (dtype, len) = head.dtype().payload();
        raw::ext(&mut self.out, leaf::DTYPE, dtype.get(..len).unwrap_or_default());
        raw::unsigned(&mut self.out, u64::from(head.shape().order() == Order::F));
        self.array_head(shape.len())?;
        shape.iter().for_each(|&extent| raw::unsigned(&mut self.out, extent));
        match placed {
            Placed::Region => {
                self.region.next(nbytes)?;
                self.out.push(NIL);
            }
            Placed::Inline => {
                let len = u32::try_from(nbytes).map_err(|_| Error::new(Code::BodyLimit))?;
                self.room(size(len).saturating_add(8))?;
                raw::bin_head(&mut self.out, len);
            }
        }
        Ok(placed)
    }

    /// The next bytes of an array that is inline; all together exactly as many as its head says.
    pub fn array_data(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// A NumPy scalar of its wire payload (A9), which the caller has made right.
    pub fn scalar(&mut self, kind: ScalarKind, payload: &[u8]) -> Result<()> {
        if self.in_key && !kind.is_keyable() {
            return Err(Error::new(Code::NotKeyable));
        }
        self.budget.charge(charge::scalar(wide(payload.len()), kind == ScalarKind::Str))?;
        self.check_length(payload.len())?;
        self.room(payload.len().saturating_add(8))?;
        self.odd |= self.in_key;
        raw::ext(&mut self.out, kind.ext(), payload);
        Ok(())
    }

    /// An exception of `entries` entries (X1): each by [`Writer::entry`].
    pub fn report(&mut self, entries: usize) -> Result<ReportScope> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        let start = self.out.len();
        links::check_count(entries, self.limits)?;
        self.open(0, wide(entries))?;
        self.node(Node::Exception, entries)?;
        Ok(ReportScope { start, links: Vec::with_capacity(entries) })
    }

    /// Elements 0 to 11 of an entry, and the head of `args`: that many values follow, then [`Writer::fields`].
    pub fn entry(&mut self, report: &mut ReportScope, entry: &EntryHead<'_>, args: usize) -> Result<()> {
        self.budget.charge(charge::EXCEPTION)?;
        raw::array(&mut self.out, 14);
        self.name(entry.module)?;
        self.name(entry.qualname)?;
        self.texts(&entry.bases, true)?;
        self.descriptor_text(entry.message)?;
        self.texts(&entry.notes, false)?;
        self.texts(&entry.denials, false)?;
        self.texts(&entry.cut, false)?;
        self.frames(&entry.frames)?;
        self.out.push(if entry.suppress_context { TRUE } else { FALSE });
        for link in [entry.cause, entry.context] {
            match link {
                Some(to) => raw::unsigned(&mut self.out, u64::from(to)),
                None => self.out.push(NIL),
            }
        }
        self.array_head(entry.members.len())?;
        entry.members.iter().for_each(|&to| raw::unsigned(&mut self.out, u64::from(to)));
        report.links.push(Links::of(entry));
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

    /// X10.
    fn name(&mut self, text: TextRef<'_>) -> Result<()> {
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
            raw::array(&mut self.out, 7);
            self.descriptor_text(frame.file)?;
            for number in frame.position {
                match number {
                    Some(number) if number >= 1 << 31 => return Err(Error::new(Code::BadNumber)),
                    Some(number) => raw::unsigned(&mut self.out, u64::from(number)),
                    None => self.out.push(NIL),
                }
            }
            self.descriptor_text(frame.function)?;
            match frame.source {
                Some(source) => self.descriptor_text(source)?,
                None => self.out.push(NIL),
            }
        }
        Ok(())
    }

    /// Opens a container: V17, and its charge with that of what it announces.
    fn open(&mut self, cost: u64, values: u64) -> Result<()> {
        if self.depth >= self.limits.depth {
            return Err(over(Code::DepthLimit, self.depth.saturating_add(1), self.limits.depth));
        }
        self.budget.announce(values)?;
        self.budget.charge(cost)?;
        self.check_body()?;
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }

    fn array_head(&mut self, len: usize) -> Result<()> {
        let count = self.count(len)?;
        raw::array(&mut self.out, count);
        Ok(())
    }

    fn map_head(&mut self, len: usize) -> Result<()> {
        let count = self.count(len)?;
        raw::map(&mut self.out, count);
        Ok(())
    }

    fn node(&mut self, node: Node, items: usize) -> Result<()> {
        self.array_head(items.saturating_add(1))?;
        self.out.extend_from_slice(&node.marker());
        Ok(())
    }

    /// A length as MessagePack can write it.
    fn count(&self, len: usize) -> Result<u32> {
        u32::try_from(len).map_err(|_| over(Code::BodyLimit, wide(len), self.limits.body))
    }

    fn check_length(&self, len: usize) -> Result<()> {
        self.count(len).map(|_| ())
    }

    fn table(&mut self) -> Table {
        let (items, outer_odd) = (self.out.len(), std::mem::replace(&mut self.odd, false));
        Table { items, done: 0, key: items, outer_odd, forms: None }
    }

    /// K3: refuses a key whose form came before.
    #[inline]
    fn admit(&mut self, table: &mut Table, is_map: bool) -> Result<()> {
        let key = self.out.get(table.key..).unwrap_or_default();
        if keys::is_compound(key) {
            self.budget.charge(wide(key.len()))?;
        }
        if (self.odd || !self.unique) && !self.is_new(table, is_map)? {
            return Err(Error::new(Code::DuplicateKey));
        }
        table.done = table.done.saturating_add(1);
        Ok(())
    }

    fn is_new(&self, table: &mut Table, is_map: bool) -> Result<bool> {
        if table.forms.is_none() {
            let items = self.out.get(table.items..table.key).unwrap_or_default();
            table.forms = Some(Box::new(keys::Forms::of_prior(items, table.done, is_map)?.into_owned()));
        }
        let key = self.out.get(table.key..).unwrap_or_default();
        table.forms.as_mut().map_or(Ok(true), |forms| forms.add_owned(key))
    }
}
