//! Memory that may be refused: everything that this crate allocates for bytes of a peer's goes through here.
//!
//! The standard library ends the process when an allocation fails. Here it is [`Full`], which becomes `out_of_memory`. clippy.toml bans
//! the methods that grow without asking; this module and what is marked with a reason may use them, after room has been reserved.
#![expect(clippy::disallowed_methods, reason = "each use stands behind a reservation that may be refused")]

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};

use crate::error::{Code, Error};

/// An allocation was refused. No larger than a bool, so that it costs nothing where it is only passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// What it is called where an error can only pass as text.
pub(crate) const NAME: &str = "$hookless::Full";

impl From<Full> for Error {
    #[cold]
    fn from(_: Full) -> Error {
        Error::new(Code::OutOfMemory)
    }
}

impl From<std::collections::TryReserveError> for Full {
    fn from(_: std::collections::TryReserveError) -> Full {
        Full
    }
}

type Result<T> = std::result::Result<T, Full>;

/// Room for exactly so many items.
#[inline]
pub(crate) fn room<T>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(len)?;
    Ok(items)
}

/// One more item.
#[inline]
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    // Apart, so that where there is room it is looked for once.
    if items.len() < items.capacity() {
        items.push(item);
        return Ok(());
    }
    grow_and_push(items, item)
}

#[cold]
fn grow_and_push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}

/// More bytes.
#[inline]
pub(crate) fn extend<T: Copy>(items: &mut Vec<T>, more: &[T]) -> Result<()> {
    // One copy, after both ways have met: a path of its own has the bytes in memory first, and loads them back before they are there.
    if more.len() > items.capacity().wrapping_sub(items.len()) {
        grow(items, more.len())?;
    }
    items.extend_from_slice(more);
    Ok(())
}

/// Room for so many more items, known to the compiler as well, which then looks for it once.
#[inline(always)]
fn ensure<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    if items.capacity().wrapping_sub(items.len()) >= more {
        return Ok(());
    }
    grow(items, more)?;
    if items.capacity().wrapping_sub(items.len()) >= more { Ok(()) } else { Err(Full) }
}

/// The first `len` of sixteen bytes. All are written, from registers, and those that are too many are taken back.
#[inline(always)]
pub(crate) fn extend_part(items: &mut Vec<u8>, word: u128, len: usize) -> Result<()> {
    ensure(items, 16)?;
    let end = items.len().wrapping_add(len);
    items.extend_from_slice(&word.to_be_bytes());
    items.truncate(end);
    Ok(())
}

/// The most bytes that [`push_short`] is for.
pub(crate) const SHORT: usize = 32;

/// A byte, and a few more: they are copied in two pieces of one size, which lie over each other, and so without a loop or a call.
#[inline(always)]
pub(crate) fn push_short(items: &mut Vec<u8>, first: u8, more: &[u8]) -> Result<()> {
    ensure(items, more.len().max(SHORT).saturating_add(1))?;
    items.push(first);
    match more.len() {
        16..=SHORT => twice::<16>(items, more),
        8..16 => twice::<8>(items, more),
        4..8 => twice::<4>(items, more),
        2..4 => twice::<2>(items, more),
        _ => items.extend_from_slice(more),
    }
    Ok(())
}

/// The first and the last `N` bytes of `N` to twice as many.
#[inline(always)]
fn twice<const N: usize>(items: &mut Vec<u8>, more: &[u8]) {
    if let (Some(first), Some(last)) = (more.first_chunk::<N>(), more.last_chunk::<N>()) {
        let overlap = items.len().wrapping_add(more.len()).wrapping_sub(N);
        items.extend_from_slice(first);
        items.truncate(overlap);
        items.extend_from_slice(last);
    }
}

/// Is not given the bytes, which need not be in memory then before they are in their place.
#[cold]
#[inline(never)]
fn grow<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    Ok(items.try_reserve(more)?)
}

/// `len` items in all, the new ones like `item`.
pub(crate) fn resize<T: Copy>(items: &mut Vec<T>, len: usize, item: T) -> Result<()> {
    items.try_reserve(len.saturating_sub(items.len()))?;
    items.resize(len, item);
    Ok(())
}

/// `len` items like `item`.
pub(crate) fn filled<T: Copy>(len: usize, item: T) -> Result<Vec<T>> {
    let mut items = room(len)?;
    items.resize(len, item);
    Ok(items)
}

/// A copy.
#[inline]
pub(crate) fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>> {
    let mut copy = room(from.len())?;
    copy.extend_from_slice(from);
    Ok(copy)
}

