"""Cancelled calls that only wait for the one that runs: the host hears at once that they are over."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

import scripted
from hookless import worker
from scripted import bring, call, cancel, credit, run, stream

LOG: list[object] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOG.clear()


def add(number: int, more: int = 1) -> int:
    return number + more


def brings(*events: scripted.Event) -> str:
    bring(*events)
    LOG.append(scripted.channel.of("cancelled"))
    return "done"


def items() -> Iterator[int]:
    try:
        yield from range(9)
    finally:
        LOG.append("closed")
        worker.progress(1)


def test_what_only_waits_is_excused_at_once() -> None:
    """Calls that have not begun, and streams between two items, which are closed later."""
    events = [cancel(1), cancel(4), call(5, add, 1), cancel(5), cancel(9)]
    channel = run(
        [stream(1, items), credit(1, 1)], [call(3, brings, *events), call(4, add, 1), call(6, add, 2)]
    )
    excused = [("cancelled", 1), ("cancelled", 4), ("cancelled", 5)]
    assert [excused, "closed"] == LOG
    assert channel.sent == [("item", 1, 0), *excused, ("result", 3, "done"), ("result", 6, 3)]


def test_a_cancelled_call_has_its_turn_before_others() -> None:
    """Where nothing runs when its CANCEL comes: what would come first may take long."""
    channel = run([call(1, add, 1), stream(2, items), call(3, add, 3), cancel(3)])
    assert next(iter(channel.ends())) == 3


def twice() -> str:
    bring(call(2, add, 1), cancel(2))
    return brings(cancel(2), credit(2, 1))


def test_what_runs_is_not_excused_nor_what_is_over_nor_anything_twice() -> None:
    channel = run(call(1, add, 1), call(2, brings, cancel(2), cancel(1)))
    assert channel.ends() == {1: ("result", 2), 2: ("cancelled",)} and LOG == []
    assert run(call(1, twice)).ends() == {1: ("result", "done"), 2: ("cancelled",)}


def down(depth: int) -> int:
    """Have a signal come so many frames down; return how many there were."""
    try:
        if depth:
            return 1 + down(depth - 1)
        signal.raise_signal(signal.SIGURG)
    except RecursionError:
        pass
    return 0


def brings_at_the_limit(numbers: range) -> str:
    deepest = down(10**9)
    for number in numbers:
        scripted.channel.now.extend([call(number, add, 1), cancel(number)])
        down(deepest - (number - numbers.start))
    LOG.append(len(scripted.channel.of("cancelled")))
    return "done"


def test_nothing_is_lost_or_told_twice_at_the_recursion_limit() -> None:
    """Wherever that is met, each call has one outcome."""
    numbers = range(2, 62)
    ends = run(call(1, brings_at_the_limit, numbers)).ends()
    assert ends.pop(1) == ("result", "done")
    assert ends == dict.fromkeys(numbers, ("cancelled",)) and LOG != [0]
