//! Leaves that are written from where they lie: no reference is taken, nothing is called, and nothing is made.
//!
//! While leaves are being read and written no Python code runs (the writer knows of none), so what a container holds stays where it is.

use hookless::wire::{MapScope, Writer};
use hookless::{Error, Result};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

#[cfg(Py_GIL_DISABLED)]
compile_error!("hookless reads containers in place, which without the GIL another thread may change");

use super::fallible::Str;

/// An int as CPython has it: a word that tells sign and number of digits, then the digits, of 30 bits each.
///
/// Source: `Include/cpython/longintrepr.h`, 3.11 to 3.13.
#[repr(C)]
struct Long {
    head: ffi::PyObject,
    tag: isize,
    first: u32,
}

/// Bits of a digit.
const DIGIT_BITS: u32 = 30;

/// Raises ImportError where ints have other digits: CPython can be built so.
pub(crate) fn check_digits(py: Python<'_>) -> PyResult<()> {
    let found = py.import(Str("sys"))?.getattr(Str("int_info"))?.getattr(Str("bits_per_digit"))?;
    if found.extract::<u32>()? == DIGIT_BITS {
        return Ok(());
    }
    let text = format!("hookless reads ints of {DIGIT_BITS} bits to a digit, and this Python has {found}");
    Err(PyImportError::new_err(text))
}

impl Long {
    /// Whether it is negative, and how many digits it has.
    #[cfg(not(Py_3_12))]
    #[inline]
    fn size(&self) -> (bool, usize) {
        (self.tag < 0, self.tag.unsigned_abs())
    }

    #[cfg(Py_3_12)]
    #[inline]
    fn size(&self) -> (bool, usize) {
        (self.tag & 3 == 2, self.tag.cast_unsigned() >> 3)
    }
}

/// An int of 64 bits: one that an `i64` holds, or a larger one.
pub(crate) type Small = std::result::Result<i64, u64>;

/// The value of an exact int, or of a bool; none if it has more than 64 bits.
///
/// # Safety
/// The GIL is held, and `object` is a live int.
#[inline]
pub(super) unsafe fn small_int(object: *mut ffi::PyObject) -> Option<Small> {
    let long = object.cast::<Long>();
    // SAFETY: the caller's int has this head, and so many digits behind it. The digits are read by way of the whole object's pointer.
    let (negative, magnitude) = unsafe {
        let (negative, count) = (*long).size();
        let digits = (&raw const (*long).first).cast::<u32>();
        let digit = |at: usize| u64::from(*digits.add(at)) << (DIGIT_BITS * at as u32);
        // Most ints have one digit. Not a `match`, which becomes a jump that is harder to predict.
        let magnitude = if count <= 1 {
            if count == 0 { 0 } else { digit(0) }
        } else if count == 2 {
            digit(0) | digit(1)
        } else if count == 3 && *digits.add(2) < 16 {
            digit(0) | digit(1) | digit(2)
        } else {
            return None;
        };
        (negative, magnitude)
    };
    match i64::try_from(magnitude) {
        Ok(value) => Some(Ok(if negative { -value } else { value })),
        Err(_) if !negative => Some(Err(magnitude)),
        Err(_) => (magnitude == 1 << 63).then_some(Ok(i64::MIN)),
    }
}

/// The characters of a str that is ASCII.
///
/// # Safety
/// The GIL is held, and `text` is a str that lives as long as the result is used.
#[inline(always)]
unsafe fn ascii<'a>(text: *mut ffi::PyObject) -> Option<&'a str> {
    // SAFETY: the caller's str has the head that is read; a compact ASCII one has so many bytes of valid UTF-8 behind it.
    unsafe {
        if ffi::PyUnicode_IS_COMPACT_ASCII(text) == 0 {
            return None;
        }
        let text = text.cast::<ffi::PyASCIIObject>();
        let len = (*text).length.cast_unsigned();
        Some(std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.add(1).cast(), len)))
    }
}

/// Whether the type of an object is exactly this one.
///
/// # Safety
/// The GIL is held, and `object` is live.
#[inline(always)]
unsafe fn is(object: *mut ffi::PyObject, kind: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: the caller's object is live.
    unsafe { std::ptr::eq((*object).ob_type, kind) }
}