/// A copy that takes no more room than it needs.
pub(crate) fn slice(from: &[u8]) -> Result<Box<[u8]>> {
    // Room and length are the same, so nothing is moved.
    copied(from).map(Vec::into_boxed_slice)
}

/// A copy of text.
#[inline]
pub(crate) fn text(from: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(from.len())?;
    copy.push_str(from);
    Ok(copy)
}

/// Puts other text in the memory of some.
pub(crate) fn replace(text: &mut String, by: &str) -> Result<()> {
    text.clear();
    text.try_reserve(by.len())?;
    text.push_str(by);
    Ok(())
}

/// Whatever an iterator gives, which says how much that is at least.
pub(crate) fn collect<T, E: From<Full>>(
    from: impl IntoIterator<Item = std::result::Result<T, E>>,
) -> std::result::Result<Vec<T>, E> {
    let from = from.into_iter();
    let mut items = room(from.size_hint().0)?;
    for item in from {
        push(&mut items, item?)?;
    }
    Ok(items)
}

/// Adds to a set; false when it is there already.
#[inline]
pub(crate) fn insert<T: Eq + Hash>(set: &mut HashSet<T>, item: T) -> Result<bool> {
    set.try_reserve(1)?;
    Ok(set.insert(item))
}

/// Adds to a map.
pub(crate) fn put<K: Eq + Hash, V>(map: &mut HashMap<K, V>, key: K, value: V) -> Result<()> {
    map.try_reserve(1)?;
    map.insert(key, value);
    Ok(())
}

/// What a formatter writes, as far as there is memory for it: nothing rather than a part.
pub(crate) fn shown(what: impl fmt::Display) -> String {
    let mut steps = Steps::default();
    steps.add(format_args!("{what}"));
    steps.into_string()
}

/// Text of an error that is being put together: when memory is refused there is no text, and still an error.
#[derive(Debug, Default)]
pub struct Steps {
    text: String,
    full: bool,
}

impl Steps {
    /// Appends a character.
    pub fn push(&mut self, one: char) {
        self.push_str(one.encode_utf8(&mut [0; 4]));
    }

    /// Appends text.
    pub fn push_str(&mut self, more: &str) {
        if self.full {
            return;
        }
        match self.text.try_reserve(more.len()) {
            Ok(()) => self.text.push_str(more),
            Err(_) => *self = Steps { text: String::new(), full: true },
        }
    }

    /// Appends what `format_args!` makes.
    pub fn add(&mut self, what: fmt::Arguments<'_>) {
        // An error is the formatter's own: what it wrote before is kept.
        let _ = fmt::Write::write_fmt(self, what);
    }

    /// All of it, or nothing when memory was refused for a part.
    pub(crate) fn into_string(self) -> String {
        self.text
    }

    /// The same where there must be all of it.
    pub(crate) fn finish(self) -> Result<String> {
        if self.full { Err(Full) } else { Ok(self.text) }
    }
}

impl fmt::Write for Steps {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        self.push_str(more);
        Ok(())
    }
}

/// A value in memory of its own, as in a [`Box`]; the standard library's cannot be had without the risk of ending the process.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Boxed<T>(Box<[T; 1]>);

impl<T> Boxed<T> {
    /// Boxes a value. Like [`Box::new`], ends the process when there is no memory.
    pub fn new(value: T) -> Boxed<T> {
        Boxed(Box::new([value]))
    }

    /// Boxes a value, or drops it.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub fn try_new(value: T) -> crate::error::Result<Boxed<T>> {
        Ok(boxed(value)?)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        let [value] = *self.0;
        value
    }
}

/// [`Boxed::try_new`], for whoever makes the error himself.
#[inline]
pub(crate) fn boxed<T>(value: T) -> Result<Boxed<T>> {
    let mut one = room(1)?;
    one.push(value);
    // A type without a size has room for more than one, and is not in memory at all.
    one.into_boxed_slice().try_into().map(Boxed).map_err(|_| Full)
}

impl<T> From<T> for Boxed<T> {
    fn from(value: T) -> Boxed<T> {
        Boxed::new(value)
    }
}

impl<T> Deref for Boxed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let [value] = &*self.0;
        value
    }
}

impl<T> DerefMut for Boxed<T> {
    fn deref_mut(&mut self) -> &mut T {
        let [value] = &mut *self.0;
        value
    }
}

impl<T: fmt::Debug> fmt::Debug for Boxed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
