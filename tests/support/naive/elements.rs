//! A10, A16, A18, A19 and D18: what the bytes of elements may be.

use super::dtype::{Dtype, Plain};

/// What the bytes of an array are checked by.
pub(super) struct Check(Option<Dtype>);

impl Check {
    pub(super) fn anything() -> Check {
        Check(None)
    }

    pub(super) fn elements(dtype: Dtype) -> Check {
        Check(Some(dtype))
    }

    /// The first byte that is not as it should be.
    pub(super) fn bad(&self, data: &[u8]) -> Option<usize> {
        let dtype = self.0.as_ref()?;
        let size = usize::try_from(dtype.size()).expect("the data are here");
        if size == 0 {
            return None;
        }
        data.chunks(size).enumerate().find_map(|(index, one)| Some(index * size + bad_in(dtype, one)?))
    }
}

/// Where the first bad byte of one element is.
fn bad_in(dtype: &Dtype, element: &[u8]) -> Option<usize> {
    let (fields, mut found) = match dtype {
        Dtype::Plain(plain) => return bad_plain(plain, element),
        Dtype::Structure { fields, .. } => (fields, Vec::new()),
    };
    // A16: what lies under no field.
    let mut covered = vec![false; element.len()];
    for field in fields {
        let (start, size) = (field.offset as usize, field.dtype.size() as usize);
        for index in 0..field.count() as usize {
            let from = start + index * size;
            covered[from..from + size].fill(true);
            found.extend(bad_in(&field.dtype, &element[from..from + size]).map(|at| from + at));
        }
    }
    found.extend((0..element.len()).find(|&at| !covered[at] && element[at] != 0));
    found.into_iter().min()
}

fn bad_plain(plain: &Plain, element: &[u8]) -> Option<usize> {
    let big = plain.order == b'>';
    match plain.letter {
        b'b' => (element[0] > 1).then_some(0),
        b'U' => element
            .chunks(4)
            .position(|unit| {
                let unit = unit.try_into().expect("four bytes");
                let point = if big { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) };
                point > 0x10_ffff
            })
            .map(|index| 4 * index),
        // A18: x87 uses ten bytes of a number.
        b'g' | b'G' if plain.number == 1 || plain.number == 4 => {
            let whole = if plain.number == 1 { 16 } else { 12 };
            let unused = |at: usize| if big { at % whole < whole - 10 } else { at % whole >= 10 };
            (0..element.len()).find(|&at| unused(at) && element[at] != 0)
        }
        b'x' => plain.largest().and_then(|largest| element.iter().position(|&byte| byte > largest)),
        _ => None,
    }
}
