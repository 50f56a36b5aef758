"""Keys of dicts and members of sets: what is one key, what is none, and keys chosen to collide."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Callable, Sequence

import pytest

import hookless
import naive
from hookless import dumps, loads
from same import assert_same


def nan(bits: int) -> float:
    return float(struct.unpack(">d", bits.to_bytes(8))[0])


QUIET, NEGATIVE, PAYLOAD = nan(0x7FF8000000000000), nan(0xFFF8000000000000), nan(0x7FF8000000000001)

# Each line is one key in all its spellings (K4 to K6): Python kinds, then NumPy scalars as their wire ext.
ONE_KEY: dict[str, list[bytes]] = {
    "one": [
        naive.TRUE,
        naive.integer(1),
        naive.floating(1.0),
        naive.complexes(1 + 0j),
        naive.complexes(complex(1, -0.0)),
        naive.scalar(32, b"\1"),
        naive.scalar(33, b"\1"),
        naive.scalar(36, (1).to_bytes(8)),
        naive.scalar(37, b"\1"),
        naive.scalar(40, (1).to_bytes(8)),
        naive.scalar(41, b"\x3c\0"),
        naive.scalar(42, struct.pack(">f", 1)),
        naive.scalar(43, struct.pack(">d", 1)),
        naive.scalar(44, struct.pack(">ff", 1, 0)),
        naive.scalar(45, struct.pack(">dd", 1, -0.0)),
    ],
    "zero": [
        naive.FALSE,
        naive.integer(0),
        naive.floating(0.0),
        naive.floating(-0.0),
        naive.scalar(35, bytes(4)),
    ],
    "minus one": [
        naive.integer(-1),
        naive.floating(-1.0),
        naive.scalar(33, b"\xff"),
        naive.scalar(34, b"\xff\xff"),
    ],
    "2**53": [naive.integer(2**53), naive.floating(2.0**53), naive.scalar(42, struct.pack(">f", 2.0**53))],
    "2**64": [naive.integer(2**64), naive.floating(2.0**64), naive.complexes(2.0**64 + 0j)],
    "-2**63": [naive.integer(-(2**63)), naive.floating(-(2.0**63)), naive.scalar(36, b"\x80" + bytes(7))],
    "10**300": [naive.integer(int(1e300)), naive.floating(1e300)],
    "half": [naive.floating(0.5), naive.scalar(41, b"\x38\0"), naive.complexes(0.5 + 0j)],
    "infinity": [
        naive.floating(float("inf")),
        naive.scalar(41, b"\x7c\0"),
        naive.complexes(complex("inf+0j")),
    ],
    "i": [
        naive.complexes(1j),
        naive.complexes(complex(-0.0, 1)),
        naive.scalar(44, struct.pack(">ff", -0.0, 1)),
    ],
    "nan": [naive.floating(QUIET), naive.scalar(41, b"\x7e\0"), naive.scalar(42, b"\x7f\xc0\0\0")],
    "signalling nan": [naive.floating(nan(0x7FF0000020000000)), naive.scalar(42, b"\x7f\x80\0\1")],
    "nan+0i": [naive.complexes(complex(QUIET, 0.0)), naive.complexes(complex(QUIET, -0.0))],
    "text": [naive.text("a\u6f22"), naive.scalar(49, "a\u6f22".encode())],
    "lone surrogate": [naive.ext(4, b"\xed\xa0\x80"), naive.scalar(49, b"\xed\xa0\x80")],
    "bytes": [naive.binary(b"a\0"), naive.scalar(48, b"a\0")],
    "tuple": [naive.node(naive.TUPLE, [b"\x01"]), naive.node(naive.TUPLE, [naive.TRUE])],
    "nested": [
        naive.node(naive.TUPLE, [naive.members(naive.FROZENSET, [b"\x01", b"\x02"])]),
        naive.node(naive.TUPLE, [naive.members(naive.FROZENSET, [naive.floating(1), naive.floating(2)])]),
    ],
}


@pytest.mark.parametrize("name", ONE_KEY)
def test_equal_keys_are_refused_not_merged(name: str) -> None:
    """Any two spellings in one dict or set are a duplicate, at the later one."""
    for first, second in itertools.combinations(ONE_KEY[name], 2):
        body = naive.mapping([(first, naive.NIL), (second, naive.NIL)])
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert (caught.value.code, caught.value.offset) == ("duplicate_key", 34 + len(first))
        low, high = sorted((first, second))
        for kind in (naive.SET, naive.FROZENSET):
            with pytest.raises(hookless.DecodeError) as caught:
                loads(naive.frame(naive.members(kind, [high, low])))
            assert (caught.value.code, caught.value.offset) == ("duplicate_key", 36 + len(low))


DISTINCT = [
    {QUIET: 1, NEGATIVE: 2, PAYLOAD: 3},
    {2**53 + 1: 1, 2.0**53: 2, 2**53 - 1: 3},
    {1: "a", "1": "b", b"1": "c", (1,): "d", frozenset({1}): "e", 1.5: "f", 1j: "g", None: "h"},
    {2**64 + 1: 1, 2.0**64: 2},
    {10**300: 1, 1e300: 2},
    {0.1: 1, 0.30000000000000004: 2, 0.3: 3},
    {"e\u0301": 1, "\u00e9": 2},
    {(): 1, ((),): 2, (None,): 3, frozenset(): 4},
    {complex(0, 1): 1, complex(0, -1): 2, 0: 3},
    {"\ud83d\ude00": 1, "\U0001f600": 2},
]


@pytest.mark.parametrize("value", DISTINCT, ids=repr)
def test_keys_that_only_look_equal(value: dict[object, object]) -> None:
    """Kept apart as dict keys and as members."""
    assert_same(loads(dumps(value)), value)
    assert_same(loads(dumps(set(value))), set(value))
    assert_same(loads(dumps(frozenset(value))), frozenset(value))


UNKEYABLE = {
    "list": naive.array([]),
    "dict": naive.mapping([]),
    "set": naive.members(naive.SET, []),
    "bytearray": naive.ext(5, b"a"),
    "array": naive.ndarray(naive.dtype("f", "<", 8), [0], b""),
    "exception": naive.exception(naive.entry()),
    "datetime64": naive.scalar(46, bytes([10]) + (1).to_bytes(4) + bytes(8)),
    "timedelta64": naive.scalar(47, bytes([10]) + (1).to_bytes(4) + bytes(8)),
    "void": naive.scalar(50, b"a"),
}


@pytest.mark.parametrize("name", UNKEYABLE)
def test_unkeyable_kinds(name: str) -> None:
    """As a key, as a member, and inside a tuple that is one: refused where the value begins."""
    item = UNKEYABLE[name]
    inside = naive.node(naive.TUPLE, [item])
    for body, offset in (
        (naive.mapping([(item, naive.NIL)]), 33),
        (naive.members(naive.SET, [item]), 36),
        (naive.mapping([(inside, naive.NIL)]), 37),
        (naive.members(naive.FROZENSET, [inside]), 40),
    ):
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert (caught.value.code, caught.value.offset) == ("not_keyable", offset)


def test_bytes_in_key_position_are_inline_at_any_length() -> None:
    """V10: 16 384 bytes and more travel in the region, but not in keys."""
    value = {b"x" * 20_000: 1, (b"y" * 20_000,): {b"z" * 20_000}}
    frame = dumps(value)
    assert frame[24:32] == bytes(8)
    assert_same(loads(frame), value)


def assert_collision(keys: Sequence[bytes]) -> None:
    """Ends as `key_collision` in a dict and in both sets, long before the quadratic insertion would."""
    bodies = [
        naive.mapping([(key, naive.NIL) for key in keys]),
        naive.members(naive.SET, keys),
        naive.members(naive.FROZENSET, keys),
    ]
    for body in bodies:
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert caught.value.code == "key_collision"


MERSENNE = 2**61 - 1


def test_multiples_of_the_hash_modulus() -> None:
    """40 000 ints whose hash is 0: ten seconds of CPython's time if they were inserted."""
    assert_collision([naive.integer(i * MERSENNE) for i in range(40_000)])


