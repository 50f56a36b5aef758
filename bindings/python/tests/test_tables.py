"""The decoder's guard against CPython: real tables, read slot by slot, the guard, and `tables.py` agree."""

from __future__ import annotations

import ctypes
import itertools
import random
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

import hookless
import naive
from hookless import dumps, loads
from hookless._hookless import KeyCosts
from tables import DictTable, Key, SetTable

MERSENNE = 2**61 - 1
SEEDS = range(6)


class Held:
    """A key with a hash of its own, equal to itself alone, that counts comparisons."""

    compared = 0

    def __init__(self, hash_: int) -> None:
        self.hash = hash_

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        Held.compared += 1
        return self is other


def dict_slots(table: dict[object, object]) -> tuple[int, dict[int, int]]:
    """Size of a dict's table, and which entry each taken slot leads to, as they lie in memory."""
    keys = ctypes.c_void_p.from_address(id(table) + 32).value
    assert keys is not None
    log2_size, log2_bytes = ctypes.c_uint8.from_address(keys + 8).value, ctypes.c_uint8.from_address(keys + 9)
    size = 1 << log2_size
    kind = {0: ctypes.c_int8, 1: ctypes.c_int16, 2: ctypes.c_int32}[log2_bytes.value - log2_size]
    found = list((kind * size).from_address(keys + 32))
    return size, {slot: entry for slot, entry in enumerate(found) if entry >= 0}


def set_slots(table: set[object] | frozenset[object]) -> tuple[int, dict[int, int]]:
    """Size of a set's table, and the hash in each taken slot."""
    mask = ctypes.c_ssize_t.from_address(id(table) + 32).value
    entries = ctypes.c_void_p.from_address(id(table) + 40).value
    assert entries is not None
    words = list((ctypes.c_ssize_t * (2 * (mask + 1))).from_address(entries))
    pairs = zip(words[::2], words[1::2], strict=True)
    return mask + 1, {slot: hash_ for slot, (key, hash_) in enumerate(pairs) if key}


def hashes(seed: int, count: int) -> list[int]:
    """Hashes of many shapes: random, strided, few, equal, negative, and such as run into each other."""
    chance = random.Random(seed)
    shapes: list[Callable[[int], int]] = [
        lambda i: chance.getrandbits(61),
        lambda i: -chance.getrandbits(61) - 2,
        lambda i: (i << 40) % MERSENNE,
        lambda i: chance.getrandbits(10),
        lambda i: 7,
        lambda i: chance.getrandbits(5) << 56,
        lambda i: i * 64,
    ]
    return [chance.choice(shapes[: 1 + seed % len(shapes) + 1])(i) for i in range(count)]


@pytest.mark.parametrize("seed", SEEDS)
def test_dicts_are_as_predicted(seed: int) -> None:
    """Every slot after every key, and comparisons; and at a few thousand keys."""
    for count, each in ((400, True), (5_000, False)):
        real: dict[object, object] = {}
        model, before = DictTable(), Held.compared
        for number, one in enumerate(hashes(seed, count)):
            real[Held(one)] = None
            model.insert(Key(one))
            if each or number == count - 1:
                entries = {id(key): entry for entry, key in enumerate(model.keys)}
                expected = {slot: entries[id(key)] for slot, key in model.slots.items()}
                assert dict_slots(real) == (model.size, expected)
        assert Held.compared - before == model.comparisons


