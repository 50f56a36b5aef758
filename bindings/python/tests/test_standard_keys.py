"""Keys of the standard library's kinds: equal ones, and ones that were chosen to collide."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID

import pytest

import hookless
import naive
from hookless import ForeignPath, Limits, dumps, loads
from same import assert_same

MERSENNE = 2**61 - 1


def encoded(value: Any) -> bytes:
    return dumps(value)[32:]


# Each line is one key in all its spellings (K4, K7).
ONE_KEY: dict[str, list[Any]] = {
    "one": [True, 1, 1.0, 1 + 0j, Decimal("1.00"), Decimal("10E-1"), Fraction(1)],
    "zero": [0, -0.0, Decimal("-0E+5"), Decimal("0E-1999999999999999997"), Fraction(0)],
    "half": [0.5, Decimal("0.50"), Fraction(1, 2), 0.5 - 0j],
    "tenth": [Decimal("0.1"), Fraction(1, 10), Decimal("0.10")],
    "10**30": [10**30, Decimal("1E+30"), Fraction(10**30)],
    "float(0.1)": [0.1, Decimal.from_float(0.1), Fraction(0.1)],
    "infinity": [float("inf"), Decimal("Infinity"), complex("inf+0j")],
    "nan": [Decimal("NaN12"), Decimal("NaN12")],
    "second 1:30": [datetime(2023, 11, 5, 1, 30), datetime(2023, 11, 5, 1, 30, fold=1)],
    "second 1:30 of a day": [time(1, 30), time(1, 30, fold=1)],
    "uuid": [UUID(int=1), UUID(int=1, is_safe=SafeUUID.safe), UUID(int=1, is_safe=SafeUUID.unsafe)],
    "empty range": [range(0), range(5, 5), range(0, 10, -3), range(2**70, 0)],
    "range of one": [range(3, 4), range(3, 9, 7), range(3, 2, -100)],
    "range of two": [range(0, 3, 2), range(0, 4, 2)],
    "path": [PurePosixPath("a"), PosixPath("a")],
    "windows path": [
        PureWindowsPath("c:\\A"),
        PureWindowsPath("C:/a"),
        ForeignPath(PureWindowsPath("c:\\a")),
    ],
}


@pytest.mark.parametrize("name", ONE_KEY)
def test_k4_k7_equal_keys_are_refused(name: str) -> None:
    """Any two spellings in one dict, set or compound key are a duplicate, at the later one."""
    for first, second in itertools.permutations(map(encoded, ONE_KEY[name]), 2):
        for wrap in (lambda key: key, lambda key: naive.node(naive.TUPLE, [naive.integer(7), key])):
            one, two = wrap(first), wrap(second)
            with pytest.raises(hookless.DecodeError) as caught:
                loads(naive.frame(naive.mapping([(one, naive.NIL), (two, naive.NIL)])))
            assert (caught.value.code, caught.value.offset) == ("duplicate_key", 32 + 1 + len(one) + 1)
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(naive.members(naive.SET, [first, second])))
        assert caught.value.code == "duplicate_key"


def test_lines_are_different_keys() -> None:
    """One spelling of each line: all distinct, for Python's tables and for the key forms."""
    for pick in (0, -1):
        # K8 has nothing to say here; two NaNs are one line.
        table = {line[pick]: name for name, line in ONE_KEY.items()}
        assert len(table) == len(ONE_KEY)
        assert_same(loads(dumps(table)), table)


@pytest.mark.parametrize(
    "keys",
    [
        [Decimal("0.1"), 0.1],
        [date(2024, 1, 1), datetime(2024, 1, 1)],
        [PurePosixPath("a"), PureWindowsPath("a"), "a"],
        [PurePosixPath("A"), PurePosixPath("a")],
        [Decimal("NaN"), Decimal("-NaN"), Decimal("NaN1"), float("nan")],
        [timedelta(0), 0, time(0), SafeUUID.unknown, UUID(int=0), False is None],
        [range(0, 4, 2), range(0, 4, 3), (0, 2)],
        [Decimal("1E+999999999999999999"), Decimal("1E+999999999999999998"), 10],
        [Fraction(1, 3), 1 / 3, Decimal("0.3333333333333333")],
    ],
    ids=repr,
)
def test_keys_that_look_alike(keys: list[Any]) -> None:
    """Two values are two keys, in a dict, a set and inside tuples."""
    distinct = list(dict.fromkeys(keys))
    for table in (dict.fromkeys(distinct, 0), set(distinct), {(key,): key for key in distinct}):
        assert_same(loads(dumps(table)), table)