def test_complex_numbers_with_one_hash() -> None:
    """hash(z) is hash(real) + 1000003 * hash(imag): these all have 0."""
    assert_collision([naive.complexes(complex(1000003 * k, -k)) for k in range(2, 40_000)])


def test_tuples_of_minus_one_and_minus_two() -> None:
    """32 768 tuples with one hash, since hash(-1) == hash(-2)."""
    choices = itertools.product((naive.integer(-1), naive.integer(-2)), repeat=15)
    assert_collision([naive.node(naive.TUPLE, items) for items in choices])


@pytest.mark.parametrize("kind", [naive.TUPLE, naive.FROZENSET])
def test_collisions_one_level_down(kind: int) -> None:
    """Tuples and frozensets of ints whose hash is 7."""
    assert_collision([naive.node(kind, [naive.integer(i * MERSENNE + 7)]) for i in range(40_000)])


def alike(levels: int, width: int, wrap: Callable[[bytes], bytes], variant: int = 0) -> bytes:
    """Frozensets in each other, all members of a level of one hash; variants differ in one int."""
    if levels == 0:
        return naive.integer(variant * MERSENNE + 7)
    places = [*range(width - 1), width - 1 + variant]
    return naive.members(naive.FROZENSET, [wrap(alike(levels - 1, width, wrap, place)) for place in places])


