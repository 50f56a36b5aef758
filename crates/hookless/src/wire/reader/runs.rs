//! Short ways for what most bodies consist of: keys that are short text, and runs of numbers and text in a list or tuple.
//!
//! They do what `next` and `deliver` do for such a value, in the same order, and leave to those two whatever is not plainly one: errors
//! of the encoding are met there alone.

use crate::error::Result;
use crate::limits::charge;
use crate::wire::cursor::Head;
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

    /// Reads numbers and ASCII text of a list or tuple as long as one more item comes after each: what `next` and `deliver` do for them,
    /// while the container is held. Whatever else comes, and the last item, is left to those two.
    #[inline(never)]
    pub(super) fn leaves(&mut self) -> Result<()> {
        let depth = self.stack.len();
        let Some(Open { left, in_key: false, what: What::Sequence { list, .. }, .. }) = self.stack.last_mut()
        else {
            return Ok(());
        };
        while *left > 1 {
            let mut ahead = self.cursor;
            // An error is for `next` to meet.
            let value = match ahead.head_in_loop() {
                Ok(Head::Float(bits)) => {
                    self.at = self.cursor.rest;
                    self.build.enter(self.cursor.offset(), depth);
                    self.budget.charge(charge::FLOAT)?;
                    self.build.float(f64::from_bits(bits))?
                }
                Ok(Head::Unsigned(value)) => {
                    self.at = self.cursor.rest;
                    self.build.enter(self.cursor.offset(), depth);
                    self.budget.charge(charge::INT)?;
                    self.build.unsigned(value)?
                }
                Ok(Head::Negative(value)) => {
                    self.at = self.cursor.rest;
                    self.build.enter(self.cursor.offset(), depth);
                    self.budget.charge(charge::INT)?;
                    self.build.negative(value)?
                }
                Ok(Head::Str(len)) => {
                    let Ok(bytes) = ahead.take(len) else { return Ok(()) };
                    if !bytes.is_ascii() {
                        return Ok(());
                    }
                    self.at = self.cursor.rest;
                    self.build.enter(self.cursor.offset(), depth);
                    self.budget.charge(charge::text(u64::from(len), true))?;
                    self.build.text(Characters::Ascii(bytes), false)?
                }
                _ => return Ok(()),
            };
            self.cursor = ahead;
            self.ticks = self.ticks.wrapping_add(1);
            if self.ticks == 0 {
                self.build.pulse()?;
            }
            self.build.leave(&value, self.cursor.offset());
            self.build.push(list, value)?;
            *left = left.saturating_sub(1);
        }
        Ok(())
    }
}
