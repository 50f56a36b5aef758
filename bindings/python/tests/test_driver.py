"""The driver of a worker's child, over a scripted channel: functions, scripts, outcomes, the end."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from hookless import DecodeError, EncodeError, worker
from scripted import EOF, SHUTDOWN, bring, call, cancel, credit, driven, run, script, stream

LOG: list[object] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    LOG.clear()


def add(left: int, right: int = 0) -> int:
    LOG.append((left, right))
    return left + right


def outside_of_any_loop() -> int:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()

    async def one() -> int:
        return 1

    return asyncio.run(one())


def named(call: int, function: int, self: int) -> list[int]:
    """Arguments with the names of the driver's own parameters."""
    return [call, function, self]


def raises(error: str) -> None:
    raise {
        "value": ValueError("v"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "generator": GeneratorExit(),
        "stop": StopIteration(5),
        "own": worker.Cancelled("mine"),
        "async": asyncio.CancelledError("mine"),
        "encode": EncodeError("mine"),
        "group": ExceptionGroup("g", [ValueError("v")]),
    }[error]


def unsendable() -> object:
    return object()


def test_calls_in_order() -> None:
    """Each one is answered before the next begins, also when they come at once."""
    found = run(
        call(1, add, 1, right=2), [call(2, add, 3), call(3, add, 4)], script(4, "result = a + 1", a=2)
    )
    assert [frame[:2] for frame in found.sent] == [("result", 1), ("result", 2), ("result", 3), ("result", 4)]
    assert [frame[2] for frame in found.sent] == [3, 3, 4, 3]
    assert LOG == [(1, 2), (3, 0), (4, 0)]


def test_arguments_of_any_name() -> None:
    assert run(call(1, named, call=1, function=2, self=3)).ends() == {1: ("result", [1, 2, 3])}


def test_s18_arguments_that_a_child_cannot_hold() -> None:
    """The error comes in their place, and is the outcome of a call of any verb; no code has run."""
    lacks = DecodeError("no such zone", code="zone_unknown", offset=40, path="$[3][0]")
    found = run(("call", 1, lacks, 0), [call(2, add, 3), ("call", 3, lacks, 0), cancel(3), credit(3, 1)])
    assert sorted(frame[:2] for frame in found.sent) == [("cancelled", 3), ("error", 1), ("result", 2)]
    assert found.ends()[1] == ("error", ("DecodeError", "zone_unknown at byte 40 in $[3][0]: no such zone"))
    assert LOG == [(3, 0)]


def test_plain_code_is_outside_of_any_loop() -> None:
    """It may run one of its own."""
    assert run(call(1, outside_of_any_loop), call(2, outside_of_any_loop)).ends() == {
        1: ("result", 1),
        2: ("result", 1),
    }


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("value", "ValueError"),
        ("exit", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("generator", "GeneratorExit"),
        ("stop", "StopIteration"),
        ("own", "Cancelled"),
        ("async", "CancelledError"),
        ("encode", "EncodeError"),
        ("group", "ExceptionGroup"),
    ],
)
@pytest.mark.parametrize("make", [call, stream])
def test_whatever_is_raised_is_one_outcome(error: str, name: str, make: Any) -> None:
    """`Cancelled`, too, is an error like any other when nobody has cancelled. The loop goes on."""
    ends = run(make(1, raises, error), call(2, add, 1)).ends()
    assert ends[1][0] == "error" and ends[1][1][0] == name
    assert ends[2] == ("result", 1)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nowhere_at_all:f", "ModuleNotFoundError"),
        ("math:nothing", "AttributeError"),
        ("math", "AttributeError"),
    ],
)
def test_names_that_name_nothing(name: str, kind: str) -> None:
    ends = run(("call", 1, (0, name, None, (), {}), 0)).ends()
    assert ends[1][0] == "error" and ends[1][1][0] == kind


def test_result_that_cannot_be_encoded() -> None:
    """S8: an ERROR in its place."""
    ends = run(call(1, unsendable), call(2, add, 1)).ends()
    assert ends[1][0] == "error" and ends[1][1][0] == "EncodeError"
    assert ends[2] == ("result", 1)


