//! T11: values and arrays inside the host's own types pass bit for bit, and through the functions of this crate alone.

use hookless::limits::REGION_THRESHOLD;
use hookless::{
    Array, ByteOrder, Code, Dtype, Error, Letter, Limits, Order, Value, decode, encode, from_slice,
    from_value, to_value, to_vec,
};
use serde::de::value::{self, SeqDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_bytes::ByteBuf;
use support::vectors::accept;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Held {
    value: Value,
}

fn held(value: Value) -> Value {
    Value::Dict(vec![("value".into(), value)])
}

fn array(bytes: u64) -> Array {
    let dtype = Dtype::new(Letter::UInt, ByteOrder::None, 1, None).unwrap();
    Array::new(dtype, vec![bytes], Order::C, (0..bytes).map(|byte| byte as u8).collect()).unwrap()
}

#[test]
fn t11_every_accept_vector_passes_as_a_field() {
    let mut passed = 0;
    for vector in accept().iter().filter(|vector| vector.for_decode()) {
        let value = decode(&vector.frame, &vector.limits).unwrap();
        let limits = vector.limits.clone();
        // Some vectors stand at a limit that the field around them would pass.
        let Ok(frame) = encode(&held(value.clone()), &limits) else { continue };
        assert_eq!(to_vec(&Held { value: value.clone() }, &limits).unwrap(), frame, "{}", vector.name);
        let found = from_slice::<Held>(&frame, &limits).unwrap();
        assert_eq!(found, Held { value: value.clone() }, "{}", vector.name);
        assert_eq!(from_value::<Value>(to_value(&value).unwrap()).unwrap(), value, "{}", vector.name);
        passed += 1;
    }
    assert!(passed > 200, "only {passed} vectors passed");
}

#[test]
fn t11_buffers_of_the_region_keep_their_order() {
    let bytes = |byte: u8| vec![byte; REGION_THRESHOLD as usize + usize::from(byte)];
    let value = Value::Tuple(vec![
        Value::Bytes(bytes(1)),
        Value::Bytes(Vec::new()),
        Value::Array(hookless::Boxed::new(array(REGION_THRESHOLD))),
        Value::Dict(vec![
            (Value::Bytes(bytes(2)), Value::ByteArray(bytes(3))),
            ("a".into(), Value::Array(hookless::Boxed::new(array(REGION_THRESHOLD - 1)))),
        ]),
        Value::Bytes(bytes(4)),
    ]);
    let held = Held { value };
    let frame = to_vec(&held, &Limits::default()).unwrap();
    assert_eq!(from_slice::<Held>(&frame, &Limits::default()).unwrap(), held);
    assert_eq!(from_value::<Held>(to_value(&held).unwrap()).unwrap(), held);
}

#[test]
fn t11_arrays_below_and_at_the_region_threshold() {
    for len in [0, 1, REGION_THRESHOLD - 1, REGION_THRESHOLD, REGION_THRESHOLD + 1] {
        let array = array(len);
        let value = to_value(&array).unwrap();
        assert_eq!(value, Value::Array(hookless::Boxed::new(array.clone())));
        assert_eq!(from_value::<Array>(value).unwrap(), array);
        let both = vec![Some(array.clone()), None, Some(array)];
        let frame = to_vec(&both, &Limits::default()).unwrap();
        assert_eq!(from_slice::<Vec<Option<Array>>>(&frame, &Limits::default()).unwrap(), both);
    }
}

#[test]
fn t11_only_an_array_is_an_array() {
    let error = from_value::<Vec<Array>>(Value::List(vec![Value::Bytes(vec![1])])).unwrap_err();
    assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$[0]"));
    assert!(error.message().contains("bytes, expected ndarray"), "{error}");
}

#[test]
fn t11_no_other_format_writes_a_value() {
    let wanted = "hookless::to_value and hookless::to_vec alone";
    for value in [Value::None, Value::from(1), Value::Array(hookless::Boxed::new(array(3)))] {
        let json = serde_json::to_string(&Held { value: value.clone() }).unwrap_err();
        assert!(json.to_string().contains(wanted), "{json}");
        assert!(serde_json::to_value(&value).unwrap_err().to_string().contains(wanted));
        for error in [rmp_serde::to_vec(&value).unwrap_err(), rmp_serde::to_vec_named(&array(3)).unwrap_err()]
        {
            assert!(error.to_string().contains(wanted), "{error}");
        }
    }
}

#[test]
fn t11_no_other_format_reads_a_value() {
    let wanted = "hookless::from_value and hookless::from_slice alone";
    let frame = encode(&Value::from(1), &Limits::default()).unwrap();
    for text in ["1", "null", "[[1,2]]", "{\"value\":1}", "\"x\"", &format!("[{frame:?}]")] {
        let error = serde_json::from_str::<Value>(text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        let error = serde_json::from_str::<Array>(text).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
    // The very pieces that pass between the two sides of this crate.
    let pieces = rmp_serde::to_vec(&(serde_bytes::Bytes::new(&frame),)).unwrap();
    let error = rmp_serde::from_slice::<Value>(&pieces).unwrap_err();
    assert!(error.to_string().contains(wanted), "{error}");
    assert!(Value::deserialize(Pieces(frame.clone())).unwrap_err().to_string().contains(wanted));
    // As a value they are bytes in a tuple, and stay that.
    let plain = Value::Tuple(vec![Value::Bytes(frame)]);
    assert_eq!(from_value::<Value>(plain.clone()).unwrap(), plain);
}

/// A deserializer of another format that gives the pieces exactly as this crate does, but for the answers.
struct Pieces(Vec<u8>);

impl<'de> Deserializer<'de> for Pieces {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_seq(SeqDeserializer::new([Piece(self.0)].into_iter()))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, value::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Piece(Vec<u8>);

impl<'de> IntoDeserializer<'de> for Piece {
    type Deserializer = Piece;

    fn into_deserializer(self) -> Piece {
        self
    }
}

impl<'de> Deserializer<'de> for Piece {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_byte_buf(self.0)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn t11_a_value_is_not_read_from_what_serde_buffers() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Around {
        #[serde(flatten)]
        held: Held,
    }

    let around = Around { held: Held { value: Value::from(1) } };
    let value = to_value(&around).unwrap();
    assert_eq!(value, held(Value::from(1)));
    let error = from_value::<Around>(value).unwrap_err();
    assert_eq!(error.code(), Code::TypeMismatch);
    assert!(error.message().contains("not inside untagged, flattened"), "{error}");
}

/// A host's own type that takes the name under which values pass: it is checked like bytes of the wire.
#[test]
fn t11_pieces_that_do_not_fit_are_refused() {
    struct Posing<T>(T);

    impl<T: Serialize> Serialize for Posing<T> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct("$hookless::Value", &self.0)
        }
    }

    let value = Value::Bytes(vec![7; REGION_THRESHOLD as usize]);
    let whole = encode(&value, &Limits::default()).unwrap();
    // Head, and a body of ext 6 with eight bytes; what follows is the region.
    let (frame, entry) = (ByteBuf::from(&whole[..42]), ByteBuf::from(&whole[64..]));
    let short = ByteBuf::from(&entry[1..]);
    assert_eq!(to_value(&Posing((&frame, &entry))).unwrap(), value);
    let code = |found: Result<Value, Error>| found.unwrap_err().code();
    assert_eq!(code(to_value(&Posing((&frame, &short)))), Code::RegionMismatch);
    assert_eq!(code(to_value(&Posing((&frame,)))), Code::RegionMismatch);
    assert_eq!(code(to_value(&Posing((&frame, &entry, &entry)))), Code::RegionMismatch);
    assert_eq!(code(to_value(&Posing((&short,)))), Code::BadMagic);
    assert_eq!(code(to_value(&Posing((ByteBuf::from(&whole[..31]),)))), Code::Truncated);
    assert_eq!(code(to_value(&Posing((ByteBuf::from(&whole[..41]), &entry)))), Code::Truncated);
    assert_eq!(code(to_value(&Posing(("text",)))), Code::BadType);
    assert_eq!(code(to_value(&Posing(1))), Code::BadType);
    // Bools of 16 384 bytes, one of which is 2.
    let bools = Array::new(Dtype::parse("|b1").unwrap(), vec![REGION_THRESHOLD], Order::C, vec![1; 16_384]);
    let whole = encode(&Value::Array(hookless::Boxed::new(bools.unwrap())), &Limits::default()).unwrap();
    let body = usize::from(whole[23]);
    let frame = ByteBuf::from(&whole[..32 + body]);
    let bad = ByteBuf::from([vec![1; 16_383], vec![2]].concat());
    assert_eq!(code(to_value(&Posing((&frame, &bad)))), Code::BadElement);
}

#[test]
fn t11_what_cannot_be_encoded_cannot_pass() {
    let twice = Value::Dict(vec![(1.into(), 1.into()), (true.into(), 2.into())]);
    for error in [
        to_value(&Held { value: twice.clone() }).unwrap_err(),
        to_vec(&Held { value: twice.clone() }, &Limits::default()).unwrap_err(),
    ] {
        // As if the value were encoded by itself.
        assert_eq!(error, encode(&held(twice.clone()), &Limits::default()).unwrap_err());
        assert_eq!((error.code(), error.path()), (Code::DuplicateKey, "$.value.keys[1]"));
    }
    // An error with a sentence of its own, past every ceiling.
    let deep = (0..600).fold(Value::None, |inner, _| Value::List(vec![inner]));
    let error = to_value(&vec![Held { value: deep }]).unwrap_err();
    assert_eq!(error.code(), Code::DepthLimit);
    assert_eq!(error.path(), format!("$[0].value{}", "[0]".repeat(512)));
    assert!(error.message().ends_with("513 asked for, 512 allowed"), "{error}");
    assert_eq!(from_value::<Held>(held(twice)).unwrap_err().code(), Code::DuplicateKey);
}

#[test]
fn t11_the_depth_of_a_value_counts_where_it_is_encoded() {
    let deep = |levels: u32| (0..levels).fold(Value::None, |inner, _| Value::List(vec![inner]));
    let value = to_value(&Held { value: deep(500) }).unwrap();
    assert_eq!(value, held(deep(500)));
    assert!(to_vec(&Held { value: deep(127) }, &Limits::default()).is_ok());
    let error = to_vec(&Held { value: deep(128) }, &Limits::default()).unwrap_err();
    assert_eq!(error.code(), Code::DepthLimit);
}
