//! Where a conversion stops: depth, wrappers, keys; and what it says.

use std::collections::{BTreeMap, HashMap};

use hookless::{Code, Error, Limits, Value, decode, encode, from_slice, from_value, to_value, to_vec};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use support::allocator::{Counting, asked};
use support::vectors::wrap;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn limits(depth: u64) -> Limits {
    Limits::default().with("depth", depth).unwrap()
}

fn place(error: &Error) -> (Code, &str) {
    assert_eq!(error.offset(), None, "{error}");
    (error.code(), error.path())
}

/// Every form that opens containers, inside of itself.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Nest {
    End,
    Newtype(Box<Nest>),
    Tuple(Box<Nest>, u8),
    Struct { inner: Box<Nest> },
    Seq(Vec<Nest>),
    Map(BTreeMap<String, Nest>),
    Option(Option<Box<Nest>>),
}

/// One more level of a form, and how many containers that opens.
type Wrap = (fn(Nest) -> Nest, u64);

const FORMS: [Wrap; 6] = [
    (|inner| Nest::Newtype(Box::new(inner)), 1),
    (|inner| Nest::Tuple(Box::new(inner), 0), 2),
    (|inner| Nest::Struct { inner: Box::new(inner) }, 2),
    (|inner| Nest::Seq(vec![inner]), 2),
    (|inner| Nest::Map(BTreeMap::from([("a".to_owned(), inner)])), 2),
    (|inner| Nest::Option(Some(Box::new(inner))), 1),
];

#[test]
fn depth_at_the_limit_and_one_past() {
    for (wrap, opens) in FORMS {
        let nested = |levels: u64| (0..levels).fold(Nest::End, |inner, _| wrap(inner));
        let levels = 64 / opens;
        let frame = to_vec(&nested(levels), &limits(64)).unwrap();
        assert_eq!(from_slice::<Nest>(&frame, &limits(64)).unwrap(), nested(levels));
        let error = to_vec(&nested(levels), &limits(63)).unwrap_err();
        assert_eq!(error.code(), Code::DepthLimit);
        let steps = error.path().matches(['.', '[']).count() as u64;
        assert_eq!(steps, 63, "{error}");
        assert_eq!(from_slice::<Nest>(&frame, &limits(63)).unwrap_err().code(), Code::DepthLimit);
        // The encoder counts the same.
        let value = to_value(&nested(levels)).unwrap();
        assert_eq!(encode(&value, &limits(64)).unwrap(), frame);
        assert_eq!(encode(&value, &limits(63)).unwrap_err(), error);
        // And `to_value` counts by itself.
        assert!(to_value(&nested(128 / opens)).is_ok());
        assert_eq!(to_value(&nested(128 / opens + 1)).unwrap_err().code(), Code::DepthLimit);
    }
}

#[test]
fn depth_of_to_value_is_the_default_and_of_from_value_the_ceiling() {
    let nested = |levels: u32| (0..levels).fold(Nest::End, |inner, _| Nest::Newtype(Box::new(inner)));
    let value = to_value(&nested(128)).unwrap();
    assert_eq!(to_value(&nested(129)).unwrap_err().code(), Code::DepthLimit);
    let deeper = move |levels: u32| {
        (0..levels).fold(value.clone(), |inner, _| Value::Dict(vec![("Newtype".into(), inner)]))
    };
    // A thread of its own: frames of a derived enum are large in a debug build.
    let run = move || {
        assert_eq!(from_value::<Nest>(deeper(512 - 128)).unwrap(), nested(512));
        assert_eq!(from_value::<Nest>(deeper(513 - 128)).unwrap_err().code(), Code::DepthLimit);
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn depth_of_a_type_without_end_stops_within_a_small_stack() {
    /// Serialises itself inside of itself.
    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut items = serializer.serialize_seq(None)?;
            items.serialize_element(self)?;
            items.end()
        }
    }

    let error = to_vec(&Endless, &Limits::default()).unwrap_err();
    assert_eq!(error.code(), Code::DepthLimit);
    assert_eq!(error.path(), format!("${}", "[0]".repeat(128)));
}

