"""TYPES.md: the rows of NumPy's types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from types_table import check, rows

ROWS = rows("NumPy")
SAMPLES: list[Any] = [
    np.arange(3), np.bool_(True), np.int8(1), np.int16(1), np.int32(1), np.int64(1), np.uint8(1),
    np.uint16(1), np.uint32(1), np.uint64(1), np.float16(1), np.float32(0.1), np.float64(1), np.complex64(1j),
    np.complex128(1j), np.datetime64("2024-01-01"), np.timedelta64(1, "D"), np.bytes_(b"x\0"), np.str_("x"),
    np.void(b"x"),
]  # fmt: skip


def name_of(value: Any) -> str:
    """NumPy 2's name of the type."""
    return f"numpy.{type(value).__name__}".replace("numpy.bool_", "numpy.bool")


def test_every_type_has_a_row() -> None:
    """All scalar types, and arrays."""
    assert [name_of(value) for value in SAMPLES] == list(ROWS)


@pytest.mark.parametrize("value", SAMPLES, ids=name_of)
def test_row(value: Any) -> None:
    """Wire form, keyable, Rust variant, round trip."""
    check(ROWS[name_of(value)], [value])
