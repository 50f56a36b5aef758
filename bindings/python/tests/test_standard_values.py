"""Values of the standard library: every sample in every place, and what a decoded one can do."""

from __future__ import annotations

import copy
import decimal
import pickle
from collections import Counter, OrderedDict, deque
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv6Interface, ip_network
from typing import Any
from uuid import UUID

import pytest

import hookless
import naive
from hookless import Decoder, decode, dumps, encode, loads
from same import assert_same
from standard_samples import KEYABLE, NOT_KEYABLE, STANDARD


def ids(table: dict[str, list[Any]]) -> list[Any]:
    return [
        pytest.param(value, id=f"{name}-{index}")
        for name, found in table.items()
        for index, value in enumerate(found)
    ]


@pytest.mark.parametrize("value", ids(STANDARD))
def test_round_trip(value: Any) -> None:
    """Alone, nested, through every entry point and byte by byte: types and bits, and the same bytes again."""
    for one in (value, [value, (value,)], {"k": value}, OrderedDict(a=deque([value]))):
        frame = dumps(one)
        parts = encode(one)
        assert b"".join(parts) == frame
        for result in (loads(frame), loads(frame, copy=False), decode(parts), decode([frame], copy=False)):
            assert_same(result, one)
            assert dumps(result) == frame
    decoder = Decoder()
    found = [got.value for at in range(len(frame)) for got in decoder.feed(frame[at : at + 1])]
    assert_same(found, [one])


@pytest.mark.parametrize("value", ids(KEYABLE))
def test_keys_and_members(value: Any) -> None:
    """K2: a key, a member, and inside compound keys."""
    for one in ({value: value}, {value}, frozenset({value}), {(value, (value,)): 1}, Counter({value: 1})):
        frame = dumps(one)
        assert_same(loads(frame), one)
        assert dumps(loads(frame)) == frame


@pytest.mark.parametrize("value", [pytest.param(found[0], id=name) for name, found in NOT_KEYABLE.items()])
def test_not_keyable(value: Any) -> None:
    """K2: Python may admit it as a key; the encoder says where it stands."""
    try:
        table: dict[Any, Any] = {"a": {(value,): 1}}
    except TypeError:
        # Not hashable in Python either: written as bytes, the decoder refuses it.
        body = naive.mapping([(dumps(value)[32:], naive.NIL)])
        with pytest.raises(hookless.DecodeError) as refused:
            loads(naive.frame(body))
        assert (refused.value.code, refused.value.offset) == ("not_keyable", 33)
        return
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(table)
    assert caught.value.code == "not_keyable"
    assert caught.value.path.startswith("$.a")


def test_all_keys_in_one_dict() -> None:
    """Kinds do not get in each other's way."""
    table = {found[0]: index for index, found in enumerate(KEYABLE.values())}
    assert len(table) == len(KEYABLE)
    assert_same(loads(dumps(table)), table)
    assert_same(loads(dumps(set(table))), set(table))


@pytest.mark.parametrize("value", ids(STANDARD))
def test_copied_and_pickled_by_the_host(value: Any) -> None:
    """What was decoded is in the host's hands: it copies and pickles it like any other value."""
    result = loads(dumps(value))
    for twin in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert_same(twin, result)


@pytest.mark.parametrize("value", ids(STANDARD))
def test_equal_and_hashed_alike(value: Any) -> None:
    """As far as Python compares it with itself; what it does not hash is not hashed when decoded either."""
    result = loads(dumps(value))
    try:
        expected = hash(value)
    except TypeError:
        with pytest.raises(TypeError):
            hash(result)
        return
    if value == value:  # a NaN's hash is its own
        assert (result == value, hash(result)) == (True, expected)


def test_arithmetic_on_what_was_decoded() -> None:
    """A value made by its slots is as good as one that was constructed."""
    half = loads(dumps(Fraction(2**70, 2**71 + 1)))
    assert half + half == Fraction(2**71, 2**71 + 1)
    assert loads(dumps(Decimal("0.10"))) * 3 == Decimal("0.30")
    assert loads(dumps(UUID(int=5))).int == 5
    interface: IPv6Interface = loads(dumps(IPv6Interface("fe80::1%eth0/64")))
    assert interface.network == ip_network("fe80::/64")
    assert list(loads(dumps(range(10**30, 10**30 + 3)))) == [10**30, 10**30 + 1, 10**30 + 2]


def test_a_decoded_deque_is_one() -> None:
    """Its maxlen holds, and it grows at both ends."""
    result = loads(dumps(deque([1, 2], maxlen=2)))
    result.append(3)
    assert list(result) == [2, 3]
    result = loads(dumps(deque([1])))
    result.appendleft(0)
    assert (list(result), result.maxlen) == ([0, 1], None)


def test_utc_is_the_one_utc() -> None:
    """As `is` is often asked of it."""
    assert loads(dumps(UTC)) is UTC
    assert loads(dumps(datetime.now(UTC))).tzinfo is UTC


@pytest.mark.parametrize("traps", [[decimal.Inexact, decimal.FloatOperation, decimal.Clamped], []])
def test_the_decimal_context_does_not_matter(traps: list[Any]) -> None:
    """Neither precision nor traps of either side change or stop a Decimal."""
    values = KEYABLE["Decimal"] + NOT_KEYABLE["signalling Decimal"]
    expected = [value.as_tuple() for value in values]
    with decimal.localcontext(decimal.Context(prec=1, Emax=1, Emin=-1, clamp=1, traps=traps)) as context:
        context.traps[decimal.InvalidOperation] = bool(traps)
        result = loads(dumps(values))
        assert not any(context.flags.values())
    assert [value.as_tuple() for value in result] == expected


def test_zones_of_one_key_are_one_zone() -> None:
    """As in a program that makes them with `ZoneInfo(key)`."""
    first, second = loads(dumps([NOT_KEYABLE["ZoneInfo"][0]] * 2))
    assert first is second is NOT_KEYABLE["ZoneInfo"][0]


def test_d6_an_unknown_zone() -> None:
    """`zone_unknown`, whose offset is the zone's and whose message names the key."""
    body = naive.array([naive.NIL, naive.ext(14, b"\2Nowhere/City")])
    with pytest.raises(hookless.DecodeError, match="Nowhere/City") as caught:
        loads(naive.frame(body))
    assert (caught.value.code, caught.value.offset, caught.value.path) == ("zone_unknown", 34, "$[1]")
    body = naive.ext(12, (2024).to_bytes(2) + b"\1\1" + bytes(8) + b"\2Europe/Atlantis")
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(body))
    assert (caught.value.code, caught.value.offset) == ("zone_unknown", 32)


def test_folders_of_zones_are_no_zones() -> None:
    """What lies in the folder of zones and is none: a folder, and files of another kind."""
    for key in ("Europe", "posix", "zone1970", "tzdata", "leapseconds", "posixrules", "right", "utc"):
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(naive.ext(14, b"\2" + key.encode())))
        assert caught.value.code == "zone_unknown"
