"""C126: what goes to the child is a function of the value only, and not of the memory that it lies in.

Each array is made twice, in memory that holds another pattern; both frames must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import numpy.ma
import pytest
from hypothesis import event, given

from hookless import EncodeError, Worker, dumps, encode
from numpy_samples import NUMPY_2
from test_roundtrip_numpy import thorough

# Their type hints know little of what lies inside.
ma: Any = np.ma
dtype_of: Any = np.dtype
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]
PATTERNS = (0xAA, 0x55)

_LEAVES = "? i1 <i2 >i4 u8 f2 f4 >f8 c8 >c16 g >g G >G S0 S3 U2 >U1 V3 V0 M8[D] >m8[us]".split()
_EXTENSIONS = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4]


def meant(dtype: Dtype) -> Array:
    """Which bytes of an element are part of the value: an oracle that asks only NumPy."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.tile(meant(base), int(np.prod(shape)))
    found = np.zeros(dtype.itemsize, bool)
    if dtype.names is None:
        found[:] = True
        if dtype.char in "gG" and np.finfo(np.longdouble).nmant == 63:
            # x87: ten bytes, and what fills them up to 16.
            one = np.arange(16) < 10
            if dtype.byteorder == ">":
                one = one[::-1]
            found = np.tile(one, dtype.itemsize // 16)
        return found
    assert dtype.fields is not None
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]
        found[offset : offset + inner.itemsize] |= meant(inner)
    return found


def holds_text(dtype: Dtype) -> bool:
    """Whether there are code points in it. NumPy 1 cannot print every dtype, so its text is no help."""
    return dtype.base.char == "U" or any(holds_text(dtype.base[name]) for name in dtype.base.names or ())


def twins(dtype: Dtype, count: int, chance: random.Random) -> list[Array]:
    """Two equal arrays, in memory of two patterns. The bytes that have a meaning are valid for any type."""
    base = np.array([chance.randrange(2) for _ in range(count * dtype.itemsize)], "u1")
    if holds_text(dtype):
        base[:] = 0
    base = base.reshape(count, dtype.itemsize)
    kept = meant(dtype)
    found = []
    for pattern in PATTERNS:
        memory = np.full_like(base, pattern)
        memory[:, kept] = base[:, kept]
        found.append(memory.reshape(-1).view(dtype) if dtype.itemsize else np.zeros(count, dtype))
    return found


def a_dtype(chance: random.Random, depth: int = 0) -> Dtype:
    """A dtype with gaps of every sort: between fields, at the end, from alignment; or with overlaps."""
    if depth > 2 or (depth and chance.random() < 0.4):
        leaf: Dtype = dtype_of(chance.choice([*_LEAVES, *_EXTENSIONS]))
        return leaf
    names = [f"f{number}" for number in range(chance.randrange(0 if depth else 1, 4))]
    formats = [a_dtype(chance, depth + 1) for _ in names]
    formats = [
        dtype_of((one, chance.choice([(2,), (1, 2), (3,)]))) if chance.random() < 0.2 else one
        for one in formats
    ]
    spec: dict[str, Any] = {"names": names, "formats": formats}
    layout = chance.choice(["packed", "aligned", "aligned", "offsets", "offsets"])
    if layout == "offsets" and names:
        spec["offsets"] = [chance.randrange(24) for _ in names]
        ends = [at + one.itemsize for at, one in zip(spec["offsets"], formats, strict=True)]
        spec["itemsize"] = max(ends) + chance.randrange(9)
    if chance.random() < 0.2:
        spec["titles"] = [f"T{depth}{number}" for number in range(len(names))]
    made: Dtype = dtype_of(spec, align=layout == "aligned")
    if names and not depth and chance.random() < 0.2:
        made = dtype_of((np.record, made))
    return made


