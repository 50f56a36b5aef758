"""NumPy arrays that change in the middle of an encode (see test_reentry.py)."""

from __future__ import annotations

import gc
import sys
import warnings
from typing import Any

import numpy
import pytest

import hookless
from hookless import dumps, encode, loads


class Odd:
    """What `default` is asked about."""


@pytest.mark.parametrize("size", [10, 10_000])
def test_an_array_resized_after_it_was_walked(size: int) -> None:
    """Small ones have been copied; a large one is `mutated`, and never read where it was."""
    array = numpy.arange(size)
    expected = array.copy()

    def resize(_: object) -> int:
        array.resize(size * 3, refcheck=False)
        gc.collect()
        return 1

    value: list[Any] = [array, Odd()]
    if size < 1000:
        found = loads(dumps(value, default=resize))
        assert numpy.array_equal(found[0], expected)
        return
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value, default=resize)
    assert caught.value.code == "mutated"


def test_a_part_whose_array_was_resized() -> None:
    """What `encode` handed out gives BufferError, not other memory."""
    array = numpy.arange(10_000)
    parts = encode([array])
    array.resize(50_000, refcheck=False)
    with pytest.raises(BufferError, match="resized"):
        memoryview(parts[-1])


def test_an_array_of_objects_that_changes_under_the_walk() -> None:
    """Its memory is asked for at each item."""
    array = numpy.array([Odd(), *range(50)], dtype=object)
    with pytest.raises(hookless.EncodeError) as caught:
        dumps([array], default=lambda _: array.resize(10, refcheck=False) or 1)
    assert caught.value.code == "mutated"


class Changer:
    """A cycle whose finaliser changes the dtype of an array in place."""

    def __init__(self, array: Any) -> None:
        self.array, self.cycle = array, self

    def __del__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.array.dtype = numpy.int8


@pytest.mark.parametrize("size", [10, 10_000])
def test_a_dtype_changed_between_head_and_data(size: int) -> None:
    """The head said eight bytes for each of what are then eight times as many elements."""
    array = numpy.arange(size).astype("datetime64[3s]")
    expected = array.copy()
    gc.collect()
    threshold = gc.get_threshold()
    gc.disable()
    Changer(array)
    gc.set_threshold(1, 1, 1)
    try:
        if sys.version_info < (3, 12):
            # The collector starts only now, so that nothing but the encoder can set it off.
            with pytest.raises(hookless.EncodeError) as caught:  # noqa: PT012
                gc.enable()
                dumps(array)
            assert caught.value.code == "mutated"
        else:
            gc.enable()
            # The collector waits for Python's own code here, of which there is none in between.
            assert loads(dumps(array)).tobytes() == expected.tobytes()
    finally:
        gc.enable()
        gc.set_threshold(*threshold)
