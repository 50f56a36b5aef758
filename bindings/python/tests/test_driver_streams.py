"""Streams of plain generators: credit, turns, ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hookless import worker
from scripted import bring, call, cancel, credit, run, stream

LOG: list[object] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOG.clear()


def numbers(count: int, value: object = "end") -> Any:
    for number in range(count):
        LOG.append(number)
        yield number
    return value


def plain(value: int) -> int:
    LOG.append(f"call {value}")
    return value


def test_items_and_the_value() -> None:
    """What the generator returns is the RESULT."""
    found = run([stream(1, numbers, 3), credit(1, 10)])
    assert found.sent == [("item", 1, 0), ("item", 1, 1), ("item", 1, 2), ("result", 1, "end")]


def test_no_step_without_credit() -> None:
    """A generator makes no item that the host does not take yet, and none before the first credit."""
    found = run(
        stream(1, numbers, 5), call(2, plain, 1), credit(1, 2), call(3, plain, 2), credit(1, 1), credit(1, 9)
    )
    assert LOG == ["call 1", 0, 1, "call 2", 2, 3, 4]
    assert found.items(1) == [0, 1, 2, 3, 4] and found.ends()[1] == ("result", "end")


def test_end_needs_credit_as_well() -> None:
    """After the last item there is one more step, and it is made for credit only."""
    found = run([stream(1, numbers, 1), credit(1, 1)], call(2, plain, 0), credit(1, 1))
    assert [frame[:2] for frame in found.sent] == [("item", 1), ("result", 2), ("result", 1)]


def test_streams_and_calls_take_turns() -> None:
    """One step of each; a call that comes meanwhile waits for one round at most."""
    found = run([stream(1, numbers, 3), stream(2, numbers, 3), credit(1, 9), credit(2, 9), call(3, plain, 7)])
    kinds = [frame[:2] for frame in found.sent]
    assert kinds.index(("result", 3)) <= 2
    kinds.remove(("result", 3))
    assert kinds == [("item", 1), ("item", 2)] * 3 + [("result", 1), ("result", 2)]


def brings_a_call() -> Any:
    yield 1
    bring(call(2, plain, 5))
    yield 2
    yield 3


def test_frames_are_taken_between_items() -> None:
    found = run([stream(1, brings_a_call), credit(1, 9)])
    kinds = [frame[:2] for frame in found.sent]
    assert kinds.index(("result", 2)) < kinds.index(("result", 1)) and len(kinds) == 5


def brings_credit() -> Any:
    for number in range(4):
        if number == 1:
            bring(credit(1, 3))
        yield number


def test_credit_that_comes_while_an_item_is_made() -> None:
    found = run([stream(1, brings_credit), credit(1, 2)])
    assert found.items(1) == [0, 1, 2, 3] and found.ends()[1] == ("result", None)


class Counted:
    """An iterator that is no generator."""

    def __init__(self) -> None:
        self.left = 2

    def __iter__(self) -> Counted:
        return self

    def __next__(self) -> int:
        if not self.left:
            raise StopIteration("the end", "of it")
        self.left -= 1
        return self.left


class Sequence:
    def __getitem__(self, index: int) -> int:
        return [5, 6][index]


def made(kind: str) -> Any:
    return {
        "iterator": Counted,
        "list": lambda: [1, 2],
        "tuple": lambda: (1, 2),
        "dict": lambda: {"a": 1},
        "range": lambda: range(2),
        "sequence": Sequence,
        "map": lambda: map(str, [1]),
        "int": lambda: 5,
        "none": lambda: None,
        "object": object,
        "coroutine": coroutine,
    }[kind]()


async def coroutine() -> None:
    raise AssertionError


@pytest.mark.parametrize(
    ("kind", "items", "value"),
    [
        ("iterator", [1, 0], "the end"),
        ("list", [1, 2], None),
        ("tuple", [1, 2], None),
        ("dict", ["a"], None),
        ("range", [0, 1], None),
        ("sequence", [5, 6], None),
        ("map", ["1"], None),
    ],
)
def test_what_is_iterated(kind: str, items: list[object], value: object) -> None:
    found = run([stream(1, made, kind), credit(1, 9)])
    assert found.items(1) == items and found.ends() == {1: ("result", value)}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("int", "int"), ("none", "NoneType"), ("object", "object"), ("coroutine", "coroutine")],
)
def test_what_cannot_be_iterated(kind: str, name: str) -> None:
    """No credit is needed to say so."""
    found = run(stream(1, made, kind))
    text = f"stream needs a generator or iterator, not {name}"
    assert found.ends() == {1: ("error", ("TypeError", text))}


def fails_after(count: int) -> Iterator[int]:
    yield from range(count)
    raise ValueError("broken off")


def test_error_ends_the_stream() -> None:
    found = run([stream(1, fails_after, 2), credit(1, 9), call(2, plain, 1)])
    assert found.items(1) == [0, 1] and found.ends()[1] == ("error", ("ValueError", "broken off"))


def unsendable_item(closing: str) -> Any:
    try:
        yield 1
        yield object()
        LOG.append("went on")
    finally:
        LOG.append("closed")
        if closing == "raises":
            raise KeyError("lost")
        if closing == "yields":
            yield 3


@pytest.mark.parametrize("closing", ["", "raises", "yields"])
def test_item_that_cannot_be_encoded(closing: str) -> None:
    """The generator is closed, whatever that does; the other calls go on."""
    found = run([stream(1, unsendable_item, closing), credit(1, 9), call(2, plain, 1)])
    assert (
        found.items(1) == [1] and found.ends()[1][1][0] == "EncodeError" and found.ends()[2] == ("result", 1)
    )
    assert LOG == ["call 1", "closed"]


def closed(closing: str) -> Any:
    try:
        yield 1
        yield 2
    except GeneratorExit:
        LOG.append("closed")
        if closing == "raises":
            raise KeyError("k") from None
        if closing == "exit":
            raise
        if closing == "ignores":
            yield 3
        if closing == "returns":
            return "value"


@pytest.mark.parametrize(
    ("closing", "end"),
    [
        ("exit", ("cancelled",)),
        ("returns", ("cancelled",)),
        ("raises", ("error", ("KeyError", "'k'"))),
        ("ignores", ("error", ("RuntimeError", "generator ignored GeneratorExit"))),
    ],
)
def test_cancel_closes_a_generator_that_waits(closing: str, end: tuple[Any, ...]) -> None:
    found = run([stream(1, closed, closing), credit(1, 1)], cancel(1), call(2, plain, 1))
    assert found.items(1) == [1] and found.ends() == {1: end, 2: ("result", 1)}
    assert LOG == ["closed", "call 1"]


def test_cancel_before_the_first_item() -> None:
    """The generator has not begun: none of its code runs."""
    found = run(stream(1, closed, "raises"), cancel(1))
    assert found.ends() == {1: ("cancelled",)} and LOG == []


def test_cancel_of_an_iterator_without_close() -> None:
    found = run([stream(1, made, "list"), credit(1, 1)], cancel(1))
    assert found.ends() == {1: ("cancelled",)}


def cancelled_within(swallows: str) -> Any:
    yield 1
    try:
        bring(cancel(1))
        LOG.append("went on")
    except worker.Cancelled:
        LOG.append("interrupted")
        if not swallows:
            raise
    if swallows == "yields":
        yield 2
    if swallows == "fails":
        raise ValueError("in the midst")
    if swallows == "returns":
        return "value"


@pytest.mark.parametrize(
    ("swallows", "end"),
    [
        ("", ("cancelled",)),
        ("yields", ("cancelled",)),
        ("fails", ("error", ("ValueError", "in the midst"))),
        ("returns", ("result", "value")),
    ],
)
def test_cancel_while_an_item_is_made(swallows: str, end: tuple[Any, ...]) -> None:
    """Its code is interrupted like any other; an item that it makes all the same is not sent."""
    found = run([stream(1, cancelled_within, swallows), credit(1, 9), call(2, plain, 1)])
    assert found.items(1) == [1] and found.ends() == {1: end, 2: ("result", 1)}
    assert LOG == ["call 1", "interrupted"]


def test_cancel_of_another_stream() -> None:
    """What runs is not interrupted."""
    found = run([stream(1, numbers, 9), credit(1, 1), stream(2, cancels_the_first), credit(2, 9)])
    assert found.ends() == {1: ("cancelled",), 2: ("result", "whole")}


def cancels_the_first() -> Any:
    yield 1
    bring(cancel(1))
    yield 2
    return "whole"
