"""Coroutines and asynchronous generators of several calls, on one loop."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from typing import Any

import pytest

import scripted
from hookless import worker
from scripted import EOF, SHUTDOWN, bring, call, cancel, credit, driven, run, stream

LOG: list[object] = []
LOOPS: list[object] = []
LONG = 60.0


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOG.clear()
    LOOPS.clear()


async def answers(number: int, seconds: float = 0.0) -> int:
    LOOPS.append(asyncio.get_running_loop())
    await asyncio.sleep(seconds)
    LOG.append(number)
    return number


def plain(number: int) -> int:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    LOG.append(f"plain {number}")
    return number


def test_coroutines_interleave_on_one_loop() -> None:
    """The one that is quick ends first; later calls have the same loop, and plain code is outside of it."""
    found = run([call(1, answers, 1, 0.2), call(2, answers, 2), call(3, plain, 3)], call(4, answers, 4))
    assert found.ends() == {number: ("result", number) for number in (1, 2, 3, 4)}
    assert [frame[1] for frame in found.sent].index(1) > 1
    assert len(set(map(id, LOOPS))) == 1 and len(LOOPS) == 3


async def brings_plain_work() -> str:
    bring(call(2, plain, 2), call(3, answers, 3))
    await asyncio.sleep(0.05)
    assert "plain 2" in LOG and 3 in LOG
    return "whole"


def test_work_that_comes_while_the_loop_runs() -> None:
    found = run(call(1, brings_plain_work))
    assert found.ends() == {1: ("result", "whole"), 2: ("result", 2), 3: ("result", 3)}


async def raises(kind: str) -> None:
    await asyncio.sleep(0)
    raise {
        "value": ValueError("v"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "async": asyncio.CancelledError("mine"),
        "own": worker.Cancelled("mine"),
        "generator": GeneratorExit(),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("value", "ValueError"),
        ("exit", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("async", "CancelledError"),
        ("own", "Cancelled"),
        ("generator", "GeneratorExit"),
    ],
)
def test_whatever_is_raised_is_one_outcome(kind: str, name: str) -> None:
    """SystemExit and KeyboardInterrupt leave asyncio's loop; they do not end the driver, nor other tasks."""
    ends = run([call(1, raises, kind), call(2, answers, 2, 0.05)], call(3, plain, 3)).ends()
    assert ends[1][0] == "error" and ends[1][1][0] == name
    assert ends[2] == ("result", 2) and ends[3] == ("result", 3)


def test_traceback_shows_no_frame_of_the_driver() -> None:
    failure = run(call(1, raises, "value")).sent[0][2]
    assert [frame.function for frame in failure.frames] == ["raises"]


async def unsendable() -> object:
    return object()


def test_result_that_cannot_be_encoded() -> None:
    assert run(call(1, unsendable)).ends()[1][1][0] == "EncodeError"


async def waits(then: str) -> str:
    asyncio.get_running_loop().call_later(0.05, bring, cancel(1))
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        LOG.append("cancelled")
        if then == "fails":
            raise KeyError("k") from None
        if then == "value":
            return then
        raise
    return "never"


@pytest.mark.parametrize(
    ("then", "end"),
    [
        ("raises", ("cancelled",)),
        ("fails", ("error", ("KeyError", "'k'"))),
        ("value", ("result", "value")),
    ],
)
def test_cancel(then: str, end: tuple[Any, ...]) -> None:
    """The task is cancelled where it waits; other tasks go on."""
    found = run([call(1, waits, then), call(2, answers, 2, 0.1)])
    assert found.ends() == {1: end, 2: ("result", 2)} and LOG == ["cancelled", 2]


def test_cancel_before_the_first_step() -> None:
    """Of a task that is made and has not run."""
    with driven([call(1, answers, 1), call(2, plain_that_cancels)]) as (found, driver):
        driver.run()
    assert found.ends() in ({1: ("cancelled",), 2: ("result", None)}, {1: ("result", 1), 2: ("result", None)})


def plain_that_cancels() -> None:
    bring(cancel(1))


async def numbers(count: int, seconds: float = 0.0) -> Any:
    for number in range(count):
        LOG.append(number)
        yield number
        await asyncio.sleep(seconds)


def test_asynchronous_generators() -> None:
    """Items as there is credit, other work between them, None as the value."""
    found = run([stream(1, numbers, 3), stream(2, numbers, 3), credit(1, 9), credit(2, 9), call(3, plain, 3)])
    assert found.items(1) == [0, 1, 2] and found.items(2) == [0, 1, 2]
    assert found.ends() == {1: ("result", None), 2: ("result", None), 3: ("result", 3)}


async def gives_credit_later() -> str:
    assert scripted.channel.items(2) == []
    for count in (1, 2):
        bring(credit(2, count))
        await asyncio.sleep(0.05)
        LOG.append(list(scripted.channel.items(2)))
    bring(credit(2, 1))
    return "whole"


def test_no_step_without_credit() -> None:
    found = run([stream(2, numbers, 3), call(3, gives_credit_later)])
    assert [one for one in LOG if isinstance(one, list)] == [[0], [0, 1, 2]]
    assert found.ends() == {2: ("result", None), 3: ("result", "whole")}


