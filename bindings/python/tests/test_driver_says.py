"""What code in a child says while it runs: progress and its log, from any thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import scripted
from hookless import _outbox, worker
from hookless._driver import Driver
from hookless._logging import _Handlers, follow
from scripted import call, cancel, credit, script, stream

NAMED = logging.getLogger("test.driver.says")


@contextlib.contextmanager
def driven(*events: Any) -> Iterator[tuple[scripted.Channel, Driver]]:
    """With the root logger of a child that has just started; pytest has handlers there during a test."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
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


def logs() -> None:
    NAMED.warning("a %s of %d", "record", 1)
    NAMED.info("below the level")
    logging.getLogger().setLevel(logging.DEBUG)
    NAMED.debug("at the level that the code sets")


def test_records() -> None:
    """Those that reach the root, with the text made here, and where it was."""
    found = run(call(1, logs)).of("log")
    assert [frame[1:5] for frame in found] == [
        (1, 30, "test.driver.says", "a record of 1"),
        (1, 10, "test.driver.says", "at the level that the code sets"),
    ]
    created, path, line, function = found[0][5:]
    assert abs(created - time.time()) < 600 and type(created) is float
    assert (path, line, function) == (__file__, logs.__code__.co_firstlineno + 1, "logs")


def logs_an_exception(length: int) -> None:
    try:
        raise ValueError("v" * length)
    except ValueError:
        NAMED.exception("failed")


def test_traceback_of_a_record() -> None:
    (frame,) = run(call(1, logs_an_exception, 3)).of("log")
    first, *lines = frame[4].split("\n")
    assert (first, lines[0], lines[-1]) == ("failed", "Traceback (most recent call last):", "ValueError: vvv")


def test_records_are_cut() -> None:
    """So that those that wait are bounded; the channel cuts all of their texts to their bytes."""
    (frame,) = run(call(1, logs_an_exception, 50_000)).of("log")
    assert len(frame[4]) == 32_768 and frame[4].startswith("failed\nTraceback")


def logs_oddly(kind: str) -> None:
    record = logging.LogRecord("name", 70_000, "path", 2**40, "m", (), None, "f")
    if kind == "negative":
        record.levelno, record.lineno = 50, -3
    if kind == "none":
        record.pathname = record.funcName = record.lineno = None  # type: ignore[assignment]
    logging.getLogger().handle(record)


@pytest.mark.parametrize(
    ("kind", "level", "path", "line", "function"),
    [
        ("large", 65_535, "path", 2**32 - 1, "f"),
        ("negative", 50, "path", 0, "f"),
        ("none", 65_535, "", 0, ""),
    ],
)
def test_records_that_foreign_code_made(kind: str, level: int, path: str, line: int, function: str) -> None:
    """Numbers are brought into the bounds of a LOG."""
    (frame,) = run(call(1, logs_oddly, kind)).of("log")
    assert frame[2:5] == (level, "name", "m") and frame[6:] == (path, line, function)


class Unprintable:
    def __str__(self) -> str:
        raise ZeroDivisionError


def logs_what_does_not_fit() -> None:
    NAMED.warning("%d", "x")
    NAMED.warning("%s", Unprintable())
    NAMED.warning("after")


def test_records_that_cannot_be_formatted(capsys: pytest.CaptureFixture[str]) -> None:
    """Python's own handlers say so on standard error; so does this one. Nothing is raised."""
    found = run(call(1, logs_what_does_not_fit))
    assert [frame[4] for frame in found.of("log")] == ["after"] and found.ends() == {1: ("result", None)}
    assert "ZeroDivisionError" in capsys.readouterr().err


def configures() -> int:
    logging.basicConfig(level=logging.INFO, format="own: %(message)s")
    NAMED.info("hello")
    return logging.getLogger().level


def test_basic_config_does_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Our handler does not count; the code's own writes beside it."""
    found = run(call(1, configures))
    assert found.ends() == {1: ("result", logging.INFO)}
    assert [frame[4] for frame in found.of("log")] == ["hello"]
    assert capsys.readouterr().err == "own: hello\n"


def test_nothing_is_written_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """Python's handler of last resort, which writes to standard error, is not asked."""
    run(call(1, logs))
    assert capsys.readouterr().err == ""


