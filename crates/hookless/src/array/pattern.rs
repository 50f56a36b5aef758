//! Elements with parts, looked at many at once: what is asked of each byte, as bits, over and over.

use crate::array::{ByteOrder, ElementCheck};

/// Bytes of a pattern. Larger elements are looked at one by one: what is on the wire says how large they are, and nothing is allocated here.
const ROOM: usize = 4096;

/// One byte for each byte of some whole elements.
pub(super) struct Pattern {
    bytes: [u8; ROOM],
    len: usize,
}

impl Pattern {
    /// The bits that an element may not have, or may only have together with some others. None where it would not pay.
    pub(super) fn of_doubts(check: &ElementCheck, itemsize: usize, len: usize) -> Option<Pattern> {
        Pattern::painted(check, itemsize, len, 0, doubt)
    }

    /// All bits but those of the gaps. None where it would not pay.
    pub(super) fn of_values(check: &ElementCheck, itemsize: usize, len: usize) -> Option<Pattern> {
        Pattern::painted(check, itemsize, len, 0xff, leave_out_gaps)
    }

    fn painted(
        check: &ElementCheck,
        itemsize: usize,
        len: usize,
        blank: u8,
        paint: impl Fn(&ElementCheck, &mut [u8]),
    ) -> Option<Pattern> {
        let count = ROOM.checked_div(itemsize).filter(|&count| count > 0 && len > ROOM)?;
        let mut pattern = Pattern { bytes: [blank; ROOM], len: count.saturating_mul(itemsize) };
        paint(check, pattern.bytes.get_mut(..pattern.len)?);
        Some(pattern)
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Where the first bad element of `data` is, by what `exactly` finds in those places where there is a doubt.
    pub(super) fn find(&self, data: &[u8], exactly: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        let pattern = self.bytes();
        for (index, block) in data.chunks(self.len.max(1)).enumerate() {
            // Without a branch, which the compiler can make wide.
            let seen = block.iter().zip(pattern).fold(0u8, |seen, (&byte, &doubt)| seen | (byte & doubt));
            if seen != 0
                && let Some(at) = exactly(block)
            {
                return Some(index.saturating_mul(self.len).saturating_add(at));
            }
        }
        None
    }

    /// Zeroes all bits of `data` but those of the pattern.
    pub(super) fn keep(&self, data: &mut [u8]) {
        let pattern = self.bytes();
        for block in data.chunks_mut(self.len.max(1)) {
            for (byte, &kept) in block.iter_mut().zip(pattern) {
                *byte &= kept;
            }
        }
    }
}

fn doubt(check: &ElementCheck, bytes: &mut [u8]) {
    match check {
        ElementCheck::Free => {}
        ElementCheck::AtMost(most) => bytes.iter_mut().for_each(|byte| *byte |= !most),
        ElementCheck::Zero => bytes.fill(0xff),
        ElementCheck::CodePoints(order) => {
            // U+100000 and more are in doubt: only some of them are code points.
            let unit = match order {
                ByteOrder::Big => [0xff, 0xf0, 0, 0],
                ByteOrder::Little | ByteOrder::None => [0, 0, 0xf0, 0xff],
            };
            let (units, _) = bytes.as_chunks_mut::<4>();
            units.iter_mut().flat_map(|to| to.iter_mut().zip(unit)).for_each(|(to, bits)| *to |= bits);
        }
        ElementCheck::Parts(..) => check.each_part(bytes, &doubt),
    }
}

fn leave_out_gaps(check: &ElementCheck, bytes: &mut [u8]) {
    match check {
        ElementCheck::Zero => bytes.fill(0),
        ElementCheck::Parts(..) => check.each_part(bytes, &leave_out_gaps),
        ElementCheck::Free | ElementCheck::AtMost(_) | ElementCheck::CodePoints(_) => {}
    }
}
