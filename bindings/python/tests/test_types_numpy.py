"""TYPES.md: the rows of NumPy's types, and of those of ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lacking import extensions
from numpy_samples import EXTENSIONS, NUMPY, NUMPY_2
from types_table import check, rows

ROWS = rows("NumPy") | rows("ml_dtypes")
SAMPLES = NUMPY | EXTENSIONS


def name_of(value: Any) -> str:
    """The row that a value belongs to: the public name of its type, and of what it is an array."""
    kind = type(value)
    if kind is np.ndarray and value.dtype.kind in "OT":
        return f"numpy.ndarray of {'object' if value.dtype.kind == 'O' else 'StringDType'}"
    # NumPy 1 has other names for some of them.
    module = {"numpy.ma.core": "numpy.ma", "numpy.rec": "numpy"}.get(kind.__module__, kind.__module__)
    return {"numpy.bool_": "numpy.bool"}.get(f"{module}.{kind.__name__}", f"{module}.{kind.__name__}")


def test_every_type_has_a_row() -> None:
    """In the order of the tables. What this NumPy or ml_dtypes lacks has a row, and no sample."""
    lacking = {f"ml_dtypes.{name}" for name in extensions(here=False)}
    lacking |= set() if NUMPY_2 else {"numpy.ndarray of StringDType"}
    assert [name for name in ROWS if name not in lacking] == list(SAMPLES)
    assert lacking <= set(ROWS)
    for name, found in SAMPLES.items():
        assert {name_of(value) for value in found} == {name}


def test_every_scalar_type_of_numpy_has_a_row() -> None:
    """But for those that are refused, since no form of the wire keeps them."""
    kinds: set[type] = {np.dtype(code).type for code in np.typecodes["All"]} | {np.record}
    refused: set[type] = {np.object_}
    # The one of two ints of equal size that has no name of its own.
    refused |= {kind for kind in (np.longlong, np.ulonglong) if kind not in (np.int64, np.uint64)}
    assert {
        type(value) for name in NUMPY for value in NUMPY[name] if isinstance(value, np.generic)
    } == kinds - refused


@pytest.mark.parametrize("name", SAMPLES)
def test_row(name: str) -> None:
    """Wire form, keyable, Rust variant, round trip."""
    check(ROWS[name], SAMPLES[name])
