"""Leaves that are read in place, runs of numbers among them: the same bytes and errors as one by one."""

from __future__ import annotations

import math
import random
import struct
import sys

import pytest

import hookless

HEAD = 32
# A run is written 64 at a time.
LENGTHS = (0, 1, 2, 3, 63, 64, 65, 66, 127, 128, 129, 130, 131, 200)

EDGES = [sign * (1 << bits) + off for bits in range(66) for off in (-1, 0, 1) for sign in (1, -1)]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, 5e-324, sys.float_info.max]
NANS = [
    struct.unpack("<d", struct.pack("<Q", bits))[0]
    for bits in (0x7FF8 << 48, 0xFFF0000000000001, 0x7FF0 << 48 | 1)
]


def body(value: object) -> bytes:
    return hookless.dumps(value)[HEAD:]


def one_by_one(items: list[object]) -> bytes:
    """Return the body of a list, its items encoded each by itself."""
    count = len(items)
    head = bytes([0x90 | count]) if count < 16 else b"\xdc" + struct.pack(">H", count)
    return head + b"".join(map(body, items))


def mixed(rng: random.Random, length: int) -> list[object]:
    kinds = (
        lambda: rng.choice(EDGES),
        lambda: rng.choice(SPECIAL + NANS),
        lambda: rng.choice(["", "a", "ab", "é", "\ud800", "x" * rng.randrange(70)]),
        lambda: rng.choice([None, True, False]),
        lambda: rng.choice([[], (), {}, b"", 1j]),
    )
    items: list[object] = []
    while len(items) < length:
        kind = rng.choice(kinds)
        items += [kind() for _ in range(rng.choice((1, 1, 2, 3, 70)))]
    return items[:length]


@pytest.mark.parametrize("length", LENGTHS)
def test_ints_of_every_size(length: int) -> None:
    rng = random.Random(length)
    for choices in (EDGES, [1, 2], [-1, 1 << 62], [1 << 63, 5], [1 << 64, 7]):
        items: list[object] = [rng.choice(choices) for _ in range(length)]
        assert body(items) == one_by_one(items)


@pytest.mark.parametrize("length", LENGTHS)
def test_floats_to_the_bit(length: int) -> None:
    rng = random.Random(length)
    items: list[object] = [rng.choice(SPECIAL + NANS) for _ in range(length)]
    assert body(items) == one_by_one(items)


@pytest.mark.parametrize("length", LENGTHS)
def test_runs_that_end_anywhere(length: int) -> None:
    rng = random.Random(length)
    for _ in range(20):
        items = mixed(rng, length)
        assert body(items) == one_by_one(items)
        # A marker in front, which counts as an item.
        assert body(tuple(items)) == one_by_one([None, *items]).replace(b"\xc0", b"\xd4\x01\x01", 1)


def test_every_length_of_text() -> None:
    for length in range(300):
        text = "".join(chr(33 + at % 90) for at in range(length))
        assert hookless.loads(hookless.dumps([text, {text: text}])) == [text, {text: text}]


def test_every_int_near_a_power_of_two_is_in_its_shortest_form() -> None:
    for value in EDGES:
        encoded = body(value)
        if 0 <= value < 128 or -32 <= value < 0:
            assert encoded == struct.pack("B" if value >= 0 else "b", value)
            continue
        forms = (0xCC, "B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q")
        if value < 0:
            forms = (0xD0, "b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q")
        for marker, form in forms:
            try:
                payload = struct.pack(form, value)
            except struct.error:
                continue
            assert encoded == bytes([marker]) + payload
            break
        else:
            assert abs(value) >= 1 << 63 and encoded[0] in (0xC7, *range(0xD4, 0xD9))


# What a list and its items are charged: proto/limits.md.
SEQUENCE = 88
CHARGES = {1.5: 40, 7: 40, "abc": 75}


@pytest.mark.parametrize("item", CHARGES)
@pytest.mark.parametrize("fits", [0, 1, 2, 63, 64, 65, 100, 128])
def test_a_limit_within_a_run_names_the_item(item: object, fits: int) -> None:
    items = [item] * 129
    limits = hookless.Limits(memory=SEQUENCE + CHARGES[item] * fits)
    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dumps(items, limits=limits)
    assert (caught.value.code, caught.value.path) == ("memory_limit", f"$[{fits}]")
    hookless.dumps(items[:fits], limits=limits)


@pytest.mark.parametrize("fits", [0, 1, 5])
@pytest.mark.parametrize("key", [False, True])
def test_a_limit_within_a_dict_names_the_key(fits: int, key: bool) -> None:
    value = {f"key{at}": 1.5 for at in range(6)}
    table = 72 + 160 * len(value)
    memory = table + fits * (76 + 40) + (75 if key else 76 + 39)
    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dumps(value, limits=hookless.Limits(memory=memory))
    path = f"$.keys[{fits}]" if key else f"$.key{fits}"
    assert (caught.value.code, caught.value.path) == ("memory_limit", path)
