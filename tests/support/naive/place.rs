//! D12, D13: addresses and paths.

use serde_json::{Value as Json, json};

use super::key::{Form, lower};
use super::standard::{Code, Content, ensure, take, text, unsigned};
use crate::hex;

/// D12
pub(super) fn ip(payload: &[u8]) -> Result<Json, Code> {
    let mut rest = payload;
    let kind = take(&mut rest, 1)?[0];
    ensure(kind < 6, "bad_payload")?;
    let v6 = kind >= 3;
    let address = take(&mut rest, if v6 { 16 } else { 4 })?;
    let class = ["Address", "Network", "Interface"][usize::from(kind % 3)];
    let prefix = match kind % 3 {
        0 => None,
        _ => Some(take(&mut rest, 1)?[0]),
    };
    let bits = 8 * address.len();
    ensure(prefix.is_none_or(|prefix| usize::from(prefix) <= bits), "bad_payload")?;
    ensure(v6 || rest.is_empty(), "bad_payload")?;
    if kind % 3 == 1 {
        let from = usize::from(prefix.unwrap_or_default());
        let host = (from..bits).any(|bit| address[bit / 8] & (0x80 >> (bit % 8)) != 0);
        ensure(!host, "bad_payload")?;
    }
    let scope = if rest.is_empty() { Json::Null } else { text(rest)? };
    ensure(!rest.iter().any(|byte| b"%/".contains(byte)), "bad_payload")?;
    let name = format!("{}{class}", if v6 { "IPv6" } else { "IPv4" });
    Ok(json!(["ip", name, hex::of(address), prefix, scope]))
}

/// D13; K7: its system, and drive, root and parts, for Windows in lower case.
pub(super) fn path(payload: &[u8]) -> Content {
    let mut rest = payload;
    let class = take(&mut rest, 1)?[0];
    let name = ["PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath"];
    let name = name.get(usize::from(class)).ok_or("bad_payload")?;
    let windows = class % 2 == 1;
    let (mut texts, mut described) = (Vec::new(), Vec::new());
    while texts.len() < 2 || !rest.is_empty() {
        let len = unsigned(&mut rest, 4)?;
        let bytes = take(&mut rest, len as usize)?;
        described.push(text(bytes)?);
        texts.push(bytes);
    }
    let (drive, root, parts) = (texts[0], texts[1], &texts[2..]);
    let mut fine = texts.iter().all(|text| !text.contains(&0));
    let separator = |byte: &u8| *byte == b'/' || windows && *byte == b'\\';
    fine &= parts.iter().all(|part| !part.is_empty() && *part != b"." && !part.iter().any(separator));
    fine &= if windows {
        let one = |bytes: &[u8]| text_len(bytes) == 1;
        let letter = drive.strip_suffix(b":").is_some_and(one);
        let share = drive.starts_with(b"\\\\") && !drive.contains(&b'/');
        (root.is_empty() || root == b"\\") && (drive.is_empty() || letter || share)
    } else {
        drive.is_empty() && (root.is_empty() || root == b"/" || root == b"//")
    };
    ensure(fine, "bad_payload")?;
    let form = texts.iter().map(|text| if windows { lower(text) } else { text.to_vec() }).collect();
    let json = json!(["path", name, described[0], described[1], described[2..]]);
    Ok((json, Some(Form::Path(windows, form))))
}

/// Characters of a generalised text: its bytes that do not go on with one.
fn text_len(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}
