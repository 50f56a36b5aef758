//! The one writer: a method per kind, each in its one canonical form.

use std::ops::Range;

use crate::error::{Code, Error, Result};
use crate::frame::RegionCursor;
use crate::limits::{Budget, Limits, charge, over};
use crate::memory::{self, Boxed, Full};
use crate::wire::links::Links;
use crate::wire::marker::Node;
use crate::wire::{MapKind, SequenceKind, SetKind, keys, raw, wide};

mod array;
mod arrays;
mod leaf;
mod record;
mod report;
mod standard;

/// More than the longest head that MessagePack has, of an ext with four bytes of length and the sign of an int behind it.
const HEAD: usize = 8;

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
    /// What was written in key position since the innermost table asked.
    marks: keys::Marks,
    forms: keys::Maker,
    /// Members of all open sets, the innermost one's last.
    members: Vec<Member>,
    /// Members of a set in order, before they take the place of those that are not.
    sorted: Vec<u8>,
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
    /// Where its members begin among those of all open sets.
    members: usize,
}

/// Where the bytes of a member are. They are compared by the first eight, and by all where these are equal: no encoding is the beginning of
/// another, so the zeros behind a short one do not matter.
#[derive(Debug)]
struct Member {
    first: u64,
    bytes: Range<usize>,
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
    outer: keys::Marks,
    forms: Option<Boxed<keys::Forms<'static>>>,
}

impl<'l> Writer<'l> {
    /// A writer that appends a body to `out`.
    ///
    /// `unique` says that the caller's tables cannot hold equal keys (K4–K6) other than NaNs and NumPy scalars, as Python's cannot.
    #[inline]
    pub fn new(out: Vec<u8>, limits: &'l Limits, unique: bool) -> Result<Self> {
        let mut budget = Budget::new(limits);
        budget.announce(1)?;
        let base = out.len();
        let region = RegionCursor::within(limits.region);
        Ok(Writer {
            out,
            base,
            limits,
            budget,
            region,
            depth: 0,
            in_key: false,
            marks: keys::Marks::default(),
            forms: keys::Maker::new(limits.int_bytes),
            members: Vec::new(),
            sorted: Vec::new(),
            unique,
        })
    }

    /// Ends the body: the buffer with the body appended, and the length of the data region.
    pub fn finish(mut self) -> Result<(Vec<u8>, u64)> {
        self.end()
    }

    /// The same where the writer stays, and is good for nothing any more: to move it takes longer than all else here.
    #[inline]
    pub fn end(&mut self) -> Result<(Vec<u8>, u64)> {
        self.check_body()?;
        Ok((std::mem::take(&mut self.out), self.region.end()))
    }

    /// The bytes written so far, so that a failed encoding can give its buffer back.
    #[inline]
    pub fn into_buffer(self) -> Vec<u8> {
        self.out
    }

    /// L2.
    #[inline(always)]
    fn check_body(&self) -> Result<()> {
        let len = wide(self.out.len().saturating_sub(self.base));
        if len > self.limits.body { Err(over(Code::BodyLimit, len, self.limits.body)) } else { Ok(()) }
    }

    /// Makes room for a payload and the head before it, if the body may still grow by the payload (L2). The head is left to
    /// [`Writer::finish`], which weighs every byte: here it is not known how short it is.
    fn room(&mut self, payload: usize) -> Result<()> {
        let len = wide(self.out.len().saturating_sub(self.base).saturating_add(payload));
        if len > self.limits.body {
            return Err(over(Code::BodyLimit, len, self.limits.body));
        }
        self.out.try_reserve(payload.saturating_add(HEAD)).map_err(|_| Full.into())
    }

    /// A sequence of `len` items (V14, D15, D16), to be written next; closed by [`Writer::end_sequence`].
    #[inline(always)]
    pub fn sequence(&mut self, kind: SequenceKind, len: usize) -> Result<()> {
        if self.in_key && kind != SequenceKind::Tuple {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::sequence(kind), wide(len))?;
        match kind {
            SequenceKind::List => self.array_head(len)?,
            SequenceKind::Tuple => self.node(Node::Tuple, len)?,
            SequenceKind::Slice if len == 3 => self.node(Node::Slice, len)?,
            SequenceKind::Slice => return Err(Error::new(Code::BadArity)),
            SequenceKind::Deque(maxlen) => self.deque(maxlen, len)?,
        }
        Ok(())
    }

