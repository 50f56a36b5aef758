//! The vectors of `proto/vectors`, read and made into whole frames.

use std::collections::HashSet;
use std::fs;

use hookless::Limits;
use serde_json::Value as Json;

use crate::{hex, root};

/// One vector, ready to be decoded.
#[derive(Debug)]
pub struct Vector {
    /// File and name, as `ints.json int+128`.
    pub name: String,
    /// Rules that it shows.
    pub rules: Vec<String>,
    /// The whole frame, or what there is of it.
    pub frame: Vec<u8>,
    /// Accept: the described value, where the vector gives it.
    pub value: Option<Json>,
    /// Reject: code and offset.
    pub error: Option<(String, u64)>,
    /// Limits to decode and encode with.
    pub limits: Limits,
    /// Which entry points it is for.
    pub by: By,
}

/// The entry points of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// All of them.
    All,
    /// `decode` alone, which is given whole frames of kind VALUE.
    Decode,
    /// The push decoder alone, which is given frames of every kind, one after the other.
    Push,
    /// The push decoder alone, which is given all bytes at once.
    Feed,
}

impl Vector {
    /// Whether `decode` is to be given it.
    pub fn for_decode(&self) -> bool {
        matches!(self.by, By::All | By::Decode)
    }

    /// Whether the push decoder is to be given it.
    pub fn for_push(&self) -> bool {
        matches!(self.by, By::All | By::Push)
    }

    /// `of(i)` for the first 4096 bytes of the frame and every 997th after, which is what the cut tests cut at.
    pub fn cuts(&self) -> impl Iterator<Item = usize> + use<> {
        let len = self.frame.len();
        (0..len.min(4096)).chain((4096..len).step_by(997))
    }
}

/// The vectors that must be accepted.
pub fn accept() -> Vec<Vector> {
    let vectors = read("accept");
    let wrong = vectors.iter().find(|vector| vector.error.is_some());
    assert!(wrong.is_none(), "an accept vector with a code: {wrong:?}");
    vectors
}

/// The vectors that must be refused.
pub fn reject() -> Vec<Vector> {
    let vectors = read("reject");
    let wrong = vectors.iter().find(|vector| vector.error.is_none() || vector.value.is_some());
    assert!(wrong.is_none(), "a reject vector without a code, or with a value: {wrong:?}");
    vectors
}

/// Frames that cost what they can: name and bytes, in a VALUE frame.
pub fn hostile() -> Vec<(String, Vec<u8>)> {
    let path = root().join("proto/vectors/hostile.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json: Vec<Json> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("hostile.json: {error}"));
    let field =
        |one: &Json, name: &str| one[name].as_str().unwrap_or_else(|| panic!("no {name}: {one}")).to_owned();
    json.iter().map(|one| (field(one, "name"), wrap(&hex::expand(&field(one, "body")), &[]))).collect()
}

fn read(folder: &str) -> Vec<Vector> {
    let path = root().join("proto/vectors").join(folder);
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder that can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let (mut vectors, mut names) = (Vec::new(), HashSet::new());
    for file in files {
        let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let json: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for object in json.as_array().unwrap_or_else(|| panic!("{name} is not a list")) {
            let vector = vector(&name, object);
            assert!(names.insert(object["name"].clone()), "two vectors named {} in {folder}", vector.name);
            vectors.push(vector);
        }
    }
    assert!(!vectors.is_empty(), "no vectors in {}", path.display());
    vectors
}

fn vector(file: &str, object: &Json) -> Vector {
    let name =
        format!("{file} {}", object["name"].as_str().unwrap_or_else(|| panic!("{file}: no name: {object}")));
    let known = ["name", "rules", "body", "frame", "data", "value", "code", "offset", "limits", "by"];
    for field in object.as_object().expect("a vector is an object").keys() {
        assert!(known.contains(&field.as_str()), "{name}: unknown field {field}");
    }
    let bytes =
        |field: &str| object.get(field).map(|text| hex::expand(text.as_str().expect("hex is a string")));
    let frame = match (bytes("body"), bytes("frame"), bytes("data")) {
        (Some(body), None, data) => wrap(&body, &data.unwrap_or_default()),
        (None, Some(frame), None) => frame,
        _ => panic!("{name}: body with or without data, or frame"),
    };
    let error = object.get("code").map(|code| {
        let code = code.as_str().unwrap_or_else(|| panic!("{name}: code is not a string"));
        (
            code.to_owned(),
            object["offset"].as_u64().unwrap_or_else(|| panic!("{name}: a code without an offset")),
        )
    });
    let mut limits = Limits::default();
    for (limit, value) in object.get("limits").and_then(Json::as_object).into_iter().flatten() {
        let value = value.as_u64().unwrap_or_else(|| panic!("{name}: limit {limit} is not a number"));
        limits =
            limits.with(limit, value).unwrap_or_else(|| panic!("{name}: no such limit {limit} = {value}"));
    }
    let rules = object["rules"].as_array().unwrap_or_else(|| panic!("{name}: no rules"));
    let by = match object.get("by").map(|by| by.as_str().unwrap_or_default()) {
        None => By::All,
        Some("decode") => By::Decode,
        Some("push") => By::Push,
        Some("feed") => By::Feed,
        Some(other) => panic!("{name}: by {other}"),
    };
    Vector {
        rules: rules.iter().map(|rule| rule.as_str().unwrap_or_default().to_owned()).collect(),
        value: object.get("value").cloned(),
        name,
        frame,
        error,
        limits,
        by,
    }
}

/// A VALUE frame of a body and a data region. Written out here: it must not lean on the code under test.
pub fn wrap(body: &[u8], data: &[u8]) -> Vec<u8> {
    let mut frame = b"HKLS\x01\x01\0\0\0\0\0\0\0\0\0\0".to_vec();
    frame.extend((body.len() as u64).to_be_bytes());
    frame.extend((data.len() as u64).to_be_bytes());
    frame.extend(body);
    if !data.is_empty() {
        frame.resize(frame.len().next_multiple_of(64), 0);
        frame.extend(data);
    }
    frame
}
