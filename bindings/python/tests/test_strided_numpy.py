"""Arrays whose elements are apart, or have gaps: sent as the bytes of their copies (A12, A16, A18)."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.ma
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from hookless import Decoder, EncodeError, Worker, dumps, encode, loads
from same import assert_same
from test_host_memory_numpy import holds_text, meant

# Their type hints know little of what lies inside.
ma: Any = np.ma
dtype_of: Any = np.dtype
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]

_FLAT = "? i1 u1 <i2 >u2 <i4 >i4 u8 >i8 f2 >f2 f4 f8 >f8 c8 >c16 g >g G".split()
_FLAT += "S1 S3 S17 U1 >U2 V3 V0 M8[ns] >m8[D]".split()
_EXTENSIONS = "bfloat16 float8_e4m3fn int4 float4_e2m1fn".split()
_ALIGNED = [("a", "u1"), ("b", "f8"), ("c", "?")]
DTYPES: dict[str, Dtype] = {code: dtype_of(code) for code in _FLAT}
DTYPES |= {name: dtype_of(getattr(ml_dtypes, name)) for name in _EXTENSIONS if hasattr(ml_dtypes, name)}
DTYPES |= {
    "packed": dtype_of(_ALIGNED),
    "padded": dtype_of(_ALIGNED, align=True),
    "padded inside": dtype_of([("x", dtype_of(_ALIGNED, align=True), (2,)), ("y", "g")]),
    "apart": dtype_of({"names": ["a", "b"], "formats": [">u2", "U1"], "offsets": [9, 1], "itemsize": 33}),
    "record": dtype_of((np.record, dtype_of([("a", "i4"), ("b", "U2")], align=True))),
    "without fields": dtype_of([]),
}

# Of elements in one row: what is seen of them has not been copied.
VIEWS: dict[str, Callable[[Array], Array]] = {
    "as they lie": lambda row: row,
    "backwards": lambda row: row[::-1],
    "every other": lambda row: row[::2],
    "every third from behind": lambda row: row[-2::-3],
    "columns": lambda row: _square(row)[:, 1:-1],
    "one column": lambda row: _square(row)[:, 1],
    "Fortran": lambda row: _square(row).T,
    "rows of the transposed": lambda row: _square(row).T[1:, ::2],
    "planes turned": lambda row: _cube(row).transpose(1, 2, 0),
    "planes turned back": lambda row: _cube(row).transpose(2, 0, 1)[::-1, :, ::-1],
    "pairs of planes": lambda row: _cube(row)[:, ::2],
    "rows repeated": lambda row: np.broadcast_to(row, (2, len(row))),
    "elements repeated": lambda row: np.broadcast_to(row[:, None], (len(row), 2)),
    "one element repeated": lambda row: np.broadcast_to(row[1], (5, 1000)),
    "windows": lambda row: sliding_window_view(row[:100], min(5, len(row))),
    "extents of one": lambda row: row[None, ::2, None],
    "no dimension": lambda row: row[1:2].reshape(()),
    "nothing": lambda row: row[:0][::2],
    "no columns": lambda row: _square(row)[::2, :0],
    "unaligned": lambda row: _off_by_one(row),
    "unaligned, every other": lambda row: _off_by_one(row)[::2],
    "a field": lambda row: _beside(row),
}


def _square(row: Array) -> Array:
    return row[: len(row) // 4 * 4].reshape(-1, 4)


def _cube(row: Array) -> Array:
    return row[: len(row) // 12 * 12].reshape(3, -1, 4)


def _off_by_one(row: Array) -> Array:
    return np.ndarray(row.shape, row.dtype, bytearray(b"\xee" + row.tobytes()), 1)


def _beside(row: Array) -> Array:
    """As a field, unaligned."""
    if row.dtype.itemsize == 0:
        return row
    wide = dtype_of({"names": ["x", "y"], "formats": ["u1", row.dtype], "offsets": [0, 1]})
    made = np.zeros(len(row), wide)
    made.view("u1").reshape(len(row), -1)[:, 1:] = np.frombuffer(row.tobytes(), "u1").reshape(len(row), -1)
    return made["y"]


@functools.cache
def rows(dtype: Dtype, count: int) -> Array:
    """Elements that the dtype admits, with 0x55 where no value is."""
    kept = meant(dtype)
    memory = np.random.default_rng(count).integers(0, 2, (count, dtype.itemsize), "u1")
    if holds_text(dtype):
        memory[:] = 0
    memory[:, ~kept] = 0x55
    row: Array = memory.reshape(-1).view(dtype) if dtype.itemsize else np.zeros(count, dtype)
    row.flags.writeable = False
    return row


def in_order(array: Array) -> Array:
    """A12: a copy in the order in which the array is sent."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return array.copy("F" if fortran else "C")


def contents(array: Array) -> bytes:
    """What travels of an array, by an oracle that knows only NumPy."""
    copy = in_order(array)
    data = np.frombuffer(copy.tobytes("A"), "u1").reshape(copy.size, -1).copy() if copy.nbytes else copy
    if copy.nbytes:
        data[:, ~meant(array.dtype)] = 0
    return data.tobytes()


