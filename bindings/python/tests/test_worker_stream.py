"""`Worker.stream`, cancelling, progress and messages, with a real child."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import hookless
from hookless import RemoteError, Worker
from test_session import Threads
from test_worker_death import PATIENCE, gone


@pytest.fixture
def child(shared: Worker) -> Worker:
    """One that nothing was left in."""
    shared.call("telling:was_left")
    return shared


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 1000])
@pytest.mark.parametrize("name", ["numbers", "async_numbers", "as_list"])
def test_items_and_value(child: Worker, name: str, count: int) -> None:
    """Generators, asynchronous ones, and iterators; the value is what a generator returns."""
    stream = child.stream(f"telling:{name}", count)
    assert list(stream) == list(range(count))
    assert stream.value == (count if name == "numbers" else None)
    assert child.call("telling:was_left") == []


def test_what_is_no_stream(child: Worker) -> None:
    """A function that returns something else fails, and so does one that is not there."""
    for target in ("telling:no_stream", "telling:nothing"):
        with pytest.raises(RemoteError):
            list(child.stream(target))
    with pytest.raises(hookless.EncodeError):
        child.stream("telling:numbers", object())
    with pytest.raises(ValueError, match="names no function"):
        child.stream("telling")
    assert child.call("telling:no_stream") == 5


def test_c163_items_come_as_they_are_made(child: Worker) -> None:
    """The first is here before the last is made: they share a clock."""
    came = [(made, time.monotonic()) for made in child.stream("telling:made")]
    assert came[0][1] < came[1][0] and came[1][1] < came[2][0]


def test_failures_in_the_middle_keep_the_earlier_items(child: Worker) -> None:
    for target, kind in (("telling:then_fail", ValueError), ("telling:then_unsendable", TypeError)):
        found: list[int] = []
        with pytest.raises(kind) as caught:
            found.extend(child.stream(target, 5))
        assert found == list(range(5)) and isinstance(caught.value, RemoteError)


def test_large_items(child: Worker) -> None:
    """More than a session may hold, while nobody may hold more than its half."""
    limits = hookless.Limits(undelivered=64 << 20)
    with Worker(paths=[os.path.dirname(__file__) + "/children"], isolation="none", limits=limits) as worker:
        count = 0
        for item in worker.stream("telling:blocks", 40, 8 << 20):
            assert item == bytes([count]) * (8 << 20)
            count += 1
        assert count == 40
    assert [len(item) for item in child.stream("telling:blocks", 3, 20 << 20)] == [20 << 20] * 3


def test_calls_and_streams_at_once(child: Worker) -> None:
    """From the same thread, and from several."""
    first, second = child.stream("telling:numbers", 50), child.stream("telling:async_numbers", 50)
    for left, right in zip(first, second, strict=True):
        assert left == right == child.call("jobs:same", left)
    reads = [lambda n=n: list(child.stream("telling:numbers", n)) for n in range(1, 6)]
    calls = [lambda n=n: [child.call("jobs:same", n) for _ in range(20)] for n in range(3)]
    found = Threads(*reads, *calls).join()
    assert found == [list(range(n)) for n in range(1, 6)] + [[n] * 20 for n in range(3)]


def test_a_stream_that_is_left_is_closed_in_the_child(child: Worker) -> None:
    """Its `finally` runs; the next call is not held up by what it would still yield."""
    for item in child.stream("telling:numbers", 10**9):
        if item == 20:
            break
    assert child.call("telling:was_left") == ["numbers"]
    with child.stream("telling:numbers", 10**9) as stream:
        assert next(stream) == 0
    assert child.call("telling:was_left") == ["numbers"] and list(stream) == []


def test_returns_of_a_stream(child: Worker) -> None:
    """Each item is converted, the value is not."""
    stream = child.options(returns=int).stream("telling:numbers", 3)
    assert list(stream) == [0, 1, 2] and stream.value == 3
    with pytest.raises(hookless.DecodeError) as caught:
        next(child.options(returns=str).stream("telling:numbers", 3))
    assert caught.value.code == "type_mismatch"
    assert child.call("jobs:add", 1) == 2


@pytest.mark.parametrize("target", ["telling:wait", "telling:wait_async"])
def test_a_deadline_cancels_the_call_alone(child: Worker, target: str) -> None:
    """The worker goes on with the same child."""
    pid = child.call("jobs:pid")
    with pytest.raises(hookless.DeadlineExceeded, match=r"0\.3 s; the call was cancelled"):
        child.options(deadline=0.3).call(target, 60)
    assert child.is_alive and child.call("jobs:pid") == pid
    assert child.call("telling:was_left") == [target.partition(":")[2]]


def test_c164_the_deadline_of_a_stream(child: Worker) -> None:
    pid, found = child.call("jobs:pid"), list[int]()
    with pytest.raises(hookless.DeadlineExceeded):
        found.extend(child.options(deadline=0.5).stream("telling:then_wait", 3))
    assert found == [0, 1, 2] and child.call("jobs:pid") == pid


def test_a_deadline_leaves_other_calls_alone(child: Worker) -> None:
    """Both are coroutines of the child's loop."""
    other = Threads(lambda: child.call("telling:wait_async", 1.0, "other"))
    with pytest.raises(hookless.DeadlineExceeded):
        child.options(deadline=0.2).call("telling:wait_async", 60)
    assert other.join() == ["other"]


class Interrupted(Exception):
    """Raised by a signal handler of the host."""


