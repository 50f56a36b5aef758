"""Reported problems with arrays and NumPy scalars, numbered as they were collected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.ma.mrecords
import pytest

import hookless
from hookless import Limits, dumps, encode, loads
from same import assert_same

Array = np.ndarray[Any, np.dtype[Any]]


def roundtrip(value: Any) -> None:
    """As it was, but for arrays that are neither C nor F contiguous: these come back in C order (A12)."""
    frame = dumps(value)
    result = loads(frame)
    expected = value
    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous or value.flags.f_contiguous):
        expected = np.array(value, order="C", subok=False)
    assert_same(result, expected)
    assert dumps(result) == frame
    if isinstance(result, np.ndarray):
        assert result.flags.writeable and result.flags.aligned


def test_c016_array_of_subnormals() -> None:
    """Subnormals keep their bits in arrays too."""
    roundtrip(np.array([5e-324, 2.2250738585072009e-308, -5e-324]))


def test_c015_memoryview_of_an_array() -> None:
    """Its length in items is never taken for one in bytes: refused, with a hint."""
    with pytest.raises(hookless.EncodeError, match=r"bytes\(m\)"):
        dumps(np.arange(3, dtype="u2").data)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 2)).T,
        np.arange(6).reshape(2, 3).T,
        np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
        np.arange(6).reshape(2, 3)[:, 1],
        np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
        np.arange(5000.0).reshape(50, 100).T,
        np.arange(10)[::-2],
        np.arange(24).reshape(2, 3, 4)[:, ::2, ::-1],
    ],
    ids=["square", "F", "F3", "column", "permuted", "large F", "reversed", "strided"],
)
def test_c037_any_memory_order(array: Array) -> None:
    """Fortran order is kept, what is in no order is compacted, nothing is refused."""
    roundtrip(array)


def test_c038_unicode_arrays() -> None:
    """Text of all lengths, outside the BMP, and with surrogates."""
    roundtrip(np.array(["a" * i for i in range(10)]))
    roundtrip(np.array(["\U0001f600", "漢字", "", "\ud800", "x\udcff", "\0a"]))


@pytest.mark.parametrize("value", [0, "x", b"ab", 1 + 2j, True, 2.5], ids=repr)
def test_c039_zero_dimensions(value: Any) -> None:
    """A 0-d array stays an array, distinct from the scalar."""
    array = np.array(value)
    roundtrip(array)
    scalar = array[()]
    roundtrip(scalar)
    assert type(loads(dumps(array))) is np.ndarray
    assert type(loads(dumps(scalar))) is type(scalar)
    assert dumps(array) != dumps(scalar)


def test_c040_nested_structured_dtype() -> None:
    """Fields of structures and of arrays of structures come back, in the body and in the region."""
    inner = [("a", "f8"), ("b", "i8")]
    array = np.zeros(3, dtype=[("foo", inner), ("bar", inner, (2,))])
    array["foo"]["a"] = [1.5, -0.0, np.nan]
    array["bar"]["b"] = np.arange(6).reshape(3, 2)
    roundtrip(array)
    roundtrip(np.resize(array, 1000))
    roundtrip(np.asfortranarray(np.resize(array, (20, 50))))


@pytest.mark.parametrize("code", ["c16", "c8", "f8", "M8[ns]"])
def test_c041_large_arrays_are_not_encoded_element_by_element(code: str) -> None:
    """Complex arrays travel as their memory, like float64: the frame is the bytes and one small head."""
    array = np.arange(25 * 5000).astype(code)
    roundtrip(array)
    parts = encode(array)
    buffers = [np.frombuffer(memoryview(part), "u1") for part in parts]
    assert [np.shares_memory(one, array) for one in buffers if one.nbytes >= array.nbytes] == [True]
    assert sum(one.nbytes for one in buffers) <= array.nbytes + 256


def test_c045_reversed_broadcast() -> None:
    """Zero and negative strides: the visible elements are sent."""
    roundtrip(np.broadcast_to(np.arange(5), (4, 5))[:, ::-1])
    roundtrip(np.broadcast_to(np.float32(1), (3, 0, 2)))


def test_c046_bool_scalars() -> None:
    """np.bool_ stays np.bool_, beside bool."""
    roundtrip({"ok": np.bool_(True), "all": np.array([True]).all(), "no": np.False_, "plain": True})


def test_c048_arrays_stay_arrays() -> None:
    """Never a list; dtype and shape kept, inside containers too."""
    roundtrip(np.array([[100, 123]]))
    roundtrip([(np.array([[100, 123]]), {"a": np.array([], "f4")})])


@pytest.mark.parametrize("code", ["M8[D]", "m8[s]", "M8[ns]", "m8[25us]", "M8[as]"])
def test_c050_datetimes_export_no_buffer(code: str) -> None:
    """NumPy offers no buffer of datetime64 and timedelta64 arrays; they travel all the same."""
    array = np.arange(24).view(np.dtype("i8")).reshape(4, 6).astype(code)
    roundtrip(array)
    roundtrip(array[0])
    roundtrip(array[::2, 1:5])
    roundtrip(array.T)
    roundtrip(np.array(["2020-01-01"], "M8[D]"))
    roundtrip(np.zeros((100, 100), code))


@pytest.mark.parametrize(
    "empty",
    [
        np.zeros(2, "S0"),
        np.zeros((0,), "U0"),
        np.zeros(0),
        np.zeros((3, 0, 2), "V2"),
        *[np.ndarray((3,), code, b"") for code in ("S0", "U0", "V0")],
    ],
    ids=repr,
)
def test_c052_empty_arrays(empty: Array) -> None:
    """No elements, or elements of no size, in the dtype that NumPy itself reports."""
    roundtrip(empty)


@pytest.mark.parametrize("scalar", [np.bytes_(b""), np.str_(""), np.void(b"")], ids=repr)
def test_c052_empty_scalars(scalar: Any) -> None:
    """Of their own types still: three bytes of body, no payload."""
    roundtrip(scalar)
    roundtrip([scalar, [scalar]])
    assert len(dumps(scalar)) == 32 + 3


def test_c054_trailing_nuls() -> None:
    """Buffers byte for byte, and the length of a scalar with them."""
    roundtrip(np.array([b"\x99\x00", b"\x00"]))
    roundtrip(np.array([b"\x99\x00"], "V2"))
    roundtrip(np.array(["a\0", "\0"], "U3"))
    scalar = np.bytes_(b"a\x00")
    assert len(scalar) == 2
    roundtrip([scalar, np.bytes_(b""), np.str_("a\0"), np.str_(""), np.void(b"\x00\x99\x00")])


def test_c058_times_before_1970() -> None:
    """Raw int64, no calendar in between."""
    times = ["1969-12-31T23:59:59.999", "0001-01-01", "-5000-01-01"]
    roundtrip(np.array(times, "M8[ms]"))
    roundtrip(list(np.array(times, "M8[ms]")))


NAT = bytes(7) + b"\x80"


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64("NaT", "ns"),
        np.timedelta64("NaT", "s"),
        np.array(["NaT", "2020"], "M8[ns]"),
        # Without a unit, by their bits: NumPy deprecates that these are made, not that they are there.
        np.frombuffer(NAT, "M8")[0],
        np.frombuffer(NAT, "m8")[0],
        np.frombuffer(NAT, "M8"),
        np.array("2020-01-01", "M8[25s]")[()],
    ],
    ids=repr,
)
def test_c059_nat(value: Any) -> None:
    """Not a time, with and without a unit, is one more int64."""
    roundtrip(value)


def test_c060_slices_of_memory_maps(tmp_path: Path) -> None:
    """A slice of a memmap comes back as a plain array, strides honoured; the file's name stays here."""
    file = tmp_path / "secret-name.bin"
    np.arange(60, dtype="f4").tofile(file)
    mapped = np.memmap(file, "f4", "r", shape=(3, 4, 5))
    for view in (mapped, mapped[:, 1], mapped[..., 2], mapped[1:, ::2]):
        frame = dumps(view)
        assert_same(loads(frame), np.array(view, order="C", subok=False))
        assert b"secret-name" not in frame


