"""Typed results: lists, tuples, sets, dicts. None becomes another, and no two keys become one."""

from __future__ import annotations

import collections
import collections.abc as abc
import random
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from typing import Any, Dict, List, Tuple  # noqa: UP035

import pytest

import hookless
from refusing import kept, refused
from same import assert_same

MODULUS = (1 << 61) - 1


def test_no_container_becomes_another() -> None:
    """Each annotation takes its own kind."""
    made: dict[type, Any] = {list: [1], tuple: (1,), set: {1}, frozenset: frozenset({1}), dict: {1: 2}}
    wanted: dict[type, Any] = {
        list: list[int],
        tuple: tuple[int, ...],
        set: set[int],
        frozenset: frozenset[int],
        dict: dict[int, int],
    }
    for kind, value in made.items():
        for other, annotation in wanted.items():
            for one in (annotation, other):
                if kind is other:
                    kept(value, one)
                else:
                    refused(value, one, match="^type_mismatch")


def test_a_list_is_no_set() -> None:
    """`[1, 1, 2]` would lose an item."""
    refused([1, 1, 2], set[int], match=r"expected set\[int\], found list")
    refused([1, 1, 2], frozenset[int])
    refused({"x": [1, 1, 2]}, dict[str, set[int]], "$.x")


def test_the_flood_of_a_list_for_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 000 ints with one hash: refused by type, before a single item is looked at."""

    class Counted(int):
        hashed = 0

        def __hash__(self) -> int:
            Counted.hashed += 1
            return int.__hash__(self)

    for wanted in (set[int], set, frozenset[int], abc.Set[int], set[Any]):
        frame = hookless.dumps([MODULUS * n for n in range(20_000)])
        with pytest.raises(hookless.DecodeError) as caught:
            hookless.loads(frame, type=wanted)
        assert (caught.value.code, caught.value.path) == ("type_mismatch", "$")
        refused([Counted(MODULUS * n) for n in range(20_000)], wanted)
    assert Counted.hashed == 0


@dataclass(frozen=True)
class Cell:
    x: int


@dataclass(frozen=True)
class Poor:
    x: int
    compared = 0

    def __hash__(self) -> int:
        return self.x % 2

    def __eq__(self, other: object) -> bool:
        Poor.compared += 1
        return isinstance(other, Poor) and self.x == other.x


def test_the_flood_of_a_set_of_records() -> None:
    """Members that hash otherwise than those of the wire are counted by the guard before the set is made."""
    records = [hookless.Record("m", "Q", {"x": n}) for n in range(5_000)]
    refused(set(records), set[Poor], code="key_collision", match=r"^key_collision in \$: keys chosen so that")
    refused(dict.fromkeys(records), dict[Poor, None], code="key_collision")
    assert Poor.compared == 0
    assert hookless.convert(set(records), set[Cell]) == {Cell(n) for n in range(5_000)}
    few = set(records[:60])
    assert len(hookless.convert(few, set[Poor])) == 60


def test_a_set_keeps_its_table() -> None:
    """A set whose members are right is not built again."""
    members = {random.Random(1).randrange(1 << 60) for _ in range(100)}
    assert hookless.convert(members, set[int]) is members
    assert hookless.convert({(1, "a")}, set[tuple[int, str]]) == {(1, "a")}
    wanted: Any = set[tuple[int, str]]
    tuples = {(1, "a")}
    assert hookless.convert(tuples, wanted) is tuples


def test_members_and_keys_never_become_one() -> None:
    """Two enum values, or records that differ by claimed names only."""
    one, two = hookless.Record("m", "A", {"x": 1}), hookless.Record("m", "B", {"x": 1})
    refused({one, two}, set[Cell], match="two members become one")
    refused({one: 1, two: 2}, dict[Cell, int], match="two keys become one")
    refused({"t": {one: 1, two: 2}}, dict[str, dict[Cell, int]], "$.t")
    assert hookless.convert({one: 1}, dict[Cell, int]) == {Cell(1): 1}


def test_keys_are_not_coerced() -> None:
    """Text stays text: an int position refuses it."""
    refused({"1": 2}, dict[int, int], "$.keys[0]")
    refused({1: 2, 3: 4, "x": 5}, dict[int, int], "$.keys[2]")
    assert_same(hookless.convert({1: 2}, dict[float, int]), {1.0: 2})
    refused({1 << 53: 1, (1 << 53) + 1: 2}, dict[float, int], "$.keys[1]")


def test_tuples() -> None:
    """By length, position by position."""
    kept((1, "a", 2.0), tuple[int, str, float])
    kept((), tuple[()])
    kept((1, 2, 3), tuple[int, ...])
    kept((1, "x"), tuple)
    refused((1,), tuple[int, str], match="length 1")
    refused((1, 2), tuple[()], match="length 2")
    refused((1, 2), tuple[int, str], "$[1]")
    refused((1, "a"), tuple[int, ...], "$[1]")


def test_abstract_kinds() -> None:
    """`Sequence` takes lists and tuples, `Mapping` every dict, `Set` both sets; each stays what it is."""
    for value in ([1], (1,)):
        kept(value, abc.Sequence[int])
    refused((1,), abc.MutableSequence[int])
    refused("text", abc.Sequence[str])
    refused(b"text", abc.Sequence[int])
    for members in ({1}, frozenset({1})):
        kept(members, abc.Set[int])
    refused(frozenset({1}), abc.MutableSet[int])
    kept({"a": 1}, abc.Mapping[str, int])
    kept({"a": [1]}, Dict[str, List[int]])  # noqa: UP006
    kept((1,), Tuple[int])  # noqa: UP006
    kept([[1]], List)  # noqa: UP006


def test_kin_of_dict_and_list() -> None:
    """Each by its own name, with its order, counts and maxlen."""
    ordered = OrderedDict((name, hookless.Record("m", "Q", {"x": 1})) for name in "ba")
    made = hookless.convert(ordered, OrderedDict[str, Cell])
    assert type(made) is OrderedDict
    assert list(made.items()) == [("b", Cell(1)), ("a", Cell(1))]
    counts = Counter({"a": 2, "b": -1})
    assert hookless.convert(counts, Counter[str]) == counts
    one = hookless.Record("m", "Q", {"x": 1})
    counted = hookless.convert(Counter({one: 5}), Counter[Cell])
    assert (type(counted), dict(counted)) == (Counter, {Cell(1): 5})
    refused(Counter({"a": 1.5}), Counter[str], "$.a")
    queue = hookless.convert(deque([1, 2], 5), deque[float])
    assert (type(queue), list(map(type, queue)), queue.maxlen) == (deque, [float, float], 5)
    refused({"a": 1}, OrderedDict[str, int])
    refused(ordered, dict[str, Any])
    refused([1], deque[int])
    for wanted in (collections.defaultdict[str, int], collections.ChainMap[str, int], abc.Iterable[int]):
        with pytest.raises(TypeError, match="no type that"):
            hookless.convert({}, wanted)


def test_paths() -> None:
    """The step of each container, as the decoder writes it."""
    rows = {"rows": [{"key": 1}, {"key": "x"}]}
    refused(rows, dict[str, list[dict[str, int]]], "$.rows[1].key")
    for key, shown in [
        ("plain_1", ".plain_1"),
        ("two words", '["two words"]'),
        ('a"b', '["a\\"b"]'),
        ("\x1b[2J", '["\\x1b[2J"]'),
        ("x" * 65, f'["{"x" * 40}…"]'),
        ("", '[""]'),
        (3, "[3]"),
        (-3, "[-3]"),
        (None, "[None]"),
        (True, "[True]"),
        (2.5, "[2.5]"),
        ((1, 2), ".values[0]"),
        (1 << 70, ".values[0]"),
    ]:
        refused({key: "x"}, dict[Any, int], f"${shown}")
    refused({("x",)}, set[tuple[int]], "${0}[0]")
    refused({("x",): 1}, dict[tuple[int], int], "$.keys[0][0]")


def test_only_what_must_change_is_made_anew() -> None:
    """A large plain list is looked at once and handed on."""
    value = {"a": list(range(1000)), "b": [2.0] * 1000}
    assert hookless.convert(value["a"], list[int]) is value["a"]
    assert hookless.convert(value["b"], list[float]) is value["b"]


def test_deep_values() -> None:
    """As deep as the decoder lets through, or one documented error."""
    value: Any = 1
    wanted: Any = int
    for _ in range(128):
        value, wanted = [value], list[wanted]
    assert_same(hookless.loads(hookless.dumps(value), type=wanted), value)
    value = 1
    for _ in range(128):
        value = {"down": value}
    found: Any = hookless.loads(hookless.dumps(value), type=Nest)
    for _ in range(128):
        found = found.down
    assert found == 1


@dataclass
class Nest:
    """A class that holds itself."""

    down: Nest | int


def test_values_that_are_too_deep_for_the_stack() -> None:
    """One documented error, and no RecursionError."""
    value: Any = 1
    for _ in range(100_000):
        value = {"down": value}
    with pytest.raises(hookless.LimitExceeded) as caught:
        hookless.convert(value, Nest)
    assert caught.value.code == "depth_limit"
    # Such as no frame can hold; otherwise the interpreter recurses as it frees them.
    while isinstance(value, dict):
        value = value.pop("down")
