//! A short way for arrays of numbers in C order, as most are.
//!
//! It does what `array_parts` does for one, in the same order, and leaves to that one whatever is not plainly one: errors of the encoding are
//! met there alone.

use crate::array::{Dtype, ElementCheck, bytes_of};
use crate::error::Result;
use crate::limits::{REGION_THRESHOLD, charge};
use crate::wire::cursor::Head;
use crate::wire::marker::{FIXEXT4, leaf};
use crate::wire::{Build, Data, wide};

use super::Reader;

/// Dimensions that such an array has at most.
const FEW: usize = 4;

impl<'b, B: Build> Reader<'_, 'b, B> {
    /// Reads the elements of an array node that begins at `start`, without making a head of them. None, and nothing is read, when it is
    /// anything but little-endian numbers in C order.
    #[inline(always)]
    pub(super) fn short_array(&mut self, start: &'b [u8], owed: u64) -> Result<Option<B::Value>> {
        let Some((&[FIXEXT4, leaf::DTYPE, a, b, c, d, 0, list], rest)) = self.cursor.rest.split_first_chunk()
        else {
            return Ok(None);
        };
        let mut shape = [0; FEW];
        let (Some(dtype), Some(rank)) = (Dtype::number([a, b, c, d]), list.checked_sub(0x90)) else {
            return Ok(None);
        };
        let Some(shape) = shape.get_mut(..usize::from(rank)) else { return Ok(None) };
        // V18, of the dimensions: dtype, order and their head are no longer owed.
        if owed.saturating_sub(3).saturating_add(u64::from(rank)) > wide(rest.len()) {
            return Ok(None);
        }
        let mut ahead = self.cursor.with(rest);
        for extent in shape.iter_mut() {
            let Ok(Head::Unsigned(found)) = ahead.head() else { return Ok(None) };
            *extent = found;
        }
        let Some(nbytes) = bytes_of(shape, dtype.itemsize()) else { return Ok(None) };
        let entry = ahead.rest;
        match ahead.head() {
            Ok(Head::Bin(len)) if u64::from(len) == nbytes && nbytes < REGION_THRESHOLD => {
                let Ok(bytes) = ahead.take(len) else { return Ok(None) };
                if dtype.find_bad(bytes)?.is_some() {
                    return Ok(None);
                }
                (self.cursor.rest, self.at) = (ahead.rest, start);
                self.budget.charge(charge::array(shape, nbytes, nbytes))?;
                self.build.numbers(dtype, shape, Data::Inline(bytes)).map(Some)
            }
            Ok(Head::Nil) if nbytes >= REGION_THRESHOLD => {
                (self.cursor.rest, self.at) = (ahead.rest, start);
                self.budget.charge(charge::array(shape, nbytes, 0))?;
                self.at = entry;
                let offset = self.slot(nbytes, ElementCheck::of(dtype)?)?;
                self.build.numbers(dtype, shape, Data::Region { offset, len: nbytes }).map(Some)
            }
            _ => Ok(None),
        }
    }
}
