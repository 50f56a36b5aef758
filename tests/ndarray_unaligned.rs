//! Bytes that lie where no number may: an allocator that puts every byte buffer at an odd address.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};

use hookless::{Array, Code, Limits, from_slice, to_vec};
use ndarray::{Array2, array};
use serde::{Deserialize, Serialize};

struct Odd;

/// The layout that is asked of the system for one of bytes: with room for an address that is a multiple of 16, and one more.
fn wider(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size() + 1, 16).expect("a size far from the largest one")
}

// SAFETY: layouts of alignment 1 are given one byte past the start of a block with one byte more, and given back as that block; all others are
// passed on as they came. `realloc` and `alloc_zeroed` are the provided methods, which call these two.
unsafe impl GlobalAlloc for Odd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() != 1 {
            // SAFETY: the caller's promise is passed on.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: the size is not zero.
        let block = unsafe { System.alloc(wider(layout)) };
        if block.is_null() {
            return block;
        }
        // SAFETY: the block is one byte longer than what is asked for.
        unsafe { block.add(1) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if layout.align() != 1 {
            // SAFETY: the caller's promise is passed on.
            return unsafe { System.dealloc(memory, layout) };
        }
        // SAFETY: `alloc` has given the address after that of this block, which had this layout.
        unsafe { System.dealloc(memory.sub(1), wider(layout)) }
    }
}

#[global_allocator]
static ALLOCATOR: Odd = Odd;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Fit {
    #[serde(with = "hookless::nd")]
    design: Array2<f64>,
}

#[test]
fn t11_a_view_is_refused_and_a_copy_is_made_where_it_is_asked_for() {
    let from = array![[1.0, 2.0], [3.0, 4.0]];
    let array = Array::from_ndarray(&from).unwrap();
    assert_eq!(array.data().as_ptr().align_offset(8), 7, "the allocator of this test gives odd addresses");
    let error = array.view::<f64>().unwrap_err();
    assert_eq!(error.code(), Code::TypeMismatch);
    assert!(error.message().contains("cannot be viewed"), "{error}");
    assert_eq!(array.to_ndarray::<f64>().unwrap(), from.clone().into_dyn());
    // Single bytes lie anywhere, and no bytes nowhere.
    let bytes = array![1u8, 2];
    assert_eq!(Array::from_ndarray(&bytes).unwrap().view::<u8>().unwrap(), bytes.into_dyn());
    let empty = Array2::<f64>::zeros((0, 3));
    assert_eq!(Array::from_ndarray(&empty).unwrap().view::<f64>().unwrap(), empty.into_dyn());
}

#[test]
fn t11_a_field_is_read_from_wherever_it_lies() {
    for rows in [2, 2000] {
        let fit = Fit { design: Array2::from_shape_fn((rows, 2), |(row, column)| (row * 2 + column) as f64) };
        let frame = to_vec(&fit, &Limits::default()).unwrap();
        assert_eq!(from_slice::<Fit>(&frame, &Limits::default()).unwrap(), fit);
    }
}
