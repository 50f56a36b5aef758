//! NumPy through its C API.

use std::ffi::{c_int, c_void};

use hookless::array::{ArrayHead, Shape};
use hookless::{Code, Error, Order, Result, ScalarKind};
use numpy::npyffi::{self, NpyTypes, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use super::make::owned;
use super::mapped::Mapped;
use super::targets::Targets;

/// NumPy's number for the dtype object.
pub(crate) const NPY_OBJECT: c_int = 17;

/// The address of `numpy.ndarray`.
pub(crate) fn array_type(py: Python<'_>) -> usize {
    // SAFETY: NumPy is loaded; its API table holds the type for as long as the process lives.
    unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) as usize }
}

/// An array with memory of its own that waits for the bytes of a region entry.
pub(crate) fn reserve<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    head: &ArrayHead,
    targets: &mut Targets,
) -> Result<Bound<'py, PyAny>> {
    let array = allocate(descr, class, head)?;
    let len = usize::try_from(head.nbytes()).map_err(|_| Error::new(Code::OutOfMemory))?;
    // SAFETY: NumPy has allocated exactly `nbytes` for this dtype and shape, and nobody else has the array.
    unsafe { targets.add(array.as_any(), data(&array), len)? };
    Ok(array.into_any())
}

/// An array with memory of its own and these bytes.
pub(crate) fn copy<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    head: &ArrayHead,
    bytes: &[u8],
) -> Result<Bound<'py, PyAny>> {
    let array = allocate(descr, class, head)?;
    if usize::try_from(head.nbytes()) != Ok(bytes.len()) {
        return Err(Error::new(Code::BadDataLength));
    }
    // SAFETY: NumPy has allocated exactly `nbytes`, the source is another allocation, nobody else has the array.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data(&array), bytes.len()) };
    Ok(array.into_any())
}

/// A read-only array over bytes that `owner`, which is bytes or a `Mapped`, keeps alive.
///
/// # Errors
/// `bad_data_length` when they are not exactly the elements.
pub(crate) fn view<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    head: &ArrayHead,
    bytes: &[u8],
    owner: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyAny>> {
    let part = bytes.as_ptr_range();
    let inside = |all: &[u8]| all.as_ptr_range().start <= part.start && part.end <= all.as_ptr_range().end;
    // Bytes first: whoever maps no file has no class for it made.
    let lies_there = match owner.cast_exact::<PyBytes>() {
        Ok(owner) => inside(owner.as_bytes()),
        Err(_) => owner.cast_exact::<Mapped>().is_ok_and(|owner| inside(owner.get().bytes())),
    };
    if !lies_there || usize::try_from(head.nbytes()) != Ok(bytes.len()) {
        return Err(Error::new(Code::BadDataLength));
    }
    let flags = if head.shape().order() == Order::F {
        npyffi::NPY_ARRAY_F_CONTIGUOUS
    } else {
        npyffi::NPY_ARRAY_C_CONTIGUOUS
    };
    let array = new_array(descr, class, head.shape(), bytes.as_ptr().cast_mut().cast(), flags)?;
    check_size(&array, head)?;
    // SAFETY: the bytes lie inside `owner`, which never moves them; the array keeps it alive and, without the flag WRITEABLE, never
    // writes. SetBaseObject takes over the reference, also when it fails.
    let status = unsafe {
        PY_ARRAY_API.PyArray_SetBaseObject(owner.py(), array.as_array_ptr(), owner.clone().into_ptr())
    };
    if status != 0 { Err(unsupported(owner.py())) } else { Ok(array.into_any()) }
}

fn allocate<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    head: &ArrayHead,
) -> Result<Bound<'py, PyUntypedArray>> {
    let array = new_array(descr, class, head.shape(), std::ptr::null_mut(), memory_order(head.shape()))?;
    check_size(&array, head)?;
    Ok(array)
}

/// The flag by which NumPy lays out memory of its own.
fn memory_order(shape: &Shape) -> c_int {
    if shape.order() == Order::F { npyffi::NPY_ARRAY_F_CONTIGUOUS } else { 0 }
}

