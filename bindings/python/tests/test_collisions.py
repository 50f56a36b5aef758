"""Keys whose walks through a table were chosen, and what every way into the host does with them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter, OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hookless
import naive
from hookless import Decoder, RemoteError, Worker, loads
from tables import DictTable, Key

MERSENNE = 2**61 - 1
SIZE = 1 << 12


def chain(size: int, length: int, bits: int) -> list[int]:
    """Return keys of a dict of so many slots: chains along the walk i -> 5 i + 1, and ints that walk them.

    No two of them have one hash.
    """
    place, at = [0] * size, 0
    for number in range(size):
        place[at] = number
        at = (5 * at + 1) % size
    taken = [number % (3 * length) < length for number in place]
    keys = dict.fromkeys(slot for slot in range(size) if taken[slot])
    chance = random.Random(4)
    while len(keys) < size * 2 // 3 - 1:
        key = chance.randrange(size, 1 << bits)
        at, perturb = key % size, key
        while taken[at] and perturb:
            perturb >>= 5
            at = (5 * at + perturb + 1) % size
        if taken[at]:
            keys[key] = None
    return list(keys)


CHAIN = chain(SIZE, 1024, 22)


def refused(body: bytes) -> hookless.DecodeError:
    with pytest.raises(hookless.DecodeError) as caught:
        loads(naive.frame(body))
    assert caught.value.code == "key_collision"
    return caught.value


def table(keys: list[int], kind: int | None = None) -> bytes:
    pairs = naive.mapping([(naive.integer(key), naive.integer(1)) for key in keys])
    return pairs if kind is None else naive.node(kind, [pairs])


@pytest.mark.parametrize("kind", [None, 5, 6], ids=["dict", "OrderedDict", "Counter"])
def test_a_chain_of_short_ints(kind: int | None) -> None:
    """Every hash is another one, so that a bound on equal hashes would not see it."""
    assert len(set(map(hash, CHAIN))) == len(CHAIN)
    refused(table(CHAIN, kind))
    assert len(loads(naive.frame(table(sorted(CHAIN)[: SIZE // 3], kind)))) == SIZE // 3


def test_the_bound_is_that_of_the_keys_that_are_there() -> None:
    """A million announced keys, all in the frame, allow no more than the first hundred take."""
    announced = b"\xdf" + (1_000_000).to_bytes(4)
    keys = b"".join(naive.integer(i * MERSENNE) + naive.NIL for i in range(2_000))
    error = refused(announced + keys + bytes(2_000_000))
    assert error.offset is not None
    assert error.offset < 32 + 600 * 14


def test_every_way_in(tmp_path: Path) -> None:
    """`loads`, with a type or without, a decoder that is fed in pieces, and a worker's result."""
    frame = naive.frame(table(CHAIN))
    with pytest.raises(hookless.DecodeError, match="key_collision"):
        loads(frame, type=dict[int, int])
    decoder = Decoder()
    for start in range(0, len(frame) - 1000, 1000):
        assert decoder.feed(frame[start : start + 1000]) == []
    with pytest.raises(hookless.DecodeError, match="key_collision"):
        decoder.feed(frame[start + 1000 :])
    script = tmp_path / "colliding.py"
    script.write_text("result = dict.fromkeys(keys, 1)\n")
    with Worker(isolation="none") as worker:
        # S18: towards the child it is a call's own failure.
        with pytest.raises(RemoteError, match="key_collision") as refused:
            worker.call("builtins:len", dict.fromkeys(CHAIN, 1))
        assert refused.value.remote.type_name == "hookless.DecodeError"
        assert worker.run(script, inputs={"keys": [1, 2]}) == {1: 1, 2: 1}
        with pytest.raises(hookless.DecodeError, match="key_collision"):
            worker.run(script, inputs={"keys": CHAIN})


def test_the_tables_of_a_body_add_up() -> None:
    """Tables that pass by themselves: too many of them do not. The same many honest ones do."""
    keys = chain(1 << 14, 128, 24)
    one = table(keys)
    model = DictTable()
    for key in keys:
        model.insert(Key(key))
    each = model.probes - 32 * len(keys)
    assert each > 0
    assert len(loads(naive.frame(one))) == len(keys)
    fits, over = (1 << 28) // each, (1 << 28) // each + 1
    limits = hookless.Limits(memory=1 << 36, nodes=1 << 30)
    with pytest.raises(hookless.DecodeError, match="in the tables of one body"):
        loads(naive.frame(naive.array([one] * over)), limits=limits)
    honest = table(list(range(len(keys))))
    assert len(loads(naive.frame(naive.array([honest] * fits)), limits=limits)) == fits