# Typed by some releases of NumPy and not by others.
MASKED_RECORDS: Any = np.ma.mrecords


@pytest.mark.parametrize(
    "subclass",
    [
        np.arange(3).view(type("Unit", (np.ndarray,), {})),
        np.ma.masked,
        np.ma.array(np.arange(3).view(type("Unit", (np.ndarray,), {}))),
        MASKED_RECORDS.fromrecords([(1, 2)]),
    ],
    ids=["user", "the masked constant", "masked user", "masked records"],
)
def test_subclasses_of_ndarray_are_refused(subclass: Any) -> None:
    """A subclass is never flattened to its bare data."""
    with pytest.raises(hookless.EncodeError) as caught:
        dumps([subclass])
    assert caught.value.path == "$[0]"
    assert type(subclass).__name__ in str(caught.value.type_name)


@pytest.mark.parametrize(
    ("bits", "raw", "code"),
    [
        (0x7F800001, "u4", "f4"),
        (0xFFA00001, "u4", "f4"),
        (0x7C01, "u2", "f2"),
        (0x7FF0000000000001, "u8", "f8"),
        (0x7F800001FF800002, "u8", "c8"),
    ],
)
def test_c063_signalling_nans(bits: int, raw: str, code: str) -> None:
    """Scalars go by their raw bits, never through a Python float that would quiet them."""
    array = np.array([bits], raw).view(code)
    roundtrip(array)
    result = loads(dumps(array[0]))
    assert type(result) is type(array[0])
    assert result.tobytes() == array.tobytes()


