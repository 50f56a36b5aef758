"""Jobs that need NumPy in the child."""

from __future__ import annotations

from typing import Any

import numpy as np


def double(array: Any) -> Any:
    return array * 2


def ramp(count: int) -> Any:
    return np.arange(count, dtype="f8")


def describe(array: Any) -> list[Any]:
    return [
        type(array).__name__,
        array.dtype.str,
        list(array.shape),
        bool(array.flags.writeable),
        array.tobytes(),
    ]


def every_kind() -> list[Any]:
    """One array of each kind, some of them large."""
    objects = np.empty(3, object)
    objects[:] = [np.arange(20_000), {"x": [1]}, None]
    return [
        np.ma.masked_array(np.arange(20_000), np.arange(20_000) % 7 == 0, fill_value=5),
        objects,
        np.rec.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
        np.zeros(2, [("a", "i4"), ("b", "f8")])[0],
        np.longdouble("1.1"),
    ]


def echo(value: Any) -> Any:
    return value


def strided(count: int) -> list[Any]:
    """Parts of a row, not copied."""
    row = np.arange(count, dtype="f8")
    return [row[::step] for step in (1, 2, 3)]


def many(count: int, size: int) -> list[Any]:
    """The same array, over and over."""
    return [np.arange(size, dtype="f8")] * count
