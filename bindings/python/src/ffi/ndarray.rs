//! NumPy through its C API.

use std::ffi::{c_int, c_void};

use hookless::array::Shape;
use hookless::{Code, Dtype, Error, Order, Result, ScalarKind};
use numpy::npyffi::{self, NpyTypes, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple, PyType};

use super::fallible::Str;
use super::make::owned;
use super::mapped::Mapped;
use super::targets::Targets;

/// Dimensions that most arrays do not have more of.
pub(crate) const FEW: usize = 4;

/// NumPy's number for the dtype object.
pub(crate) const NPY_OBJECT: c_int = 17;

/// The address of `numpy.ndarray`.
pub(crate) fn array_type(py: Python<'_>) -> usize {
    // SAFETY: NumPy is loaded; its API table holds the type for as long as the process lives.
    unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) as usize }
}

/// How many types other packages have registered with NumPy, whose numbers are those from 256 on.
pub(crate) struct ForeignTypes {
    /// Where NumPy counts them, in memory that stays for ever.
    count: usize,
}

impl ForeignTypes {
    /// Of the module `multiarray`.
    pub(crate) fn of(module: &Bound<'_, PyAny>) -> PyResult<ForeignTypes> {
        let capsule = module.getattr(Str("_ARRAY_API"))?.cast_into::<PyCapsule>()?;
        let table = capsule.pointer_checked(None)?.cast::<usize>();
        // SAFETY: the capsule holds NumPy's API table, the same as that of `PY_ARRAY_API`, whose entry 7 is the address of NPY_NUMUSERTYPES.
        Ok(ForeignTypes { count: unsafe { table.add(7).read() } })
    }

    /// So many by now. To look for their packages in `sys.modules` instead took a tenth of a small call.
    #[inline]
    pub(crate) fn count(&self, _py: Python<'_>) -> c_int {
        // SAFETY: a C int that lives as long as NumPy, which is never unloaded, and is changed under the GIL, which is held.
        unsafe { (self.count as *const c_int).read() }
    }
}

/// What an array is, but for its bytes.
pub(crate) struct Form<'a, 'py> {
    pub(crate) descr: &'a Bound<'py, PyArrayDescr>,
    /// ndarray, or one of NumPy's own subclasses of it.
    pub(crate) class: Option<&'a Bound<'py, PyType>>,
    /// What `descr` was asked for.
    pub(crate) dtype: &'a Dtype,
    pub(crate) shape: &'a [u64],
    pub(crate) order: Order,
    /// Bytes of all elements, as dtype and shape have them.
    pub(crate) nbytes: u64,
}

/// An array with memory of its own that waits for the bytes of a region entry.
pub(crate) fn reserve<'py>(form: &Form<'_, 'py>, targets: &mut Targets) -> Result<Bound<'py, PyAny>> {
    let array = allocate(form)?;
    let len = usize::try_from(form.nbytes).map_err(|_| Error::new(Code::OutOfMemory))?;
    if len != elements_size(&array) {
        return Err(Error::new(Code::BadDataLength));
    }
    // SAFETY: NumPy has allocated `len` bytes for this dtype and shape, and nobody else has the array.
    unsafe { targets.add(array.as_any(), data(&array), len)? };
    Ok(array.into_any())
}

/// An array with memory of its own and these bytes.
#[inline]
pub(crate) fn copy<'py>(form: &Form<'_, 'py>, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    let array = allocate(form)?;
    if elements_size(&array) != bytes.len() {
        return Err(Error::new(Code::BadDataLength));
    }
    // SAFETY: NumPy has allocated so many bytes, the source is another allocation, nobody else has the array.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data(&array), bytes.len()) };
    Ok(array.into_any())
}

/// Bytes of the elements of an array.
fn elements_size(array: &Bound<'_, PyUntypedArray>) -> usize {
    array.len().saturating_mul(array.dtype().itemsize())
}

/// A read-only array over bytes that `owner`, which is bytes or a `Mapped`, keeps alive.
///
/// # Errors
/// `bad_data_length` when they are not exactly the elements.
pub(crate) fn view<'py>(
    form: &Form<'_, 'py>,
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
    if !lies_there || usize::try_from(form.nbytes) != Ok(bytes.len()) {
        return Err(Error::new(Code::BadDataLength));
    }
    let flags = match form.order {
        Order::F => npyffi::NPY_ARRAY_F_CONTIGUOUS,
        Order::C => npyffi::NPY_ARRAY_C_CONTIGUOUS,
    };
    let memory = bytes.as_ptr().cast_mut().cast();
    let array = new_array(form.descr, form.class, form.shape, memory, flags)?;
    check_size(&array, form.dtype)?;
    // SAFETY: the bytes lie inside `owner`, which never moves them; the array keeps it alive and, without the flag WRITEABLE, never
    // writes. SetBaseObject takes over the reference, also when it fails.
    let status = unsafe {
        PY_ARRAY_API.PyArray_SetBaseObject(owner.py(), array.as_array_ptr(), owner.clone().into_ptr())
    };
    if status != 0 { Err(unsupported(owner.py())) } else { Ok(array.into_any()) }
}

#[inline]
fn allocate<'py>(form: &Form<'_, 'py>) -> Result<Bound<'py, PyUntypedArray>> {
    let order = memory_order(form.order);
    let array = new_array(form.descr, form.class, form.shape, std::ptr::null_mut(), order)?;
    check_size(&array, form.dtype)?;
    Ok(array)
}

/// The flag by which NumPy lays out memory of its own.
fn memory_order(order: Order) -> c_int {
    if order == Order::F { npyffi::NPY_ARRAY_F_CONTIGUOUS } else { 0 }
}

/// NumPy widens some dtypes of its own accord; the memory must be what the head says.
#[inline]
fn check_size(array: &Bound<'_, PyUntypedArray>, dtype: &Dtype) -> Result<()> {
    if array.dtype().itemsize() as u64 != dtype.itemsize() {
        return Err(Error::new(Code::DtypeUnsupported).note(dtype.to_string()));
    }
    Ok(())
}

/// An array of an exact class, which is ndarray or one of NumPy's own subclasses of it.
fn new_array<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    class: Option<&Bound<'py, PyType>>,
    shape: &[u64],
    memory: *mut c_void,
    flags: c_int,
) -> Result<Bound<'py, PyUntypedArray>> {
    let py = descr.py();
    let unsupported_rank = || Error::new(Code::DtypeUnsupported).note("too many dimensions for this NumPy");
    let rank = c_int::try_from(shape.len()).map_err(|_| unsupported_rank())?;
    // The many are apart: to zero them takes longer than all else here.
    let (mut few, mut many);
    let dims: &mut [isize] = if shape.len() <= FEW {
        few = [0isize; FEW];
        &mut few
    } else {
        many = [0isize; 64];
        &mut many
    };
    for (to, &from) in dims.iter_mut().zip(shape) {
        *to = isize::try_from(from).map_err(|_| unsupported_rank())?;
    }
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
    let array =
        new_array(descr, None, shape.dimensions(), std::ptr::null_mut(), memory_order(shape.order()))?;
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