def _square(array: Array) -> Array:
    return array[: len(array) // 2 * 2].reshape(2, -1)


VIEWS: dict[str, Callable[[Array], Any]] = {
    "whole": lambda array: array,
    "backwards": lambda array: array[::-1],
    "every other": lambda array: array[::2],
    "a part": lambda array: array[1:-1],
    "transposed": lambda array: _square(array).T,
    "Fortran": lambda array: np.asfortranarray(_square(array)),
    "broadcast": lambda array: np.broadcast_to(array[:1], (3, 2)),
    "no dimension": lambda array: array[:1].reshape(()),
    "a scalar": lambda array: array[0],
    "a field": lambda array: array[array.dtype.names[0]] if array.dtype.names else array,
    "some fields": lambda array: array[[array.dtype.names[0]]] if array.dtype.names else array,
    "a recarray": lambda array: array.view(np.recarray),
    "among objects": lambda array: np.array([None, array[0]], dtype=object),
    "in containers": lambda array: {"a": [array, (array[0],)]},
}


def sent(value: Any) -> bytes | str:
    """The frame, the same in one piece and in several; or why there is none."""
    try:
        frame = dumps(value)
    except EncodeError as error:
        return error.code
    assert b"".join(map(bytes, encode(value))) == frame
    return frame


def check(values: list[Any]) -> bool:
    one, two = map(sent, values)
    assert one == two
    return isinstance(one, bytes)


@given(chance=st.randoms(use_true_random=True))
@thorough
def test_c126_frames_depend_on_values_only(chance: random.Random) -> None:
    """Random structures in dirty memory, and every way to look at them."""
    try:
        dtype = a_dtype(chance)
    except (ValueError, TypeError):
        return event("no dtype")
    count = chance.choice([1, 2, 6, 6, 800])
    arrays = twins(dtype, count, chance)
    for name, view in VIEWS.items():
        event(f"{name}: {'sent' if check([view(array) for array in arrays]) else 'refused'}")
    return None


ALIGNED = dtype_of([("a", "u1"), ("b", "f8"), ("c", "u2")], align=True)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("count", [2, 4000])
def test_c126_padding_is_zero(view: str, count: int) -> None:
    """Inline and in the region: no byte of either pattern leaves, though no value has one."""
    arrays = twins(ALIGNED, count, random.Random("padding"))
    for pattern, array in zip(PATTERNS, arrays, strict=True):
        assert bytes([pattern]) * 2 in array.tobytes()
        frame = sent(VIEWS[view](array))
        assert isinstance(frame, bytes)
        assert bytes([pattern]) * 2 not in frame
    assert check([VIEWS[view](array) for array in arrays])


@pytest.mark.parametrize("code", ["g", ">g", "G", ">G"])
def test_c126_long_doubles(code: str) -> None:
    """Ten of sixteen bytes are the number: scalars, arrays of one and of many, and fields."""
    for count in (1, 1100):
        arrays = twins(dtype_of(code), count, random.Random(code))
        assert arrays[0].tobytes() != arrays[1].tobytes()
        assert check(list(arrays)) and check([array[0] for array in arrays])
        assert check([array.view([("f", code)]) for array in arrays])


def test_c126_masked_arrays() -> None:
    """Padding of data, mask and fill value is zero. What lies under a mask is part of the value."""
    data = twins(ALIGNED, 3, random.Random("masked"))
    mask = [(True, False, True), (False, False, False), (True, True, True)]
    values = [ma.masked_array(array, mask, fill_value=array[0]) for array in data]
    for value, array in zip(values, data, strict=True):
        value._fill_value = array[:1].reshape(())
    assert check(values)
    assert b"\x63" * 8 in dumps(ma.masked_array(np.frombuffer(b"\x63" * 8, "i8"), [True]))
    hidden = ma.masked_array([1, 2], [True, False])
    assert dumps(ma.masked_array(hidden.filled(), hidden.mask)) != dumps(hidden)


def test_c126_memory_that_nobody_has_written() -> None:
    """Slots without an object are None; texts that have not been set are empty."""
    for shape in ((3,), (2, 2), ()):
        empty: Array = np.empty(shape, object)
        assert dumps(empty) == dumps(np.full(shape, None, object))
        if NUMPY_2:
            of = np.dtypes.StringDType()
            assert dumps(np.empty(shape, of)) == dumps(np.full(shape, "", of))


@pytest.mark.skipif(not NUMPY_2, reason="StringDType comes with NumPy 2")
def test_c126_texts_that_were_longer() -> None:
    """An item keeps the room of the text that it was: what is left of that stays here."""
    array = np.array(["SECRET" * 100, "SECRET"], np.dtypes.StringDType())
    array[:] = ["a" * 300, "b"]
    assert dumps(array) == dumps(np.array(["a" * 300, "b"], np.dtypes.StringDType()))


@pytest.mark.parametrize("size", [10, 20_000])
def test_c126_buffers_are_exactly_the_array(size: int) -> None:
    """`encode` hands out the array's own memory: from its first byte to its last and no further."""
    memory = np.full(3 * size, 0xAA, "u1")
    array = memory[size : 2 * size]
    array[:] = 1
    parts = [memoryview(part) for part in encode([array, array])]
    assert all(part.readonly for part in parts)
    assert sum(part.nbytes for part in parts) == len(dumps([array, array]))
    assert b"\xaa" not in b"".join(parts)
    array[-1] = 2
    # Still the array's memory, where it is not copied.
    assert (b"\2" in b"".join(parts)) == (size > 16_384)


def test_c126_arguments_of_a_call(shared: Worker) -> None:
    """The child's decoder refuses bytes that are not zero where no value is (A16): nothing dirty is sent."""
    for count in (3, 4000):
        for array in twins(ALIGNED, count, random.Random("call")):
            (arguments, _) = shared.call("jobs:echo", array)
            assert (arguments[0] == array).all()
