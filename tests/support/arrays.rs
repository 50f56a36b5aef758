//! Arrays of every kind.

use hookless::array::{ArrayClass, ArrayHead, Missing, Unit};
use hookless::{
    Array, ByteOrder, Dtype, Element, Extension, Field, Letter, LongFormat, MaskedArray, ObjectArray, Order,
    StringArray, StructureFlags, Text, Value,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate::unit;

fn plain_dtype() -> impl Strategy<Value = Dtype> {
    let order = any::<bool>().prop_map(|big| if big { ByteOrder::Big } else { ByteOrder::Little });
    let plain = proptest::sample::select(vec![
        (Letter::Bool, 1),
        (Letter::Int, 1),
        (Letter::Int, 2),
        (Letter::Int, 8),
        (Letter::UInt, 1),
        (Letter::UInt, 4),
        (Letter::Float, 2),
        (Letter::Float, 4),
        (Letter::Float, 8),
        (Letter::Complex, 8),
        (Letter::Complex, 16),
        (Letter::Bytes, 0),
        (Letter::Bytes, 3),
        (Letter::Void, 5),
        (Letter::Str, 0),
        (Letter::Str, 8),
    ]);
    let with = |letter: Letter, size: u32, order: ByteOrder, unit: Option<Unit>| {
        let single = size == 1 || matches!(letter, Letter::Bytes | Letter::Void);
        Dtype::new(letter, if single { ByteOrder::None } else { order }, size, unit).unwrap()
    };
    prop_oneof![
        4 => (plain, order.clone()).prop_map(move |((letter, size), order)| with(letter, size, order, None)),
        1 => (unit(), order, any::<bool>()).prop_map(move |(unit, order, date)| {
            with(if date { Letter::Datetime } else { Letter::Timedelta }, 8, order, Some(unit))
        }),
    ]
}

/// Long doubles of every format, and the types of ml_dtypes.
fn numbered_dtype() -> impl Strategy<Value = Dtype> {
    let order = |big| if big { ByteOrder::Big } else { ByteOrder::Little };
    let long = (proptest::sample::select(LongFormat::ALL), any::<bool>(), any::<bool>())
        .prop_map(move |(format, complex, big)| Dtype::long(complex, order(big), format).unwrap());
    let extension = (proptest::sample::select(Extension::ALL), any::<bool>()).prop_map(move |(kind, big)| {
        let order = if kind.size() == 1 { ByteOrder::None } else { order(big) };
        Dtype::extension(order, kind).unwrap()
    });
    prop_oneof![long, extension]
}

/// Fields with gaps between them, and now and then one that lies over the others.
fn structure(inner: impl Strategy<Value = Dtype>) -> impl Strategy<Value = Dtype> {
    let fields = vec((inner, vec(0u32..3, 0..2), 0u32..3, any::<bool>()), 0..4);
    (fields, 0u32..3, any::<bool>(), any::<bool>()).prop_map(|(parts, tail, record, over)| {
        let (mut fields, mut end) = (Vec::new(), 0);
        for (index, (dtype, shape, gap, titled)) in parts.into_iter().enumerate() {
            let title = titled.then(|| Text::Str(format!("title {index}")));
            let name = Text::Str(format!("f{index}"));
            let field = Field { name, title, offset: end + gap, shape, dtype };
            end = field.offset + field.size().unwrap();
            fields.push(field);
        }
        let size = end + tail;
        let flags = StructureFlags { align: false, record };
        let plain = Dtype::structure(size, flags, fields.clone()).unwrap();
        let dtype = Dtype::new(Letter::UInt, ByteOrder::None, 1, None).unwrap();
        fields.push(Field {
            name: Text::Str("all".to_owned()),
            title: None,
            offset: 0,
            shape: vec![size],
            dtype,
        });
        match over {
            true => Dtype::structure(size, flags, fields).unwrap_or(plain),
            false => plain,
        }
    })
}

/// Every dtype, plain and structured.
pub fn dtype() -> impl Strategy<Value = Dtype> {
    let flat = prop_oneof![3 => plain_dtype(), 1 => numbered_dtype()].boxed();
    let nested = structure(prop_oneof![3 => flat.clone(), 1 => structure(flat.clone())]);
    prop_oneof![4 => flat, 1 => nested]
}

fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed | 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    })
}

/// Bytes that are the elements of such an array.
fn contents(head: &ArrayHead, seed: u64) -> Vec<u8> {
    let mut data: Vec<u8> = noise(seed).take(head.nbytes() as usize).collect();
    head.elements().unwrap().zero_gaps(&mut data);
    let dtype = head.dtype();
    match dtype.letter() {
        Letter::Bool => data.iter_mut().for_each(|byte| *byte &= 1),
        Letter::Str => data.chunks_mut(4).for_each(|unit| {
            let top = if dtype.order() == ByteOrder::Big { [0, 1] } else { [3, 2] };
            unit[top[0]] = 0;
            unit[top[1]] &= 0x0f;
        }),
        Letter::Extension if head.find_bad(&data).unwrap().is_some() => {
            data.iter_mut().for_each(|byte| *byte &= 1)
        }
        _ => {
            while let Some(bad) = head.find_bad(&data).unwrap() {
                let at = bad as usize;
                let end = data.len().min(at + 4);
                data[at..end].fill(0);
            }
        }
    }
    data
}

