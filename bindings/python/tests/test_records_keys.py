"""Records in key position: what is one key, and keys chosen to collide. R5, K3."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import pytest

import hookless
import naive
from hookless import EnumValue, Limits, NamedRecord, Record, dumps, loads
from same import assert_same

MERSENNE = 2**61 - 1


def x(value: bytes) -> bytes:
    return naive.record([("x", value)])


ONE_KEY: dict[str, list[bytes]] = {
    "numbers": [x(naive.integer(1)), x(naive.TRUE), x(naive.floating(1.0)), x(naive.complexes(1 + 0j))],
    "numpy": [x(naive.integer(1)), x(naive.scalar(33, b"\1")), x(naive.scalar(42, b"\x3f\x80\0\0"))],
    "nan": [x(naive.floating(float("nan"))), x(naive.scalar(42, b"\x7f\xc0\0\0"))],
    "text": [x(naive.text("a")), x(naive.scalar(49, b"a"))],
    "tuples": [x(naive.node(naive.TUPLE, [naive.TRUE])), x(naive.node(naive.TUPLE, [naive.integer(1)]))],
    "nested": [x(x(naive.floating(0.0))), x(x(naive.floating(-0.0)))],
    "members": [naive.member("A", naive.integer(1)), naive.member("A", naive.floating(1.0))],
    "inside": [naive.node(naive.TUPLE, [x(naive.TRUE)]), naive.node(naive.TUPLE, [x(naive.integer(1))])],
    "frozensets": [
        x(naive.members(naive.FROZENSET, [naive.integer(1), naive.integer(2)])),
        x(naive.members(naive.FROZENSET, [naive.floating(2.0), naive.TRUE])),
    ],
}

PAIRS = [
    (name, one, two) for name, spellings in ONE_KEY.items() for one, two in itertools.pairwise(spellings)
]


@pytest.mark.parametrize(
    ("one", "two"), [(one, two) for _, one, two in PAIRS], ids=[name for name, *_ in PAIRS]
)
def test_k3_r5_one_key_in_two_spellings(one: bytes, two: bytes) -> None:
    """Refused in dicts and in sets, whichever comes first."""
    for first, second in ((one, two), (two, one)):
        body = naive.mapping([(first, naive.NIL), (second, naive.NIL)])
        check_duplicate(body, 32 + 1 + len(first) + 1)
    low, high = sorted((one, two))
    check_duplicate(naive.node(naive.SET, [low, high]), 32 + 1 + 3 + len(low))


def check_duplicate(body: bytes, offset: int) -> None:
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(body))
    assert (caught.value.code, caught.value.offset) == ("duplicate_key", offset)


def test_r5_keys_that_only_look_alike() -> None:
    """Kind, names and their order, and a value beside its member, all tell keys apart."""
    value = {
        Record("m", "Q", {"x": 1, "y": 2}): 0,
        Record("m", "Q", {"y": 2, "x": 1}): 1,
        NamedRecord("m", "Q", {"x": 1, "y": 2}): 2,
        Record("n", "Q", {"x": 1, "y": 2}): 3,
        EnumValue("m", "Q", "A", 1): 4,
        EnumValue("m", "Q", "B", 1): 5,
        EnumValue("m", "Q", None, 1): 6,
        1: 7,
        (1, 2): 8,
        (Record("m", "Q", {}),): 9,
        Record("m", "Q", {}): 10,
    }
    assert_same(loads(dumps(value)), value)
    assert loads(dumps(value)) == value
    members = set(value)
    assert loads(dumps(members)) == members


def test_r5_lookup_in_what_was_decoded() -> None:
    """A record made by the host finds the key that came."""
    found = loads(dumps({Record("m", "Q", {"x": (1, "a")}): "here"}))
    assert found[Record("m", "Q", {"x": (1.0, "a")})] == "here"


COLLIDING: dict[str, Any] = {
    "record": lambda number: x(naive.integer(number)),
    "named record": lambda number: naive.record([("x", naive.integer(number))], kind=naive.NAMED),
    "member": lambda number: naive.member(None, naive.integer(number)),
    "in a tuple": lambda number: naive.node(naive.TUPLE, [x(naive.integer(number))]),
    "in a frozenset": lambda number: naive.members(naive.FROZENSET, [x(naive.integer(number))]),
    "tuple in a record": lambda number: x(naive.node(naive.TUPLE, [naive.integer(number)])),
    "record in a record": lambda number: x(x(naive.integer(number))),
}


@pytest.mark.parametrize("around", COLLIDING.values(), ids=COLLIDING.keys())
@pytest.mark.parametrize("kind", ["dict", "set"])
def test_records_of_one_hash(around: Any, kind: str) -> None:
    """64 keys of one hash in a table pass, and 65 do not, as with tuples."""

    def frame(count: int) -> bytes:
        keys = sorted(around(number * MERSENNE + 7) for number in range(count))
        if kind == "set":
            return naive.frame(naive.node(naive.SET, keys))
        return naive.frame(naive.mapping([(key, naive.NIL) for key in keys]))

    assert len(loads(frame(64))) == 64
    with pytest.raises(hookless.DecodeError) as caught:
        loads(frame(65))
    assert caught.value.code == "key_collision"


@pytest.mark.parametrize("kind", ["dict", "set"])
def test_records_of_one_hash_in_many_small_tables(kind: str) -> None:
    """Tables of less than 64 keys have no guard, but what they cost is summed up for the body."""
    keys = sorted(x(naive.integer(number * MERSENNE + 7)) for number in range(60))
    table = naive.mapping([(key, naive.NIL) for key in keys])
    if kind == "set":
        table = naive.node(naive.SET, keys)
    assert len(loads(naive.frame(naive.array([table] * 20)))) == 20
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(naive.array([table] * 100)))
    assert caught.value.code == "key_collision"


def test_honest_records_pass() -> None:
    """Consecutive ints, -1 and -2 in every place, text, and many tables."""
    honest: list[Any] = [Record("m", "Q", {"x": number, "y": -number}) for number in range(-5_000, 5_000)]
    honest += [
        NamedRecord("m", "P", dict(zip("abcdefgh", signs, strict=True)))
        for signs in itertools.product((-1, -2), repeat=8)
    ]
    honest += [EnumValue("m", "E", f"N{number}", number) for number in range(1000)]
    honest += [(Record("m", "Q", {"x": f"t{number}"}), number) for number in range(1000)]
    assert len(loads(dumps(set(honest)))) == len(honest)
    table = dict.fromkeys(honest, None)
    assert list(loads(dumps(table))) == honest
    tables = [{Record("m", "Q", {"x": number}): number} for number in range(1000)]
    assert_same(loads(dumps(tables)), tables)


def test_names_of_one_record_are_guarded_like_keys() -> None:
    """A record of many fields is a table of many names."""
    value = Record("m", "Q", {f"field{number}": number for number in range(10_000)})
    assert_same(loads(dumps(value)), value)


def _interrupt(*_: object) -> Any:
    raise KeyboardInterrupt


def _load_in_spite(frame: bytes) -> None:
    with contextlib.suppress(hookless.DecodeError):
        loads(frame)


@pytest.mark.parametrize("called", ["_hash", "_new"])
def test_ctrl_c_is_not_lost_in_hookless_own_code(monkeypatch: pytest.MonkeyPatch, called: str) -> None:
    """Raised while a record is made it passes; while a table hashes one, it comes after the DecodeError."""
    frame = dumps({Record("m", "Q", {"x": 1}): 1})
    monkeypatch.setattr(hookless.records, called, _interrupt)
    with pytest.raises(KeyboardInterrupt):
        _load_in_spite(frame)
    monkeypatch.undo()
    assert len(loads(frame)) == 1


def test_l4_a_key_is_charged_again() -> None:
    """limits.md: eight times its bytes, at the limit and one past."""
    key = x(naive.integer(1))
    frame = naive.frame(naive.mapping([(key, naive.NIL)]))
    memory = 72 + 160 + 256 + 160 + 3 * 73 + 40 + 8 * len(key) + 32
    assert len(loads(frame, limits=Limits(memory=memory))) == 1
    with pytest.raises(hookless.LimitExceeded) as caught:
        loads(frame, limits=Limits(memory=memory - 1))
    assert caught.value.code == "memory_limit"
