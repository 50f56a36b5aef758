//! Frames that are in memory as a whole.

use crate::error::{Code, Error, Result};
use crate::frame::{HEAD_LEN, Head};
use crate::limits::Limits;
use crate::wire::{Plan, Slot, wide};

/// A frame taken apart; nothing but its head has been read.
#[derive(Debug, Clone, Copy)]
pub struct Split<'b> {
    /// The head.
    pub head: Head,
    /// The body.
    pub body: &'b [u8],
    /// What lies between body and region.
    gap: &'b [u8],
    /// The data region.
    pub region: &'b [u8],
}

/// Takes a frame apart.
///
/// # Errors
/// The codes of the head, and `truncated` or `trailing_bytes` (F14).
#[inline(always)]
pub fn split<'b>(frame: &'b [u8], limits: &Limits) -> Result<Split<'b>> {
    let truncated = || Error::at(Code::Truncated, wide(frame.len()));
    let Some((head, rest)) = frame.split_first_chunk::<HEAD_LEN>() else {
        Head::check_magic(frame)?;
        return Err(truncated());
    };
    let head = Head::parse(head, limits)?;
    let gap_len = head.gap_len();
    let part = |bytes: &'b [u8], len: u64| {
        usize::try_from(len).ok().and_then(|len| bytes.split_at_checked(len)).ok_or_else(truncated)
    };
    let (body, rest) = part(rest, head.body_len)?;
    let (gap, rest) = part(rest, gap_len)?;
    let (region, rest) = part(rest, head.data_len)?;
    if !rest.is_empty() {
        let end = wide(frame.len().saturating_sub(rest.len()));
        return Err(Error::at(Code::TrailingBytes, end).note(format_args!("{} bytes", rest.len())));
    }
    Ok(Split { head, body, gap, region })
}

/// Checks the region of a frame against the plan of its body: F11, A10.
///
/// # Errors
/// `bad_padding` or `bad_element`, whichever comes first.
pub fn check_region(frame: &Split<'_>, plan: &Plan) -> Result<()> {
    let base = wide(HEAD_LEN).saturating_add(frame.head.body_len);
    check_zero(frame.gap, base)?;
    let base = base.saturating_add(wide(frame.gap.len()));
    let mut end = 0u64;
    for slot in plan.slots() {
        check_zero(range(frame.region, end, slot.offset), base.saturating_add(end))?;
        end = slot.offset.saturating_add(slot.len);
        if let Some(bad) = slot.find_bad(range(frame.region, slot.offset, end)) {
            let at = base.saturating_add(slot.offset).saturating_add(bad);
            return Err(Error::at(Code::BadElement, at));
        }
    }
    Ok(())
}

/// F11.
pub(crate) fn check_zero(bytes: &[u8], base: u64) -> Result<()> {
    match bytes.iter().position(|&byte| byte != 0) {
        Some(at) => Err(Error::at(Code::BadPadding, base.saturating_add(wide(at)))),
        None => Ok(()),
    }
}

/// The bytes of one entry.
pub fn slice<'b>(region: &'b [u8], slot: &Slot) -> &'b [u8] {
    range(region, slot.offset, slot.offset.saturating_add(slot.len))
}

/// A part of the region by its offsets, which the plan has checked.
fn range(region: &[u8], start: u64, end: u64) -> &[u8] {
    let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else { return &[] };
    region.get(start..end).unwrap_or_default()
}
