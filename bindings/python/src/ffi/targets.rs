//! Memory of Python objects that the bytes of the data region are read into.

use hookless::wire::BytesKind;
use hookless::{Code, Error, Result};
use pyo3::ffi;
use pyo3::prelude::*;

use super::fallible::Str;
use super::make::owned;

/// Objects that were made with their memory untouched, in the order of the region's entries.
///
/// No user sees one before every byte of it has arrived and been checked.
#[derive(Default)]
pub(crate) struct Targets {
    all: Vec<Option<Target>>,
    /// Each `array.array` that waits for its elements, with the bytes that hold them.
    later: Vec<(Py<PyAny>, Py<PyAny>)>,
}

struct Target {
    /// Keeps the memory alive.
    _owner: Py<PyAny>,
    memory: *mut u8,
    len: usize,
}

// SAFETY: the memory belongs to `_owner`, which may be held by any thread, and is reached only through `&mut Targets` or `&Targets`.
unsafe impl Send for Targets {}
// SAFETY: a shared reference only reads, and nobody else writes (no user has the object yet).
unsafe impl Sync for Targets {}

/// Asks for memory in pages of 2 MiB, as NumPy does from the same size on: a page of 4 KiB costs as much as copying it twice.
///
/// # Safety
/// `memory` is an allocation of `len` bytes.
unsafe fn in_huge_pages(memory: *mut u8, len: usize) {
    const LEAST: usize = 4 << 20;
    const PAGE: usize = 4096;
    let skipped = (memory as usize).wrapping_neg() % PAGE;
    if len >= LEAST {
        // SAFETY: inside the allocation; the advice changes no byte. A kernel that does not take it loses time and nothing else.
        let _ = unsafe {
            rustix::mm::madvise(memory.add(skipped).cast(), len - skipped, rustix::mm::Advice::LinuxHugepage)
        };
    }
}

impl Targets {
    /// An uninitialised bytes or bytearray of `len` bytes.
    pub(crate) fn reserve_bytes<'py>(
        &mut self,
        py: Python<'py>,
        kind: BytesKind,
        len: u64,
    ) -> Result<Bound<'py, PyAny>> {
        let len = usize::try_from(len).map_err(|_| Error::new(Code::OutOfMemory))?;
        let size = isize::try_from(len).map_err(|_| Error::new(Code::OutOfMemory))?;
        // SAFETY: null contents ask for `len` bytes of memory. The pointer is the object's own and stays valid while it lives: bytes cannot be
        // resized by anybody, a bytearray not while a view of it is held.
        unsafe {
            let (object, memory) = match kind {
                BytesKind::Bytes => {
                    let object = owned(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))?;
                    let memory = ffi::PyBytes_AsString(object.as_ptr());
                    in_huge_pages(memory.cast(), len);
                    (object, memory)
                }
                BytesKind::ByteArray => {
                    let object = owned(py, ffi::PyByteArray_FromStringAndSize(std::ptr::null(), size))?;
                    let memory = ffi::PyByteArray_AsString(object.as_ptr());
                    in_huge_pages(memory.cast(), len);
                    // While the view is held, whoever finds the bytearray through the garbage collector cannot resize it.
                    let view = owned(py, ffi::PyMemoryView_FromObject(object.as_ptr()))?;
                    self.add(&view, memory.cast(), len)?;
                    return Ok(object);
                }
            };
            self.add(&object, memory.cast(), len)?;
            Ok(object)
        }
    }

    /// Adds the memory of an object.
    ///
    /// # Safety
    /// `memory` is valid for writes of `len` bytes as long as `owner` lives, and nobody else uses it until the frame is complete.
    pub(super) unsafe fn add(&mut self, owner: &Bound<'_, PyAny>, memory: *mut u8, len: usize) -> Result<()> {
        self.all.try_reserve(1).map_err(|_| Error::new(Code::OutOfMemory))?;
        self.all.push(Some(Target { _owner: owner.clone().unbind(), memory, len }));
        Ok(())
    }

    /// Says that `array`, still empty, gets its elements of `bytes`, which have just been reserved, when the frame is complete: what an
    /// `array.array` reserves it also writes, and nothing may be written before it has arrived.
    pub(crate) fn fill_later(&mut self, array: &Bound<'_, PyAny>, bytes: &Bound<'_, PyAny>) -> Result<()> {
        self.later.try_reserve(1).map_err(|_| Error::new(Code::OutOfMemory))?;
        self.later.push((array.clone().unbind(), bytes.clone().unbind()));
        Ok(())
    }

    /// Ends a frame whose bytes have all been put in and checked.
    pub(crate) fn complete(&mut self, py: Python<'_>) -> Result<()> {
        self.all.clear();
        for (array, bytes) in self.later.drain(..) {
            let filled = array.bind(py).call_method1(Str("frombytes"), (bytes,));
            filled
                .and_then(|_| crate::standard::swap(array.bind(py)))
                .map_err(|_| Error::new(Code::OutOfMemory))?;
        }
        Ok(())
    }

    /// Counts an entry that needs no bytes, since its value is a view of them.
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.all.try_reserve(1).map_err(|_| Error::new(Code::OutOfMemory))?;
        self.all.push(None);
        Ok(())
    }

    /// Copies bytes to where they belong.
    pub(crate) fn put(&mut self, index: usize, from: usize, bytes: &[u8]) {
        let Some(Some(target)) = self.all.get(index) else { return };
        let room = target.len.saturating_sub(from);
        let count = bytes.len().min(room);
        // SAFETY: `from + count` is inside the target's memory (see `add`); the source is another allocation.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.memory.add(from), count) };
    }

    /// The bytes of a target that is full.
    pub(crate) fn full(&self, index: usize) -> &[u8] {
        let target = self.all.get(index).and_then(Option::as_ref);
        // SAFETY: valid (see `add`), and the caller has put in every byte.
        target.map_or(&[], |target| unsafe { std::slice::from_raw_parts(target.memory, target.len) })
    }

    /// The memory of a target from `from` on, to be read into by the kernel.
    pub(crate) fn space(&mut self, index: usize, from: u64) -> &mut [std::mem::MaybeUninit<u8>] {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let Some(Some(target)) = self.all.get_mut(index) else { return &mut [] };
        if from > target.len {
            return &mut [];
        }
        // SAFETY: inside the target's memory (see `add`), which nobody else uses while `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(target.memory.add(from).cast(), target.len - from) }
    }

    /// Lets all of them go.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.later.clear();
    }
}
