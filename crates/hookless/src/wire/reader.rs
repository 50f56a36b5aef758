//! The one reader: walks a body once, without recursion, and checks everything.

use crate::array::ElementCheck;
use crate::error::{Code, Error, Result};
use crate::frame::{FrameKind, HEAD_LEN, Head as FrameHead, RegionCursor};
use crate::limits::{Budget, Limits, charge, over};
use crate::memory;
use crate::value::RecordKind;
use crate::wire::cursor::{Cursor, Head};
use crate::wire::marker::Node;
use crate::wire::{Build, MapKind, SequenceKind, SetKind, keys, wide};
use open::{Open, Table, What};

mod arrays;
mod leaf;
mod ndarray;
mod open;
mod record;
mod report;
mod short;
mod short_array;
mod standard;

pub use open::push_name;
pub(crate) use open::{push_index, push_text};

/// What the data region must hold, in order: known once the body has been read.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    slots: Vec<Slot>,
    charged: u64,
}

/// One entry of the data region.
#[derive(Debug, Clone)]
pub struct Slot {
    /// From the first byte of the region; a multiple of 64.
    pub offset: u64,
    /// In bytes.
    pub len: u64,
    check: ElementCheck,
}

impl Slot {
    /// Where the entry's bytes hold the first element that NumPy could not hold (A10).
    pub fn find_bad(&self, bytes: &[u8]) -> Option<u64> {
        self.check.find_bad(bytes)
    }
}

impl Plan {
    /// The entries, in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What the body was charged (L4), without its region.
    pub fn charged(&self) -> u64 {
        self.charged
    }
}

/// Reads the body of a frame whose head has been checked, and drives `build`.
///
/// Gives the value, and the plan of the data region when there is one: the value may not reach a user before each slot of the plan
/// has been filled and checked.
///
/// # Errors
/// Every rule of `proto/values.md`, `arrays.md`, `exceptions.md` and `limits.md`, with the offset from the frame's first byte.
pub fn read<B: Build>(
    body: &[u8],
    head: &FrameHead,
    limits: &Limits,
    build: &mut B,
) -> Result<(B::Value, Plan)> {
    let mut plan = Plan::default();
    let value = read_into(body, head, limits, build, &mut plan)?;
    Ok((value, plan))
}

/// The same where the plan, so far empty, has its place: to hand it on takes a part of what a small body takes.
///
/// # Errors
/// As [`read()`].
#[inline]
pub fn read_into<B: Build>(
    body: &[u8],
    head: &FrameHead,
    limits: &Limits,
    build: &mut B,
    plan: &mut Plan,
) -> Result<B::Value> {
    let cursor = Cursor::new(body, wide(HEAD_LEN));
    let mut reader = Reader {
        at: cursor.rest,
        cursor,
        build,
        limits,
        budget: Budget::new(limits),
        region: RegionCursor::over(head.data_len),
        plan,
        stack: Vec::new(),
        in_key: false,
        forms: keys::Maker::new(limits.int_bytes),
        ticks: 0,
    };
    match reader.run(head.kind) {
        Ok(value) => {
            reader.plan.charged = limits.memory.saturating_sub(reader.budget.memory());
            Ok(value)
        }
        Err(error) => Err(reader.locate(error)),
    }
}

pub(crate) struct Reader<'r, 'b, B: Build> {
    pub(crate) cursor: Cursor<'b>,
    /// The body from the value being read, for the offset of an error that has none.
    pub(crate) at: &'b [u8],
    pub(crate) build: &'r mut B,
    pub(crate) limits: &'r Limits,
    pub(crate) budget: Budget,
    region: RegionCursor,
    plan: &'r mut Plan,
    pub(crate) stack: Vec<Open<'b, B>>,
    /// Whether the next value is in key position (K1).
    pub(crate) in_key: bool,
    forms: keys::Maker,
    ticks: u16,
}