def test_one_guard_for_tables_of_the_wire_and_of_a_type() -> None:
    """65 ints of one hash pass as they are, as a typed table, and as keys that a conversion makes."""
    ints = [i * MERSENNE + 3 for i in range(65)]
    tables: list[tuple[Any, Any]] = [
        (dict.fromkeys(ints, 1), dict[int, float]),
        (set(ints), set[int]),
        (set(ints), frozenset[int] | set[int]),
        (OrderedDict.fromkeys(ints, 1), OrderedDict[int, int]),
        (Counter(ints), Counter[int]),
        ({(one,) for one in ints[:64]}, set[tuple[int]]),
    ]
    for value, wanted in tables:
        frame = hookless.dumps(value)
        assert loads(frame) == value
        assert loads(frame, type=wanted) == value
    assert hookless.convert({hookless.EnumValue("m", "E", None, one) for one in ints}, set[Any])


@dataclass(frozen=True)
class Alike:
    """Hashes as many others do, in the host only."""

    x: int

    def __hash__(self) -> int:
        return self.x % 2


@dataclass(frozen=True, slots=True)
class Pair:
    """A point: -1 and -2 hash alike."""

    first: int
    second: frozenset[Alike]


def test_small_tables_of_a_conversion_add_up() -> None:
    """Below 64 keys a table has no guard, but comparing the host's own objects is summed up."""

    def small(count: int) -> list[set[hookless.Record]]:
        return [{hookless.Record("m", "A", {"x": 60 * i + n}) for n in range(60)} for i in range(count)]

    assert len(hookless.convert(small(50), list[set[Alike]])) == 50
    with pytest.raises(hookless.DecodeError, match="key_collision"):
        hookless.convert(small(500), list[set[Alike]])
    # Each conversion begins anew.
    assert len(hookless.convert(small(50), list[set[Alike]])) == 50


def test_what_lies_in_the_keys_of_a_conversion_counts() -> None:
    """Keys of one hash that hold sets of keys of one hash: comparing two of them is quadratic."""

    def key(first: int) -> hookless.Record:
        inner = frozenset(hookless.Record("m", "A", {"x": 2 * n}) for n in range(60))
        return hookless.Record("m", "P", {"first": first, "second": inner})

    modulus = [key(n * MERSENNE) for n in range(40)]
    with pytest.raises(hookless.DecodeError, match="key_collision"):
        hookless.convert([set(modulus)], list[set[Pair]])
    assert len(hookless.convert([{key(1), key(5)}], list[set[Pair]])[0]) == 2


@dataclass(frozen=True)
class Hooked:
    """A class of the host with pickle's hooks."""

    first: int
    second: frozenset[Alike]

    called: ClassVar[list[str]] = []

    def __getstate__(self) -> object:
        self.called.append("getstate")
        return ()

    def __reduce__(self) -> str:
        self.called.append("reduce")
        return ""


def test_no_hook_of_a_key_is_called_to_weigh_it() -> None:
    """Its fields are read, and count, whatever its hooks would say."""

    def key(first: int) -> hookless.Record:
        inner = frozenset(hookless.Record("m", "A", {"x": 2 * n}) for n in range(20))
        return hookless.Record("m", "H", {"first": first, "second": inner})

    with pytest.raises(hookless.DecodeError, match="key_collision"):
        hookless.convert({key(n * MERSENNE) for n in range(40)}, set[Hooked])
    assert Hooked.called == []


@pytest.mark.parametrize(
    ("seed", "keyed"), [(None, True), ("", True), ("random", True), ("0", False), ("7", False)]
)
def test_text_is_trusted_only_while_its_hashes_have_a_secret(seed: str | None, keyed: bool) -> None:
    """A seed that was set is no secret; honest text passes all the same."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    if seed is not None:
        environment["PYTHONHASHSEED"] = seed
    script = (
        "import hookless, hookless._hashing as hashing\n"
        "value = {str(n): n for n in range(20_000)} | {n: n for n in range(1000)}\n"
        "assert hookless.loads(hookless.dumps(value)) == value\n"
        "assert hookless.loads(hookless.dumps(set(value))) == set(value)\n"
        "print(hashing.KEYED)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == (f"{keyed}\n", "")