#[test]
fn t10_thirty_two_wrappers_and_one_more() {
    /// Some and newtypes only: each value of this type is None inside.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapped(Option<Box<Wrapped>>);

    let wrapped = |levels: u32| (0..levels).fold(Wrapped(None), |inner, _| Wrapped(Some(Box::new(inner))));
    // 15 pairs of newtype and Some, and the newtype around the None.
    assert_eq!(to_value(&wrapped(15)).unwrap(), Value::None);
    let error = to_value(&wrapped(16)).unwrap_err();
    assert_eq!(place(&error), (Code::DepthLimit, "$"));
    assert_eq!(from_value::<Wrapped>(Value::None).unwrap(), Wrapped(None));
    let error = from_value::<Wrapped>(Value::from(1)).unwrap_err();
    assert_eq!(place(&error), (Code::DepthLimit, "$"));

    macro_rules! some { ($inner:ty) => { Option<$inner> }; ($inner:ty, $first:tt $($rest:tt)*) => { Option<some!($inner, $($rest)*)> }; ($inner:ty,) => { $inner }; }
    type ThirtyTwo = some!(u8, 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2);
    type ThirtyThree = Option<ThirtyTwo>;
    let full = from_value::<ThirtyTwo>(Value::from(7)).unwrap();
    assert_eq!(to_value(&full).unwrap(), Value::from(7));
    assert_eq!(to_value(&Some(full)).unwrap_err().code(), Code::DepthLimit);
    assert_eq!(from_value::<ThirtyThree>(Value::from(7)).unwrap_err().code(), Code::DepthLimit);
    // Each container begins anew.
    assert_eq!(to_value(&Some([full])).unwrap(), Value::Tuple(vec![7.into()]));
}

#[test]
fn t5_equal_keys_and_keys_that_are_none() {
    /// A map of these pairs, whatever they are.
    struct Pairs<K, V>(Vec<(K, V)>);

    impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
            map.end()
        }
    }

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Number {
        Int(u8),
        Float(f64),
        Bool(bool),
    }

    let both = |value: &dyn Fn() -> (Result<Value, Error>, Result<Vec<u8>, Error>)| {
        let (value, frame) = value();
        let error = value.unwrap_err();
        assert_eq!(frame.unwrap_err(), error);
        error
    };
    macro_rules! refused {
        ($value:expr) => {
            both(&|| (to_value(&$value), to_vec(&$value, &Limits::default())))
        };
    }

    let error = refused!(vec![Pairs(vec![("a", 1), ("b", 2), ("a", 3)])]);
    assert_eq!(place(&error), (Code::DuplicateKey, "$[0].keys[2]"));
    for other in [Number::Float(1.0), Number::Bool(true)] {
        let error = refused!(Pairs(vec![(&Number::Int(1), 0), (&other, 0)]));
        assert_eq!(place(&error), (Code::DuplicateKey, "$.keys[1]"));
    }
    let error = refused!(HashMap::from([(vec![1], 1)]));
    assert_eq!(place(&error), (Code::NotKeyable, "$.keys[0]"));
    let error = refused!(Pairs(vec![(BTreeMap::from([(1, 2)]), 1)]));
    assert_eq!(place(&error), (Code::NotKeyable, "$.keys[0]"));
    // A value made by hand is held to the same.
    let twice = Value::Dict(vec![("a".into(), 1.into()), ("a".into(), 2.into())]);
    let error = from_value::<BTreeMap<String, i64>>(Value::List(vec![twice])).unwrap_err();
    assert_eq!(place(&error), (Code::TypeMismatch, "$"));
    let twice = Value::Dict(vec![(1.into(), 1.into()), (1.0.into(), 2.into())]);
    let error = from_value::<Vec<HashMap<i64, i64>>>(Value::List(vec![twice])).unwrap_err();
    assert_eq!(place(&error), (Code::DuplicateKey, "$[0].keys[1]"));
}

#[test]
fn what_a_type_says_of_itself_is_kept_short_and_escaped() {
    #[derive(Debug, Deserialize)]
    enum Kind {
        Known,
    }

    let hostile = "\u{1b}[2J\u{202e}x\n".to_owned() + &"y".repeat(1 << 20);
    let error = from_value::<Kind>(Value::Str(hostile)).unwrap_err();
    assert_eq!(place(&error), (Code::TypeMismatch, "$"));
    let text = error.to_string();
    assert!(text.contains("unknown variant `\\u{1b}[2J\\u{202e}x\\nyyy"), "{text}");
    assert!(text.chars().count() < 600 && text.ends_with('…'), "{text}");

    struct Broken;

    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("a lock is poisoned"))
        }
    }

    let error = to_value(&BTreeMap::from([("a", (1, Broken))])).unwrap_err();
    assert_eq!(place(&error), (Code::UnsupportedType, "$.a[1]"));
    assert!(error.message().ends_with("a lock is poisoned"), "{error}");
}

