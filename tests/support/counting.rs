//! An allocator that counts what each thread holds. A program that wants to know names it:
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: support::counting::Counting = support::counting::Counting;
//! ```
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counted.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn count(change: i64) {
    // A thread that is ending has no counters left, and none is needed there.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        // Old and new may exist side by side.
        count(new as i64);
        // SAFETY: the caller's promise is passed on.
        let moved = unsafe { System.realloc(memory, layout, new) };
        count(-(layout.size() as i64));
        moved
    }
}

/// The most that `work` holds at once, in bytes.
///
/// # Panics
/// When the program does not use [`Counting`]: the figure would always be zero.
pub fn peak<R>(work: impl FnOnce() -> R) -> (R, i64) {
    let before = NOW.get();
    let probe = std::hint::black_box(Box::new(0u64));
    assert!(NOW.get() > before, "this program does not use the counting allocator");
    drop(probe);
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}