/// Writes an object that is a leaf of a kind that is read here: None, a bool, an int of 64 bits, a float, a str of ASCII. Nothing is written
/// of others.
///
/// # Safety
/// The GIL is held, and `object` is live.
#[inline(always)]
unsafe fn write(object: *mut ffi::PyObject, writer: &mut Writer<'_>) -> Option<Result<()>> {
    // SAFETY: the caller's object is live, and its type, which is looked at first, is that of each cast.
    unsafe {
        if is(object, &raw mut ffi::PyUnicode_Type) {
            Some(writer.ascii(ascii(object)?))
        } else if is(object, &raw mut ffi::PyLong_Type) {
            Some(match small_int(object)? {
                Ok(value) => writer.signed(value),
                Err(value) => writer.unsigned(value),
            })
        } else if is(object, &raw mut ffi::PyFloat_Type) {
            Some(writer.float((*object.cast::<ffi::PyFloatObject>()).ob_fval))
        } else if object == ffi::Py_None() {
            Some(writer.none())
        } else if is(object, &raw mut ffi::PyBool_Type) {
            Some(writer.bool(object == ffi::Py_True()))
        } else {
            None
        }
    }
}

/// The same for an object that is held.
#[inline]
pub(crate) fn one(object: &Bound<'_, PyAny>, writer: &mut Writer<'_>) -> Option<Result<()>> {
    // SAFETY: the GIL is held, and the object is live while it is borrowed.
    unsafe { write(object.as_ptr(), writer) }
}

/// Writes the items of a list from `index` to `len`, as long as they are leaves; `index` moves along. Gives the one that is not, held; or none
/// when all are written, or when the list has no more of them.
#[inline]
pub(crate) fn of_list<'py>(
    list: &Bound<'py, PyList>,
    index: &mut usize,
    len: usize,
    writer: &mut Writer<'_>,
) -> Result<Option<Bound<'py, PyAny>>> {
    let object = list.as_ptr();
    // SAFETY: the GIL is held and the object is a list, whose items stay where they are until the call returns: no Python code runs in between.
    // An item is live, or null while C code that others can see is filling the list. The one that is handed out is held before any code can run.
    unsafe {
        let size = ffi::PyList_GET_SIZE(object).cast_unsigned().min(len);
        let items = (*object.cast::<ffi::PyListObject>()).ob_item;
        let items = if size == 0 { &[] } else { std::slice::from_raw_parts(items, size) };
        Ok(of_items(items, index, writer)?.map(|item| Bound::from_borrowed_ptr(list.py(), item)))
    }
}

/// The same for a tuple.
#[inline]
pub(crate) fn of_tuple<'py>(
    tuple: &Bound<'py, PyTuple>,
    index: &mut usize,
    writer: &mut Writer<'_>,
) -> Result<Option<Bound<'py, PyAny>>> {
    let object = tuple.as_ptr();
    // SAFETY: as in `of_list`; the items of a tuple lie in it, and stay.
    unsafe {
        let size = ffi::PyTuple_GET_SIZE(object).cast_unsigned();
        let items = &raw const (*object.cast::<ffi::PyTupleObject>()).ob_item;
        let items = std::slice::from_raw_parts(items.cast(), size);
        Ok(of_items(items, index, writer)?.map(|item| Bound::from_borrowed_ptr(tuple.py(), item)))
    }
}

/// Writes items from `index` on, as long as they are leaves, and gives the one that is not.
///
/// # Safety
/// The GIL is held, and each item is live or null.
#[inline(always)]
unsafe fn of_items(
    items: &[*mut ffi::PyObject],
    index: &mut usize,
    writer: &mut Writer<'_>,
) -> Result<Option<*mut ffi::PyObject>> {
    // Few items are not worth looking for a run: what they are cannot be predicted.
    let runs = items.len() >= RUNS_FROM;
    let mut last = std::ptr::null_mut();
    while let Some(&item) = items.get(*index)
        && !item.is_null()
    {
        // SAFETY: the caller's items are live.
        unsafe {
            let kind = (*item).ob_type;
            // Where there was one number, more of its kind may follow.
            if runs && kind == std::mem::replace(&mut last, kind) {
                let rest = &items[*index..];
                let written = if kind == &raw mut ffi::PyFloat_Type {
                    run(rest, |item| read_float(item), |floats| writer.floats(floats))?
                } else if kind == &raw mut ffi::PyLong_Type {
                    run(rest, |item| read_int(item), |ints| writer.ints(ints))?
                } else {
                    0
                };
                if written != 0 {
                    *index += written;
                    continue;
                }
            }
            match write(item, writer) {
                Some(written) => written?,
                None => return Ok(Some(item)),
            }
        }
        *index += 1;
    }
    Ok(None)
}