#[test]
fn a_length_that_a_type_claims_is_not_believed() {
    struct Liar;

    impl Serialize for Liar {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut items = serializer.serialize_seq(Some(usize::MAX))?;
            items.serialize_element(&1)?;
            items.end()
        }
    }

    assert_eq!(to_value(&Liar).unwrap(), Value::List(vec![1.into()]));
}

#[test]
fn a_visitor_that_takes_less_than_there_is_gets_an_error() {
    struct First(#[expect(dead_code, reason = "only whether there is one counts")] i64);

    impl<'de> Deserialize<'de> for First {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = First;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("the first item")
                }

                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<First, A::Error> {
                    items.next_element()?.map(First).ok_or_else(|| serde::de::Error::custom("none"))
                }

                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut pairs: A) -> Result<First, A::Error> {
                    pairs.next_key()?.map(First).ok_or_else(|| serde::de::Error::custom("none"))
                }
            }
            deserializer.deserialize_any(Visitor)
        }
    }

    assert!(from_value::<First>(Value::List(vec![1.into()])).is_ok());
    let error = from_value::<First>(Value::List(vec![1.into(), 2.into()])).map(|_| ()).unwrap_err();
    assert_eq!(place(&error), (Code::TypeMismatch, "$"));
    // A key without its value is less, too.
    let error = from_value::<First>(Value::Dict(vec![(1.into(), 2.into())])).map(|_| ()).unwrap_err();
    assert_eq!(place(&error), (Code::TypeMismatch, "$"));
}

#[test]
fn limits_hold_before_the_type_is_looked_at() {
    let frame = to_vec(&vec![0u8; 1000], &Limits::default()).unwrap();
    let few = Limits::default().with("nodes", 1000).unwrap();
    assert_eq!(from_slice::<String>(&frame, &few).unwrap_err().code(), Code::NodeLimit);
    assert_eq!(to_vec(&vec![0u8; 1000], &few).unwrap_err().code(), Code::NodeLimit);
    let enough = Limits::default().with("nodes", 1001).unwrap();
    assert_eq!(from_slice::<String>(&frame, &enough).unwrap_err().code(), Code::TypeMismatch);
    assert_eq!(from_slice::<Vec<u8>>(&frame, &enough).unwrap(), vec![0; 1000]);
}

#[test]
fn a_million_pairs_and_items() {
    let map: HashMap<u32, u32> = (0..1_000_000).map(|key| (key, key)).collect();
    let frame = to_vec(&map, &Limits::default()).unwrap();
    assert_eq!(from_slice::<HashMap<u32, u32>>(&frame, &Limits::default()).unwrap(), map);
    let error = from_slice::<Vec<u32>>(&frame, &Limits::default()).unwrap_err();
    assert_eq!(place(&error), (Code::TypeMismatch, "$"));
    // Unit structs take no room in a Vec: however many there are, nothing is reserved.
    let nothing = Value::List(vec![Value::None; 1_000_000]);
    assert_eq!(from_value::<Vec<()>>(nothing).unwrap().len(), 1_000_000);
}

/// A Decimal that is too large to equal any int is compared without being written out, whatever the ceiling of L6 would allow.
#[test]
fn t11_l6_decimals_as_keys_cost_what_they_cost_in_decode() {
    // A hundred of {1, Decimal("1E-1000000")}, and of {1, Decimal("1E-1179648")}.
    for exponent in [-1_000_000i64, -1_179_648] {
        let set = [&[0x93, 0xd4, 1, 2, 1, 0xc7, 10, 17, 0][..], &exponent.to_be_bytes(), b"1"].concat();
        let frame = wrap(&[vec![0xdc, 0, 100], set.repeat(100)].concat(), &[]);
        let limits = Limits::default();
        let (value, decoding) = asked(|| decode(&frame, &limits).unwrap());
        let (found, converting) = asked(|| from_slice::<Vec<Value>>(&frame, &limits));
        assert_eq!(found.map(Value::List), Ok(value));
        // One number alone, written out, is 400 KiB.
        assert!(converting < 10 * decoding, "{converting} bytes were asked for, {decoding} by decode");
    }
}