@pytest.fixture
def alarm() -> Iterator[None]:
    def handler(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("target", ["telling:wait", "telling:wait_async"])
def test_an_interrupted_call_is_cancelled_and_the_worker_goes_on(
    child: Worker, alarm: None, target: str
) -> None:
    pid_before = child.call("jobs:pid")
    with pytest.raises(Interrupted):
        child.call(target, 60)
    assert child.call("jobs:pid") == pid_before
    assert child.call("telling:was_left") == [target.partition(":")[2]]


def test_c153_c156_threads_get_their_own_answers(child: Worker) -> None:
    """8 threads, of 1 byte to 1 MB each way; a bad result is that of its call."""
    failed = {3, 77}

    def work(thread: int) -> list[Any]:
        found: list[Any] = []
        for number in range(100):
            size = (1, 1000, 100_000, 1_000_000)[number % 4]
            data = bytes([thread]) * size
            try:
                if number in failed:
                    child.call("jobs:unsendable", "here")
                found.append(child.call("jobs:same", data) == data)
            except TypeError:
                found.append("failed")
        return found

    wanted = ["failed" if number in failed else True for number in range(100)]
    assert Threads(*[lambda n=n: work(n) for n in range(8)]).join() == [wanted] * 8


def test_coroutines_of_several_threads_run_side_by_side(child: Worker) -> None:
    """A call that waits holds up no other: the second ends before the first."""
    ended: list[str] = []

    def ask(seconds: float, name: str) -> None:
        ended.append(child.call("telling:wait_async", seconds, name))

    first = Threads(lambda: ask(1.0, "slow"))
    time.sleep(0.2)
    ask(0.01, "quick")
    first.join()
    assert ended == ["quick", "slow"]


def test_progress(child: Worker) -> None:
    """The last report is always told, in the thread of the call, before it returns."""
    heard: list[tuple[Any, ...]] = []

    def hear(done: int, total: int | None, text: str) -> None:
        heard.append((done, total, text, threading.get_ident()))

    assert child.options(on_progress=hear).call("telling:report", 100) == "reported"
    assert heard[-1] == (99, 100, "step 99", threading.get_ident())
    assert [one[0] for one in heard] == sorted({one[0] for one in heard})
    heard.clear()
    assert child.call("telling:report", 5) == "reported" and heard == []


def test_messages(child: Worker, caplog: pytest.LogCaptureFixture) -> None:
    """To `on_log`, or else to the host's logging; with level, name and place, and escaped."""
    records: list[logging.LogRecord] = []
    options = child.options(on_log=records.append)
    assert options.call("telling:log", "app.db", 35, "%s is \x1b[31mred", "it") == "logged"
    (record,) = records
    assert (record.name, record.levelno) == ("hookless.child.app.db", 35)
    assert record.getMessage() == "it is \\x1b[31mred" and record.funcName == "log"
    assert record.filename == "telling.py" and record.pathname.startswith("<sandbox>/")
    assert record.__dict__["remote"][2] == "it is \x1b[31mred"
    with caplog.at_level(1, "hookless.child"):
        child.call("telling:log", "app", 10, "50% of %s")
    assert [(one.name, one.levelno) for one in caplog.records] == [("hookless.child.app", 10)]
    assert len(records) == 1


def test_all_at_once(child: Worker) -> None:
    """Output, progress and messages of a stream."""
    heard: list[str] = []
    options = child.options(
        on_output=lambda stream, data: heard.append(stream),
        on_progress=lambda *_: heard.append("progress"),
        on_log=lambda record: heard.append(record.getMessage()),
    )
    assert list(options.stream("telling:tell_all", 30)) == list(range(30))
    assert {"stdout", "stderr", "progress"} < set(heard)
    assert [one for one in heard if one.startswith("item")] == [f"item {n}" for n in range(30)]


def test_leaving_a_worker_with_streams_open(children: str) -> None:
    """In bounded time; the iterators say so."""
    began = time.monotonic()
    with Worker(paths=[children], isolation="none") as worker:
        pid = worker.call("jobs:pid")
        streams = [worker.stream("telling:numbers", 10**9) for _ in range(3)]
        assert [next(stream) for stream in streams] == [0] * 3
    assert gone(pid) and time.monotonic() - began < PATIENCE
    for stream in streams:
        with pytest.raises(hookless.HooklessError, match="closed"):
            list(stream)


def test_a_child_that_dies_in_a_stream(children: str) -> None:
    with Worker(paths=[children], isolation="none") as worker:
        stream = worker.stream("telling:numbers", 10**9)
        assert next(stream) == 0
        with pytest.raises(hookless.WorkerDied) as caught:
            worker.call("jobs:die", 3)
        assert caught.value.exit_status == 3
        with pytest.raises(hookless.WorkerDied):
            list(stream)
        assert list(stream) == []


def test_open_calls_at_the_limit_and_one_past(children: str) -> None:
    """1024; one that ends makes room."""
    with Worker(paths=[children], isolation="none") as worker:
        streams = [worker.stream("telling:numbers", 10**9) for _ in range(1024)]
        with pytest.raises(hookless.LimitExceeded) as caught:
            worker.call("jobs:pid")
        assert caught.value.code == "open_call_limit"
        assert next(streams[0]) == 0
        streams.pop().close()
        end = time.monotonic() + PATIENCE
        while True:
            try:
                assert worker.call("jobs:add", 1) == 2
                break
            except hookless.LimitExceeded:
                assert time.monotonic() < end
                next(streams[0])