def test_one_handler() -> None:
    """Also when it is put there again."""
    with driven() as (_, driver):
        follow(driver)
        follow(driver)
        root = logging.getLogger()
        assert isinstance(root.handlers, _Handlers) and len(root.handlers) == 0 and len([*root.handlers]) == 1


def test_script_that_logs() -> None:
    """A script may be the first to import logging: one that names it has our handler from its start."""
    found = run(script(1, "import logging\nlogging.getLogger('s').error('e')"))
    assert [frame[1:5] for frame in found.of("log")] == [(1, 40, "s", "e")]


def floods(count: int) -> None:
    """The main thread sends nothing meanwhile."""
    driver = worker._driver
    assert isinstance(driver, Driver)
    driver._masked = True
    scripted.channel.busy = True

    def work() -> None:
        for one in range(count):
            NAMED.warning("%d", one)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    scripted.channel.busy = driver._masked = False


@pytest.mark.parametrize(("count", "kept", "dropped"), [(1000, 1000, 0), (1001, 1000, 1), (3000, 1000, 2000)])
def test_records_of_threads_are_bounded(count: int, kept: int, dropped: int) -> None:
    """The first ones, then a mark that says how many there were besides."""
    texts = [frame[4] for frame in run(call(1, floods, count)).of("log")]
    assert texts[:kept] == [str(one) for one in range(kept)]
    mark = f"{dropped} records of the log were dropped: 1000 were waiting to be sent"
    assert texts[kept:] == ([mark] if dropped else [])


class Logs:
    def __repr__(self) -> str:
        NAMED.warning("while it is described")
        return "Logs()"


def fails_with(value: type) -> None:
    raise ValueError(value())


def test_records_while_the_outcome_is_described() -> None:
    """They are there before it."""
    found = run(call(1, fails_with, Logs))
    assert [frame[0] for frame in found.sent][-1] == "error" and found.of("log")


def handles_a_signal() -> None:
    """A handler of foreign code that logs, whatever is interrupted by it."""
    signal.signal(signal.SIGUSR1, lambda *_: NAMED.warning("from a handler"))


def test_records_of_a_signal_handler_while_the_channel_is_in_use() -> None:
    """The channel is busy then: the record is sent once it is not."""
    before = signal.getsignal(signal.SIGUSR1)
    try:
        with driven(call(1, handles_a_signal), call(2, logs)) as (found, driver):
            step, times = found.step, [1]

            def interrupted(seconds: float | None) -> scripted.Event | None:
                if seconds is None and found.waits == 1 and times:
                    times.clear()
                    found.busy = True
                    signal.raise_signal(signal.SIGUSR1)
                    found.busy = False
                    assert list(found.now) == [("woken", 0, None, 0)]
                return step(seconds)

            found.step = interrupted  # type: ignore[method-assign]
            driver.run()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [frame[:2] for frame in found.sent[:2]] == [("result", 1), ("log", 0)]


def test_a_fork_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The channel is not its own: its records go where they go without a handler."""
    with driven(call(1, forked)) as (found, driver):
        driver.run()
    assert found.of("log") == found.of("progress") == [] and found.ends() == {1: ("result", None)}
    assert capsys.readouterr().err.endswith("in a fork\n")


def forked() -> None:
    driver = worker._driver
    assert driver is not None
    driver.is_fork = True
    try:
        worker.progress(1)
        worker.deny("x")
        NAMED.warning("in a fork")
        NAMED.info("below")
    finally:
        driver.is_fork = False


def cancelled_and_logs() -> None:
    try:
        scripted.bring(cancel(1))
    finally:
        NAMED.warning("cleaning up")
        worker.progress(9)


def test_what_is_said_while_cleaning_up() -> None:
    found = run(call(1, cancelled_and_logs))
    assert [frame[0] for frame in found.sent] == ["log", "progress", "cancelled"]


@pytest.mark.parametrize("use", [lambda: worker.progress(1), lambda: NAMED.warning("x")])
def test_host_that_is_gone(use: Callable[[], None]) -> None:
    """Foreign code does not hear of a broken channel but by being interrupted."""
    global _use
    _use = use
    with driven(call(1, uses)) as (found, driver):

        def broken(*_: object) -> None:
            raise BrokenPipeError

        found.log = found.progress = broken  # type: ignore[method-assign, assignment]
        with pytest.raises(BrokenPipeError):
            driver.run()
    assert found.sent == []


_use: Callable[[], None]


def uses() -> None:
    _use()
