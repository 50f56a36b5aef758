"""The same for NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookless
import naive


def test_hollow_arrays_are_charged_their_elements() -> None:
    """An array of 2**60 elements without a byte would be endless to go through."""
    for array in (np.zeros((0, 10**6)), np.zeros(1000, "V0"), np.zeros(3, [("f", "S0")])["f"]):
        back = hookless.loads(hookless.dumps(array))
        assert (back.shape, back.dtype) == (array.shape, array.dtype)
    for array in (np.zeros((2**40, 0)), np.zeros(2**40, "V0")):
        with pytest.raises(hookless.EncodeError) as caught:
            hookless.dumps(array)
        assert caught.value.code == "memory_limit"


def test_an_array_that_is_resized_after_it_was_encoded_is_refused() -> None:
    """Its old memory is gone; the buffer says so."""
    array = np.zeros(10_000)
    parts = hookless.encode(array)
    array.resize(20, refcheck=False)
    with pytest.raises(BufferError, match="resized"):
        memoryview(parts[1])


def test_long_keys_of_one_hash_are_counted() -> None:
    """Comparing long tuples that hash alike costs their length; only a few may."""
    keys = [naive.node(1, [naive.integer(-1 - (n >> bit & 1)) for bit in range(7)]) for n in range(128)]
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.loads(naive.frame(naive.mapping([(key, b"\xc0") for key in keys])))
    assert caught.value.code == "key_collision"
    grid = {(x, y, z): 0 for x in range(-5, 5) for y in range(-5, 5) for z in range(-5, 5)}
    assert hookless.loads(hookless.dumps(grid)) == grid


@pytest.mark.parametrize("name", ["_mask", "_fill_value", "_hardmask", "_baseclass"])
def test_a_masked_array_whose_attributes_were_changed_is_refused(name: str) -> None:
    """As unsupported, and without running code of what stands there now."""
    ran = []

    class Loud:
        def __getattribute__(self, name: str) -> object:
            ran.append(name)
            return object.__getattribute__(self, name)

    ma: Any = np.ma
    array = ma.array([1, 2])
    array.__dict__[name] = Loud()
    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dumps(array)
    assert (caught.value.code, ran) == ("unsupported_type", [])