class Counted:
    """An asynchronous iterator that is no generator, and never waits."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __aiter__(self) -> Counted:
        return self

    async def __anext__(self) -> int:
        if not self.left:
            raise StopAsyncIteration
        self.left -= 1
        return self.left


class Iterable:
    def __aiter__(self) -> Counted:
        return Counted(1)


def test_asynchronous_iterators() -> None:
    """One that never waits lets others have their turn."""
    found = run(
        [stream(1, Counted, 5), call(2, answers, 2), credit(1, 9)], [stream(3, Iterable), credit(3, 9)]
    )
    assert found.items(1) == [4, 3, 2, 1, 0] and found.items(3) == [0]
    kinds = [frame[:2] for frame in found.sent]
    assert kinds.index(("result", 2)) < kinds.index(("result", 1))


async def closed(then: str, at: str) -> Any:
    if at == "waiting":
        asyncio.get_running_loop().call_later(0.05, bring, cancel(1))
    try:
        yield 1
        if at == "waiting":
            await asyncio.sleep(LONG)
        yield 2
    except (asyncio.CancelledError, GeneratorExit) as error:
        LOG.append(type(error).__name__)
        if then == "fails":
            raise KeyError("k") from None
        if then == "ignores":
            yield 3
        raise
    finally:
        await asyncio.sleep(0)
        LOG.append("cleaned up")


IGNORED = ("error", ("RuntimeError", "async generator ignored GeneratorExit"))


# Python says so of a generator that goes on after GeneratorExit.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("at", "then", "end"),
    [
        ("waiting", "", ("cancelled",)),
        ("waiting", "fails", ("error", ("KeyError", "'k'"))),
        ("waiting", "ignores", ("cancelled",)),
        ("paused", "", ("cancelled",)),
        ("paused", "fails", ("error", ("KeyError", "'k'"))),
        ("paused", "ignores", IGNORED),
    ],
)
def test_cancel_of_an_asynchronous_generator(at: str, then: str, end: tuple[Any, ...]) -> None:
    """In its code it is a CancelledError; at a `yield`, for want of credit, the generator is closed."""
    events = [stream(1, closed, then, at), credit(1, 9 if at == "waiting" else 1), call(2, cancels_later, at)]
    found = run(events)
    assert found.items(1) == [1] and found.ends() == {1: end, 2: ("result", None)}
    assert LOG[0] == ("CancelledError" if at == "waiting" else "GeneratorExit")
    assert "cleaned up" in LOG or then == "ignores"


async def cancels_later(at: str) -> None:
    await asyncio.sleep(0.05)
    if at == "paused":
        bring(cancel(1))
    await asyncio.sleep(0.1)


async def unsendable_item() -> Any:
    try:
        yield 1
        yield object()
    finally:
        await asyncio.sleep(0)
        LOG.append("closed")


def test_item_that_cannot_be_encoded() -> None:
    found = run([stream(1, unsendable_item), credit(1, 9), call(2, answers, 2)])
    assert found.items(1) == [1] and found.ends()[1][1][0] == "EncodeError" and "closed" in LOG


async def fails_after_one() -> Any:
    yield 1
    raise ValueError("broken off")


def test_error_ends_the_stream() -> None:
    found = run([stream(1, fails_after_one), credit(1, 9)])
    assert found.items(1) == [1] and found.ends() == {1: ("error", ("ValueError", "broken off"))}


COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("COLOUR", default="none")


async def coloured(name: str) -> str:
    before = COLOUR.get()
    COLOUR.set(name)
    await asyncio.sleep(0.01)
    return f"{before} {COLOUR.get()}"


def test_each_call_has_a_context() -> None:
    found = run([call(1, coloured, "red"), call(2, coloured, "blue")], call(3, coloured, "green"))
    assert found.ends() == {
        1: ("result", "none red"),
        2: ("result", "none blue"),
        3: ("result", "none green"),
    }


async def says(name: str) -> None:
    for number in range(2):
        worker.deny(f"{name}{number}")
        await asyncio.sleep(0.01)
    await asyncio.to_thread(worker.deny, f"{name} of a thread")
    raise PermissionError(name)


def test_denials_belong_to_the_call() -> None:
    found = run([call(1, says, "a"), call(2, says, "b")])
    failures = {frame[1]: frame[2] for frame in found.sent}
    assert failures[1].denials == ("a0", "a1", "a of a thread")
    assert failures[2].denials == ("b0", "b1", "b of a thread")


async def leaves_a_task() -> None:
    LOG.append(asyncio.ensure_future(goes_on()))


async def goes_on() -> None:
    try:
        await asyncio.sleep(0.05)
        bring(call(2, plain, 2), EOF)
        await asyncio.sleep(LONG)
    finally:
        LOG.append("cleaned up")


def test_tasks_that_a_call_leaves_behind() -> None:
    """They go on while the child waits, and are cancelled at the end."""
    found = run([call(1, leaves_a_task)])
    assert found.ends()[1] == ("result", None) and found.waits == 1
    assert LOG[-1] == "cleaned up"


async def blocks() -> None:
    time.sleep(0.01)
    bring(SHUTDOWN)
    await asyncio.sleep(0.05)


def test_shutdown_lets_tasks_end() -> None:
    with driven(call(1, blocks)) as (found, driver):
        driver.run()
    assert found.ends() == {1: ("result", None)} and list(found.later) == [EOF]


def test_end_of_the_stream_cancels_tasks() -> None:
    found = run([call(1, waits, "raises"), call(2, brings_the_end)])
    assert found.of("result") == [] and LOG == ["cancelled"]


async def brings_the_end() -> None:
    bring(EOF)


@pytest.mark.parametrize("make", [call, stream])
def test_function_that_is_not_there(make: Callable[..., scripted.Event]) -> None:
    """A coroutine for a stream is no iterator; it is closed, so that nothing warns of it."""
    found = run(make(1, answers, 1))
    if make is call:
        assert found.ends() == {1: ("result", 1)}
    else:
        assert found.ends()[1][1] == ("TypeError", "stream needs a generator or iterator, not coroutine")