# Inline; in the region; and of several parts.
SIZES = (12, 1200, 20_000)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", DTYPES)
def test_sent_as_the_copy(name: str, view: str) -> None:
    """`dumps` and `encode` give the bytes of the copy, and what arrives has its type and bits."""
    for count in SIZES:
        array = VIEWS[view](rows(DTYPES[name], min(count, 300_000 // max(DTYPES[name].itemsize, 1))))
        check(array)


def check(array: Array) -> None:
    frame = dumps(array)
    assert frame.endswith(contents(array))
    assert frame == dumps(in_order(array))
    assert b"".join(map(bytes, encode(array))) == frame
    found = loads(frame)
    assert found.dtype == array.dtype and found.shape == array.shape
    assert found.tobytes("A") == contents(array)
    assert (found.flags.c_contiguous, found.flags.f_contiguous) == (
        in_order(array).flags.c_contiguous,
        in_order(array).flags.f_contiguous,
    )


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("view", ["backwards", "columns", "rows of the transposed", "elements repeated"])
def test_recarrays_and_masked_arrays(view: str, count: int) -> None:
    """Their parts are gathered as well, each by its own strides."""
    row = rows(DTYPES["record"], count)
    records = VIEWS[view](row).view(np.recarray)
    assert_same(loads(dumps(records)), records.copy("C"))
    data, mask = VIEWS[view](np.arange(count)), VIEWS[view](np.arange(count) % 3 == 0)
    masked = ma.masked_array(data, mask, copy=False)
    found = loads(dumps(masked))
    assert type(found) is ma.MaskedArray
    assert_same(found._data, data.copy("C"))
    assert_same(found._mask, mask.copy("C"))


def test_through_a_worker(shared: Worker) -> None:
    """Every dtype of NumPy's by every view, both ways: one message of inline parts, one of the region."""
    for count in (12, 3000):
        values = [
            VIEWS[view](rows(dtype, count))
            for name, dtype in DTYPES.items()
            if name not in _EXTENSIONS
            for view in VIEWS
        ]
        found = shared.call("number_jobs:echo", values)
        assert len(found) == len(values)
        for one, other in zip(found, values, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.tobytes("A") == contents(other)


def test_the_child_sends_strided_arrays(shared: Worker) -> None:
    """Made there, gathered there."""
    for found in shared.call("number_jobs:strided", 100_000):
        assert_same(found, np.arange(0, 100_000, found[1], dtype="f8"))


def test_f_order_is_lent() -> None:
    """A transposed array is sent as it lies; so is a part that is in one piece. `encode` copies others."""
    square = np.arange(90_000.0).reshape(300, 300)
    for lent in (square, square.T, square[100:], square.T[:, 100:], square[7]):
        frame = dumps([lent, square])
        assert_same(loads(frame)[0], lent.copy("A"))
        part = encode(lent.repeat(30) if lent.size == 300 else lent)[-1]
        assert type(part) is not bytes
        assert lent.size == 300 or np.shares_memory(np.frombuffer(memoryview(part), "f8"), square)
    for gathered in (square[:, 1:], square[::2], square.T[1:]):
        assert type(encode(gathered)[-1]) is bytes


BAD: dict[str, tuple[str, bytes]] = {
    "bool": ("?", b"\2"),
    "code point": ("U1", b"\0\0\x11\0"),
    "code point, big": (">U1", b"\0\x11\0\0"),
    "int4": ("int4", b"\x10"),
    "a field": ("field", b"\0\2"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("count", [5, 20_000, 600_000])
def test_bad_elements_are_found_wherever_they_are(name: str, count: int) -> None:
    """A10, in the last part as in the first. What is not seen of the memory may be anything."""
    code, raw = BAD[name]
    special = {"int4": ml_dtypes.int4, "field": [("pad", "V1"), ("flag", "?")]}
    dtype = dtype_of(special.get(code, code))
    for place in (0, count // 2, count - 1):
        memory = np.zeros((2 * count, dtype.itemsize), "u1")
        memory[2 * place + 1] = np.frombuffer(raw, "u1")
        array = memory.reshape(-1).view(dtype)
        assert_same(loads(dumps(array[::2])), array[::2].copy())
        for view in (array[1::2], array[::-1][::2]):
            for send in (dumps, encode):
                with pytest.raises(EncodeError) as caught:
                    send({"x": [view]})
                assert (caught.value.code, caught.value.path) == ("bad_element", "$.x[0]")


class Odd:
    """What `default` is asked about."""


def test_elements_that_change_after_they_were_looked_at() -> None:
    """What leaves is what was there when it was read, and the decoder refuses what is no element."""
    array = np.zeros(100_000, "?")

    def spoil(_: object) -> int:
        array.view("u1")[50_000] = 2
        return 1

    frame = dumps([array[::2], Odd()], default=spoil)
    assert frame.count(b"\2") == 1
    with pytest.raises(ValueError, match="bad_element"):
        loads(frame)
    with pytest.raises(ValueError, match="bad_element"):
        Decoder().feed(frame)


@pytest.mark.parametrize("change", ["resize", "shape", "dtype"])
def test_an_array_that_is_another_after_it_was_walked(change: str) -> None:
    """Memory, shape and dtype are those of the head, or the array is `mutated`."""
    array: Array = np.ones(20_000, dtype_of([("a", "u1"), ("b", "f4")], align=True))

    def spoil(_: object) -> int:
        with warnings.catch_warnings(action="ignore"):  # Deprecated since NumPy 2.5, and still done.
            if change == "resize":
                array.resize(60_000, refcheck=False)
            elif change == "shape":
                array.shape = (200, 100)
            else:
                setattr(array, "dtype", dtype_of("f4"))  # noqa: B010 (typed as read-only)
        return 1

    if change == "shape":
        # The bytes are the same, and so is the head that has been written.
        assert loads(dumps([array, Odd()], default=spoil))[0].shape == (20_000,)
        return
    if change == "dtype":
        # The bytes are; gaps are zeroed by the dtype of the head.
        assert loads(dumps([array, Odd()], default=spoil))[0].dtype.names == ("a", "b")
        return
    with pytest.raises(EncodeError) as caught:
        dumps([array, Odd()], default=spoil)
    assert caught.value.code == "mutated"
