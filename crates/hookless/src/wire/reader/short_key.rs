//! A short way for keys that are short text, as most are.
//!
//! It does what `next` and `deliver` do for one, in the same order, and leaves to those two whatever is not plainly one: errors of the
//! encoding are met there alone.

use crate::error::Result;
use crate::limits::charge;
use crate::wire::{Build, Characters, MapKind, wide};

use super::Reader;
use super::open::{Open, What};

impl<B: Build> Reader<'_, '_, B> {
    /// Reads a key of a dict that is short ASCII text, as most are: what `next` and `deliver` do for one, without telling it from the others
    /// again and again. False, and nothing is read, when it is anything else.
    #[inline(always)]
    pub(super) fn short_key(&mut self) -> Result<bool> {
        let Some((&marker @ 0xa0..=0xbf, rest)) = self.cursor.rest.split_first() else { return Ok(false) };
        let depth = self.stack.len();
        let Some(Open { left, what: What::Map { kind: MapKind::Dict, key: key @ None, table, .. }, .. }) =
            self.stack.last_mut()
        else {
            return Ok(false);
        };
        let Some((bytes, rest)) = rest.split_at_checked(usize::from(marker & 0x1f)) else { return Ok(false) };
        if !bytes.is_ascii() {
            return Ok(false);
        }
        self.at = self.cursor.rest;
        self.build.enter(self.cursor.offset(), depth);
        self.cursor.rest = rest;
        self.budget.charge(charge::text(wide(bytes.len()), true))?;
        let text = self.build.text(Characters::Ascii(bytes), true)?;
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks == 0 {
            self.build.pulse()?;
        }
        self.build.leave(&text, self.cursor.offset());
        table.close_key(rest);
        *key = Some(text);
        *left = left.saturating_sub(1);
        self.in_key = false;
        Ok(true)
    }
}
