//! Elements of an array that do not lie together, gathered where they are wanted: no copy of the array is made first.

use std::mem::MaybeUninit;

use hookless::{Code, Error, Result};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::ndarray::data;

/// Where the elements of an array lie, in the order in which they are sent: that of A12.
///
/// NumPy's memory goes with the last array or view of it, and one of them is held. Two ways of NumPy's give it away before: `resize` with
/// `refcheck=False`, and assigning to `data`, both of which leave every other view dangling. [`Strided::is_as_it_was`] sees them at the
/// array itself; to do so in another thread while a gather is under way breaks the rule by which NumPy offers them.
pub(crate) struct Strided {
    array: Py<PyUntypedArray>,
    layout: Layout,
}

#[derive(PartialEq)]
struct Layout {
    /// The first element to be sent.
    first: *const u8,
    len: usize,
    /// Bytes that lie together: one element at least.
    run: usize,
    /// What is left of the dimensions when those that follow each other in memory are joined, the fastest one last. Each is of two and more.
    dimensions: Vec<Dimension>,
}

#[derive(Clone, Copy, PartialEq)]
struct Dimension {
    extent: usize,
    /// Bytes from one to the next.
    stride: isize,
}

// SAFETY: the pointer is read through, and what it points to is kept by `array`, which any thread may hold.
unsafe impl Send for Strided {}
// SAFETY: likewise; nothing changes behind a shared reference.
unsafe impl Sync for Strided {}

impl Strided {
    /// The elements of an array.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(crate) fn of(array: &Bound<'_, PyUntypedArray>) -> Result<Strided> {
        Ok(Strided { layout: Layout::of(array)?, array: array.clone().unbind() })
    }

    /// Bytes of all elements.
    pub(crate) fn len(&self) -> usize {
        self.layout.len
    }

    /// Whether the array still has the memory, dtype and shape that it had.
    pub(crate) fn is_as_it_was(&self, py: Python<'_>) -> bool {
        Layout::of(self.array.bind(py)).is_ok_and(|layout| layout == self.layout)
    }

    /// Copies the bytes from `from` on to `out`, as if the elements lay one after the other, and gives them; no more than there are.
    ///
    /// Another thread may write to the elements meanwhile, as it may under any code that uses NumPy's: what is copied is then a mixture.
    pub(crate) fn gather<'o>(&self, from: usize, out: &'o mut [MaybeUninit<u8>]) -> &'o mut [u8] {
        let count = out.len().min(self.layout.len.saturating_sub(from));
        let out = &mut out[..count];
        self.layout.gather(from, out);
        // SAFETY: `gather` has written all of `out`.
        unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), count) }
    }

    /// The same over bytes that are there already.
    pub(crate) fn gather_over<'o>(&self, from: usize, out: &'o mut [u8]) -> &'o mut [u8] {
        // SAFETY: `gather` writes bytes, so no byte of `out` is less than initialised afterwards.
        self.gather(from, unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) })
    }
}

impl Layout {
    fn of(array: &Bound<'_, PyUntypedArray>) -> Result<Layout> {
        let full = |_| Error::new(Code::OutOfMemory);
        let itemsize = array.dtype().itemsize();
        let len = array.len().saturating_mul(itemsize);
        let mut layout = Layout { first: data(array), len, run: len, dimensions: Vec::new() };
        // One piece, also in Fortran order, which is sent as it lies.
        if len == 0 || array.is_contiguous() {
            return Ok(layout);
        }
        layout.run = itemsize;
        layout.dimensions.try_reserve_exact(array.ndim()).map_err(full)?;
        for (&extent, &stride) in array.shape().iter().zip(array.strides()).rev() {
            match layout.dimensions.last_mut() {
                _ if extent == 1 => {}
                None if stride == layout.run.cast_signed() => layout.run *= extent,
                Some(inner) if stride == inner.stride.wrapping_mul(inner.extent.cast_signed()) => {
                    inner.extent *= extent;
                }
                _ => layout.dimensions.push(Dimension { extent, stride }),
            }
        }
        layout.dimensions.reverse();
        Ok(layout)
    }

