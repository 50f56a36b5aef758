"""NumPy scalars as keys and members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookless
from hookless import dumps, loads
from same import assert_same

KEYS = [
    np.bool_(True),
    np.int8(-3),
    np.int16(300),
    np.int32(70_000),
    np.int64(-(2**40)),
    np.uint8(200),
    np.uint16(60_000),
    np.uint32(2**31),
    np.uint64(2**63),
    np.float16(0.1),
    np.float32(0.1),
    np.float64(0.1),
    np.complex64(2 + 3j),
    np.complex128(2.5 - 3j),
    np.str_("text"),
    np.bytes_(b"by\0"),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_scalars_are_keys_of_their_own_type(key: Any) -> None:
    """Alone, in a tuple, in a frozenset; the type comes back."""
    for value in ({key: key}, {key}, {(key, 1): None}, {frozenset({key})}):
        assert_same(loads(dumps(value)), value)


def test_all_of_them_in_one_table() -> None:
    """float16(0.1), float32(0.1) and 0.1 are three numbers."""
    value: dict[Any, Any] = dict.fromkeys(KEYS, 0)
    assert len(value) == len(KEYS)
    assert_same(loads(dumps(value)), value)
    assert_same(loads(dumps(set(KEYS))), set(KEYS))


@pytest.mark.parametrize("key", [np.datetime64(1, "s"), np.timedelta64(1, "s")], ids=repr)
def test_scalars_that_are_no_keys(key: Any) -> None:
    """A11: refused by the encoder with the place, as the decoder would. (NumPy itself refuses void.)"""
    for value in ({"a": {key}}, {"a": {(key,): 1}}):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps(value)
        assert caught.value.code == "not_keyable"
        assert caught.value.path.startswith("$.a")


def test_nan_scalars() -> None:
    """A NaN is its bits: one key with the float of the same bits, another with any other."""
    one, two = np.float64("nan"), float("nan")
    with pytest.raises(hookless.EncodeError) as caught:
        dumps({one: 1, two: 2})
    assert caught.value.code == "duplicate_key"
    other = np.uint64(0x7FF8000000000001).view("f8")
    value = {one: 1, other: 2, np.uint32(0xFFC00000).view("f4"): 3}
    assert_same(loads(dumps(value)), value)
