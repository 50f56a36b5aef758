//! What `proto/typed.md` says below its table: where serde's own model loses something, or follows other rules.

use std::collections::HashMap;
use std::net::IpAddr;

use hookless::{Code, Value, from_value, to_value};
use serde::{Deserialize, Serialize};

fn dict(pairs: &[(&str, Value)]) -> Value {
    Value::Dict(pairs.iter().map(|(name, value)| ((*name).into(), value.clone())).collect())
}

#[test]
fn t10_some_of_none_comes_back_as_none() {
    assert_eq!(to_value(&Some(None::<i64>)).unwrap(), Value::None);
    assert_eq!(from_value::<Option<Option<i64>>>(Value::None).unwrap(), None);
    assert_eq!(to_value(&Some(())).unwrap(), Value::None);
    assert_eq!(from_value::<Option<Value>>(Value::None).unwrap(), None);
}

#[test]
fn the_form_is_the_human_readable_one() {
    let address: IpAddr = "127.0.0.1".parse().unwrap();
    assert_eq!(to_value(&address).unwrap(), Value::from("127.0.0.1"));
    assert_eq!(from_value::<IpAddr>(Value::from("127.0.0.1")).unwrap(), address);
    let error = from_value::<IpAddr>(Value::from("127.0.0.256")).unwrap_err();
    assert_eq!(error.code(), Code::TypeMismatch);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    ratio: f64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: HashMap<String, i128>,
}

#[test]
fn t12_a_flattened_field_follows_the_rules_of_serde() {
    assert_eq!(from_value::<Inner>(dict(&[("ratio", 1.into())])).unwrap_err().code(), Code::TypeMismatch);
    let flat = from_value::<Flat>(dict(&[("ratio", 1.into())])).unwrap();
    assert_eq!(flat, Flat { inner: Inner { ratio: 1.0 }, rest: HashMap::new() });
    // A struct with flattened fields is a dict of str keys like every other (T1).
    let error = from_value::<Flat>(Value::Dict(vec![(1.into(), 1.into())])).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$.keys[0]"));
    // The buffer ends at 64 bits.
    let wide = to_value(&(1i128 << 64)).unwrap();
    assert_eq!(from_value::<i128>(wide.clone()).unwrap(), 1 << 64);
    let error = from_value::<Flat>(dict(&[("ratio", 1.0.into()), ("x", wide)])).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$.x"));
}

#[test]
fn t12_an_internally_tagged_enum() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Point { x: i64 },
        Nothing,
    }

    for value in [Tagged::Point { x: 1 }, Tagged::Nothing] {
        let inert = to_value(&value).unwrap();
        assert!(matches!(inert, Value::Dict(_)));
        assert_eq!(from_value::<Tagged>(inert).unwrap(), value);
    }
    let error = from_value::<Tagged>(dict(&[("kind", "Point".into()), ("x", true.into())])).unwrap_err();
    assert_eq!(error.code(), Code::TypeMismatch);
}

#[test]
fn t1_attributes_of_the_type_apply() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Strict {
        first_name: String,
        #[serde(default)]
        age: u8,
    }

    let known = dict(&[("firstName", "a".into())]);
    assert_eq!(from_value::<Strict>(known).unwrap(), Strict { first_name: "a".into(), age: 0 });
    let unknown = dict(&[("firstName", "a".into()), ("other", 1.into())]);
    let error = from_value::<Strict>(unknown).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$.keys[1]"));
    assert!(error.message().contains("unknown field `other`"), "{error}");
}
