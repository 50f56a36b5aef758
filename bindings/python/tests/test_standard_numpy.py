"""Values of the standard library beside NumPy's."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hookless
from hookless import dumps, loads
from same import assert_same

SCALARS = [np.int8(7), np.float32(0.5), np.float64(1.5), np.str_("a"), np.bytes_(b"a"), np.complex64(1j)]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_k8_a_scalar_and_a_decimal(scalar: Any) -> None:
    """Not in the keys of one table, in neither order, at any depth; nothing is compared with NumPy."""
    number = Decimal(2)
    for first, second in itertools.permutations([scalar, number]):
        tables: list[Any] = [
            {first: 1, second: 2},
            OrderedDict([(first, 1), (second, 2)]),
            {(first,): 1, second: 2},
            {((first, 1),): 1, (2, frozenset({second})): 2},
            {first, second},
            frozenset({(first,), (second,)}),
            {(first, second): 1},
        ]
        for table in tables:
            with pytest.raises(hookless.EncodeError) as caught:
                dumps([table])
            assert caught.value.code == "not_keyable"
            assert caught.value.path.startswith("$[0]")


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_k8_beside_each_other_elsewhere(scalar: Any) -> None:
    """As items, as values, and as keys of two tables they get along."""
    number = Decimal(2)
    value = [scalar, number, (number, scalar), {scalar: number}, {number: scalar}, [{scalar}, {number}]]
    assert_same(loads(dumps(value)), value)


def test_k4_fractions_and_scalars_are_compared() -> None:
    """A Fraction is compared with a scalar by its exact value."""
    table: dict[Any, int] = {np.float32(0.1): 1, Fraction(1, 10): 2, np.uint8(3): 3, Fraction(7, 2): 4}
    assert_same(loads(dumps(table)), table)
    half = dumps([np.float32(0.5), Fraction(1, 2)])[33:]
    body = b"\x82" + half[:6] + b"\xc0" + half[6:] + b"\xc0"
    with pytest.raises(hookless.DecodeError) as caught:
        loads(b"HKLS\1\1" + bytes(10) + len(body).to_bytes(8) + bytes(8) + body)
    assert (caught.value.code, caught.value.offset) == ("duplicate_key", 32 + 1 + 6 + 1)


def test_numpy_parts_of_standard_values() -> None:
    """An int of NumPy's inside a Fraction or a range is an int; inside a slice it stays what it is."""
    three: Any = np.int64(3)
    result = loads(dumps(Fraction(three, 7)))
    assert_same(result, Fraction(3, 7))
    assert_same(loads(dumps(range(np.int64(3)))), range(3))
    assert_same(loads(dumps(slice(np.int64(3), None))), slice(np.int64(3), None))


def test_not_numpys_kinds() -> None:
    """A date is no datetime64: each comes back as what it was."""
    value = [date(2024, 2, 29), np.datetime64("2024-02-29"), slice(np.array([1]), 2)]
    result = loads(dumps(value))
    assert [type(item) for item in result] == [type(item) for item in value]
    assert_same(result[:2], value[:2])
    assert_same(result[2].start, np.array([1]))
