//! The host's own types come back as they went, for generated values of every row of `proto/typed.md`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hookless::{Limits, decode, encode, from_slice, from_value, to_value, to_vec};
use proptest::collection::{btree_map, btree_set, hash_map, vec};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Floats by their bits, so that every NaN counts.
#[derive(Debug, Clone, Copy)]
struct Bits<T>(T);

impl PartialEq for Bits<f64> {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl PartialEq for Bits<f32> {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl<T: Serialize> Serialize for Bits<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bits<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Bits)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Numbers {
    small: (u8, u16, u32, u64, u128),
    signed: (i8, i16, i32, i64, i128),
    single: Bits<f32>,
    double: Bits<f64>,
    bool: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Id(u64);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Kind {
    Left,
    #[serde(rename = "the right")]
    Right,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Tree {
    Empty,
    Leaf(String),
    Pair(Box<Tree>, Box<Tree>),
    Named { kind: Kind, inner: Option<Box<Tree>>, more: Vec<Tree> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    numbers: Numbers,
    text: String,
    letter: char,
    data: ByteBuf,
    nothing: (),
    maybe: Option<Id>,
    items: Vec<Option<i64>>,
    set: BTreeSet<String>,
    by_name: BTreeMap<String, Vec<u8>>,
    by_kind: HashMap<Kind, i64>,
    by_tuple: BTreeMap<(i64, bool, String), char>,
    tree: Tree,
    fixed: [i16; 4],
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    renamed: Option<bool>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Rest {
    left: i64,
    right: Vec<String>,
}

fn numbers() -> impl Strategy<Value = Numbers> {
    any::<((u8, u16, u32, u64, u128), (i8, i16, i32, i64, i128), u32, u64, bool)>().prop_map(
        |(small, signed, single, double, bool)| Numbers {
            small,
            signed,
            single: Bits(f32::from_bits(single)),
            double: Bits(f64::from_bits(double)),
            bool,
        },
    )
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Left), Just(Kind::Right)]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![Just(Tree::Empty), ".{0,8}".prop_map(Tree::Leaf)];
    leaf.prop_recursive(5, 24, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let named = (kind(), proptest::option::of(boxed.clone()), vec(inner, 0..3));
        prop_oneof![
            (boxed.clone(), boxed).prop_map(|(left, right)| Tree::Pair(left, right)),
            named.prop_map(|(kind, inner, more)| Tree::Named { kind, inner, more }),
        ]
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    let data = prop_oneof![9 => vec(any::<u8>(), 0..40), 1 => vec(any::<u8>(), 16_380..16_390)];
    let plain = (numbers(), ".{0,40}", any::<char>(), data.prop_map(ByteBuf::from));
    let maybe = (proptest::option::of(any::<u64>().prop_map(Id)), vec(any::<Option<i64>>(), 0..5));
    let tables = (
        btree_set(".{0,5}", 0..5),
        btree_map(".{0,5}", vec(any::<u8>(), 0..5), 0..5),
        hash_map(kind(), any::<i64>(), 0..3),
        btree_map(any::<(i64, bool, String)>(), any::<char>(), 0..4),
    );
    let rest = (tree(), any::<[i16; 4]>(), any::<Option<bool>>(), any::<i64>(), vec(".{0,5}", 0..3));
    (plain, maybe, tables, rest).prop_map(
        |((numbers, text, letter, data), (maybe, items), (set, by_name, by_kind, by_tuple), rest)| {
            let (tree, fixed, renamed, left, right) = rest;
            let (nothing, rest) = ((), Rest { left, right });
            Everything {
                numbers,
                text,
                letter,
                data,
                nothing,
                maybe,
                items,
                set,
                by_name,
                by_kind,
                by_tuple,
                tree,
                fixed,
                renamed,
                rest,
            }
        },
    )
}

fn check<T: std::fmt::Debug + PartialEq + Serialize + DeserializeOwned>(
    value: &T,
) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let frame = to_vec(value, &limits).unwrap();
    prop_assert_eq!(&from_slice::<T>(&frame, &limits).unwrap(), value);
    let inert = to_value(value).unwrap();
    prop_assert_eq!(&encode(&inert, &limits).unwrap(), &frame);
    prop_assert_eq!(&decode(&frame, &limits).unwrap(), &inert);
    prop_assert_eq!(&from_value::<T>(inert).unwrap(), value);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn t1_to_t10_come_back(value in everything()) {
        check(&value)?;
    }

    #[test]
    fn t2_enums_come_back(value in tree()) {
        check(&value)?;
    }

    #[test]
    fn t11_a_value_inside_a_type_comes_back(value in support::generate::value()) {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Held {
            before: u8,
            value: hookless::Value,
            after: Vec<hookless::Value>,
        }
        let limits = Limits::default();
        // In the order of the wire; generated keys may be equal (K3), and then there is nothing to hold.
        let Ok(value) = encode(&value, &limits).and_then(|frame| decode(&frame, &limits)) else {
            return Ok(());
        };
        check(&Held { before: 1, value: value.clone(), after: vec![value.clone(), value.clone()] })?;
        check(&value)?;
    }
}
