"""A child over its channel, event by event: streams, tasks, cancelling, progress, logs, the end.

Each in a child without barriers and in one that has given up what it can.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import LANDLOCK_UNWANTED
from hookless import Limits
from raw_host import Host, hosted
from test_worker_child import running


@pytest.fixture(scope="module", params=["none"] if LANDLOCK_UNWANTED else ["none", "strict"])
def running_host(request: pytest.FixtureRequest) -> Iterator[Host]:
    with hosted(request.param) as host:
        yield host


@pytest.fixture
def host(running_host: Host) -> Host:
    running_host.events.clear()
    return running_host


def test_several_calls(host: Host) -> None:
    """Sent at once, answered in order; afterwards the child is as before."""
    numbers = [host.call("echo", number) for number in range(50)]
    assert [host.end(number) for number in numbers] == [("result", (one,)) for one in range(50)]
    assert [event[1] for event in host.events] == numbers


def test_stream(host: Host) -> None:
    """Items for credit, then the value."""
    call = host.stream("numbers", 100, credit=3)
    for number in range(3):
        assert host.until("item", call) == number
    assert host.channel.step(0.1) is None
    between = host.call("echo", "between")
    assert host.end(between) == ("result", ("between",))
    assert host.channel.credit(call, 200)
    assert host.end(call) == ("result", "end") and host.of("item", call) == list(range(100))


def test_large_items_and_arguments_at_once(host: Host) -> None:
    """Both ends send more than the socket holds; neither waits for the other for ever."""
    call = host.stream("large", 8, 8 << 20, credit=9)
    echo = host.call("echo", bytes(32 << 20))
    ends = {call: "", echo: ""}
    while not all(ends.values()):
        kind, number, value = host.next()
        if kind == "result":
            ends[number] = kind
            assert value is None or value == (bytes(32 << 20),)
    assert [len(one) for one in host.of("item", call)] == [8 << 20] * 8
    host.events.clear()


def test_streams_and_tasks_interleave(host: Host) -> None:
    slow, quick = host.call("later", 0.3, "slow"), host.call("later", 0.0, "quick")
    stream, plain = host.stream("later_numbers", 5, credit=9), host.call("echo", 1)
    for number in (quick, stream, plain, slow):
        host.end(number) if number not in {one[1] for one in host.events if one[0] == "result"} else None
    results = [event[1] for event in host.events if event[0] == "result"]
    assert results[-1] == slow and sorted(results) == sorted([slow, quick, stream, plain])
    assert host.of("item", stream) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("way", ["sleep", "lock", "join", "read", "spin", "loop"])
def test_cancel_of_plain_code(host: Host, way: str) -> None:
    """The kernel's signal interrupts it."""
    call = host.call("ready", way)
    host.until("progress", call)
    assert host.channel.cancel(call)
    assert host.end(call) == ("cancelled",)
    assert host.end(host.call("echo", 1)) == ("result", (1,))


def test_cancel_at_any_time(host: Host) -> None:
    """However far the call is: one outcome, and the next call has its own."""
    outcomes = set()
    for pause in range(60):
        call = host.call("echo", bytes(1000))
        time.sleep(pause * 5e-6)
        host.channel.cancel(call)
        outcome = host.end(call)
        outcomes.add(outcome[0])
        assert outcome in (("cancelled",), ("result", (bytes(1000),)))
        assert host.end(host.call("echo", pause)) == ("result", (pause,))
    assert outcomes <= {"cancelled", "result"}


def test_cancel_of_code_that_swallows_it(host: Host) -> None:
    call = host.call("swallow")
    host.until("progress", call)
    host.channel.cancel(call)
    assert host.end(call) == ("result", "the host has cancelled this call")


@pytest.mark.parametrize("isolation", ["none"] if LANDLOCK_UNWANTED else ["none", "strict"])
def test_cancel_during_an_import(isolation: str) -> None:
    """It comes to its end first: broken off, the package would lack its part in every later call."""
    with hosted(isolation) as host:
        call = host.channel.begin(0, "slowly:ready", None, (), {})
        host.until("progress", call)
        host.channel.cancel(call)
        assert host.end(call) in (("cancelled",), ("result", 5))
        assert host.end(host.channel.begin(0, "slowly:ready", None, (), {})) == ("result", 5)


