//! The entries of the data region on the encoder's side, each from where its bytes are: no array, bytes or bytearray is copied as a whole.

use std::mem::MaybeUninit;

use hookless::array::{ArrayHead, Elements};
use hookless::{Code, Error, Result};
use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::ffi::pinned::Pinned;
use crate::ffi::strided::Strided;
use crate::ffi::targets::Targets;

/// Bytes that are gathered at a time, for a look at them before any is sent.
const LOOK: usize = 256 << 10;

/// An array that cannot be lent as it lies: its elements are apart (A12), or there are bytes between them that must not leave (A16, A18).
#[pyclass(frozen, module = "hookless._hookless")]
pub(crate) struct Gathered {
    strided: Strided,
    itemsize: usize,
    elements: Elements,
}

impl Gathered {
    /// The elements of an array with this head.
    ///
    /// # Errors
    /// `mutated` when they are not what the head says.
    pub(crate) fn of(
        array: &Bound<'_, PyUntypedArray>,
        head: &ArrayHead,
        elements: Elements,
    ) -> Result<Self> {
        let strided = Strided::of(array)?;
        if strided.len() as u64 != head.nbytes() {
            return Err(Error::new(Code::Mutated));
        }
        let itemsize = usize::try_from(head.dtype().itemsize()).map_err(|_| Error::new(Code::OutOfMemory))?;
        Ok(Gathered { strided, itemsize: itemsize.max(1), elements })
    }

    /// A10: looks at all elements, through a small buffer.
    ///
    /// Another thread may write to them after that. No more happens then than with an array that is sent from its own memory: the decoder is
    /// given whatever was there when it was read, and refuses what is no element.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.elements.is_partial() {
            return Ok(());
        }
        let mut buffer = room(self.part(LOOK).min(self.len()))?;
        let mut from = 0;
        while from < self.len() {
            let chunk = self.fill(from, &mut buffer);
            if self.elements.find_bad(chunk).is_some() {
                return Err(Error::new(Code::BadElement));
            }
            from += chunk.len();
        }
        Ok(())
    }

    /// Bytes of all elements.
    pub(crate) fn len(&self) -> usize {
        self.strided.len()
    }

    /// `most` bytes or less, but at least one element: whole elements, as `fill` wants them.
    pub(crate) fn part(&self, most: usize) -> usize {
        (most / self.itemsize).max(1).saturating_mul(self.itemsize)
    }

    /// Gathers the bytes from `from` on, with zeros in the gaps. Both ends lie between elements. Needs no GIL.
    pub(crate) fn fill<'o>(&self, from: usize, out: &'o mut [MaybeUninit<u8>]) -> &'o mut [u8] {
        self.without_gaps(self.strided.gather(from, out))
    }

    /// The same over bytes that are there already.
    pub(crate) fn fill_over<'o>(&self, from: usize, out: &'o mut [u8]) -> &'o mut [u8] {
        self.without_gaps(self.strided.gather_over(from, out))
    }

    fn without_gaps<'o>(&self, filled: &'o mut [u8]) -> &'o mut [u8] {
        if self.elements.has_gaps() {
            self.elements.zero_gaps(filled);
        }
        filled
    }

    /// All of them, part by part, so that gaps are zeroed while their element is still at hand.
    pub(crate) fn fill_all(&self, out: &mut [MaybeUninit<u8>]) {
        let part = self.part(LOOK);
        for (index, chunk) in out.chunks_mut(part).enumerate() {
            self.fill(index * part, chunk);
        }
    }

    /// Whether the array still has the memory, dtype and shape that it had.
    pub(crate) fn is_as_it_was(&self, py: Python<'_>) -> bool {
        self.strided.is_as_it_was(py)
    }
}

#[pymethods]
impl Gathered {
    fn __len__(&self) -> usize {
        self.len()
    }
}

/// Memory for a part, as far as it is there.
pub(crate) fn room(len: usize) -> Result<Vec<MaybeUninit<u8>>> {
    let mut room = Vec::new();
    room.try_reserve_exact(len).map_err(|_| Error::new(Code::OutOfMemory))?;
    room.resize(len, MaybeUninit::uninit());
    Ok(room)
}

/// One entry of the region, ready to be read without the GIL.
pub(crate) enum Entry {
    /// Memory of a Python object's own.
    Pinned(Pinned),
    /// Made while it is read.
    Gathered(Py<Gathered>),
}

impl Entry {
    /// What the walker has found.
    ///
    /// # Errors
    /// `mutated` when the array is no longer what was encoded, `out_of_memory`.
    pub(crate) fn of(found: &Bound<'_, PyAny>) -> Result<Entry> {
        let py = found.py();
        if let Ok(gathered) = found.cast_exact::<Gathered>() {
            let same = gathered.get().is_as_it_was(py);
            return if same {
                Ok(Entry::Gathered(gathered.clone().unbind()))
            } else {
                Err(Error::new(Code::Mutated))
            };
        }
        Pinned::of(found).map(Entry::Pinned)
    }

    /// Copies all of it into the target at `index`, from `at` on.
    pub(crate) fn put(&self, targets: &mut Targets, index: usize, at: usize) {
        match self {
            Entry::Pinned(pinned) => targets.put(index, at, pinned.bytes()),
            Entry::Gathered(gathered) => {
                let space = targets.space(index, at as u64);
                let len = gathered.get().len().min(space.len());
                gathered.get().fill_all(&mut space[..len]);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Entry::Pinned(pinned) => pinned.bytes().len(),
            Entry::Gathered(gathered) => gathered.get().len(),
        }
    }
}
