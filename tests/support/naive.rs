//! A second parser, written from `proto/` alone and for clarity: it recurses, copies, and is slow. What it says of a frame is what the
//! documents say; the reader has to agree.
//!
//! It shares no code with the crate `hookless`, but for the numbers of `Limits`. A rule is applied where its number stands.

mod array;
mod body;
mod container;
mod dtype;
mod elements;
mod exception;
mod key;
mod leaf;
mod number;
mod place;
mod record;
mod standard;

use hookless::Limits;
use serde_json::Value as Json;

use body::Body;

/// Code and offset of an error.
pub type Refusal = (&'static str, u64);

/// What a decoder of whole VALUE frames makes of these bytes: the value, described as in `proto/vectors/README.md`, or the error.
///
/// # Errors
/// What a decoder says.
pub fn judge(frame: &[u8], limits: &Limits) -> Result<Json, Refusal> {
    let (body_len, data_len) = head(frame, limits)?;
    let here = frame.len() as u128;
    let body_end = 32 + u128::from(body_len);
    let region = if data_len == 0 { body_end } else { body_end.next_multiple_of(64) };
    let whole = region + u128::from(data_len);
    // F14
    if here < whole {
        return Err(("truncated", frame.len() as u64));
    }
    if here > whole {
        return Err(("trailing_bytes", whole as u64));
    }
    // F3: of the kinds that there are, this entry point takes one.
    if frame[5] != 1 {
        return Err(("unknown_frame_kind", 5));
    }
    let body_end = body_end as usize;
    let mut body = Body::new(&frame[32..body_end], data_len, limits);
    let mut value = body.whole()?;
    // F12: nothing is left over.
    if body.cursor != data_len {
        return Err(("region_mismatch", 24));
    }
    check_region(&body, frame, body_end, region as usize)?;
    fill(&mut value, &mut body.entries.iter().map(|entry| &frame[region as usize..][entry.bytes()]));
    Ok(value)
}

/// F1–F9: the lengths of body and data.
fn head(frame: &[u8], limits: &Limits) -> Result<(u64, u64), Refusal> {
    // F1 is checked as the bytes come.
    if frame.iter().zip(b"HKLS").any(|(found, wanted)| found != wanted) {
        return Err(("bad_magic", 0));
    }
    let Some(head) = frame.first_chunk::<32>() else { return Err(("truncated", frame.len() as u64)) };
    let long = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let (kind, call_id, body, data) = (head[5], long(8), long(16), long(24));
    let control = kind == 2 || (7..=12).contains(&kind);
    let id_is_wrong = match kind {
        1 | 2 | 12 => call_id != 0,
        11 => false,
        _ => call_id == 0,
    };
    let refused = [
        (head[4] != 1, "bad_version", 4),
        (!(1..=12).contains(&kind), "unknown_frame_kind", 5),
        (head[6..8] != [0, 0], "bad_flags", 6),
        (id_is_wrong, "bad_call_id", 8),
        (body == 0, "bad_length", 16),
        (body > limits.body || control && body > 65_536, "body_limit", 16),
        (control && data != 0, "bad_length", 24),
        (data > limits.region, "region_limit", 24),
    ];
    match refused.into_iter().find(|(wrong, ..)| *wrong) {
        Some((_, code, at)) => Err((code, at)),
        None => Ok((body, data)),
    }
}

/// F11, and the elements of arrays in the region: from front to back.
fn check_region(body: &Body<'_>, frame: &[u8], body_end: usize, region: usize) -> Result<(), Refusal> {
    let mut done = body_end;
    for entry in &body.entries {
        let bytes = entry.bytes();
        let start = region + bytes.start;
        if let Some(at) = (done..start).find(|&at| frame[at] != 0) {
            return Err(("bad_padding", at as u64));
        }
        done = region + bytes.end;
        if let Some(at) = entry.check.bad(&frame[start..done]) {
            return Err(("bad_element", (start + at) as u64));
        }
    }
    Ok(())
}

/// Puts the hex of the region's entries where the body left a mark.
fn fill<'a>(value: &mut Json, entries: &mut impl Iterator<Item = &'a [u8]>) {
    match value {
        Json::String(text) if text == body::IN_REGION => {
            *text = crate::hex::of(entries.next().expect("an entry for each mark"));
        }
        Json::Array(items) => items.iter_mut().for_each(|item| fill(item, entries)),
        // serde_json keeps the fields sorted by name, which is their order in the body: data, fill_value, mask would not be.
        Json::Object(fields) => {
            let order = ["data", "mask", "fill_value"];
            let (first, rest): (Vec<_>, Vec<_>) =
                fields.iter_mut().partition(|(name, _)| order.contains(&name.as_str()));
            let mut first = first;
            first.sort_by_key(|(name, _)| order.iter().position(|one| one == name));
            first.into_iter().chain(rest).for_each(|(_, field)| fill(field, entries));
        }
        _ => (),
    }
}
