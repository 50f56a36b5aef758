//! An allocator that counts what each thread holds, and refuses where it is told to.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Made the `#[global_allocator]` of a test.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
    static ASKED: Cell<i64> = const { Cell::new(0) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static REFUSED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Which allocations of a thread are refused, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refuse {
    /// None.
    Nothing,
    /// This one alone, as where one is too large.
    Only(u64),
    /// This one and all after it, as where there is nothing left.
    From(u64),
}

/// What some work has allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// Allocations and reallocations, those refused included.
    pub calls: u64,
    /// Bytes held now more than before.
    pub held: i64,
}

/// Does some work while allocations are refused, and drops what `check` has made of its result.
pub fn refusing<R, T>(which: Refuse, work: impl FnOnce() -> R, check: impl FnOnce(R) -> T) -> (T, Spent) {
    let range = match which {
        Refuse::Nothing => (0, 0),
        Refuse::Only(call) => (call, call),
        Refuse::From(call) => (call, u64::MAX),
    };
    let before = NOW.get();
    CALLS.set(0);
    REFUSED.set(range);
    let result = work();
    REFUSED.set((0, 0));
    let calls = CALLS.get();
    let checked = check(result);
    (checked, Spent { calls, held: NOW.get() - before })
}

/// The most that `work` holds at once, in bytes.
///
/// # Panics
/// When the program does not use [`Counting`]: the figure would always be zero.
pub fn peak<R>(work: impl FnOnce() -> R) -> (R, i64) {
    check_counting();
    let before = NOW.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}

/// The bytes that `work` asks for in all, given back or not: a measure of its work that no clock is needed for.
///
/// # Panics
/// As [`peak`].
pub fn asked<R>(work: impl FnOnce() -> R) -> (R, i64) {
    check_counting();
    let before = ASKED.get();
    let result = work();
    (result, ASKED.get() - before)
}

fn check_counting() {
    let before = NOW.get();
    let probe = std::hint::black_box(Box::new(0u64));
    assert!(NOW.get() > before, "this program does not use the counting allocator");
    drop(probe);
}

fn count(change: i64) {
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + change.max(0)));
    // A thread that is ending has no counters left, and none is needed there.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

/// Counts a call, and says whether it is to be refused.
fn is_refused() -> bool {
    let call = CALLS.try_with(|calls| {
        calls.set(calls.get() + 1);
        calls.get()
    });
    let range = REFUSED.try_with(Cell::get);
    matches!((call, range), (Ok(call), Ok((first, last))) if (first..=last).contains(&call))
}

// SAFETY: every call is passed on to the system's allocator as it came, or refused, which an allocator may do.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused() {
            return std::ptr::null_mut();
        }
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
        if is_refused() {
            return std::ptr::null_mut();
        }
        // Old and new may exist side by side.
        count(new as i64);
        // SAFETY: the caller's promise is passed on.
        let moved = unsafe { System.realloc(memory, layout, new) };
        count(-(layout.size() as i64));
        moved
    }
}