def test_what_is_said_while_cleaning_up(host: Host) -> None:
    """Its log and its output come before CANCELLED."""
    host.output[:] = [b"", b""]
    call = host.call("clean_up")
    host.until("progress", call)
    host.channel.cancel(call)
    assert host.end(call) == ("cancelled",)
    assert [line[2] for line in host.of("log", call)] == ["cleaned up"]
    host.end(host.call("echo"))
    assert host.output[0] == b"cleaned up\n"


def test_cancel_while_another_call_runs(host: Host) -> None:
    """One that waits is acknowledged at once, and never runs; the one that runs goes on."""
    first, second = host.call("swallow"), host.call("echo", 1)
    host.until("progress", first)
    host.channel.cancel(second)
    assert host.end(second) == ("cancelled",)
    assert host.channel.step(0.1) is None
    host.channel.cancel(first)
    assert host.end(first)[0] == "result"


def test_cancel_of_streams(host: Host) -> None:
    """A generator is closed where it waits for credit."""
    call = host.stream("closed", credit=1)
    assert host.until("item", call) == 1
    host.channel.cancel(call)
    assert host.end(call) == ("cancelled",)
    assert [line[2] for line in host.of("log", call)] == ["closed"]
    asynchronous = host.stream("later_numbers", 100, credit=1)
    host.until("item", asynchronous)
    host.channel.cancel(asynchronous)
    assert host.end(asynchronous) == ("cancelled",)


def test_cancel_of_a_task(host: Host) -> None:
    call, other = host.call("later", 60, 1), host.call("later", 0.2, 2)
    time.sleep(0.1)
    host.channel.cancel(call)
    assert host.end(call) == ("cancelled",) and host.end(other) == ("result", 2)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("x" * 1024, "x" * 1024),
        ("x" * 1025, "x" * 1024),
        ("\u20ac" * 400, "\u20ac" * 341),
        ("a\udc80b", "a\\udc80b"),
        ("\ud800" * 400, ("\\ud800" * 400)[:1024]),
    ],
)
def test_progress(host: Host, text: str, sent: str) -> None:
    """S15: the text is cut between two characters, surrogates that stand alone become escapes."""
    call = host.call("progress", 2**64 - 1, None, text)
    assert host.end(call) == ("result", None)
    assert host.of("progress", call) == [(2**64 - 1, None, sent)]


def test_log(host: Host) -> None:
    """More records than the socket holds, each of them, in order."""
    call = host.call("log", 300, 32_000)
    assert host.end(call) == ("result", None)
    lines = host.of("log", call)
    assert [line[2].split()[0] for line in lines] == [str(number) for number in range(300)]
    level, logger, _, created, path, line, function = lines[0]
    assert (level, logger, function) == (30, "talking", "log") and path.endswith("talking.py") and line > 0
    assert abs(created - time.time()) < 600


@pytest.mark.parametrize(
    ("created", "sent"),
    [(5.5, 5.5), (-1.0, 0.0), (float("nan"), 0.0), (float("inf"), 0.0), (253_402_300_800.0, 0.0)],
)
def test_log_of_odd_records(host: Host, created: float, sent: float) -> None:
    call = host.call("log_text", "n" * 300, "m\ud800" + "y" * 40_000, created)
    assert host.end(call) == ("result", None)
    (line,) = host.of("log", call)
    assert line[1] == "n" * 256 and line[2] == ("m\\ud800" + "y" * 40_000)[:32_768]
    assert line[3] == sent and line[4] == "p" * 4096 and line[6] == "f" * 256


def test_threads_while_the_main_thread_waits(host: Host) -> None:
    """It sends what they have left although it blocks."""
    call = host.call("reports_of_a_thread")
    assert host.until("progress", call) == (1, None, "")
    host.until("log", call)
    host.channel.cancel(call)
    assert host.end(call) == ("cancelled",)