@pytest.mark.parametrize("seed", SEEDS)
def test_dicts_that_begin_with_text_are_as_predicted(seed: int) -> None:
    """A table of str grows when its first other key comes."""
    for texts in (*range(1, 12), 21, 22, 42, 85):
        real: dict[object, object] = {}
        model = DictTable()
        texts_first = [f"{seed}.{i}" for i in range(texts)]
        for key in (*texts_first, *map(Held, hashes(seed, 100)), "later"):
            real[key] = None
            model.insert(Key(hash(key), type(key) is str))
            entries = {id(key): entry for entry, key in enumerate(model.keys)}
            expected = {slot: entries[id(key)] for slot, key in model.slots.items()}
            assert dict_slots(real) == (model.size, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_sets_are_as_predicted(seed: int) -> None:
    """Every slot after every member, comparisons, and the order of iteration.

    Past 50 000 members a set grows by less: at 78 643.
    """
    for count, each in ((400, True), (79_000, False)):
        real: set[object] = set()
        model, before = SetTable(), Held.compared
        found = (
            hashes(seed, count) if each else [random.Random(seed).getrandbits(61) + i for i in range(count)]
        )
        for number, one in enumerate(found):
            real.add(Held(one))
            model.insert(Key(one))
            if each or number == count - 1:
                expected = {slot: key.hash for slot, key in model.slots.items()}
                assert set_slots(real) == (model.size, expected)
        assert Held.compared - before == model.comparisons
        in_order = [key.hash for _, key in sorted(model.slots.items(), key=lambda pair: pair[0])]
        assert [hash(member) for member in real] == in_order


def test_decoded_tables_are_as_predicted() -> None:
    """The decoder inserts in the order of the wire, into tables that grow: as the guard takes for granted."""
    keys = [random.Random(1).getrandbits(61) + i for i in range(3_000)]
    for value in (dict.fromkeys(keys), OrderedDict.fromkeys(keys), Counter(keys), set(keys), frozenset(keys)):
        model: DictTable | SetTable = DictTable() if isinstance(value, dict) else SetTable()
        in_order = keys if isinstance(value, dict) else sorted(keys, key=naive.integer)
        for key in in_order:
            model.insert(Key(key))
        back = loads(dumps(value))
        if isinstance(back, dict):
            expected = {slot: in_order.index(key.hash) for slot, key in model.slots.items()}
            assert dict_slots(back) == (model.size, expected)
        else:
            assert set_slots(back) == (model.size, {slot: key.hash for slot, key in model.slots.items()})


def counted(model: DictTable | SetTable, keys: Sequence[object]) -> None:
    """The guard's own count, the one way to see what it takes tables that it accepts for."""
    costs = KeyCosts()
    for key in keys:
        model.insert(Key(hash(key), type(key) is str))
        if model.end:
            break
    is_set = isinstance(model, SetTable)
    if model.end is None:
        assert costs.check(keys, is_set) == model.probes
        return
    with pytest.raises(hookless.DecodeError, match=f"{model.end[0]} probes for {model.end[1]} keys"):
        costs.check(keys, is_set)


def honest_and_not(seed: int, count: int) -> Iterator[list[object]]:
    """Random ints, consecutive ones, strides, many of one hash, floats, and text among them."""
    chance = random.Random(seed)
    yield [chance.getrandbits(61) for _ in range(count)]
    yield [float(chance.getrandbits(40)) / 8 for _ in range(count)]
    for shift in (0, 3, 5, 8, 13, 20, 31, 47, 60):
        yield [i << shift for i in range(count)]
    yield [(i // 40) * 3 + (i % 40) * MERSENNE for i in range(count)]
    yield [-i for i in range(count)]
    # With the first key that is no str the table grows, wherever it stands.
    first = chance.randrange(count)
    yield [f"{seed}.{i}" if i < first else chance.getrandbits(61) for i in range(count)]
    yield [i << 20 if i % 3 else f"{seed}.{i}" for i in range(count)]


# A table grows at two thirds, a set at three fifths, of a power of two; a set by less past 50 000.
GROWTH = [
    edge + near
    for power in (7, 8, 10, 12)
    for edge in (2**power * 2 // 3, 2**power * 3 // 5)
    for near in (-1, 0, 1)
]


def assert_counted(keys: Sequence[object]) -> None:
    distinct = list(dict.fromkeys(keys))
    counted(DictTable(), distinct)
    if not any(type(key) is str for key in distinct):
        counted(SetTable(), distinct)


@pytest.mark.parametrize("count", GROWTH)
def test_the_guard_counts_exactly(count: int) -> None:
    """Not only what it refuses: the probes of every table, at every size around growth."""
    for keys in honest_and_not(count, count):
        assert_counted(keys)
    assert KeyCosts().check(range(63), is_set=False) is None


@pytest.mark.parametrize("count", [21_846, 78_644])
def test_the_guard_counts_large_tables_exactly(count: int) -> None:
    """Random, and at a stride."""
    chance = random.Random(count)
    assert_counted([chance.getrandbits(61) if i % 2 else (i << 20) + 1 for i in range(count)])


class InOrder(SetTable):
    """A set that would move its members in the order in which they came."""

    def move(self, size: int, keys: Iterable[Key]) -> None:
        super().move(size, self.keys)


class Steady(DictTable):
    """A dict that would not grow at its first key that is no str."""

    def grows_early(self, key: Key) -> bool:
        return False


def test_wrong_rules_would_be_seen() -> None:
    """Keys for which another rule of growth gives another count, through every way of building a table."""
    chance = random.Random(8)
    blocks = sorted(
        {chance.getrandbits(12) << 8 | chance.getrandbits(3) for _ in range(3_000)}, key=naive.integer
    )
    wrong, right = InOrder(), SetTable()
    for key in blocks:
        wrong.insert(Key(key))
        right.insert(Key(key))
    assert wrong.probes != right.probes
    assert KeyCosts().check(blocks, True) == right.probes
    # 130 texts lie in 256 slots: the 131st key doubles them, or it does not.
    mixed: list[object] = [*(f"{i}" for i in range(130)), *(i * MERSENNE + 1 for i in range(1_000))]
    ends = [expected_end(model, mixed) for model in (Steady(), DictTable())]
    assert ends[0] != ends[1]
    assert ends[1] is not None
    for body, is_set in bodies(mixed):
        if is_set:
            continue
        with pytest.raises(hookless.DecodeError, match=f"{ends[1][0]} probes for {ends[1][1]} keys"):
            loads(naive.frame(body))


def expected_end(model: DictTable | SetTable, keys: Sequence[object]) -> tuple[int, int] | None:
    """Probes and keys at which the guard has to end, if it has to."""
    for key in keys:
        model.insert(Key(hash(key), type(key) is str))
        if model.end:
            break
    return model.end


def bodies(keys: Sequence[object]) -> list[tuple[bytes, bool]]:
    """Every table of these keys, and whether it is a set."""
    encoded = [dumps(key)[32:] for key in keys]
    pairs = naive.mapping([(key, naive.integer(1)) for key in encoded])
    tables = [(pairs, False), (naive.node(5, [pairs]), False), (naive.node(6, [pairs]), False)]
    return tables + [(naive.members(kind, sorted(encoded)), True) for kind in (naive.SET, naive.FROZENSET)]


def crafted(seed: int) -> list[object]:
    """An honest beginning, then ints whose walks lie in one chain, strides, or multiples of the modulus."""
    chance = random.Random(seed)
    honest: list[object] = [
        chance.getrandbits(30) + 2**31 + (i << 32) for i in range(chance.choice((0, 20, 500, 3_000)))
    ]
    if chance.random() < 0.3:
        honest[:0] = [f"{seed}.{i}" for i in range(chance.choice((1, 30, 200)))]
    kind = seed % 3
    if kind == 0:
        more: list[object] = [i * MERSENNE + 5 for i in range(6_000)]
    elif kind == 1:
        more = [chance.getrandbits(4) << 57 | i << 40 for i in range(6_000)]
    else:
        more = [(i << 16) * 7 % MERSENNE for i in range(6_000)]
    return list(dict.fromkeys([*honest, *more]))


@pytest.mark.parametrize("seed", range(12))
def test_the_guard_counts_what_the_tables_do(seed: int) -> None:
    """The same key is refused, after the same number of probes, in all five tables; or none is."""
    keys = crafted(seed)
    for body, is_set in bodies(keys):
        ordered = sorted(keys, key=lambda key: dumps(key)[32:]) if is_set else keys
        if is_set and any(type(key) is str for key in keys):
            continue  # Which members are there is known then, but not in which order they came.
        end = expected_end(SetTable() if is_set else DictTable(), ordered)
        if end is None:
            assert len(loads(naive.frame(body))) == len(keys)
            continue
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert caught.value.code == "key_collision"
        found = re.search(r"(\d+) probes for (\d+) keys", str(caught.value))
        # While a table grows the guard ends before all keys have moved.
        assert found and (int(found[1]), int(found[2])) == end


def test_crafted_tables_are_refused_at_all() -> None:
    """The tests above compare refusals, not only tables that pass."""
    ends = [expected_end(DictTable(), crafted(seed)) is not None for seed in range(12)]
    assert sum(ends) > 3
    assert not all(ends)


def test_the_limit_is_exact() -> None:
    """One key fewer than the one that is too much passes, in every table."""
    keys = list(itertools.islice((i * MERSENNE + 9 for i in itertools.count()), 2_000))
    for kind, (_, is_set) in enumerate(bodies(keys)):
        ordered = sorted(keys, key=naive.integer) if is_set else keys
        model = SetTable() if is_set else DictTable()
        assert expected_end(model, ordered) is not None
        for count, passes in ((len(model.keys) - 1, True), (len(model.keys), False)):
            body = bodies(ordered[:count])[kind][0]
            if passes:
                assert len(loads(naive.frame(body))) == count
            else:
                with pytest.raises(hookless.DecodeError, match="key_collision"):
                    loads(naive.frame(body))