@pytest.mark.parametrize(
    "wrap",
    [
        lambda member: member,
        lambda member: naive.node(naive.TUPLE, [member]),
        lambda member: naive.record([("x", member)]),
        lambda member: naive.member(None, member),
    ],
    ids=["frozensets", "tuples", "records", "enum members"],
)
def test_comparisons_that_multiply_from_level_to_level(wrap: Callable[[bytes], bytes]) -> None:
    """Three levels of 20 members: each table is small, comparing them is cubic; it is summed up."""
    assert loads(naive.frame(alike(2, 4, wrap)))
    frame = naive.frame(alike(3, 20, wrap))
    assert len(frame) < 250_000
    with pytest.raises(hookless.DecodeError) as caught:
        loads(frame)
    assert caught.value.code == "key_collision"


def test_honest_compound_keys_in_small_tables_pass() -> None:
    """Tuples of -1 and -2 hash alike, also nested, in many tables."""
    signs = list(itertools.product((-1, -2), repeat=5))
    value = [{(one, frozenset({one})): 0 for one in signs} for _ in range(100)]
    assert_same(loads(dumps(value)), value)


def test_collisions_inside_values_are_counted_per_table() -> None:
    """Many small tables, each under the exemption of 64 keys, are honest."""
    table = {i * MERSENNE: None for i in range(60)}
    value = [dict(table) for _ in range(500)]
    assert_same(loads(dumps(value)), value)


@pytest.mark.parametrize("kind", ["dict", "set"])
def test_consecutive_keys_pass(kind: str) -> None:
    """10**5 honest ints, from 0 and from a large number, negative too."""
    for start in (0, -50_000, 2**40, 2**64):
        check(list(range(start, start + 10**5)), kind)


@pytest.mark.parametrize("kind", ["dict", "set"])
def test_strided_keys_pass(kind: str) -> None:
    """Strides of every power of two that fits: ids, offsets and addresses look like this."""
    for shift in range(62):
        check([i << shift for i in range(10_000)], kind)
    for shift in (3, 12, 20, 32, 40, 48):
        check([i << shift for i in range(10**5)], kind)


@pytest.mark.parametrize("count", [20, 10_000])
def test_int_keys_are_found_by_the_hash_of_their_kind(count: int) -> None:
    """The decoder computes it from the number; at each bit, and at the multiples of its modulus."""
    chance = random.Random(61)
    near = [1 << bit for bit in range(65)] + [factor * (2**61 - 1) for factor in range(9)]
    keys = {sign * (one + more) for one in near for more in range(-2, 3) for sign in (1, -1)}
    keys |= {chance.getrandbits(64) for _ in range(1000)} | {-chance.getrandbits(63) for _ in range(1000)}
    found = [key for key in keys if -(2**63) <= key < 2**64]
    for at in range(0, len(found), count):
        part = found[at : at + count]
        value = loads(dumps(dict.fromkeys(part, 0)))
        assert list(value) == part
        # Not what the table holds, but what `hash` says now.
        assert [value.pop(int(str(key)), None) for key in part] == [0] * len(part)
        assert value == {}


@pytest.mark.parametrize("kind", ["dict", "set"])
def test_random_keys_pass(kind: str) -> None:
    """62-bit ints, floats in binary and decimal steps, pairs, bit masks and text."""
    chance = random.Random(62)
    check([chance.getrandbits(62) for _ in range(10**5)], kind)
    check([chance.random() for _ in range(10**5)], kind)
    for step in (2, 8, 10, 1024):
        check([i / step for i in range(10**5)], kind)
    check([(i, j) for i in range(300) for j in range(300)], kind)
    check([1 << i for i in range(256)], kind)
    check([str(i) for i in range(10**5)], kind)
    check([b"%d" % i for i in range(10**4)], kind)
    check([frozenset((i, i + 1)) for i in range(10**4)], kind)


def check(keys: list[object], kind: str) -> None:
    value: object = set(keys) if kind == "set" else dict.fromkeys(keys, 0)
    assert loads(dumps(value)) == value