/// NumPy widens some dtypes of its own accord; the memory must be what the head says.
fn check_size(array: &Bound<'_, PyUntypedArray>, head: &ArrayHead) -> Result<()> {
    if array.dtype().itemsize() as u64 != head.dtype().itemsize() {
        return Err(Error::new(Code::DtypeUnsupported).note(head.dtype().to_string()));
    }
    Ok(())
}

/// An array of an exact class, which is ndarray or one of NumPy's own subclasses of it.
fn new_array<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    shape: &Shape,
    memory: *mut c_void,
    flags: c_int,
) -> Result<Bound<'py, PyUntypedArray>> {
    let py = descr.py();
    let unsupported_rank = || Error::new(Code::DtypeUnsupported).note("too many dimensions for this NumPy");
    let mut dims = [0isize; 64];
    for (to, &from) in dims.iter_mut().zip(shape.dimensions()) {
        *to = isize::try_from(from).map_err(|_| unsupported_rank())?;
    }
    let rank = c_int::try_from(shape.dimensions().len()).map_err(|_| unsupported_rank())?;
    // SAFETY: `dims` holds `rank` dimensions whose product A6 bounds; NewFromDescr steals the reference to the dtype, and gives a new
    // array of exactly `subtype`, which derives from ndarray, or null.
    unsafe {
        let subtype = match class {
            Some(class) => class.as_type_ptr(),
            None => npyffi::get_type_object(py, NpyTypes::PyArray_Type),
        };
        let steal = descr.clone().into_dtype_ptr();
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            subtype,
            steal,
            rank,
            dims.as_mut_ptr(),
            std::ptr::null_mut(),
            memory,
            flags,
            std::ptr::null_mut(),
        );
        let Some(array) = Bound::from_owned_ptr_or_opt(py, array) else { return Err(unsupported(py)) };
        Ok(array.cast_into_unchecked())
    }
}

/// An array of dtype object with these items, which lie in the order of `shape`.
///
/// # Errors
/// `bad_data_length` when the shape asks for another number of items.
pub(crate) fn objects<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    shape: &Shape,
    items: &Bound<'py, PyTuple>,
) -> Result<Bound<'py, PyAny>> {
    let array = new_array(descr, None, shape, std::ptr::null_mut(), memory_order(shape))?;
    if array.len() != items.len() || descr.num() != NPY_OBJECT || !array.is_contiguous() {
        return Err(Error::new(Code::BadDataLength));
    }
    let slots: *mut *mut ffi::PyObject = data(&array).cast();
    for (index, item) in items.iter_borrowed().enumerate() {
        // SAFETY: the array is new, contiguous, and of `items.len()` pointers to objects, aligned as NumPy aligns them; nobody else has it,
        // and no Python code runs here. Each slot owns one reference, or none where it is null, as NumPy makes it: it is given a new one, and
        // what was there is let go.
        unsafe {
            let old = slots.add(index).replace(item.to_owned().into_ptr());
            drop(Bound::from_owned_ptr_or_opt(items.py(), old));
        }
    }
    Ok(array.into_any())
}

/// The item that lies at `index` of a contiguous array of dtype object; none past its end. NumPy reads a null as None.
pub(crate) fn object_at<'py>(array: &Bound<'py, PyUntypedArray>, index: usize) -> Option<Bound<'py, PyAny>> {
    if array.dtype().num() != NPY_OBJECT || !array.is_contiguous() || index >= array.len() {
        return None;
    }
    let slots: *const *mut ffi::PyObject = data(array).cast_const().cast();
    // SAFETY: dtype, layout and length are those of now, so the slot is inside the array's memory (not aligned, perhaps). It is null or a
    // live object, which is made strong before anything else can run.
    unsafe {
        let item = slots.add(index).read_unaligned();
        Some(match Bound::from_borrowed_ptr_or_opt(array.py(), item) {
            Some(item) => item,
            None => array.py().None().into_bound(array.py()),
        })
    }
}

/// NumPy said no: memory, or something that this version of it cannot make.
#[cold]
fn unsupported(py: Python<'_>) -> Error {
    match PyErr::take(py) {
        Some(error) if error.is_instance_of::<pyo3::exceptions::PyMemoryError>(py) => {
            Error::new(Code::OutOfMemory)
        }
        Some(error) => Error::new(Code::DtypeUnsupported).note(error.to_string()),
        None => Error::new(Code::OutOfMemory),
    }
}

