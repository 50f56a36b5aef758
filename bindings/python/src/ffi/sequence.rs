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
    /// Where its items lie: nobody else can reach it, so nobody resizes it.
    items: *mut *mut ffi::PyObject,
    len: usize,
    filled: usize,
    /// Whether an item may refer to others.
    compound: bool,
}

impl<'py> Unfilled<'py> {
    /// Room for `len` items.
    pub(crate) fn new(py: Python<'py>, kind: SequenceKind, len: usize) -> Result<Self> {
        let size = len.cast_signed();
        // SAFETY: the GIL is held; a new reference or null comes back, all of its items null. The fields are those of a list or tuple of
        // CPython's own.
        let (object, items) = unsafe {
            match kind {
                SequenceKind::List | SequenceKind::Deque(_) => {
                    let list = owned(py, ffi::PyList_New(size))?;
                    let items = (*list.as_ptr().cast::<ffi::PyListObject>()).ob_item;
                    (list, items)
                }
                SequenceKind::Tuple | SequenceKind::Slice => {
                    let tuple = owned(py, ffi::PyTuple_New(size))?;
                    let items = &raw mut (*tuple.as_ptr().cast::<ffi::PyTupleObject>()).ob_item;
                    (tuple, items.cast())
                }
            }
        };
        if len > 0 {
            // SAFETY: just made, tracked, and seen by nobody. The empty tuple is shared and stays as it is.
            unsafe { ffi::PyObject_GC_UnTrack(object.as_ptr().cast()) };
        }
        Ok(Unfilled { object, kind, items, len, filled: 0, compound: false })
    }

    /// Puts in the next item.
    #[inline]
    pub(crate) fn push(&mut self, item: Bound<'py, PyAny>) {
        self.compound = true;
        self.push_plain(item);
    }

    /// Puts in an item that refers to no other. To ask each time whether this is a list or a tuple takes a
    /// fortieth of the instructions of a list of floats.
    #[inline]
    pub(crate) fn push_plain(&mut self, item: Bound<'py, PyAny>) {
        if self.filled >= self.len {
            return;
        }
        // SAFETY: the index is inside, the item there is null, and the reference is given away.
        unsafe { self.items.add(self.filled).write(item.into_ptr()) };
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
        // A tuple of plain items cannot be part of a cycle; the collector itself lets go of such a one when it first meets it.
        if self.len > 0 && (self.compound || self.kind != SequenceKind::Tuple) {
            // SAFETY: complete, untracked by `new`, and not yet shared.
            unsafe { ffi::PyObject_GC_Track(self.object.as_ptr().cast()) };
        }
        self.object
    }
}
