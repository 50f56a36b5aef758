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