    /// Closes a sequence.
    #[inline]
    pub fn end_sequence(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// A dict of any kind of `len` pairs (V16, D17): for each, [`Writer::key`], the key, [`Writer::value`], the value. That the values
    /// of a Counter are numbers is the caller's to see to.
    #[inline(always)]
    pub fn map(&mut self, kind: MapKind, len: usize) -> Result<MapScope> {
        if self.in_key {
            return Err(Error::new(Code::NotKeyable));
        }
        self.open(charge::map(kind, wide(len)), wide(len).saturating_mul(2))?;
        match kind {
            MapKind::Dict => {}
            MapKind::OrderedDict => self.node(Node::OrderedDict, 1)?,
            MapKind::Counter => self.node(Node::Counter, 1)?,
        }
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

    /// A key that is text of ASCII, whole: [`Writer::key`], the text, [`Writer::value`].
    #[inline(always)]
    pub fn ascii_key(&mut self, map: &mut MapScope, text: &str) -> Result<()> {
        map.table.key = self.out.len();
        self.ascii(text)?;
        // Text is neither compound nor odd.
        if self.unique && self.marks.is_empty() && self.forms.is_empty() {
            map.table.done = map.table.done.saturating_add(1);
            return Ok(());
        }
        self.admit_special(&mut map.table, true)
    }

    /// Closes a dict.
    #[inline]
    pub fn end_map(&mut self, map: MapScope) {
        self.depth = self.depth.saturating_sub(1);
        // A dict is never part of a key, so the marks of its keys end with it.
        self.marks = map.table.outer;
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
        Ok(SetScope { table: self.table(), outer_key, members: self.members.len() })
    }

    /// A member is written.
    #[inline]
    pub fn member(&mut self, set: &mut SetScope) -> Result<()> {
        let end = self.out.len();
        let bytes = set.table.key..end;
        let written = self.out.get(bytes.clone()).unwrap_or_default();
        let first =
            written.first_chunk().map_or_else(|| first_of(written), |first| u64::from_be_bytes(*first));
        memory::push(&mut self.members, Member { first, bytes })?;
        self.admit(&mut set.table, false)?;
        set.table.key = end;
        Ok(())
    }

    /// Closes a set: puts its members in order (V15).
    pub fn end_set(&mut self, set: SetScope) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        self.in_key = set.outer_key;
        if !self.in_key {
            self.forms.forget();
        }
        let inner = if self.in_key { self.marks } else { keys::Marks::default() };
        self.marks = set.table.outer.and(inner);
        let sorted = self.sort_members(&set);
        self.members.truncate(set.members);
        sorted
    }

    fn sort_members(&mut self, set: &SetScope) -> Result<()> {
        let members = self.members.get_mut(set.members..).unwrap_or_default();
        let out = &self.out;
        let bytes = |member: &Member| out.get(member.bytes.clone()).unwrap_or_default();
        let order = |a: &Member, b: &Member| a.first.cmp(&b.first).then_with(|| bytes(a).cmp(bytes(b)));
        if members.is_sorted_by(|a, b| order(a, b).is_lt()) {
            return Ok(());
        }
        members.sort_unstable_by(order);
        if !members.is_sorted_by(|a, b| order(a, b).is_lt()) {
            return Err(Error::new(Code::DuplicateKey));
        }
        self.sorted.clear();
        members.iter().try_for_each(|member| memory::extend(&mut self.sorted, bytes(member)))?;
        self.out.truncate(set.table.items);
        memory::extend(&mut self.out, &self.sorted)?;
        Ok(())
    }

    /// Opens a container: V17, and its charge with that of what it announces.
    #[inline(always)]
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

    #[inline(always)]
    fn array_head(&mut self, len: usize) -> Result<()> {
        let count = self.count(len)?;
        raw::array(&mut self.out, count)?;
        Ok(())
    }

    #[inline(always)]
    fn map_head(&mut self, len: usize) -> Result<()> {
        let count = self.count(len)?;
        raw::map(&mut self.out, count)?;
        Ok(())
    }

    #[inline(always)]
    fn node(&mut self, node: Node, items: usize) -> Result<()> {
        self.array_head(items.saturating_add(1))?;
        memory::extend(&mut self.out, &node.marker())?;
        Ok(())
    }

    /// A length as MessagePack can write it.
    #[inline(always)]
    fn count(&self, len: usize) -> Result<u32> {
        u32::try_from(len).map_err(|_| over(Code::BodyLimit, wide(len), self.limits.body))
    }

    fn check_length(&self, len: usize) -> Result<()> {
        self.count(len).map(|_| ())
    }

    #[inline(always)]
    fn table(&mut self) -> Table {
        let (items, outer) = (self.out.len(), std::mem::take(&mut self.marks));
        Table { items, done: 0, key: items, outer, forms: None }
    }

    /// K3: refuses a key whose form came before.
    #[inline]
    fn admit(&mut self, table: &mut Table, is_map: bool) -> Result<()> {
        let key = self.out.get(table.key..).unwrap_or_default();
        if self.unique && self.marks.is_empty() && !keys::is_compound(key) && self.forms.is_empty() {
            table.done = table.done.saturating_add(1);
            return Ok(());
        }
        self.admit_special(table, is_map)
    }

    /// The same for a key that is compound or has a mark, or where all forms are compared.
    #[inline(never)]
    fn admit_special(&mut self, table: &mut Table, is_map: bool) -> Result<()> {
        let key = self.out.get(table.key..).unwrap_or_default();
        if keys::is_compound(key) {
            self.budget.charge(charge::compound_key(wide(key.len())))?;
        }
        self.marks.check()?;
        if (self.marks.odd || !self.unique) && !self.is_new(table, is_map)? {
            return Err(Error::new(Code::DuplicateKey));
        }
        if is_map {
            self.forms.forget();
        }
        table.done = table.done.saturating_add(1);
        Ok(())
    }

    fn is_new(&mut self, table: &mut Table, is_map: bool) -> Result<bool> {
        if table.forms.is_none() {
            let items = self.out.get(table.items..table.key).unwrap_or_default();
            let prior = keys::Forms::of_prior_owned(items, table.done, is_map, &mut self.forms)?;
            table.forms = Some(memory::boxed(prior)?);
        }
        let key = self.out.get(table.key..).unwrap_or_default();
        table.forms.as_mut().map_or(Ok(true), |forms| forms.add_owned(key, &mut self.forms))
    }
}

/// Fewer than eight bytes as the first of eight, zeros after them.
fn first_of(bytes: &[u8]) -> u64 {
    let word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let missing = 8usize.saturating_sub(bytes.len());
    word.checked_shl(u32::try_from(missing).unwrap_or(8).saturating_mul(8)).unwrap_or_default()
}
