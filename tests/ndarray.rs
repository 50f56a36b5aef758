//! Arrays as those of the crate ndarray, both ways (T11).

use std::fmt::Debug;

use hookless::nd::Element;
use hookless::{Array, Code, Dtype, Limits, Order, Value, from_slice, from_value, to_value, to_vec};
use ndarray::{Array0, Array1, Array2, Array3, ArrayD, Axis, IxDyn, ShapeBuilder, array, s};
use num_complex::Complex;
use serde::{Deserialize, Serialize};

/// To an array of the wire and back, by every way there is.
fn both_ways<T: Element + Debug + PartialEq>(from: &ArrayD<T>, dtype: &str) {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(bound = "T: Element")]
    struct Field<T: Element>(#[serde(with = "hookless::nd")] ArrayD<T>);

    let array = Array::from_ndarray(from).unwrap();
    assert_eq!(array.dtype(), &Dtype::parse(dtype).unwrap());
    assert_eq!(array.view::<T>().unwrap(), from);
    assert_eq!(&array.to_ndarray::<T>().unwrap(), from);
    let field = Field(from.clone());
    let value = to_value(&field).unwrap();
    assert_eq!(value, Value::Array(hookless::Boxed::new(array)));
    assert_eq!(from_value::<Field<T>>(value).unwrap(), field);
    let frame = to_vec(&field, &Limits::default()).unwrap();
    assert_eq!(from_slice::<Field<T>>(&frame, &Limits::default()).unwrap(), field);
}

#[test]
fn t11_every_element_type() {
    both_ways(&array![true, false].into_dyn(), "|b1");
    both_ways(&array![i8::MIN, i8::MAX].into_dyn(), "|i1");
    both_ways(&array![i16::MIN, i16::MAX].into_dyn(), "<i2");
    both_ways(&array![i32::MIN, i32::MAX].into_dyn(), "<i4");
    both_ways(&array![i64::MIN, i64::MAX].into_dyn(), "<i8");
    both_ways(&array![0, u8::MAX].into_dyn(), "|u1");
    both_ways(&array![1, u16::MAX].into_dyn(), "<u2");
    both_ways(&array![1, u32::MAX].into_dyn(), "<u4");
    both_ways(&array![1, u64::MAX].into_dyn(), "<u8");
    both_ways(&array![1.5f32, -0.0].into_dyn(), "<f4");
    both_ways(&array![1.5f64, f64::INFINITY].into_dyn(), "<f8");
    both_ways(&array![Complex::new(1f32, -2.0)].into_dyn(), "<c8");
    both_ways(&array![Complex::new(1f64, -2.0)].into_dyn(), "<c16");
}

#[test]
fn t11_every_shape() {
    both_ways(&ArrayD::from_elem(IxDyn(&[]), 7i32), "<i4");
    both_ways(&ArrayD::<i32>::zeros(IxDyn(&[0])), "<i4");
    both_ways(&ArrayD::<f64>::zeros(IxDyn(&[3, 0, 2])), "<f8");
    both_ways(&ArrayD::<u8>::zeros(IxDyn(&[1; 64])), "|u1");
    // In the region.
    both_ways(&Array2::from_shape_fn((100, 41), |(row, column)| (row * column) as f64).into_dyn(), "<f8");
    let error = Array::from_ndarray(&ArrayD::<u8>::zeros(IxDyn(&[1; 65]))).unwrap_err();
    assert_eq!(error.code(), Code::BadShape);
}

#[test]
fn t11_a12_orders_are_kept_and_the_rest_is_compacted() {
    let c: Array3<i16> = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as i16);
    let f: Array3<i16> = Array3::from_shape_fn((2, 3, 4).f(), |(i, j, k)| (i * 100 + j * 10 + k) as i16);
    assert_eq!(c, f);
    for (from, order) in [(&c, Order::C), (&f, Order::F)] {
        let array = Array::from_ndarray(from).unwrap();
        assert_eq!((array.order(), array.shape()), (order, &[2, 3, 4][..]));
        assert_eq!(array.view::<i16>().unwrap(), c.view().into_dyn());
        assert_eq!(array.to_ndarray::<i16>().unwrap(), c.view().into_dyn());
    }
    // What is visible of a strided view, in C order; nothing of what lies between.
    let slices = [c.slice(s![.., ..;2, 1..3]), c.slice(s![..;-1, .., ..]), c.view().permuted_axes([1, 0, 2])];
    for view in slices {
        let array = Array::from_ndarray(&view).unwrap();
        assert_eq!(array.order(), Order::C);
        assert_eq!(array.data().len(), view.len() * 2);
        assert_eq!(array.view::<i16>().unwrap(), view.into_dyn());
    }
    let reversed = c.view().reversed_axes();
    assert_eq!(Array::from_ndarray(&reversed).unwrap().order(), Order::F);
    assert_eq!(Array::from_ndarray(&c.index_axis(Axis(0), 1)).unwrap().order(), Order::C);
}