def test_thread_that_is_left_behind(host: Host) -> None:
    """Its record belongs to no call, and comes although the child only waits."""
    assert host.end(host.call("leave_a_thread", 0.2)) == ("result", None)
    assert host.until("log", 0)[2] == "left behind"


def test_deaf_code_loses_its_own_cancellation_only() -> None:
    with hosted() as host:
        call = host.call("ready", "deaf")
        host.until("progress", call)
        time.sleep(0.05)
        host.channel.cancel(call)
        assert host.end(call) == ("result", "whole")
        assert host.end(host.stream("numbers", 3, credit=9)) == ("result", "end")


def test_shutdown() -> None:
    """The child ends its stream, and itself, with status 0."""
    with hosted() as host:
        assert host.end(host.call("echo", 1)) == ("result", (1,))
        host.channel.shutdown()
        assert host.next()[0] == "eof"
        assert host.child.end(20.0, lambda: None) == 0


@pytest.mark.parametrize("name", ["settles", "closed", "later"])
def test_host_that_is_gone(name: str) -> None:
    """Code that runs is interrupted, what waits is closed, and the child ends by itself."""
    with hosted() as host:
        if name == "settles":
            call = host.call("settles")
            host.until("progress", call)
        elif name == "closed":
            host.until("item", host.stream("closed", credit=1))
        else:
            host.call("later", 60, 1)
            assert host.end(host.call("later", 0.0, 1)) == ("result", 1)
        host.channel.close()
        host.child.hang_up()
        assert host.child.end(20.0, lambda: None) == 0


ORPHANS = """
import os, sys
sys.path.insert(0, sys.argv[1])
from raw_host import hosted
with hosted() as host:
    call = host.call("ready", sys.argv[2])
    host.until("progress", call)
    print(host.child.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("way", ["sleep", "spin"])
def test_code_whose_host_was_killed(way: str, tmp_path: Path) -> None:
    """No child works on for nobody."""
    import subprocess
    import sys

    here = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", ORPHANS, here, way], capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    end = time.monotonic() + 20
    while running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not running(pid)


def test_host_that_takes_its_time() -> None:
    """A large item stands half read for longer than a frame may stand still: it is the host's to take."""
    with hosted(stall=0.5) as host:
        call = host.stream("large", 2, 16 << 20, credit=9)
        host.until("item", call)
        time.sleep(1.5)
        assert host.end(call) == ("result", None) and len(host.of("item", call)) == 2


def test_limits_of_the_host() -> None:
    """S17: the child encodes within them; S8: what does not fit is an ERROR that says whose limit it was."""
    with hosted(own=Limits(body=10_000)) as host:
        assert host.end(host.call("too_large", 9_000)) == ("result", bytes(9_000))
        kind, (name, message) = host.end(host.call("too_large", 11_000))
        assert (kind, name) == ("error", "hookless.EncodeError") and "body" in message
        assert host.end(host.call("echo", 1)) == ("result", (1,))


def test_little_is_loaded() -> None:
    """A child that needs no asyncio and no logging has neither, nor what they load."""
    with hosted() as host:
        call = host.channel.begin(2, "sys:modules.copy", None, (), {}, 1000)
        assert host.end(call) == ("result", None)
    modules = set(host.of("item", call))
    assert "hookless._driver" in modules
    assert not {"asyncio", "logging", "threading", "enum", "collections", "traceback", "signal"} & modules
    assert not {"hookless._tasks", "hookless._logging"} & modules


def test_a_fork_is_cut_off() -> None:
    """It cannot write to the channel, and what it says is nothing to the host."""
    with hosted() as host:
        call = host.call("fork_and_talk")
        kind, pid = host.end(call)
        assert kind == "result" and type(pid) is int
        assert host.of("progress", call) == host.of("log", call) == []
        assert host.end(host.call("echo", 1)) == ("result", (1,))
