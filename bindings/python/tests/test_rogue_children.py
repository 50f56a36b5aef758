"""Children that write slowly, from other processes, late or without an end: an error in bounded time."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

import hookless
import naive
from hookless import dumps
from test_worker_death import PATIENCE, gone, start

# What the session may say of bytes that are nobody's answer.
FOUL = (hookless.DecodeError, hookless.ProtocolError)
ANSWER = naive.frame(naive.integer(5), kind=naive.RESULT, call_id=2)


def in_time(call: Callable[[], object]) -> None:
    """Not a measurement: what hangs takes longer."""
    began = time.monotonic()
    call()
    assert time.monotonic() - began < PATIENCE


def test_one_byte_at_a_time(children: str) -> None:
    """A true answer that drips in is taken; one that would take for ever is given up at the deadline."""
    with start(children) as worker:
        worker.call("jobs:pid")
        assert worker.options(deadline=PATIENCE).call("rogue:drip", ANSWER, 0.01) == 5
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        with pytest.raises((hookless.DeadlineExceeded, hookless.Stalled)):
            in_time(lambda: worker.options(deadline=1).call("rogue:drip", ANSWER, 0.5))
        assert gone(pid)


@pytest.mark.parametrize("late", [0.0, 0.5])
def test_a_forked_writer(children: str, late: float) -> None:
    """A second result, from another process: before the true one or after it, the session is over."""
    with start(children) as worker:
        worker.call("jobs:pid")
        patient = worker.options(deadline=PATIENCE)
        if late:
            assert patient.call("rogue:fork_that_writes", ANSWER, late) == "answered"
            time.sleep(2 * late)
            with pytest.raises(FOUL):
                patient.call("jobs:sleep", 0)
        else:
            # The forged answer is believed, for it is the child's word; the true one is a second result.
            assert patient.call("rogue:fork_that_writes", ANSWER, 0.0) == 5
            with pytest.raises(FOUL):
                patient.call("jobs:sleep", 0.5)
        with pytest.raises(hookless.HooklessError):
            worker.call("jobs:pid")


def test_a_grandchild_that_holds_the_channel(children: str) -> None:
    """The host waits neither for its end nor for that of its output."""
    worker = start(children)
    number = worker.options(deadline=PATIENCE).call("rogue:grandchild", 60.0)
    try:
        in_time(worker.close)
    finally:
        stop(number)


def test_a_child_that_leaves_a_grandchild(children: str) -> None:
    """The channel never ends, since another holds it: the death of the child is what counts."""
    with start(children) as worker:
        pid = worker.call("jobs:pid")

        def call() -> None:
            with pytest.raises(hookless.HooklessError) as caught:
                worker.options(deadline=5).call("rogue:grandchild_and_exit", 60.0)
            told = f"{caught.value} {getattr(caught.value, 'stderr', '')!r}"
            found = re.search(r"grandchild (\d+)", told)
            assert found, told
            stop(int(found[1]))

        in_time(call)
        assert gone(pid)


def stop(number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def test_output_after_the_result(children: str) -> None:
    """It belongs to no call that is over; the next one is answered, and the session goes on."""
    seen: list[str] = []
    with start(children) as worker:
        options = worker.options(deadline=PATIENCE, on_output=lambda stream, data: seen.append(repr(data)))
        assert options.call("rogue:late_output", "late words", 0.2) == "answered"
        assert "late words" not in "".join(seen)
        time.sleep(0.4)
        assert options.call("jobs:add", 1, 2) == 3


@pytest.mark.parametrize("descriptor", [1, 2, -1])
def test_bytes_without_an_end(children: str, descriptor: int) -> None:
    """Of output the call's deadline is the end, on the channel the first byte that is wrong."""
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        wanted: type[Exception] = hookless.DecodeError if descriptor == -1 else hookless.DeadlineExceeded
        with pytest.raises(wanted):
            in_time(lambda: worker.options(deadline=1.5).call("rogue:endless", descriptor))
        assert gone(pid) if descriptor == -1 else worker.call("jobs:pid") == pid


def test_frames_of_an_older_session(children: str) -> None:
    """What another child answered once is no answer here: its call is not open, or is not of this kind."""
    with start(children) as one, start(children) as two:
        assert one.call("jobs:add", 1) == 2
        two.call("jobs:pid")
        for old in (naive.frame(naive.integer(2), kind=naive.RESULT, call_id=1), dumps(2)):
            with start(children) as fresh:
                fresh.call("jobs:pid")
                with pytest.raises(hookless.ProtocolError):
                    fresh.options(deadline=PATIENCE).call("jobs:write_to_channel", old)
        assert one.call("jobs:add", 1) == 2


def test_two_results(children: str) -> None:
    """The second one finds no open call."""
    with start(children) as worker:
        worker.call("jobs:pid")
        patient = worker.options(deadline=PATIENCE)
        # The first answers the call; the second is there when the next is made.
        assert patient.call("jobs:write_to_channel", ANSWER * 2) == 5
        with pytest.raises(hookless.ProtocolError):
            patient.call("jobs:add", 1)


def test_a_cancel_that_races_the_result(children: str) -> None:
    """Deadlines of about what the calls take: whichever end comes is that call's, and no other's."""
    outcomes: set[object] = set()
    with start(children) as worker:
        pid = worker.call("jobs:pid")
        for number in range(200):
            quick = worker.options(deadline=0.0002 * (number % 20))
            try:
                outcomes.add(quick.call("jobs:same", number) == number)
            except hookless.DeadlineExceeded as error:
                outcomes.add(str(error).rpartition("; ")[2])
            assert worker.call("jobs:same", -number) == -number
        assert worker.call("jobs:pid") == pid
    assert outcomes == {True, "the call was cancelled"}


@pytest.mark.parametrize("status", ["nothing", "half a head", "half a body"])
def test_the_end_without_a_result(children: str, status: str) -> None:
    """`os._exit(0)` with nothing said, or in the middle of a frame: never a value, and never success."""
    part = {"nothing": b"", "half a head": ANSWER[:16], "half a body": ANSWER[:-1]}[status]
    with start(children) as worker:
        worker.call("jobs:pid")
        with pytest.raises((hookless.WorkerDied, hookless.Truncated)):
            worker.options(deadline=PATIENCE).call("jobs:write_to_channel_and_exit", part)


def test_a_worker_is_no_worse_for_it(children: str) -> None:
    """Each of these costs its own session only."""
    with start(children) as worker:
        assert worker.call("jobs:add", 1) == 2
        with start(children) as other, pytest.raises(FOUL):
            other.options(deadline=PATIENCE).call("jobs:write_to_channel", b"\0")
        assert worker.call("jobs:add", 1) == 2
