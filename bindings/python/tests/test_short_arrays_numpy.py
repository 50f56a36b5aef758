"""Arrays of numbers in C order go a short way in encoder and decoder: it comes to what the long one does.

The Rust host, which `through_rust` asks, goes the long way for all of them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import hookless
from hookless._hookless import through_rust
from same import assert_same
from test_agreement import ENVIRONMENT, TELLING, Verdict, agree
from test_vectors import wrapped

Array = np.ndarray[Any, np.dtype[Any]]

NUMBERS = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
OTHERS = "S3 U2 V5 M8[s] m8 g G".split()
ORDERS = "<>"
# No dimension, more than the short way takes, extents of each length on the wire, and none at all.
SHAPES = [(), (0,), (1,), (7,), (128,), (300,), (2, 3), (0, 5), (3, 1, 2), (2, 2, 2, 2), (1, 2, 1, 2, 1)]
# One element less than the region takes, and as many as it does, of eight bytes.
AT_THE_REGION = [(2047,), (2048,), (2, 1024)]


def array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Elements that differ, whatever they are."""
    count = int(np.prod(shape))
    if dtype.kind in "biufc":
        return (np.arange(count) % (2 if dtype.kind == "b" else 100)).astype(dtype).reshape(shape)
    return np.zeros(shape, dtype)


def dtypes() -> list[np.dtype[Any]]:
    found = [np.dtype(order + code) for code in (*NUMBERS, *OTHERS) for order in ORDERS]
    # Not the singletons that NumPy hands out, and the ints that are another C type of the same size.
    found += [np.dtype("f8", metadata={"a": 1}), np.dtype(np.longlong), np.dtype(np.ulonglong)]
    found += [np.dtype([("a", "<f8"), ("b", "i1")]), np.dtype("V0"), np.dtype("f8").newbyteorder("S")]
    return found


@pytest.mark.parametrize("dtype", dtypes(), ids=str)
@pytest.mark.parametrize("shape", [*SHAPES, *AT_THE_REGION], ids=str)
def test_the_encoder_writes_what_rust_does(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    made = array(dtype, shape)
    for value in (made, np.asfortranarray(made), made[..., ::-1] if shape else made, made.T):
        for outer in (value, [value, 1, value], {"a": (value,)}):
            frame = hookless.dumps(outer)
            assert through_rust(frame) == frame
            assert b"".join(hookless.encode(outer)) == frame


@pytest.mark.parametrize("dtype", dtypes(), ids=str)
@pytest.mark.parametrize("shape", [*SHAPES, *AT_THE_REGION], ids=str)
def test_the_decoder_makes_the_same_array(dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    made = array(dtype, shape)
    plain = made.astype(np.dtype(dtype.str)) if dtype.metadata else made
    frame = hookless.dumps(made)
    found = hookless.loads(frame)
    assert_same(found, plain)
    assert found.flags.owndata and found.flags.writeable
    assert_same(hookless.loads(frame, copy=False), plain)
    assert_same(hookless.decode([frame[:40], frame[40:]]), plain)


def verdict(load: Any, frame: bytes, limits: hookless.Limits) -> Verdict | None:
    try:
        load(frame, limits=limits)
    except hookless.DecodeError as error:
        return str(error.code), error.offset, str(error.path)
    return None


@pytest.mark.parametrize("dtype", ["<f8", "|b1", ">i2"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0, 300), (2048,)], ids=str)
def test_limits_are_met_at_the_same_byte(dtype: str, shape: tuple[int, ...]) -> None:
    made = array(np.dtype(dtype), shape)
    frame = hookless.dumps([made, made])
    seen = set()
    for name, values in {"memory": range(2000), "nodes": range(5), "depth": range(4)}.items():
        for value in values:
            limits = hookless.Limits(**{name: value})
            found = verdict(hookless.loads, frame, limits)
            assert found == verdict(through_rust, frame, limits)
            seen.add(found and found[0])
    assert {"memory_limit", "node_limit", "depth_limit"} <= seen


@pytest.mark.parametrize("dtype", ["<f8", "|b1", "<i2", ">f4"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0, 300)], ids=str)
def test_damages_are_refused_at_the_same_byte(dtype: str, shape: tuple[int, ...]) -> None:
    frame = hookless.dumps([array(np.dtype(dtype), shape), None])
    seen = set()
    for at, byte in itertools.product(range(32, len(frame)), sorted({*TELLING, *b"bcfiux<>|", *range(17)})):
        changed = bytearray(frame)
        changed[at] = byte
        seen.add(agree(bytes(changed)))
        del changed[at]
        changed[16:24] = (len(changed) - 32).to_bytes(8)
        seen.add(agree(bytes(changed)))
    assert {"bad_dtype", "bad_order", "bad_data_length", "not_canonical", "truncated"} <= seen
    assert not seen & ENVIRONMENT


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (1, 1, 2), (2048,)], ids=str)
def test_what_is_owed_is_counted(shape: tuple[int, ...]) -> None:
    """V18: what the containers around an array still want counts at the head of its dimensions, too."""
    node = hookless.dumps(np.zeros(shape))[32:][:60]
    seen = set()
    for count, kept in itertools.product(range(1, 70), (len(node), 40, 21)):
        head = bytes([0x90 | count]) if count < 16 else bytes([0xDC, 0, count])
        seen.add(agree(wrapped(head + node[:kept], b"")))
    assert "truncated" in seen


def test_an_element_that_is_no_bool_is_refused() -> None:
    odd = np.array([0, 1, 2], np.uint8).view(bool)
    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dumps([odd])
    assert (caught.value.code, caught.value.path) == ("bad_element", "$[0]")


def test_subclasses_go_the_long_way() -> None:
    class Mine(np.ndarray[Any, Any]):
        pass

    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dumps(np.zeros(3).view(Mine))
    assert caught.value.code == "unsupported_type"
    record = np.zeros(2, [("a", "f8")]).view(np.recarray)
    assert_same(hookless.loads(hookless.dumps(record)), record)