def test_traceback_shows_no_frame_of_the_driver() -> None:
    failure = run(call(1, raises, "value")).sent[0][2]
    assert [frame.function for frame in failure.frames] == ["raises"]
    failure = run(call(1, add, "1", {})).sent[0][2]
    assert [frame.function for frame in failure.frames] == ["add"]


def closes_its_streams() -> None:
    """As foreign code does that means to be thorough."""
    sys.stdout = sys.stderr = None


def test_streams_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing them before the outcome is tried, no more."""
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    assert run(call(1, closes_its_streams)).ends() == {1: ("result", None)}


def test_shutdown_lets_calls_end() -> None:
    """Those that are open then get their outcome; nothing is waited for afterwards."""
    with driven([call(1, add, 1), stream(2, iterated, 2), SHUTDOWN, call_later := credit(2, 3)]) as (
        found,
        driver,
    ):
        driver.run()
    assert call_later[1] == 2
    assert found.ends() == {1: ("result", 1), 2: ("result", "end")}
    assert found.waits == 1 and list(found.later) == [EOF]


def iterated(count: int) -> Any:
    yield from range(count)
    return "end"


def test_end_of_the_stream_lets_what_is_open_clean_up() -> None:
    """What is not begun does not begin; nothing is sent."""
    found = run([stream(1, cleans_up), credit(1, 1)])
    assert found.sent == [("item", 1, 1)]
    assert LOG == ["cleaned up"]


def cleans_up() -> Any:
    try:
        yield 1
        yield 2
    finally:
        LOG.append("cleaned up")


def brings_the_end() -> None:
    try:
        bring(call(2, add, 1), EOF)
        LOG.append("went on")
    finally:
        LOG.append("cleaned up")


def test_end_of_the_stream_while_code_runs() -> None:
    """It is interrupted: nobody is there for its result."""
    found = run(call(1, brings_the_end))
    assert found.sent == [] and LOG == ["cleaned up"]


def test_arguments_are_let_go() -> None:
    """Before the next call begins; and what a failure held, with it."""
    ends = run(call(1, keeps_nothing), call(2, fails_with, [1]), call(3, how_many)).ends()
    assert ends[3] == ("result", 0)


class Held:
    alive = 0

    def __init__(self) -> None:
        Held.alive += 1

    def __del__(self) -> None:
        Held.alive -= 1


def keeps_nothing() -> None:
    Held()


def fails_with(_given: list[int]) -> None:
    held = Held()
    raise ValueError(type(held).__name__)


def how_many() -> int:
    return Held.alive


def test_cancel_before_the_call_begins() -> None:
    """Its code does not run. One for a call that has its outcome is nothing; they have crossed."""
    found = run([call(1, add, 1), call(2, add, 2), cancel(2)], [cancel(1), credit(1, 1)], call(3, add, 3))
    assert found.ends() == {1: ("result", 1), 2: ("cancelled",), 3: ("result", 3)}
    assert LOG == [(1, 0), (3, 0)]


def test_broken_channel_ends_the_driver() -> None:
    """What broke it is raised when foreign code is out of the way, and never in there."""
    with driven(call(1, breaks_it)) as (found, driver), pytest.raises(BrokenPipeError):
        driver.run()
    assert found.sent == [] and LOG == ["interrupted"]


def breaks_it() -> None:
    import scripted

    def broken(*_: object) -> None:
        raise BrokenPipeError

    scripted.channel.step = broken  # type: ignore[method-assign, assignment]
    try:
        bring(call(2, add, 1))
    except worker.Cancelled:
        LOG.append("interrupted")


def test_denials_belong_to_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each stream its own, though their code takes turns."""
    found = run([stream(1, denied, "a"), stream(2, denied, "b"), credit(1, 9), credit(2, 9)])
    failures = {frame[1]: frame[2] for frame in found.of("error")}
    assert failures[1].denials == ("a0", "a1") and failures[2].denials == ("b0", "b1")


def denied(name: str) -> Any:
    for number in range(2):
        worker.deny(f"{name}{number}")
        yield number
    raise PermissionError(name)
