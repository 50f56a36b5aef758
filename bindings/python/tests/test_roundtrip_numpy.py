"""The same round trips for arrays and NumPy scalars, alone and among all other kinds."""

from __future__ import annotations

import os
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, given, settings

from hookless import Decoder, decode, dumps, encode, loads
from same import assert_same
from strategies import leaves, splits, values

Array = np.ndarray[Any, np.dtype[Any]]
# HOOKLESS_EXAMPLES=10000 for a long run.
EXAMPLES = int(os.environ.get("HOOKLESS_EXAMPLES", "200"))
thorough = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

UNITS = "Y M W D h m s ms us ns ps fs as".split()


@st.composite
def dtypes(draw: st.DrawFn) -> np.dtype[Any]:
    """Every dtype of this version of the wire, in both byte orders."""
    order = draw(st.sampled_from("<>"))
    match draw(st.sampled_from(["number", "time", "text"])):
        case "number":
            code = draw(st.sampled_from("b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()))
        case "time":
            unit = draw(st.sampled_from(UNITS))
            count = draw(st.sampled_from(["", "25", "2147483647"]))
            code = draw(st.sampled_from(["M8", "m8"])) + draw(st.sampled_from(["", f"[{count}{unit}]"]))
        case _:
            code = f"{draw(st.sampled_from('SUV'))}{draw(st.integers(0 if order == '<' else 1, 9))}"
    return np.dtype(order + code)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    """Arrays of raw bytes, so of every bit pattern that the dtype admits; in any memory order."""
    dtype = draw(dtypes())
    shape = draw(npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    if draw(st.integers(0, 9)) == 0:
        shape = (*shape, 16_384)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        raw = bytes(draw(st.lists(st.integers(0, 1), min_size=min(count, 64), max_size=min(count, 64))))
    elif dtype.kind == "U":
        points = draw(st.lists(st.integers(0, 0x10FFFF), min_size=1, max_size=64))
        raw = np.array(points, dtype.byteorder.replace("=", "<") + "u4").tobytes()
    else:
        raw = draw(st.binary(min_size=1, max_size=512))
    size = count * dtype.itemsize
    data = bytearray((raw * (size // max(len(raw), 1) + 1))[:size])
    array: Array = np.ndarray(shape, dtype, data)
    match draw(st.integers(0, 3)):
        case 0:
            return np.asfortranarray(array) if array.ndim else array
        case 1:
            return array.transpose(draw(st.permutations(range(array.ndim))))
        case 2 if array.ndim:
            return array[:: draw(st.sampled_from([1, 2, -1, -3]))]
        case _:
            return array


@st.composite
def scalars(draw: st.DrawFn) -> Any:
    """Scalars of every type, by their raw bits."""
    kind = draw(st.sampled_from(["text", "bytes", "void", "number"]))
    if kind == "text":
        return np.str_(draw(st.text(st.characters(), max_size=20)))
    if kind == "bytes":
        return np.bytes_(draw(st.binary(max_size=20)))
    if kind == "void":
        return np.void(draw(st.binary(min_size=1, max_size=20)))
    dtype = draw(dtypes().filter(lambda found: found.kind not in "SUV")).newbyteorder("=")
    if dtype.kind == "b":
        return np.bool_(draw(st.booleans()))
    return np.frombuffer(draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize)), dtype)[0]


def arrived(array: Array) -> Array:
    """What is neither C nor F contiguous comes back in C order (A12); all else as it was."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return array.copy(order="C")


@thorough
@given(arrays())
def test_arrays(array: Array) -> None:
    """dtype with byte order, shape, bytes and memory order."""
    frame = dumps(array)
    result = loads(frame)
    assert_same(result, arrived(array))
    assert dumps(result) == frame
    assert result.flags.writeable and result.flags.aligned


@thorough
@given(scalars())
def test_scalars(scalar: Any) -> None:
    """Type and raw bits, NaN payloads and trailing NULs included."""
    frame = dumps(scalar)
    result = loads(frame)
    assert_same(result, scalar)
    assert dumps(result) == frame


KEYABLE = scalars().filter(lambda scalar: scalar.dtype.kind not in "MmV" and scalar == scalar)


@thorough
@given(values(st.one_of(leaves, arrays().map(arrived), scalars())), st.data())
def test_among_all_kinds(value: Any, data: st.DataObject) -> None:
    """Nested in every container; all ways in and out agree."""
    frame = dumps(value)
    assert_same(loads(frame), value)
    assert b"".join(encode(value)) == frame
    assert_same(decode(data.draw(splits(frame))), value)
    decoder = Decoder()
    found = [one for part in data.draw(splits(frame)) for one in decoder.feed(part)]
    assert_same(found[0].value, value)
    assert dumps(found[0].value) == frame


@thorough
@given(KEYABLE, st.integers())
def test_scalars_as_keys(scalar: Any, other: int) -> None:
    """One beside a plain int, unless the two are one key."""
    value: dict[Any, Any] = {scalar: other}
    value.setdefault(other, scalar)
    for table in (value, set(value), frozenset(value), {(key, 1): key for key in value}):
        assert_same(loads(dumps(table)), table)
