//! A10, A16, A18: many elements looked at at once are what they are one by one.

use hookless::array::{ArrayHead, Shape};
use hookless::{Dtype, Order};
use proptest::prelude::*;
use support::arrays::dtype;

fn head(dtype: Dtype, count: u64) -> ArrayHead {
    ArrayHead::new(dtype, Shape::new(vec![count], Order::C).unwrap()).unwrap()
}

/// Zeros, but for a few bytes somewhere.
fn spoiled(len: usize, spots: &[(usize, u8)]) -> Vec<u8> {
    let mut data = vec![0; len];
    for &(at, byte) in spots.iter().filter(|_| len > 0) {
        data[at % len] = byte;
    }
    data
}

fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), Just(1), Just(0x10), Just(0x11), Just(0xff)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a10_many_elements_are_what_they_are_one_by_one(
        dtype in dtype(),
        count in prop_oneof![1_usize..40, 400_usize..4000],
        spots in proptest::collection::vec((any::<usize>(), byte()), 0..4),
    ) {
        let itemsize = dtype.itemsize() as usize;
        prop_assume!(itemsize > 0);
        let elements = head(dtype, count as u64).elements().unwrap();
        let data = spoiled(count * itemsize, &spots);
        let one_by_one = data.chunks(itemsize).enumerate().find_map(|(index, element)| {
            elements.find_bad(element).map(|at| (index * itemsize) as u64 + at)
        });
        prop_assert_eq!(elements.find_bad(&data), one_by_one);
        if one_by_one.is_some() {
            prop_assert!(elements.is_partial() || elements.has_gaps());
        }

        let (mut whole, mut parts) = (data.clone(), data.clone());
        elements.zero_gaps(&mut whole);
        parts.chunks_mut(itemsize).for_each(|element| elements.zero_gaps(element));
        prop_assert!(whole == parts);
        if !elements.has_gaps() {
            prop_assert!(whole == data);
        }
        if !elements.is_partial() {
            prop_assert_eq!(elements.find_bad(&whole), None);
        }
    }
}

/// The largest elements that are looked at many at once, and one byte more: what does not fit is looked at one by one.
#[test]
fn a16_elements_of_any_size() {
    for size in [1, 2, 3, 2047, 2048, 2049, 4095, 4096, 4097, 9000] {
        let flags = hookless::StructureFlags { align: false, record: false };
        let elements = head(Dtype::structure(size, flags, Vec::new()).unwrap(), 10).elements().unwrap();
        assert!(elements.has_gaps() && !elements.is_partial());
        for at in [0, size as usize, 9 * size as usize, 10 * size as usize - 1] {
            let mut data = spoiled(10 * size as usize, &[(at, 7)]);
            assert_eq!(elements.find_bad(&data), Some(at as u64), "{size}");
            elements.zero_gaps(&mut data);
            assert_eq!(elements.find_bad(&data), None);
        }
    }
}
