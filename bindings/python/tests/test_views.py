"""Copies and views: who owns the memory of large arrays on each side."""

from __future__ import annotations

import gc
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookless
from hookless import decode, dumps, encode, loads
from same import assert_same

Array = np.ndarray[Any, np.dtype[Any]]

LARGE = np.arange(5000.0)
SMALL = np.arange(100.0)


def shares(array: Array, buffer: Any) -> bool:
    return np.shares_memory(array, np.frombuffer(memoryview(buffer), "u1"))


@pytest.mark.parametrize(
    "array", [LARGE, LARGE.reshape(50, 100).T, LARGE.astype(">c16"), SMALL], ids=["C", "F", "big", "small"]
)
def test_loads_owns_its_memory(array: Array) -> None:
    """By default arrays are writable, aligned, and touch neither the frame nor each other."""
    data = dumps([array, array])
    before = bytes(data)
    one, two = loads(data)
    for result in (one, two):
        assert result.flags.writeable and result.flags.aligned
        assert not shares(result, data)
    one[...] = 0
    assert_same(two, array)
    assert data == before


@pytest.mark.parametrize(
    "call", [lambda data: loads(data, copy=False), lambda data: decode([data], copy=False)]
)
def test_copy_false_gives_read_only_views(call: Callable[[bytes], Any]) -> None:
    """Region arrays are views of the frame; what is inline is owned, as it would pin far more than itself."""
    data = dumps([LARGE, SMALL, LARGE.reshape(50, 100).T])
    view, small, other = call(data)
    for result in (view, other):
        assert shares(result, data)
        assert not result.flags.writeable
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
            result[0] = 1
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
            result.flags.writeable = True
    assert not shares(small, data)
    assert small.flags.writeable
    assert_same([view, small, other], [LARGE, SMALL, LARGE.reshape(50, 100).T])


def test_views_keep_the_frame_alive() -> None:
    """The source may go; the view stays valid."""
    view = loads(dumps(LARGE), copy=False)
    gc.collect()
    junk = [bytes(40_032) for _ in range(50)]
    assert_same(view, LARGE)
    del junk


EXPORTERS: dict[str, Callable[[bytes], Any]] = {
    "bytearray": bytearray,
    "its view": lambda data: memoryview(bytearray(data)),
    # `toreadonly()` stops nobody from writing through the owner.
    "its read-only view": lambda data: memoryview(bytearray(data)).toreadonly(),
    "an array": lambda data: np.frombuffer(data, "u1").copy(),
    "a read-only array": lambda data: np.frombuffer(data, "u1"),
}


@pytest.mark.parametrize("name", EXPORTERS)
def test_views_only_of_bytes(name: str) -> None:
    """A checked value must not change afterwards, so no view of what somebody may still write to: refused."""
    data = EXPORTERS[name](dumps(LARGE))
    with pytest.raises(ValueError, match="copy=False"):
        loads(data, copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        decode([data], copy=False)
    assert_same(loads(data), LARGE)


def test_views_of_a_part_of_bytes() -> None:
    """A memoryview of bytes is as good as the bytes."""
    data = dumps(LARGE)
    result = loads(memoryview(b"xx" + data)[2:], copy=False)
    assert not result.flags.writeable
    assert_same(result, LARGE)


def test_bytes_are_always_owned() -> None:
    """Only arrays are views; bytes and bytearray are copies."""
    value = [b"x" * 20_000, bytearray(b"y" * 20_000)]
    assert_same(loads(dumps(value), copy=False), value)


def test_a_mapped_file_is_copied(tmp_path: Path) -> None:
    """Another process could write to it; the map can be closed while the values live on."""
    file = tmp_path / "frame"
    file.write_bytes(dumps(LARGE))
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        with pytest.raises(ValueError, match="copy=False"):
            loads(mapped, copy=False)
        result = loads(mapped)
    assert_same(result, LARGE)


@pytest.mark.parametrize(
    "array", [LARGE, np.asfortranarray(LARGE.reshape(50, 100)), LARGE.astype("M8[s]"), LARGE.astype("c16")]
)
def test_the_encoder_does_not_copy_large_arrays(array: Array) -> None:
    """One of the parts is the array's own memory."""
    parts = encode({"a": [array]})
    assert [shares(array, part) for part in parts].count(True) == 1
    assert b"".join(parts) == dumps({"a": [array]})


def test_the_encoder_does_not_copy_large_bytes() -> None:
    """Nor bytes of 16 384 and more."""
    data = bytes(range(256)) * 100
    owner = np.frombuffer(data, "u1")
    assert [shares(owner, part) for part in encode([data])].count(True) == 1


def test_parts_keep_the_array_alive() -> None:
    """The memory is not given back while a part points to it."""
    array = LARGE.copy()
    expected = dumps(array)
    parts = encode(array)
    del array
    gc.collect()
    junk = [np.zeros(5000) for _ in range(50)]
    assert b"".join(parts) == expected
    del junk


def test_parts_are_read_only_views() -> None:
    """Whoever sends the parts cannot change the caller's array through them."""
    array = LARGE.copy()
    for part in encode(array):
        assert memoryview(part).readonly
        assert memoryview(part).c_contiguous
    assert array.flags.writeable


def test_strided_arrays_are_compacted_without_what_is_hidden() -> None:
    """Every second element of a large array: the others are not in the frame."""
    secret = np.arange(20_000, dtype="u4")
    secret[1::2] = 0xDEADBEEF
    frame = b"".join(encode(secret[::2]))
    assert b"\xef\xbe\xad\xde" not in frame
    assert len(frame) < 40_000 + 256
    assert_same(loads(frame), secret[::2].copy())


@pytest.mark.parametrize("split", [1, 32, 100, 10_000])
def test_decode_of_split_regions(split: int) -> None:
    """A region in pieces cannot be one view; the values are right all the same."""
    data = dumps([LARGE, "x", LARGE])
    parts = [data[i : i + split] for i in range(0, len(data), split)]
    for copy in (True, False):
        assert_same(
            [np.array(item) if type(item) is np.ndarray else item for item in decode(parts, copy=copy)],
            [LARGE, "x", LARGE],
        )


def test_decoder_gives_owned_arrays() -> None:
    """Arrays of `Decoder` are received straight into memory of their own."""
    data = bytearray(dumps(LARGE))
    found = hookless.Decoder().feed(data)
    data[-8:] = bytes(8)
    assert_same(found[0].value, LARGE)
    assert found[0].value.flags.writeable
