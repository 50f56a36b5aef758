//! Key forms of the standard library's values: K4, K7.

use std::borrow::Cow;

use super::{integer, number};
use crate::error::Result;
use crate::limits::Limits;
use crate::memory;
use crate::value::{
    Decimal, Exact, Fraction, Standard, StandardLeaf, exact_decimal, exact_fraction, range_form,
};
use crate::wire::raw::{self, Written};

/// K4 and K7 for values of the standard library.
pub(super) fn form<'b>(
    key: &'b [u8],
    leaf: StandardLeaf,
    payload: &'b [u8],
    int_bytes: u64,
) -> Result<Cow<'b, [u8]>> {
    let parsed = || Standard::parse(leaf, payload, &Limits { int_bytes: u64::MAX, ..Limits::default() });
    // A payload with its byte `at` cleared.
    let cleared = |at: usize| {
        let mut copy = memory::copied(payload)?;
        copy.get_mut(at).into_iter().for_each(|byte| *byte = 0);
        number(|out| raw::ext(out, leaf.ext(), &copy))
    };
    Ok(match leaf {
        StandardLeaf::Time => cleared(3)?,
        StandardLeaf::DateTime => cleared(7)?,
        StandardLeaf::Uuid => number(|out| raw::ext(out, leaf.ext(), payload.get(..16).unwrap_or_default()))?,
        StandardLeaf::Decimal => match parsed()? {
            Standard::Decimal(value) => match exact_decimal(&value, int_bytes)? {
                Some(found) => number(|out| exact_form(out, &found))?,
                None => Cow::Borrowed(key),
            },
            _ => Cow::Borrowed(key),
        },
        StandardLeaf::Fraction => {
            let value = Fraction::of_checked(payload)?;
            let exact = exact_fraction(&value)?;
            number(|out| exact_form(out, &exact))?
        }
        StandardLeaf::Range => match parsed()? {
            Standard::Range(range) => {
                let payload = range_form(&range)?;
                number(|out| raw::ext(out, leaf.ext(), &payload))?
            }
            _ => Cow::Borrowed(key),
        },
        StandardLeaf::Path => match parsed()? {
            Standard::Path(path) => {
                let mut folded = Vec::new();
                Standard::Path(path.folded()?).write(&mut folded)?;
                number(|out| raw::ext(out, leaf.ext(), &folded))?
            }
            _ => Cow::Borrowed(key),
        },
        StandardLeaf::Ellipsis
        | StandardLeaf::Date
        | StandardLeaf::TimeDelta
        | StandardLeaf::SafeUuid
        | StandardLeaf::Ip
        // Not keyable, so never asked for.
        | StandardLeaf::Zone
        | StandardLeaf::StructTime => Cow::Borrowed(key),
    })
}

fn exact_form(out: &mut Vec<u8>, value: &Exact<'_>) -> Written {
    match value {
        Exact::Int(negative, magnitude) => integer(out, *negative, magnitude),
        Exact::Float(value) => raw::float(out, *value),
        Exact::Fraction(value) => {
            let mut payload = Vec::new();
            value.write(&mut payload)?;
            raw::ext(out, StandardLeaf::Fraction.ext(), &payload)
        }
        Exact::Decimal(negative, digits, exponent) => {
            let mut payload = Vec::new();
            Decimal::write_finite(&mut payload, *negative, digits, *exponent)?;
            raw::ext(out, StandardLeaf::Decimal.ext(), &payload)
        }
    }
}