#[test]
fn t11_a_view_is_of_the_very_bytes() {
    let array = Array::from_ndarray(&array![[1i64, 2], [3, 4]]).unwrap();
    let view = array.view::<i64>().unwrap();
    assert_eq!(view.as_ptr().cast::<u8>(), array.data().as_ptr());
}

fn refused<T: Element + Debug>(array: &Array, note: &str) {
    for error in [array.view::<T>().unwrap_err(), array.to_ndarray::<T>().unwrap_err()] {
        assert_eq!(error.code(), Code::TypeMismatch);
        assert!(error.message().ends_with(note), "{error}");
    }
}

#[test]
fn t11_another_dtype_is_refused() {
    let ints = Array::from_ndarray(&array![1i32, 2]).unwrap();
    refused::<u32>(&ints, "an ndarray of <i4, expected <u4");
    refused::<f32>(&ints, "an ndarray of <i4, expected <f4");
    refused::<i64>(&ints, "an ndarray of <i4, expected <i8");
    refused::<bool>(&Array::from_ndarray(&array![1u8]).unwrap(), "an ndarray of |u1, expected |b1");
    let times = Array::new(Dtype::parse("<M8[s]").unwrap(), vec![1], Order::C, vec![0; 8]).unwrap();
    refused::<i64>(&times, "an ndarray of <M8[s], expected <i8");
    let structure = Dtype::structure(8, hookless::StructureFlags::default(), vec![]).unwrap();
    refused::<f64>(&Array::new(structure, vec![1], Order::C, vec![0; 8]).unwrap(), "expected <f8");
}

#[test]
fn t11_the_other_byte_order_is_copied_and_never_viewed() {
    fn check<T: Element + Debug + PartialEq>(dtype: &str, bytes: &[u8], wanted: T) {
        let dtype = Dtype::parse(dtype).unwrap();
        let array = Array::new(dtype, vec![1], Order::C, bytes.to_vec()).unwrap();
        assert_eq!(array.view::<T>().unwrap_err().code(), Code::TypeMismatch);
        assert_eq!(array.to_ndarray::<T>().unwrap(), ArrayD::from_elem(IxDyn(&[1]), wanted));
    }
    check(">i2", &[1, 2], 0x0102i16);
    check(">u4", &[1, 2, 3, 4], 0x0102_0304u32);
    check(">f4", &1.5f32.to_be_bytes(), 1.5f32);
    check(">f8", &(-2.5f64).to_be_bytes(), -2.5f64);
    let parts = [1.5f32.to_be_bytes(), 2.5f32.to_be_bytes()].concat();
    check(">c8", &parts, Complex::new(1.5f32, 2.5));
    let parts = [1.5f64.to_be_bytes(), 2.5f64.to_be_bytes()].concat();
    check(">c16", &parts, Complex::new(1.5f64, 2.5));
}

#[test]
fn t11_nans_keep_their_bits() {
    for bits in [0x7ff0_0000_0000_0001u64, 0xfff8_0000_0000_1234] {
        let array = Array::from_ndarray(&Array0::from_elem((), f64::from_bits(bits))).unwrap();
        assert_eq!(array.data(), bits.to_le_bytes());
        assert_eq!(array.to_ndarray::<f64>().unwrap()[IxDyn(&[])].to_bits(), bits);
        let turned = Array::new(Dtype::parse(">f8").unwrap(), vec![], Order::C, bits.to_be_bytes().to_vec());
        assert_eq!(turned.unwrap().to_ndarray::<f64>().unwrap()[IxDyn(&[])].to_bits(), bits);
    }
}

#[test]
fn t11_fields_name_what_does_not_fit() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Fit {
        #[serde(with = "hookless::nd")]
        design: Array2<f64>,
    }

    let fit =
        |design: Array| Value::Dict(vec![("design".into(), Value::Array(hookless::Boxed::new(design)))]);
    for (design, note) in [
        (Array::from_ndarray(&Array1::<f64>::zeros(3)).unwrap(), "an ndarray of 1 dimensions, expected 2"),
        (Array::from_ndarray(&Array2::<f32>::zeros((1, 1))).unwrap(), "an ndarray of <f4, expected <f8"),
    ] {
        let error = from_value::<Fit>(fit(design)).unwrap_err();
        assert_eq!((error.code(), error.path()), (Code::TypeMismatch, "$.design"));
        assert!(error.message().ends_with(note), "{error}");
    }
    let error = serde_json::to_string(&Fit { design: Array2::zeros((1, 1)) }).unwrap_err();
    assert!(error.to_string().contains("hookless::to_vec alone"), "{error}");
    let error = serde_json::from_str::<Fit>("{\"design\": [[1.0]]}").unwrap_err();
    assert!(error.to_string().contains("hookless::from_slice alone"), "{error}");
}
