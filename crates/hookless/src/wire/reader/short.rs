//! A short way for what most values lie in: pairs of a dict whose key is short text or an int and whose value is a plain leaf, and items of a list or
//! tuple that are plain leaves.
//!
//! It does what `next` and `deliver` do for each, in the same order, without looking for the container again and again, and leaves to those
//! whatever is not plainly one: errors of the encoding of a head are met there alone.

use crate::error::Result;
use crate::limits::{Budget, charge};
use crate::wire::cursor::{Head, Rest};
use crate::wire::{Build, Characters, MapKind, wide};

use super::leaf::{characters, is_ascii};
use super::open::{Open, What};
use super::{Reader, put, tick};

impl<B: Build> Reader<'_, '_, B> {
    /// Reads pairs of the dict that is open last, for as long as they are short ASCII text, or an int, and a plain leaf; gives the dict once it
    /// is complete. None when something else is next, which may be the value of a key that was read.
    #[inline(always)]
    pub(super) fn short_pairs(&mut self) -> Result<Option<B::Value>> {
        let depth = self.stack.len();
        let Some(Open { left, items, what: What::Map { kind: MapKind::Dict, map, key, table }, .. }) =
            self.stack.last_mut()
        else {
            return Ok(None);
        };
        if key.is_some() {
            return Ok(None);
        }
        let mut rest = self.cursor.rest();
        while *left != 0 {
            let start = rest.bytes;
            let (found, number) = match short_text(start) {
                Some((bytes, after)) => {
                    let known = self.build.known_key(bytes);
                    if known.is_none() && !is_ascii(bytes) {
                        return Ok(None);
                    }
                    (rest.bytes, self.at) = (after, start);
                    self.build.enter(self.cursor.offset_of(start), depth);
                    self.budget.charge(charge::text(wide(bytes.len()), true))?;
                    match known {
                        Some(text) => (text, None),
                        None => (self.build.text(Characters::Ascii(bytes), true)?, None),
                    }
                }
                None => {
                    let (head, number) = match rest.head() {
                        Ok(head @ Head::Unsigned(number)) => (head, i128::from(number)),
                        Ok(head @ Head::Negative(number)) => (head, i128::from(number)),
                        _ => return Ok(None),
                    };
                    self.at = start;
                    self.build.enter(self.cursor.offset_of(start), depth);
                    (plain(head, &mut rest, &mut self.budget, self.build, true)?, Some(number))
                }
            };
            let after = rest.bytes;
            tick(&mut self.ticks, self.build)?;
            self.build.leave(&found, self.cursor.offset_of(after));
            table.close_key(after);
            *key = Some(found);
            self.in_key = false;
            self.cursor.rest = after;

            let head = match rest.head() {
                Ok(head) if is_plain(head) => head,
                _ => {
                    *left = left.saturating_sub(1);
                    return Ok(None);
                }
            };
            self.at = after;
            self.build.enter(self.cursor.offset_of(after), depth);
            let value = plain(head, &mut rest, &mut self.budget, self.build, false)?;
            tick(&mut self.ticks, self.build)?;
            self.build.leave(&value, self.cursor.offset_of(rest.bytes));
            let Some(found) = key.take() else { return Ok(None) };
            self.at = table.at;
            put(self.build, map, (found, number, value), table, items, &mut self.forms)?;
            table.at = rest.bytes;
            self.cursor.rest = rest.bytes;
            self.in_key = true;
            *left = left.saturating_sub(2);
        }
        let Some(Open { what: What::Map { map, .. }, .. }) = self.stack.pop() else { return Ok(None) };
        self.build.finish_map(map).map(Some)
    }

    /// Reads items of the sequence that is open last, for as long as they are plain leaves; gives the sequence once it is complete. None when
    /// something else is next.
    #[inline(always)]
    pub(super) fn plain_items(&mut self) -> Result<Option<B::Value>> {
        let depth = self.stack.len();
        let Some(Open { left, what: What::Sequence { list, .. }, .. }) = self.stack.last_mut() else {
            return Ok(None);
        };
        let mut rest = self.cursor.rest();
        while *left != 0 {
            let start = rest.bytes;
            let Ok(head) = rest.head() else { return Ok(None) };
            if !is_plain(head) {
                return Ok(None);
            }
            self.at = start;
            self.build.enter(self.cursor.offset_of(start), depth);
            let value = plain(head, &mut rest, &mut self.budget, self.build, false)?;
            self.cursor.rest = rest.bytes;
            tick(&mut self.ticks, self.build)?;
            self.build.leave(&value, self.cursor.offset());
            self.build.push_plain(list, value)?;
            *left = left.saturating_sub(1);
        }
        let Some(Open { what: What::Sequence { list, .. }, .. }) = self.stack.pop() else {
            return Ok(None);
        };
        self.build.finish_sequence(list).map(Some)
    }
}

/// The short text that is next, and what follows it; none when something else is next.
#[inline(always)]
fn short_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes.split_first() {
        Some((&marker @ 0xa0..=0xbf, after)) => after.split_at_checked(usize::from(marker & 0x1f)),
        _ => None,
    }
}

/// Whether a value with this head is a leaf of the kinds that most are.
#[inline(always)]
fn is_plain(head: Head) -> bool {
    !matches!(head, Head::Array(_) | Head::Map(_) | Head::Bin(_) | Head::Ext(..))
}

/// Reads such a leaf, which is no NaN in a key; `key` says whether it is in one.
#[inline(always)]
pub(super) fn plain<'b, B: Build>(
    head: Head,
    rest: &mut Rest<'b>,
    budget: &mut Budget,
    build: &mut B,
    key: bool,
) -> Result<B::Value> {
    match head {
        Head::Unsigned(value) => {
            budget.charge(charge::INT)?;
            build.unsigned(value)
        }
        Head::Str(len) => {
            let text = characters(rest, budget, len)?;
            build.text(text, key)
        }
        Head::Float(bits) => {
            budget.charge(charge::FLOAT)?;
            build.float(f64::from_bits(bits))
        }
        Head::Negative(value) => {
            budget.charge(charge::INT)?;
            build.negative(value)
        }
        Head::Bool(value) => {
            budget.charge(charge::ATOM)?;
            build.bool(value)
        }
        // None alone: `is_plain` has told the others.
        Head::Nil | Head::Array(_) | Head::Map(_) | Head::Bin(_) | Head::Ext(..) => {
            budget.charge(charge::ATOM)?;
            build.none()
        }
    }
}
