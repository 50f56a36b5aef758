//! The vectors of `proto/vectors/typed`: bodies, and the Rust types that they are read as.

use std::collections::HashSet;
use std::fs;

use hookless::Limits;
use serde_json::Value as Json;

use crate::vectors::wrap;
use crate::{hex, root};

/// One vector, ready to be decoded.
#[derive(Debug)]
pub struct TypedVector {
    /// Its name.
    pub name: String,
    /// Rules that it shows.
    pub rules: Vec<String>,
    /// The type to ask for.
    pub rust_type: String,
    /// The whole frame.
    pub frame: Vec<u8>,
    /// Accept: the described value.
    pub value: Option<Json>,
    /// Accept: what `{:?}` prints of the Rust value, where the vector gives it.
    pub rust: Option<String>,
    /// Accept: the frame that it is written as.
    pub again: Vec<u8>,
    /// Reject: the code, and the path where the type is at fault and not the bytes.
    pub error: Option<(String, Option<String>)>,
    /// Limits to decode and encode with.
    pub limits: Limits,
}

/// The vectors that must be accepted.
pub fn accept() -> Vec<TypedVector> {
    let vectors = read("accept");
    let wrong = vectors.iter().find(|vector| vector.error.is_some() || vector.value.is_none());
    assert!(wrong.is_none(), "a typed accept vector with a code, or without a value: {wrong:?}");
    vectors
}

/// The vectors that must be refused.
pub fn reject() -> Vec<TypedVector> {
    let vectors = read("reject");
    let wrong = vectors.iter().find(|vector| vector.error.is_none() || vector.value.is_some());
    assert!(wrong.is_none(), "a typed reject vector without a code, or with a value: {wrong:?}");
    vectors
}

fn read(file: &str) -> Vec<TypedVector> {
    let path = root().join("proto/vectors/typed").join(file).with_extension("json");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json: Vec<Json> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let vectors: Vec<_> = json.iter().map(vector).collect();
    let names: HashSet<_> = vectors.iter().map(|vector| &vector.name).collect();
    assert_eq!(names.len(), vectors.len(), "two typed vectors of one name in {file}");
    assert!(!vectors.is_empty(), "no vectors in {}", path.display());
    vectors
}

fn vector(object: &Json) -> TypedVector {
    let text = |field: &str| object.get(field).map(|text| text.as_str().expect("a text").to_owned());
    let name = text("name").unwrap_or_else(|| panic!("no name: {object}"));
    let known = ["name", "rules", "type", "body", "data", "value", "rust", "again", "code", "path", "limits"];
    for field in object.as_object().expect("a vector is an object").keys() {
        assert!(known.contains(&field.as_str()), "{name}: unknown field {field}");
    }
    let bytes = |field: &str| text(field).map(|text| hex::expand(&text));
    let body = bytes("body").unwrap_or_else(|| panic!("{name}: no body"));
    let data = bytes("data").unwrap_or_default();
    let mut limits = Limits::default();
    for (limit, value) in object.get("limits").and_then(Json::as_object).into_iter().flatten() {
        let value = value.as_u64().unwrap_or_else(|| panic!("{name}: limit {limit} is not a number"));
        limits =
            limits.with(limit, value).unwrap_or_else(|| panic!("{name}: no such limit {limit} = {value}"));
    }
    let rules = object["rules"].as_array().unwrap_or_else(|| panic!("{name}: no rules"));
    TypedVector {
        rules: rules.iter().map(|rule| rule.as_str().unwrap_or_default().to_owned()).collect(),
        rust_type: text("type").unwrap_or_else(|| panic!("{name}: no type")),
        again: wrap(&bytes("again").unwrap_or_else(|| body.clone()), &data),
        frame: wrap(&body, &data),
        value: object.get("value").cloned(),
        rust: text("rust"),
        error: text("code").map(|code| (code, text("path"))),
        limits,
        name,
    }
}
