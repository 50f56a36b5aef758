"""The log of code in a child: what reaches the root logger, and how it comes there."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable

import pytest

import scripted
from hookless import worker
from hookless._driver import Driver
from hookless._logging import _Handlers, follow
from scripted import call, cancel, script
from test_driver_says import NAMED, driven, run


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