    /// Fills `out`, of which not one byte lies past the end.
    fn gather(&self, from: usize, mut out: &mut [MaybeUninit<u8>]) {
        assert!(from.checked_add(out.len()).is_some_and(|end| end <= self.len), "within the elements");
        if out.is_empty() {
            return;
        }
        let (mut rest, mut within) = (from / self.run, from % self.run);
        let mut index = [0usize; 64];
        for (at, dimension) in index.iter_mut().zip(&self.dimensions).rev() {
            (*at, rest) = (rest % dimension.extent, rest / dimension.extent);
        }
        let fastest = self.dimensions.len().saturating_sub(1);
        let row = self.dimensions.last().copied().unwrap_or(Dimension { extent: 1, stride: 0 });
        loop {
            let at = index.iter().zip(&self.dimensions);
            let offset: isize = at.map(|(&at, dimension)| at.cast_signed() * dimension.stride).sum();
            // SAFETY: each index is below its dimension, so this is where NumPy has an element, inside the array's memory, which `Strided` keeps.
            let run = unsafe { self.first.offset(offset) };
            let done = if within > 0 || out.len() < self.run {
                let count = out.len().min(self.run - within);
                // SAFETY: a run is that of `self.run` bytes; `out` is memory of somebody else's, which nobody else has.
                unsafe { run.add(within).copy_to_nonoverlapping(out.as_mut_ptr().cast(), count) };
                out = &mut out[count..];
                1
            } else {
                let count = (row.extent - index[fastest]).min(out.len() / self.run);
                let (to, more) = out.split_at_mut(count * self.run);
                // SAFETY: so many runs are left of the row, and `to` has room for them; it is memory of somebody else's.
                unsafe { copy_runs(run, row.stride, self.run, count, to.as_mut_ptr().cast()) };
                out = more;
                count
            };
            within = 0;
            if out.is_empty() {
                return;
            }
            // To the next run: the bytes that are wanted end before the last row does, so there is one.
            index[fastest] += done;
            for slower in (1..=fastest).rev() {
                if index[slower] == self.dimensions[slower].extent {
                    index[slower] = 0;
                    index[slower - 1] += 1;
                }
            }
        }
    }
}

/// Copies `count` runs of `run` bytes, `stride` apart, to one place.
///
/// # Safety
/// Each of the runs may be read, `to` may be written to for `count * run` bytes and is no part of them.
unsafe fn copy_runs(from: *const u8, stride: isize, run: usize, count: usize, to: *mut u8) {
    // SAFETY: as the caller promises. The sizes of numbers have loops of their own, in which a copy is one load and one store.
    unsafe {
        match run {
            1 => copy_items::<1>(from, stride, count, to),
            2 => copy_items::<2>(from, stride, count, to),
            4 => copy_items::<4>(from, stride, count, to),
            8 => copy_items::<8>(from, stride, count, to),
            16 => copy_items::<16>(from, stride, count, to),
            _ => {
                for index in 0..count {
                    from.offset(index.cast_signed() * stride)
                        .copy_to_nonoverlapping(to.add(index * run), run);
                }
            }
        }
    }
}

/// The same for runs of a size that the compiler knows.
///
/// # Safety
/// As of [`copy_runs`].
unsafe fn copy_items<const RUN: usize>(from: *const u8, stride: isize, count: usize, to: *mut u8) {
    let to: *mut [u8; RUN] = to.cast();
    for index in 0..count {
        // SAFETY: as the caller promises; arrays of bytes are aligned anywhere.
        unsafe { to.add(index).write(from.offset(index.cast_signed() * stride).cast::<[u8; RUN]>().read()) };
    }
}