/// Where an array's elements begin.
pub(super) fn data(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    // SAFETY: a live array's struct may be read while the GIL is held.
    unsafe { (*array.as_array_ptr()).fields.data.cast() }
}

/// The bytes of an array that is C or Fortran contiguous.
///
/// The caller does not let Python code run while it holds the slice.
pub(crate) fn contiguous_bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> Option<&'a [u8]> {
    if !array.is_contiguous() {
        return None;
    }
    let len = array.len().checked_mul(array.dtype().itemsize())?;
    if len == 0 {
        return Some(&[]);
    }
    // SAFETY: a contiguous array has `len` bytes at `data`; they cannot be freed while the borrow holds the array.
    Some(unsafe { std::slice::from_raw_parts(data(array), len) })
}

/// Raw bits of a NumPy scalar whose exact type is that of `kind`, in native order; none for kinds without a fixed size.
pub(crate) fn bits_of(scalar: &Bound<'_, PyAny>, kind: ScalarKind) -> Option<Bits> {
    let len = match kind {
        // On the wire a unit goes before the eight bytes of the ticks.
        ScalarKind::Datetime64 | ScalarKind::Timedelta64 => 8,
        _ => kind.size()?,
    };
    // Where C puts the value behind the head of an object: at a multiple of its alignment, 8 at most for these kinds. `PyArray_ScalarAsCtype`
    // gives the same, but looks the type up in a dict each time, which takes most of the time of writing a scalar.
    let at = size_of::<pyo3::ffi::PyObject>();
    // SAFETY: a type object lives as long as its instance, which is borrowed here.
    let size = unsafe { (*scalar.get_type_ptr()).tp_basicsize };
    let room = usize::try_from(size).ok()?.checked_sub(at)?;
    let mut bytes = [0u8; 16];
    let value = bytes.get_mut(..len).filter(|value| value.len() <= room)?;
    // SAFETY: the type of `scalar` is exactly NumPy's for `kind`, whose instances hold the C value right behind the head (`PyArrayScalar_VAL`
    // of NumPy's C API); `len` bytes of it lie within the instance, which nothing changes while it is borrowed. The bytes are copied.
    unsafe { scalar.as_ptr().cast::<u8>().add(at).copy_to_nonoverlapping(value.as_mut_ptr(), len) };
    Some(Bits { bytes, len })
}

/// The bytes of one fixed-size scalar.
pub(crate) struct Bits {
    bytes: [u8; 16],
    len: usize,
}

impl std::ops::Deref for Bits {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl std::ops::DerefMut for Bits {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// A NumPy scalar of the raw bits of one element, in native order.
pub(crate) fn scalar<'py>(descr: &Bound<'py, PyArrayDescr>, bits: &[u8]) -> Result<Bound<'py, PyAny>> {
    if descr.itemsize() != bits.len() {
        return Err(Error::new(Code::BadPayload));
    }
    let mut room: Vec<u128> = Vec::new();
    let len = bits.len() / 16 + 1;
    room.try_reserve_exact(len).map_err(|_| Error::new(Code::OutOfMemory))?;
    room.resize(len, 0);
    let py = descr.py();
    // SAFETY: the room holds one whole element, aligned for any type; PyArray_Scalar copies it and borrows the dtype.
    unsafe {
        std::ptr::copy_nonoverlapping(bits.as_ptr(), room.as_mut_ptr().cast(), bits.len());
        let none = std::ptr::null_mut();
        owned(py, PY_ARRAY_API.PyArray_Scalar(py, room.as_mut_ptr().cast(), descr.as_dtype_ptr(), none))
    }
}

/// Loads NumPy's API table, so that nothing needs to be imported later.
pub(crate) fn load_api(py: Python<'_>) -> bool {
    !ffi_type_is_null(py)
}

fn ffi_type_is_null(py: Python<'_>) -> bool {
    let found: *const ffi::PyTypeObject = array_type(py) as *const _;
    found.is_null()
}
