"""TYPES.md: each row of its tables is true, and no type is missing."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pytest

from hookless import dumps, loads
from standard_samples import STANDARD
from types_table import check, rows

BUILTINS: list[Any] = [
    None, True, False, 0, -1, 2**64, 1.5, float("nan"), 1j, "text", "\ud800", b"x", bytes(16_384),
    bytearray(b"x"), bytearray(16_384), [], [1], (), (1, (2,)), ([],), {}, {1: 2}, set(), {1}, frozenset({1}),
]  # fmt: skip


@dataclass
class Point:
    """A class of a child's own."""

    x: Any


class Pair(NamedTuple):
    """Another."""

    x: Any


class Colour(Enum):
    """A third."""

    RED = 1
    MANY = (1, [2])


RECORDS = [loads(dumps(made)) for made in (Point(1), Point([1]), Pair(1), Pair({}), Colour.RED, Colour.MANY)]


def samples() -> dict[str, list[Any]]:
    """Samples by the name of their type, in builtins without the module."""
    found: dict[str, list[Any]] = {}
    for value in BUILTINS + RECORDS + [value for line in STANDARD.values() for value in line]:
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        # The name under which it is public.
        name = name.replace("pathlib._local.", "pathlib.").replace("hookless.records.", "hookless.")
        found.setdefault(name, []).append(value)
    return found


SAMPLES = samples()
ROWS = rows("Builtins") | rows("Standard library") | rows("Classes of your own")


def test_every_type_has_a_row_and_every_row_a_type() -> None:
    """The lists are equal; what a row names can be imported under that name."""
    assert set(ROWS) == set(SAMPLES)
    for name, found in SAMPLES.items():
        module, _, attribute = name.rpartition(".")
        if module:
            assert getattr(importlib.import_module(module), attribute) is type(found[0])


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    """Wire form, keyable, Rust variant, round trip."""
    check(ROWS[name], SAMPLES[name])
