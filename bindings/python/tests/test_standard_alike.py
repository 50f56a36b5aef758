"""Numbers of one hash: what the decoder itself would pay for comparing them is counted."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import Any

import pytest

import hookless
import naive
from hookless import dumps, loads
from hookless._hookless import through_rust
from same import assert_same

PRIME = 2**61 - 1
HASH = 12345


def alike_ints(count: int, bits: int) -> list[int]:
    """Ints of about so many bits, all of one hash."""
    return [((1 << bits) // PRIME + i) * PRIME + HASH for i in range(count)]


def alike_decimals(count: int) -> list[Decimal]:
    """Decimals of that hash."""
    return [Decimal(HASH + i * PRIME) for i in range(1, count + 1)]


def alike_fractions(count: int, bits: int) -> list[Fraction]:
    """Fractions of that hash, which is numerator over denominator, modulo the prime."""
    found = []
    for i in range(count):
        denominator = (1 << bits) + 2 * i + 1
        numerator = denominator * HASH % PRIME + (1 << bits) // PRIME * PRIME
        while gcd(numerator, denominator) != 1:
            numerator += PRIME
        found.append(Fraction(numerator, denominator))
    return found


# Comparing a decimal with an int makes the int a decimal, each time: a tenth of a second for 16 KiB.
COLLIDING: dict[str, list[Any]] = {
    "ints before decimals": [*alike_ints(31, 131_000), *alike_decimals(32)],
    "decimals before ints": [*alike_decimals(32), *alike_ints(31, 131_000)],
    "ints and decimals in a large table": [*range(50), *alike_ints(31, 131_000), *alike_decimals(32)],
    "in tuples": [(key,) for key in (*alike_ints(31, 131_000), *alike_decimals(32))],
    "in frozensets": [frozenset([key]) for key in (*alike_ints(31, 131_000), *alike_decimals(32))],
    "fractions": [*alike_fractions(20, 40_000), *alike_decimals(39)],
}


@pytest.mark.parametrize("name", COLLIDING)
@pytest.mark.parametrize("is_set", [False, True])
def test_long_ints_and_decimals_of_one_hash_are_refused(name: str, is_set: bool) -> None:
    """In small tables too, where the ints alone, or the decimals alone, pass."""
    keys = [dumps(key)[32:] for key in COLLIDING[name]]
    body = (
        naive.node(naive.SET, sorted(keys)) if is_set else naive.mapping([(key, naive.NIL) for key in keys])
    )
    assert type(through_rust(naive.frame(body))) is bytes
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(body))
    assert caught.value.code == "key_collision"


def test_alike_numbers_of_one_kind_pass() -> None:
    """Powers of two have 61 hashes; comparing ints with ints, and decimals with decimals, takes little."""
    for table in (
        dict.fromkeys(2**power for power in range(3000)),
        dict.fromkeys([*(2**power for power in range(400)), Decimal("0.1"), Fraction(1, 3)]),
        dict.fromkeys(alike_decimals(60)),
        dict.fromkeys(alike_ints(31, 131_000)),
        dict.fromkeys((x, Decimal(y)) for x in (-1, -2) for y in range(1000)),
    ):
        assert_same(loads(dumps(table)), table)
