"""K3 to K7 against Python: two keys are one key for the decoders exactly when they are equal in Python."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import hookless
import naive
from hookless import EnumValue, NamedRecord, Record, dumps, loads
from hookless._hookless import through_rust

# Few of each, so that equal ones of two kinds come up.
INTS = st.sampled_from([0, 1, -1, -2, 2, 3, 2**53, 2**53 + 1, 2**61 - 1, 2**64, -(2**63), 10**22, 10**23])
HALVES = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 2, 3, 4, 5, 10, 2**60]))
FLOATS = st.one_of(
    INTS.map(float), HALVES.map(float), st.sampled_from([0.1, -0.0, 5e-324, float("inf"), -float("inf")])
)
DECIMALS = st.one_of(
    INTS.map(Decimal),
    FLOATS.map(Decimal),
    st.builds(lambda digits, by: Decimal(digits).scaleb(by), st.integers(-30, 30), st.integers(-3, 22)),
)
TEXT = st.sampled_from(["", "a", "A", "1", "a/b", "c:\\a", "\ud800", "\u00e9", "e\u0301"])
PATHS = TEXT.filter(lambda text: text.isascii())
SMALL = st.integers(-2, 3)
LEAVES = st.one_of(
    st.sampled_from([None, True, False, ...]),
    INTS,
    FLOATS,
    HALVES,
    DECIMALS,
    st.builds(complex, FLOATS, st.sampled_from([0.0, -0.0, 1.0])),
    TEXT,
    TEXT.map(lambda text: text.encode(errors="surrogatepass")),
    PATHS.map(PurePosixPath),
    PATHS.map(PureWindowsPath),
    st.builds(range, SMALL, SMALL, SMALL.filter(bool)),
    st.builds(UUID, int=st.integers(0, 2), is_safe=st.sampled_from(SafeUUID)),
    st.builds(time, SMALL.map(abs), fold=st.integers(0, 1)),
    st.builds(datetime, st.just(2024), st.just(1), st.integers(1, 2), fold=st.integers(0, 1)),
    st.builds(date, st.just(2024), st.just(1), st.integers(1, 2)),
    st.builds(timedelta, SMALL, SMALL),
    st.integers(0, 2).map(IPv4Address),
    st.integers(0, 2).map(IPv6Address),
    st.sampled_from([IPv4Network("0.0.0.0/32"), IPv4Network("0.0.0.0/8"), IPv4Interface("0.0.0.1/8")]),
)
KEYS = st.recursive(
    LEAVES,
    lambda keys: st.one_of(
        st.tuples(keys),
        st.tuples(keys, keys),
        st.frozensets(keys, max_size=3),
        st.builds(lambda key: Record("m", "R", {"x": key}), keys),
        st.builds(lambda key: NamedRecord("m", "R", {"x": key}), keys),
        st.builds(lambda key: EnumValue("m", "E", None, key), keys),
    ),
    max_leaves=4,
)


def verdicts(body: bytes) -> set[str]:
    """What the Python builder and the Rust one say."""
    found = set()
    for decode in (loads, through_rust):
        try:
            decode(naive.frame(body))
            found.add("two keys")
        except hookless.DecodeError as error:
            found.add(error.code)
    return found


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=500, deadline=None)
@given(KEYS, KEYS)
@example(Decimal("1E22"), 1e22)
@example(Fraction(1, 10), Decimal("0.1"))
@example((True, 0.5), (1, Decimal("0.5")))
@example(Record("m", "R", {"x": -1}), Record("m", "R", {"x": -2}))
def test_k3_keys_are_one_exactly_when_python_says_so(one: Any, other: Any) -> None:
    """In a dict and in a set; and what is equal hashes alike."""
    equal = one == other
    assert not equal or hash(one) == hash(other)
    first, second = dumps(one)[32:], dumps(other)[32:]
    expected = {"duplicate_key"} if equal else {"two keys"}
    assert verdicts(naive.mapping([(first, naive.NIL), (second, naive.NIL)])) == expected
    assert verdicts(naive.members(naive.SET, sorted([first, second]))) == expected


@pytest.mark.parametrize("wrap", [lambda key: key, lambda key: (key,), lambda key: frozenset({key})])
def test_k3_every_pair_of_the_leaves_that_are_alike(wrap: Any) -> None:
    """All spellings of a few numbers, each with each."""
    numbers: list[Any] = [0, False, -0.0, Decimal("-0E+3"), Fraction(0), 0j, complex(-0.0, -0.0)]
    numbers += [1, True, 1.0, Decimal("1.0"), Fraction(1), 1 + 0j, 0.1, Decimal("0.1"), Fraction(1, 10)]
    numbers += [
        2**53,
        2.0**53,
        2**53 + 1,
        Decimal(2**53 + 1),
        10**23,
        1e23,
        Decimal.from_float(1e23),
        Decimal("1E+23"),
    ]
    for first in numbers:
        for second in numbers:
            one, other = wrap(first), wrap(second)
            expected = {"duplicate_key"} if one == other else {"two keys"}
            pair = [dumps(one)[32:], dumps(other)[32:]]
            assert verdicts(naive.mapping([(key, naive.NIL) for key in pair])) == expected, (one, other)