def assert_collision(keys: list[bytes]) -> None:
    """Ends as `key_collision` in every table, long before the quadratic insertion would."""
    bodies = [
        naive.mapping([(key, naive.NIL) for key in keys]),
        naive.members(naive.SET, keys),
        naive.members(naive.FROZENSET, keys),
        naive.node(5, [naive.mapping([(key, naive.NIL) for key in keys])]),
        naive.node(6, [naive.mapping([(key, naive.integer(1)) for key in keys])]),
    ]
    for body in bodies:
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert caught.value.code == "key_collision"


def fraction(numerator: int, denominator: int) -> bytes:
    above, below = (number.to_bytes((number.bit_length() + 7) // 8) for number in (numerator, denominator))
    return naive.ext(18, b"\0" + len(above).to_bytes(4) + above + below)


def decimal(digits: str, exponent: int) -> bytes:
    return naive.ext(17, b"\0" + exponent.to_bytes(8, signed=True) + digits.encode())


def ranged(*parts: int) -> bytes:
    sized = (part.to_bytes((part.bit_length() + 7) // 8) for part in parts)
    return naive.ext(19, b"".join(b"\0" + len(part).to_bytes(4) + part for part in sized))


def uuid(number: int) -> bytes:
    return naive.ext(15, number.to_bytes(16))


def tupled(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    return lambda i: naive.node(naive.TUPLE, [make(i)])


COLLIDING: dict[str, Callable[[int], bytes]] = {
    "fractions": lambda i: fraction((2 * i + 1) * MERSENNE, 2),
    "fractions of one hash that is not 0": lambda i: fraction((2 * i + 1) * MERSENNE + 2 * 5, 2),
    "fractions by a multiple of the modulus": lambda i: fraction(1, (i + 1) * MERSENNE),
    "decimals": lambda i: decimal(str((i + 1) * MERSENNE), 0),
    "decimals with places": lambda i: decimal(str((10 * i + 1) * MERSENNE), -3),
    "ranges": lambda i: ranged(0, (i + 1) * MERSENNE, 1),
    "uuids": lambda i: uuid((i + 1) * MERSENNE),
    "tuples of fractions": tupled(lambda i: fraction((2 * i + 1) * MERSENNE, 2)),
    "tuples of uuids": tupled(lambda i: uuid((i + 1) * MERSENNE)),
}


@pytest.mark.parametrize("name", COLLIDING)
def test_key_collision(name: str) -> None:
    """20 000 keys of one hash, by the modulus of CPython's numeric hashes."""
    assert_collision([COLLIDING[name](i) for i in range(20_000)])


def check(keys: list[Any]) -> None:
    for value in (dict.fromkeys(keys, 0), set(keys)):
        assert loads(dumps(value)) == value


def test_honest_keys_pass() -> None:
    """Thousands of each: prices, days, moments, steps, fractions, ids, spans and files."""
    count = range(4_000)
    check([Decimal(i).scaleb(-2) for i in count])
    check([Decimal(i) for i in count])
    check([date.fromordinal(700_000 + i) for i in count])
    check([datetime(2024, 1, 1) + timedelta(minutes=i) for i in count])
    check([timedelta(seconds=i) for i in count])
    check([timedelta(days=i) for i in count])
    check([Fraction(i, 1000) for i in count])
    check([Fraction(1, i + 1) for i in count])
    check([UUID(int=i << 64) for i in count])
    check([UUID(int=0xA000_0000_0000_0000_0000 + i) for i in count])
    check([range(i, i + 10) for i in count])
    check([PurePosixPath(f"/data/{i}.csv") for i in count])
    check([PureWindowsPath(f"C:\\data\\{i}.csv") for i in count])


def test_l4_a_decimal_key_pays_for_its_exact_value() -> None:
    """Comparing is quadratic in the digits that are written out, so the work is bounded by `memory`."""
    for value in (Decimal("9" * 10_000), Decimal("1E+9999"), Decimal("1E-9999")):
        one = dumps({value: None})
        # 72 + 160 + 32 for dict and None, 160 and the payload for the Decimal, and 10 000 squared over 16.
        payload = 1 + 8 + len(value.as_tuple().digits)
        needed = 72 + 160 + 32 + 160 + payload + 10_000**2 // 16
        assert_same(loads(one, limits=Limits(memory=needed)), {value: None})
        with pytest.raises(hookless.LimitExceeded) as caught:
            loads(one, limits=Limits(memory=needed - 33))
        assert (caught.value.code, caught.value.offset) == ("memory_limit", 33)


def test_k4_decimals_far_apart_are_compared_without_being_written_out() -> None:
    """Exponents at both edges: no digits are made of them."""
    table = {Decimal(f"1E{exponent}"): 0 for exponent in (10**17, 10**18 - 1, -(10**18), 5, -5, 0)}
    assert_same(loads(dumps(table)), table)
    huge = [Decimal("1E+999999999999999999"), Decimal("10E+999999999999999998")]
    body = naive.mapping([(encoded(key), naive.NIL) for key in huge])
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(body))
    assert caught.value.code == "duplicate_key"