impl<'b, B: Build> Reader<'_, 'b, B> {
    fn run(&mut self, kind: FrameKind) -> Result<B::Value> {
        self.budget.announce(1)?;
        if kind == FrameKind::Error {
            self.expect_exception()?;
        }
        loop {
            let complete = if self.in_key { self.short_pairs()? } else { self.plain_items()? };
            let value = if complete.is_some() { complete } else { self.next()? };
            if let Some(value) = value
                && let Some(root) = self.deliver(value)?
            {
                return self.finish(root);
            }
        }
    }

    /// V1, F12.
    fn finish(&mut self, root: B::Value) -> Result<B::Value> {
        self.at = self.cursor.rest;
        if !self.cursor.rest.is_empty() {
            return Err(
                Error::new(Code::TrailingBytes).note(format_args!("{} bytes", self.cursor.rest.len()))
            );
        }
        self.region.finish()?;
        Ok(root)
    }

    /// S7: an ERROR frame holds an exception and nothing else.
    fn expect_exception(&self) -> Result<()> {
        let rest = match self.cursor.rest {
            [0x90..=0x9f, rest @ ..] | [0xdc, _, _, rest @ ..] | [0xdd, _, _, _, _, rest @ ..] => rest,
            _ => &[],
        };
        match rest.starts_with(&Node::Exception.marker()) {
            true => Ok(()),
            false => Err(Error::new(Code::BadType).note("an ERROR frame holds an exception")),
        }
    }

    /// Adds to an error what only the reader knows: where it was.
    #[cold]
    fn locate(&self, error: Error) -> Error {
        error.or_at(self.cursor.offset_of(self.at)).or_path(|path| {
            path.push('$');
            self.stack.iter().for_each(|open| open.step(path));
        })
    }

    /// Reads one value: a finished one, or none when a container was opened.
    #[inline]
    fn next(&mut self) -> Result<Option<B::Value>> {
        let mut rest = self.cursor.rest();
        self.at = rest.bytes;
        self.build.enter(rest.offset(), self.stack.len());
        let head = rest.head()?;
        self.cursor.rest = rest.bytes;
        let value = match head {
            Head::Float(bits) if self.in_key && keys::is_nan(bits) => {
                self.budget.charge(charge::FLOAT)?;
                self.mark(keys::Marks::ODD)?;
                self.build.float(f64::from_bits(bits))?
            }
            Head::Array(count) => return self.open_array(count),
            Head::Map(pairs) => return self.open_map(MapKind::Dict, u64::from(pairs)),
            Head::Bin(len) => self.bin(len)?,
            Head::Ext(ext, len) => self.leaf(ext, len)?,
            plain => {
                let value = short::plain(plain, &mut rest, &mut self.budget, self.build, self.in_key)?;
                self.cursor.rest = rest.bytes;
                value
            }
        };
        Ok(Some(value))
    }

    /// Hands a finished value to the container that waits for it; the root, when none does.
    #[inline]
    fn deliver(&mut self, mut value: B::Value) -> Result<Option<B::Value>> {
        tick(&mut self.ticks, self.build)?;
        loop {
            self.build.leave(&value, self.cursor.offset());
            let Some(top) = self.stack.last_mut() else { return Ok(Some(value)) };
            match &mut top.what {
                What::Sequence { list, .. } => {
                    self.build.push(list, value)?;
                    self.in_key = top.in_key;
                }
                What::Objects { list, .. } => {
                    self.build.push(list, value)?;
                    self.in_key = false;
                }
                What::Map { kind, map, key, table } => match key.take() {
                    None => {
                        let bytes = table.close_key(self.cursor.rest);
                        if keys::is_compound(bytes) {
                            self.at = table.at;
                            self.budget.charge(charge::compound_key(wide(bytes.len())))?;
                        }
                        *key = Some(value);
                        self.in_key = false;
                        if *kind == MapKind::Counter {
                            self.at = self.cursor.rest;
                            standard::check_count(self.at)?;
                        }
                    }
                    Some(found) => {
                        self.at = table.at;
                        put(
                            self.build,
                            map,
                            (found, keys::int_of(table.key), value),
                            table,
                            top.items,
                            &mut self.forms,
                        )?;
                        table.at = self.cursor.rest;
                        self.in_key = true;
                    }
                },
                What::Set { set, table, previous } => {
                    let bytes = table.close_key(self.cursor.rest);
                    self.at = table.at;
                    if *previous >= bytes {
                        let equal = *previous == bytes;
                        return Err(Error::new(if equal { Code::DuplicateKey } else { Code::UnorderedSet }));
                    }
                    if keys::is_compound(bytes) {
                        self.budget.charge(charge::compound_key(wide(bytes.len())))?;
                    }
                    let new = is_new::<B>(table, top.items, false, &mut self.forms)?;
                    if !top.in_key {
                        self.forms.forget();
                    }
                    if !new || !self.build.add(set, value)? {
                        return Err(Error::new(duplicate(table.marks.odd, new)));
                    }
                    table.done = table.done.saturating_add(1);
                    table.at = self.cursor.rest;
                    *previous = bytes;
                    self.in_key = true;
                }
                What::Record(_) => {
                    match self.deliver_to_record(value)? {
                        Some(done) => value = done,
                        None => return Ok(None),
                    }
                    continue;
                }
                What::Report(state) => {
                    if let Some(name) = state.accept(value)? {
                        self.at = name;
                        return Err(Error::new(Code::DuplicateKey));
                    }
                    self.in_key = false;
                    top.left = top.left.saturating_sub(1);
                    match self.continue_report()? {
                        Some(done) => value = done,
                        None => return Ok(None),
                    }
                    continue;
                }
            }
            top.left = top.left.saturating_sub(1);
            if top.left != 0 {
                return Ok(None);
            }
            let Some(done) = self.stack.pop() else { return Ok(None) };
            value = match done.what {
                What::Sequence { list, .. } => self.build.finish_sequence(list)?,
                What::Objects { list, shape, .. } => self.build.finish_objects(list, shape)?,
                What::Map { map, .. } => self.build.finish_map(map)?,
                What::Set { set, .. } => self.build.finish_set(set)?,
                // Taken off the stack by `deliver_to_record` and `continue_report` alone.
                What::Record(_) | What::Report(_) => return Ok(None),
            };
        }
    }

    /// Says to each table around a value in key position what it is (K8), and whether forms must be compared there.
    #[cold]
    fn mark(&mut self, marks: keys::Marks) -> Result<()> {
        for open in self.stack.iter_mut().rev() {
            let all = open.marks.and(marks);
            if all == std::mem::replace(&mut open.marks, all) {
                return Ok(());
            }
            if let What::Map { table, .. } | What::Set { table, .. } = &mut open.what {
                table.marks = table.marks.and(marks);
                table.marks.check()?;
            }
            if !open.in_key {
                return Ok(());
            }
        }
        Ok(())
    }

    /// K2.
    #[inline]
    fn not_in_key(&self) -> Result<()> {
        if self.in_key { Err(Error::new(Code::NotKeyable)) } else { Ok(()) }
    }

    /// V18: elements owed to all open containers, and `more`, are no more than the bytes left.
    pub(crate) fn claim(&self, more: u64) -> Result<u64> {
        // The element being read is no longer owed.
        let owed = self.stack.last().map_or(0, |top| top.below.saturating_add(top.left).saturating_sub(1));
        self.claim_over(owed, more)
    }

    /// The same where the caller keeps the count of what is owed.
    pub(crate) fn claim_over(&self, owed: u64, more: u64) -> Result<u64> {
        if owed.saturating_add(more) > wide(self.cursor.rest.len()) {
            return Err(Error::new(Code::Truncated).note(format_args!("{more} elements announced")));
        }
        Ok(owed)
    }

    /// V17, L5 and the charge of a container, once V18 holds.
    pub(crate) fn admit(&mut self, values: u64, cost: u64) -> Result<()> {
        if wide(self.stack.len()) >= self.limits.depth {
            return Err(over(Code::DepthLimit, wide(self.stack.len()).saturating_add(1), self.limits.depth));
        }
        self.budget.announce(values)?;
        self.budget.charge(cost)
    }

    #[inline(always)]
    pub(crate) fn open(&mut self, left: u64, below: u64, what: What<'b, B>) -> Result<()> {
        let (in_key, items) = (self.in_key, self.cursor.rest);
        self.in_key |= matches!(what, What::Map { .. } | What::Set { .. });
        let open = Open { left, below, in_key, marks: keys::Marks::default(), items, what };
        Ok(memory::push(&mut self.stack, open)?)
    }

    /// V12: a list, or a node when its first element is a marker.
    fn open_array(&mut self, count: u32) -> Result<Option<B::Value>> {
        let below = self.claim(u64::from(count))?;
        if count == 0 || !self.cursor.at_marker() {
            self.not_in_key()?;
            return self.open_sequence(SequenceKind::List, u64::from(count), below);
        }
        let marker = self.cursor.rest;
        let [_, _, number] = self.cursor.array()?;
        let items = u64::from(count).saturating_sub(1);
        let Some(node) = Node::from_number(number) else {
            self.at = marker;
            return Err(Error::new(Code::UnknownKind).note(format_args!("kind {number}")));
        };
        match node {
            Node::Tuple => self.open_sequence(SequenceKind::Tuple, items, below),
            Node::Set => {
                self.not_in_key()?;
                self.open_set(SetKind::Set, items, below)
            }
            Node::FrozenSet => self.open_set(SetKind::FrozenSet, items, below),
            Node::Slice => {
                self.not_in_key()?;
                if items != 3 {
                    return Err(
                        Error::new(Code::BadArity).note(format_args!("a slice has 3 parts, not {items}"))
                    );
                }
                self.open_sequence(SequenceKind::Slice, items, below)
            }
            Node::Deque => {
                self.not_in_key()?;
                self.open_deque(items, below)
            }
            Node::OrderedDict => {
                self.not_in_key()?;
                self.open_inner_map(MapKind::OrderedDict, items)
            }
            Node::Counter => {
                self.not_in_key()?;
                self.open_inner_map(MapKind::Counter, items)
            }
            Node::TypedArray => {
                self.not_in_key()?;
                self.typed_array(items).map(Some)
            }
            Node::Array => {
                self.not_in_key()?;
                self.ndarray(items).map(Some)
            }
            Node::Masked => {
                self.not_in_key()?;
                self.masked(items).map(Some)
            }
            Node::Objects => {
                self.not_in_key()?;
                self.open_objects(items, below)
            }
            Node::Strings => {
                self.not_in_key()?;
                self.strings(items).map(Some)
            }
            Node::Element => {
                self.not_in_key()?;
                self.element(items).map(Some)
            }
            Node::Record => self.open_record(RecordKind::Record, items, below),
            Node::NamedRecord => self.open_record(RecordKind::Named, items, below),
            Node::EnumMember => self.open_member(items, below),
            Node::Exception => {
                self.not_in_key()?;
                self.open_report(items, below)
            }
        }
    }

    fn open_sequence(&mut self, kind: SequenceKind, len: u64, below: u64) -> Result<Option<B::Value>> {
        self.admit(len, charge::sequence(kind))?;
        let list = self.build.sequence(kind, usize::try_from(len).unwrap_or(usize::MAX))?;
        if len == 0 {
            return self.build.finish_sequence(list).map(Some);
        }
        self.open(len, below, What::Sequence { list, len })?;
        Ok(None)
    }

    fn open_map(&mut self, kind: MapKind, pairs: u64) -> Result<Option<B::Value>> {
        let elements = pairs.saturating_mul(2);
        let below = self.claim(elements)?;
        self.not_in_key()?;
        self.admit(elements, charge::map(kind, pairs))?;
        let map = self.build.map(kind, usize::try_from(pairs).unwrap_or(usize::MAX))?;
        if pairs == 0 {
            return self.build.finish_map(map).map(Some);
        }
        let table = Table::starting(self.cursor.rest);
        self.open(elements, below, What::Map { kind, map, key: None, table })?;
        Ok(None)
    }

    fn open_set(&mut self, kind: SetKind, len: u64, below: u64) -> Result<Option<B::Value>> {
        self.admit(len, charge::table(charge::SET, len))?;
        let set = self.build.set(kind, usize::try_from(len).unwrap_or(usize::MAX))?;
        if len == 0 {
            return self.build.finish_set(set).map(Some);
        }
        self.open(len, below, What::Set { set, table: Table::starting(self.cursor.rest), previous: &[] })?;
        Ok(None)
    }
}