def test_c066_a_million_scalars() -> None:
    """Six bytes for each int32 scalar: two more than its payload."""
    count = 10**6
    scalars = [np.int32(i) for i in range(count)]
    frame = dumps(scalars)
    assert len(frame) <= 32 + 5 + 6 * count
    result = loads(frame)
    # In bulk: a comparison one by one takes longer than all the rest.
    assert set(map(type, result)) == {np.int32}
    assert_same(np.array(result), np.arange(count, dtype="i4"))
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(scalars, limits=Limits(nodes=count))
    assert caught.value.code == "node_limit"


NUMBERS = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()


@pytest.mark.parametrize("code", NUMBERS)
@pytest.mark.parametrize("count", [0, 1, 7, 20_000])
def test_c067_every_number_dtype(code: str, count: int) -> None:
    """All of them, inline and in the region, whole and as scalars."""
    array = np.arange(count).astype(code)
    roundtrip(array)
    roundtrip(list(array[:7]))


@pytest.mark.parametrize("code", [">f8", ">i2", ">U3", ">M8[D]", ">c16", "<u4", ">f2", "=i8", ">m8[3h]"])
def test_c068_byte_order_is_kept(code: str) -> None:
    """Of "kept or made native" hookless keeps it: the dtype is equal, and so is every byte."""
    array = np.array([0, 1, 0.4, 5.7] if code[1] in "fc" else [0, 1, 4, 5]).astype(code)
    roundtrip(array)
    roundtrip(np.repeat(array, 5000))
    result = loads(dumps(array))
    assert result.dtype.str == array.dtype.str
    native = array.dtype.newbyteorder("=")
    assert_same(result.astype(native), array.astype(native))


def test_longlong_arrays_come_back_as_the_equal_dtype() -> None:
    """longlong and long are equal dtypes where both have 64 bits; the array has one wire form."""
    array = np.arange(3, dtype=np.longlong)
    assert_same(loads(dumps(array)), np.arange(3, dtype="i8"))
    assert dumps(array) == dumps(np.arange(3, dtype="i8"))


def test_longlong_scalars_keep_their_type_or_are_refused() -> None:
    """Where longlong is not int64 no wire form keeps a scalar's type, so it is refused, not changed."""
    for kind, twin in ((np.longlong, np.int64), (np.ulonglong, np.uint64)):
        if kind is twin:
            roundtrip(kind(1))
        else:
            with pytest.raises(hookless.EncodeError, match=kind.__name__):
                dumps(kind(1))