fn made(dtype: Dtype, shape: Vec<u64>, order: Order, seed: u64) -> Array {
    let shape_of = hookless::array::Shape::new(shape.clone(), order).unwrap();
    let data = contents(&ArrayHead::new(dtype.clone(), shape_of).unwrap(), seed);
    Array::new(dtype, shape, order, data).unwrap()
}

fn order() -> impl Strategy<Value = Order> {
    any::<bool>().prop_map(|fortran| if fortran { Order::F } else { Order::C })
}

fn shape() -> impl Strategy<Value = Vec<u64>> {
    vec(0u64..5, 0..4)
}

/// Arrays up to a few hundred bytes, and now and then one that goes into the region.
pub(crate) fn array() -> impl Strategy<Value = Value> {
    plain_array().prop_map(|array| Value::Array(hookless::Boxed::new(array)))
}

fn plain_array() -> impl Strategy<Value = Array> {
    let large = proptest::sample::select(vec![vec![16_384], vec![130, 130], vec![2, 3, 4000]]);
    let small = (dtype(), shape());
    let large = (plain_dtype(), large);
    (prop_oneof![20 => small, 1 => large], order(), any::<u64>(), any::<bool>()).prop_map(
        |((dtype, shape), order, seed, record)| {
            let array = made(dtype, shape, order, seed);
            match record {
                true => array.clone().with_class(ArrayClass::Record).unwrap_or(array),
                false => array,
            }
        },
    )
}

/// Scalars of dtypes that have no leaf.
pub(crate) fn element() -> impl Strategy<Value = Value> {
    let dtypes = prop_oneof![numbered_dtype(), structure(plain_dtype())];
    let little = dtypes.prop_filter("scalars are little-endian", |dtype| dtype.order() != ByteOrder::Big);
    (little, any::<u64>()).prop_map(|(dtype, seed)| {
        let data = made(dtype.clone(), Vec::new(), Order::C, seed).data().to_vec();
        Value::Element(hookless::Boxed::new(Element::new(dtype, data).unwrap()))
    })
}

/// The dtype of a mask.
fn mask_of(dtype: &Dtype) -> Dtype {
    let Some(structure) = dtype.fields() else {
        return Dtype::new(Letter::Bool, ByteOrder::None, 1, None).unwrap();
    };
    let mut end = 0;
    let mut fields = Vec::new();
    for field in structure.fields() {
        let field = Field { offset: end, dtype: mask_of(&field.dtype), ..field.clone() };
        end += field.size().unwrap();
        fields.push(field);
    }
    Dtype::structure(end, StructureFlags::default(), fields).unwrap()
}

/// Masked arrays with and without a mask, a fill value and a hard mask.
pub(crate) fn masked() -> impl Strategy<Value = Value> {
    (plain_array(), any::<[bool; 3]>(), order(), any::<u64>()).prop_map(
        |(data, [masked, filled, hard], order, seed)| {
            let wanted = masked || data.dtype().fields().is_some();
            let mask = wanted.then(|| made(mask_of(data.dtype()), data.shape().to_vec(), order, seed));
            let fill = filled.then(|| made(data.dtype().clone(), Vec::new(), Order::C, seed));
            Value::MaskedArray(hookless::Boxed::new(MaskedArray::new(data, mask, fill, hard).unwrap()))
        },
    )
}

/// The shape of so many items.
fn shape_of(count: usize, kind: u8) -> Vec<u64> {
    let count = count as u64;
    match (kind % 3, count) {
        (0, 1) => Vec::new(),
        (1, _) if count.is_multiple_of(2) => vec![count / 2, 2],
        _ => vec![count],
    }
}

/// Arrays of objects.
pub(crate) fn objects(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (vec(inner, 0..7), any::<u8>(), order()).prop_map(|(items, kind, order)| {
        let shape = shape_of(items.len(), kind);
        Value::ObjectArray(hookless::Boxed::new(ObjectArray::new(shape, order, items).unwrap()))
    })
}

/// Arrays of texts of any length.
pub(crate) fn strings() -> impl Strategy<Value = Value> {
    let missing = prop_oneof![
        Just(Missing::Never),
        Just(Missing::None),
        (1u64..1 << 51, any::<bool>()).prop_map(|(low, sign)| {
            Missing::Nan(f64::from_bits(low | 0x7ff8 << 48 | u64::from(sign) << 63))
        }),
        ".{0,3}".prop_map(Missing::Text),
    ];
    let items = vec(proptest::option::weighted(0.8, ".{0,20}"), 0..7);
    (missing, any::<bool>(), items, any::<u8>(), order()).prop_map(
        |(missing, coerce, mut items, kind, order)| {
            for item in &mut items {
                match (&missing, &item) {
                    (Missing::Never, None) => *item = Some(String::new()),
                    (Missing::Text(text), Some(found)) if text == found => *item = None,
                    _ => {}
                }
            }
            let shape = shape_of(items.len(), kind);
            Value::StringArray(hookless::Boxed::new(
                StringArray::new(missing, coerce, shape, order, items).unwrap(),
            ))
        },
    )
}
