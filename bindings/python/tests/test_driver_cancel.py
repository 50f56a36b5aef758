"""Cancelling plain code: by a signal, in the code of that very call, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scripted
from hookless import Limits, worker
from hookless._driver import Driver
from scripted import EOF, bring, call, cancel, credit, driven, run, script, stream

LOG: list[object] = []

# Longer than any test waits, so that what is not interrupted is seen.
LONG = 60.0


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOG.clear()


def soon(*events: scripted.Event) -> None:
    """Bring events from another thread; the signal is this process's, as the kernel sends it to the child."""

    def later() -> None:
        time.sleep(0.05)
        scripted.channel.now.extend(events)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGURG)

    threading.Thread(target=later, daemon=True).start()


def sleeps() -> None:
    soon(cancel(1))
    time.sleep(LONG)


def waits_for_a_lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    soon(cancel(1))
    lock.acquire()


def waits_for_an_event() -> None:
    soon(cancel(1))
    threading.Event().wait()


def joins_a_thread() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    soon(cancel(1))
    try:
        thread.join()
    finally:
        end.set()


def reads_a_pipe() -> None:
    reading, writing = os.pipe()
    soon(cancel(1))
    try:
        os.read(reading, 1)
    finally:
        os.close(reading)
        os.close(writing)


def computes() -> None:
    soon(cancel(1))
    while True:
        pass


def runs_a_loop_of_its_own() -> None:
    soon(cancel(1))
    asyncio.run(asyncio.sleep(LONG))


def waits_in_asyncio_for_a_thread() -> None:
    end = threading.Event()
    soon(cancel(1))

    async def main() -> None:
        try:
            await asyncio.to_thread(end.wait, LONG)
        finally:
            end.set()

    try:
        asyncio.run(main())
    finally:
        end.set()


@pytest.mark.parametrize(
    "code",
    [
        sleeps,
        waits_for_a_lock,
        waits_for_an_event,
        joins_a_thread,
        reads_a_pipe,
        computes,
        runs_a_loop_of_its_own,
        waits_in_asyncio_for_a_thread,
    ],
)
def test_what_is_interrupted(code: Callable[[], None]) -> None:
    assert run(call(1, code), call(2, add, 1)).ends() == {1: ("cancelled",), 2: ("result", 2)}


def add(number: int) -> int:
    return number + 1


def test_scripts_are_interrupted() -> None:
    source = "import time, test_driver_cancel as t\nt.soon(('cancel', 1, None, 0))\ntime.sleep(60)"
    assert run(script(1, source)).ends() == {1: ("cancelled",)}


def by_whom(event: scripted.Event) -> None:
    try:
        bring(event)
    except worker.Cancelled as error:
        LOG.append(str(error))


@pytest.mark.parametrize(
    ("event", "text"), [(cancel(1), "the host has cancelled this call"), (EOF, "the host is gone")]
)
def test_the_message_says_by_whom(event: scripted.Event, text: str) -> None:
    run(call(1, by_whom, event))
    assert [text] == LOG


def test_it_is_no_exception() -> None:
    """`except Exception` does not swallow it."""
    assert issubclass(worker.Cancelled, BaseException) and not issubclass(worker.Cancelled, Exception)


def swallows(then: str) -> Any:
    try:
        bring(cancel(1))
    except worker.Cancelled:
        LOG.append("swallowed")
    # It does not come again.
    bring(cancel(1), credit(1, 1))
    bring(call(2, add, 1))
    if then == "fails":
        raise ValueError("v")
    return then


@pytest.mark.parametrize(
    ("then", "end"), [("fails", ("error", ("ValueError", "v"))), ("value", ("result", "value"))]
)
def test_code_that_swallows_it(then: str, end: tuple[Any, ...]) -> None:
    """Its outcome stands; it is interrupted once."""
    assert run(call(1, swallows, then)).ends() == {1: end, 2: ("result", 2)}
    assert LOG == ["swallowed"]


def raises_another() -> None:
    try:
        bring(cancel(1))
    finally:
        raise KeyError("while cleaning up")


def test_error_while_cleaning_up() -> None:
    """It is told, with what came first as its context."""
    found = run(call(1, raises_another))
    failure = found.sent[0][2]
    assert failure.qualname == "KeyError" and failure.context.qualname == "Cancelled"


def cancels(number: int) -> str:
    bring(cancel(number), call(3, add, 2))
    return "whole"


def test_cancel_of_another_call() -> None:
    """What runs goes on; what came meanwhile is followed afterwards, but for what has not begun."""
    found = run([call(1, cancels, 2), call(2, add, 1)])
    assert found.ends() == {1: ("result", "whole"), 2: ("cancelled",), 3: ("result", 3)}
    assert [frame[1] for frame in found.sent] == [2, 1, 3]


def test_cancel_that_was_there_before_the_code() -> None:
    """It has sent no signal: the driver looks once when it begins to listen."""
    with driven(call(1, computes_until)) as (found, driver):
        step = found.step

        def late(seconds: float | None) -> scripted.Event | None:
            event = step(seconds)
            if event is not None and event[0] == "call":
                found.now.append(cancel(1))
            return event

        found.step = late  # type: ignore[method-assign]
        driver.run()
    assert found.ends() == {1: ("cancelled",)} and LOG == []


