"""`array.array`: every type code of this Python, inline and in the region, owned by whoever decodes it."""

from __future__ import annotations

import array
import math
import struct
import sys
import warnings
from typing import Any

import pytest

import hookless
import naive
from hookless import Decoder, decode, dumps, encode, loads
from same import assert_same

Array = array.array


def empty(code: str) -> Array[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of "u"
        return Array(code)


def filled(code: str, count: int) -> Array[Any]:
    """An array of so many elements, no two neighbours alike."""
    made = empty(code)
    if code in "uw" and count:  # CPython 3.13.0 fails for no characters
        made.fromunicode("".join(chr(0x10FFFF - index % 1000) for index in range(count)))
    elif count:
        made.frombytes(bytes(index * 7 % 251 for index in range(count * made.itemsize)))
    return made


@pytest.mark.parametrize("code", list(array.typecodes))
def test_every_type_code(code: str) -> None:
    """Empty, at the last inline size, at the first in the region, and larger; every element and its type."""
    itemsize = empty(code).itemsize
    for count in (0, 1, (16_384 - 1) // itemsize, 16_384 // itemsize, 16_384 // itemsize + 1, 40_000):
        value = filled(code, count)
        frame = dumps(value)
        in_region = count * itemsize >= 16_384
        assert int.from_bytes(frame[24:32]) == (count * itemsize if in_region else 0)
        for result in (loads(frame), loads(frame, copy=False), decode(encode(value))):
            assert_same(result, value)
            assert dumps(result) == frame
        (found,) = Decoder().feed(frame)
        assert_same(found.value, value)


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("count", [10, 30_000])
def test_a_decoded_array_owns_its_elements(count: int, copy: bool) -> None:
    """It can be changed and resized, whatever `copy` says, and the frame does not change with it."""
    frame = dumps(filled("h", count))
    before = bytes(frame)
    result = loads(frame, copy=copy)
    result[0] += 1
    result.append(5)
    del result[1:3]
    assert len(result) == count - 1
    assert frame == before


def test_streamed_byte_by_byte() -> None:
    """Two arrays in the region, after each other, and their frame in pieces of every size."""
    value = [filled("b", 16_385), filled("d", 2_048), filled("u", 4_096)]
    frame = dumps(value)
    for size in (1, 63, 4_096):
        decoder = Decoder()
        found = [got for at in range(0, len(frame), size) for got in decoder.feed(frame[at : at + size])]
        decoder.finish()
        assert_same(found[0].value, value)


def test_no_copy_of_a_large_array() -> None:
    """`encode` gives the array's own memory, which therefore cannot be resized until the parts are gone."""
    value = filled("d", 100_000)
    parts = encode(value)
    view = memoryview(parts[-1])
    assert view.readonly
    value[-1] = 1234.5
    assert bytes(view[-8:]) == struct.pack("<d", 1234.5)
    with pytest.raises(BufferError):
        value.append(0.0)
    del parts
    view.release()
    value.append(0.0)


def test_nans_keep_their_bits() -> None:
    """Signalling and quiet NaNs with payloads, in floats of both sizes."""
    for code, bits in (("f", 0x7F800001), ("f", 0xFFC01234), ("d", 0x7FF0000000000001), ("d", 0xFFF8 << 48)):
        size = empty(code).itemsize
        value = empty(code)
        value.frombytes(bits.to_bytes(size, sys.byteorder))
        result = loads(dumps(value))
        assert_same(result, value)
        assert math.isnan(result[0])


def test_no_warning_of_the_deprecated_code() -> None:
    """Decoding a "u" array is not this program's use of it."""
    frame = dumps(filled("u", 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(loads(frame), filled("u", 3))


def node(code: str, itemsize: int, count: int, data: bytes) -> bytes:
    fields = [naive.integer(ord(code)), naive.integer(itemsize), naive.integer(count), naive.binary(data)]
    return naive.frame(naive.node(11, fields))


@pytest.mark.parametrize("code", ["u", "l", "L", "i", "I", "w"])
@pytest.mark.parametrize("itemsize", [2, 4, 8])
def test_c_types_of_other_machines(code: str, itemsize: int) -> None:
    """D18: an itemsize that the wire knows and this host has not is `dtype_unsupported`, never converted."""
    known = {"u": (2, 4), "w": (4,), "l": (4, 8), "L": (4, 8), "i": (2, 4), "I": (2, 4)}[code]
    here = code in array.typecodes and empty(code).itemsize == itemsize
    frame = node(code, itemsize, 1, bytes(itemsize))
    if here:
        assert loads(frame).tobytes() == bytes(itemsize)
        return
    with pytest.raises(hookless.DecodeError) as caught:
        loads(frame)
    assert caught.value.code == ("dtype_unsupported" if itemsize in known else "bad_dtype")


def test_d18_elements_that_no_str_has() -> None:
    """Past U+10FFFF: refused before Python could be asked to show it, inline and in the region."""
    with pytest.raises(hookless.DecodeError) as caught:
        loads(node("u", 4, 2, bytes.fromhex("6100000000001100")))
    assert (caught.value.code, caught.value.offset) == ("bad_element", 45)
    good = dumps(filled("u", 5000))
    bad = good[:-4] + bytes.fromhex("00001100")
    for call in (loads, lambda data: decode([data]), lambda data: Decoder().feed(data)):
        with pytest.raises(hookless.DecodeError) as caught:
            call(bad)
        assert (caught.value.code, caught.value.offset) == ("bad_element", len(bad) - 4)