/// Counts a value that is read: every 65 536 of them the builder may look around.
#[inline(always)]
fn tick<B: Build>(ticks: &mut u16, build: &mut B) -> Result<()> {
    *ticks = ticks.wrapping_add(1);
    if *ticks == 0 { build.pulse() } else { Ok(()) }
}

/// K3, where the builder's own tables do not answer it.
#[inline]
fn is_new<'b, B: Build>(
    table: &mut Table<'b>,
    items: &'b [u8],
    is_map: bool,
    maker: &mut keys::Maker,
) -> Result<bool> {
    if B::OWN_KEYS && !table.marks.odd {
        return Ok(true);
    }
    let forms = match &mut table.forms {
        Some(forms) => forms,
        none => {
            let prior = keys::Forms::of_prior(items, table.done, is_map, maker)?;
            none.insert(memory::boxed(prior)?)
        }
    };
    forms.add(table.key, maker)
}

/// Puts a pair into the dict that it was read for, whose encoding begins at `items`; `number` is the key's, if it is an int of 64 bits.
#[inline(always)]
fn put<'b, B: Build>(
    build: &mut B,
    map: &mut B::Map,
    (key, number, value): (B::Value, Option<i128>, B::Value),
    table: &mut Table<'b>,
    items: &'b [u8],
    maker: &mut keys::Maker,
) -> Result<()> {
    let new = is_new::<B>(table, items, true, maker)?;
    // A dict is in no key.
    maker.forget();
    // What is not new does not reach the builder.
    let inserted = new
        && match number {
            Some(number) => build.insert_int(map, key, number, value)?,
            None => build.insert(map, key, value)?,
        };
    if !inserted {
        return Err(Error::new(duplicate(table.marks.odd, new)));
    }
    table.done = table.done.saturating_add(1);
    Ok(())
}

/// Which code a refused key gets: a host that sees equality where the forms do not is at fault itself.
#[cold]
fn duplicate(odd: bool, new: bool) -> Code {
    if new && odd { Code::KeyError } else { Code::DuplicateKey }
}
