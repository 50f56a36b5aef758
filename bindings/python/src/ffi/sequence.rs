//! Lists and tuples of a known length, filled in place. A deque is made of a list, a slice of a tuple.

use hookless::Result;
use hookless::wire::SequenceKind;
use pyo3::ffi;
use pyo3::prelude::*;

use super::make::owned;

/// A list or tuple whose last items are still null.
///
/// It is hidden from the garbage collector until it is complete, so no code (a finaliser that walks `gc.get_objects()`, say) can reach a
/// null item; dropping it early releases the items that are there.
pub(crate) struct Unfilled<'py> {
    object: Bound<'py, PyAny>,
    kind: SequenceKind,
    len: isize,
    filled: isize,
}

impl<'py> Unfilled<'py> {
    /// Room for `len` items.
    pub(crate) fn new(py: Python<'py>, kind: SequenceKind, len: usize) -> Result<Self> {
        let len = len.cast_signed();
        // SAFETY: the GIL is held; a new reference or null comes back, all of its items null.
        let object = unsafe {
            owned(
                py,
                match kind {
                    SequenceKind::List | SequenceKind::Deque(_) => ffi::PyList_New(len),
                    SequenceKind::Tuple | SequenceKind::Slice => ffi::PyTuple_New(len),
                },
            )?
        };
        if len > 0 {
            // SAFETY: just made, tracked, and seen by nobody. The empty tuple is shared and stays as it is.
            unsafe { ffi::PyObject_GC_UnTrack(object.as_ptr().cast()) };
        }
        Ok(Unfilled { object, kind, len, filled: 0 })
    }

    /// Puts in the next item.
    #[inline]
    pub(crate) fn push(&mut self, item: Bound<'py, PyAny>) {
        if self.filled >= self.len {
            return;
        }
        // SAFETY: the index is inside, the item there is null, and the reference is given away.
        unsafe {
            match self.kind {
                SequenceKind::List | SequenceKind::Deque(_) => {
                    ffi::PyList_SET_ITEM(self.object.as_ptr(), self.filled, item.into_ptr())
                }
                SequenceKind::Tuple | SequenceKind::Slice => {
                    ffi::PyTuple_SET_ITEM(self.object.as_ptr(), self.filled, item.into_ptr())
                }
            }
        }
        self.filled += 1;
    }

    /// What it is, or will be made into.
    #[inline]
    pub(crate) fn kind(&self) -> SequenceKind {
        self.kind
    }

    /// The list or tuple, complete.
    pub(crate) fn finish(self) -> Bound<'py, PyAny> {
        assert_eq!(self.filled, self.len, "the reader delivers as many items as it announced");
        if self.len > 0 {
            // SAFETY: complete, untracked by `new`, and not yet shared.
            unsafe { ffi::PyObject_GC_Track(self.object.as_ptr().cast()) };
        }
        self.object
    }
}
