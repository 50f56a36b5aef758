"""What code in a child says while it runs: progress, and what threads and tasks say."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import scripted
from hookless import _outbox, worker
from hookless._driver import Driver
from scripted import call, credit, stream

NAMED = logging.getLogger("test.driver.says")


@contextlib.contextmanager
def driven(*events: Any) -> Iterator[tuple[scripted.Channel, Driver]]:
    """With the root logger of a child that has just started; pytest has handlers there during a test."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    # What says that tasks are destroyed, which another test has left behind, is not to be heard here.
    gc.collect()
    root.handlers = []
    root.setLevel(logging.WARNING)
    try:
        with scripted.driven(*events) as both:
            yield both
    finally:
        root.handlers = handlers
        root.setLevel(level)


def run(*events: Any) -> scripted.Channel:
    with driven(*events) as (found, driver):
        driver.run()
    return found


def reports(*given: Any) -> None:
    for one in given:
        worker.progress(*one)


def test_progress_is_sent() -> None:
    found = run(call(1, reports, (1,)), call(2, reports, (2, 5)), call(3, reports, (0, None, "caf\u00e9")))
    assert found.of("progress") == [
        ("progress", 1, 1, None, ""),
        ("progress", 2, 2, 5, ""),
        ("progress", 3, 0, None, "caf\u00e9"),
    ]


def test_progress_is_limited() -> None:
    """The first at once, then one in 50 ms, and the last one before the outcome."""
    found = run(call(1, reports, *[(number, 1000) for number in range(1000)]))
    sent = [frame[2] for frame in found.of("progress")]
    assert sent[0] == 0 and sent[-1] == 999 and 2 <= len(sent) < 100
    assert [frame[0] for frame in found.sent][-2:] == ["progress", "result"]


def test_progress_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock alone."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.03
        return now

    monkeypatch.setattr(_outbox, "monotonic", clock)
    found = run(call(1, reports, *[(number,) for number in range(9)]))
    sent = [frame[2] for frame in found.of("progress")]
    assert 3 <= len(sent) <= 6 and sent == sorted(set(sent)) and sent[-1] == 8


def fails_with_progress() -> None:
    reports((1,), (2,))
    raise ValueError


def test_last_report_comes_before_an_error() -> None:
    assert [frame[:3] for frame in run(call(1, fails_with_progress)).sent[:-1]] == [
        ("progress", 1, 1),
        ("progress", 1, 2),
    ]


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ((0, 0), (0, 0, "")),
        ((2**64 - 1, 2**64 - 1), (2**64 - 1, 2**64 - 1, "")),
        ((Index(3), Index(4)), (3, 4, "")),
        ((5, 3), (5, 3, "")),
    ],
)
def test_progress_that_is_taken(given: Any, sent: tuple[Any, ...]) -> None:
    found = run(call(1, reports, given)).of("progress")
    assert found == [("progress", 1, *sent)]
    assert [type(one) for one in found[0][2:]] == [type(one) for one in sent]


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ((-1,), "ValueError", "done"),
        ((2**64,), "ValueError", "done"),
        ((0, -1), "ValueError", "total"),
        ((0, 2**64), "ValueError", "total"),
        ((1.0,), "TypeError", "int as done, not float"),
        ((True,), "TypeError", "int as done, not bool"),
        (("1",), "TypeError", "int as done, not str"),
        ((1, "2"), "TypeError", "int as total, not str"),
        ((1, None, b"x"), "TypeError", "str as its text, not bytes"),
        ((1, None, None), "TypeError", "str as its text, not NoneType"),
        ((Index(-1),), "ValueError", "done"),
    ],
)
def test_progress_that_is_refused(given: Any, kind: str, text: str) -> None:
    found = run(call(1, reports, given))
    (frame,) = found.sent
    assert frame[0] == "error" and frame[2].qualname == kind and text in frame[2].message


def test_outside_of_a_child() -> None:
    with pytest.raises(RuntimeError, match="child"):
        worker.progress(1)
    with pytest.raises(RuntimeError, match="child"):
        worker.deny("x")


def in_a_thread(*given: Any) -> None:
    thread = threading.Thread(target=reports, args=given)
    thread.start()
    thread.join()


def test_progress_of_a_thread() -> None:
    """It belongs to the plain function that runs; the main thread sends it though it waits."""
    found = run(call(1, in_a_thread, (1,), (2,)))
    assert [frame[:3] for frame in found.sent][-2:] == [("progress", 1, 2), ("result", 1, None)]


def waits_for_the_report() -> None:
    """The main thread blocks until a thread has seen its own report sent."""
    seen = threading.Event()

    def work() -> None:
        worker.progress(7)
        while not scripted.channel.of("progress"):
            time.sleep(0.001)
        seen.set()

    threading.Thread(target=work, daemon=True).start()
    assert seen.wait(30)


def test_main_thread_sends_while_it_waits() -> None:
    assert run(call(1, waits_for_the_report)).ends() == {1: ("result", None)}


LATE: list[threading.Thread] = []


def leaves_a_thread(begin: float) -> None:
    def work() -> None:
        time.sleep(begin)
        worker.progress(1)
        worker.deny("late")
        NAMED.warning("late")

    LATE.append(threading.Thread(target=work, daemon=True))
    LATE[-1].start()


def joins_it() -> None:
    LATE.pop().join()


def test_thread_that_outlives_its_call() -> None:
    """What it says belongs to no call of the past: a report is nothing then, a record has no call."""
    with driven(call(1, leaves_a_thread, 0.1)) as (found, driver):
        step = found.step

        def patient(seconds: float | None) -> scripted.Event | None:
            if seconds is None and LATE:
                LATE.pop().join()
            return step(seconds)

        found.step = patient  # type: ignore[method-assign]
        driver.run()
    assert [frame[:2] for frame in found.sent] == [("result", 1), ("log", 0)]


async def reports_later(number: int) -> None:
    worker.progress(number)
    await asyncio.sleep(0.01)
    await asyncio.to_thread(worker.progress, number + 10)
    NAMED.warning("record %d", number)
    await asyncio.to_thread(NAMED.warning, "thread %d", number)


def test_tasks_say_it_for_their_calls() -> None:
    found = run([call(1, reports_later, 1), call(2, reports_later, 2)])
    for number in (1, 2):
        assert [frame[2] for frame in found.of("progress", number)] == [number, number + 10]
        assert [frame[4] for frame in found.of("log", number)] == [f"record {number}", f"thread {number}"]
    assert found.ends() == {1: ("result", None), 2: ("result", None)}


def stream_that_reports(number: int) -> Any:
    for one in range(2):
        worker.progress(one + number)
        yield one


def test_streams_say_it_for_their_calls() -> None:
    found = run(
        [stream(1, stream_that_reports, 10), stream(2, stream_that_reports, 20), credit(1, 9), credit(2, 9)]
    )
    assert [frame[2] for frame in found.of("progress", 1)] == [10, 11]
    assert [frame[2] for frame in found.of("progress", 2)] == [20, 21]