/// Items among which runs are looked for.
const RUNS_FROM: usize = 16;

/// Reads items as long as they are of one kind, and writes them together; says how many.
///
/// Not inlined: its frame, with the values, must be gone while containers inside a list are written. The gain: two thirds of the instructions
/// for a list of floats, a third for one of ints.
#[inline(never)]
fn run<T: Copy + Default>(
    items: &[*mut ffi::PyObject],
    read: impl Fn(*mut ffi::PyObject) -> Option<T>,
    write: impl FnOnce(&[T]) -> Result<bool>,
) -> Result<usize> {
    let mut values = [T::default(); Writer::RUN];
    let mut count = 0;
    for (value, &item) in values.iter_mut().zip(items) {
        let Some(found) = read(item) else { break };
        *value = found;
        count += 1;
    }
    Ok(if write(&values[..count])? { count } else { 0 })
}

/// The value of an exact float.
///
/// # Safety
/// The GIL is held, and `object` is live or null.
#[inline(always)]
unsafe fn read_float(object: *mut ffi::PyObject) -> Option<f64> {
    // SAFETY: the caller's object is live; a float has this field.
    unsafe {
        let found = !object.is_null() && is(object, &raw mut ffi::PyFloat_Type);
        found.then(|| (*object.cast::<ffi::PyFloatObject>()).ob_fval)
    }
}

/// The value of an exact int that an `i64` holds.
///
/// # Safety
/// The GIL is held, and `object` is live or null.
#[inline(always)]
unsafe fn read_int(object: *mut ffi::PyObject) -> Option<i64> {
    // SAFETY: the caller's object is live, and an int.
    unsafe {
        let found = !object.is_null() && is(object, &raw mut ffi::PyLong_Type);
        if found { small_int(object)?.ok() } else { None }
    }
}

/// Where the pairs of a dict stopped being leaves.
pub(crate) enum Pair<'py> {
    /// Nowhere: there are no more.
    End,
    /// Where none should be: there are more than there were.
    More,
    /// At a key, of which nothing is written yet; its value.
    Key(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// At a value, whose key is written.
    Value(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// At a key that was refused.
    BadKey(Error),
    /// At a value that was refused; its key.
    BadValue(Error, Bound<'py, PyAny>),
}

/// Writes the pairs of a dict from `position` on, up to the `len`-th, as long as they are leaves; `done` counts them.
#[inline]
pub(crate) fn of_dict<'py>(
    dict: &Bound<'py, PyDict>,
    position: &mut isize,
    done: &mut usize,
    len: usize,
    writer: &mut Writer<'_>,
    map: &mut MapScope,
) -> Pair<'py> {
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the GIL is held; PyDict_Next checks the position against the table as it is, and what it gives is live while the dict holds it.
    // No Python code runs before the next pair is looked for, and what is handed out is held before any can.
    unsafe {
        let held = |object| Bound::from_borrowed_ptr(dict.py(), object);
        while ffi::PyDict_Next(dict.as_ptr(), position, &mut key, &mut value) != 0 {
            if *done == len {
                return Pair::More;
            }
            let text = if is(key, &raw mut ffi::PyUnicode_Type) { ascii(key) } else { None };
            let written = match text {
                Some(text) => writer.ascii_key(map, text),
                None => {
                    writer.key(map);
                    match write(key, writer) {
                        Some(written) => written.and_then(|()| writer.value(map)),
                        None => return Pair::Key(held(key), held(value)),
                    }
                }
            };
            if let Err(error) = written {
                return Pair::BadKey(error);
            }
            match write(value, writer) {
                None => return Pair::Value(held(key), held(value)),
                Some(Ok(())) => *done += 1,
                Some(Err(error)) => return Pair::BadValue(error, held(key)),
            }
        }
    }
    Pair::End
}