def computes_until() -> None:
    LOG.append("ran")


def test_channel_that_cannot_raise_signals() -> None:
    """It is not asked to. What has come before the code begins still cancels it."""
    with scripted.driven([call(1, add, 1), cancel(1)], call(2, brings_its_end)) as (found, _):
        driver = Driver(found, Limits(), hears=False)
        worker._driver = driver
        driver.run()
    assert not found.listens and found.ends() == {1: ("cancelled",), 2: ("result", "whole")}


def brings_its_end() -> str:
    bring(cancel(2))
    return "whole"


def takes_the_signal() -> str:
    signal.signal(signal.SIGURG, signal.SIG_DFL)
    bring(cancel(1))
    return "whole"


def test_code_that_takes_the_signal() -> None:
    """It loses its own cancellation; the driver sees frames without it."""
    found = run([call(1, takes_the_signal), stream(2, counts), credit(2, 1)], credit(2, 5), call(3, add, 1))
    assert found.ends() == {1: ("result", "whole"), 2: ("result", None), 3: ("result", 2)}


def counts() -> Any:
    yield from range(3)


def cancels_then_reports() -> None:
    scripted.channel.signals = False
    bring(cancel(1))
    scripted.channel.busy = True
    signal.raise_signal(signal.SIGURG)
    LOG.append("was busy")
    scripted.channel.busy = False
    worker.progress(1)
    signal.raise_signal(signal.SIGURG)
    LOG.append("went on")


def test_channel_that_is_busy() -> None:
    """The handler leaves it alone; the next signal finds what has come."""
    found = run(call(1, cancels_then_reports))
    assert found.ends() == {1: ("cancelled",)} and LOG == ["was busy"]


def sends_while_cancelled() -> None:
    send, events = scripted.channel.progress, [cancel(1)]

    def slow(*frame: Any) -> None:
        if events:
            bring(events.pop())
        send(*frame)
        LOG.append("sent")

    scripted.channel.progress = slow  # type: ignore[method-assign, assignment]
    try:
        worker.progress(1)
    finally:
        LOG.append("interrupted")


def test_cancel_while_a_report_is_sent() -> None:
    """The frame is sent as a whole; the code is interrupted right afterwards."""
    found = run(call(1, sends_while_cancelled))
    assert found.ends() == {1: ("cancelled",)} and LOG == ["sent", "interrupted"]


class Shown(Exception):
    """Its text takes as long as foreign code likes, and is made after the call's code has ended."""

    def __str__(self) -> str:
        bring(cancel(1))
        LOG.append("shown")
        return "shown"


def fails_with_text() -> None:
    raise Shown


def test_cancel_while_the_outcome_is_described() -> None:
    """Too late: the outcome is that."""
    assert run(call(1, fails_with_text)).ends() == {1: ("error", ("Shown", "shown"))}
    assert LOG == ["shown"]


class Alarm(Exception):
    pass


def has_an_alarm() -> str:
    """Foreign code's own handler raises while our handler reads frames."""

    def alarm(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGUSR1, alarm)
    step = scripted.channel.step

    def interrupted(seconds: float | None) -> scripted.Event | None:
        scripted.channel.step = step  # type: ignore[method-assign]
        signal.raise_signal(signal.SIGUSR1)
        return step(seconds)

    scripted.channel.step = interrupted  # type: ignore[method-assign]
    try:
        signal.raise_signal(signal.SIGURG)
    except Alarm:
        return "alarm"
    finally:
        signal.signal(signal.SIGUSR1, before)
    return "none"


def test_alarm_of_foreign_code_reaches_foreign_code() -> None:
    assert run(call(1, has_an_alarm), call(2, add, 1)).ends() == {1: ("result", "alarm"), 2: ("result", 2)}


def deep() -> str:
    """Frames come at each level of a stack that is full, from the last one down."""
    events = [call(number, add, 1) for number in range(40, 1, -1)]

    now, full = scripted.channel.now, []

    def down() -> None:
        nonlocal now
        try:
            down()
        except RecursionError:
            pass
        if events:
            # No call, which could be one too many.
            now += (events[-1],)
            del events[-1]
            try:
                signal.raise_signal(signal.SIGURG)
            except RecursionError:
                full.append(True)

    down()
    assert full
    return "whole"


def test_frames_that_come_when_the_stack_is_full() -> None:
    """Each is kept, whatever the handler runs into."""
    ends = run(call(1, deep)).ends()
    assert list(ends) == list(range(1, 41)) and ends.pop(1) == ("result", "whole")
    assert set(ends.values()) == {("result", 2)}


@pytest.mark.parametrize("part", ["call", "fails", "stream", "closes", "reports", "logs", "nested"])
def test_signal_at_each_step(part: str) -> None:
    """A program of its own, see there."""
    program = Path(__file__).parent / "interrupting_child.py"
    done = subprocess.run(
        [sys.executable, program, part], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
