"""Full pipes, signals at every moment, and streams that are cut at every byte: each value arrives whole."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import hookless
from faulty import nothing_left
from hookless import Worker, aio
from processes import PATIENCE

MEGABYTES = b"0123456789abcdef" * (20 << 16)

Exchange = Callable[[str, bytes], None]


def by_call(children: str, value: bytes) -> None:
    with Worker(paths=[children], isolation="none") as worker:
        assert worker.call("faults:small_pipes") == [4096, 4096]
        worker.call("faults:print_on")
        patient = worker.options(deadline=PATIENCE)
        for _ in range(3):
            assert patient.call("jobs:same", value) == value
        assert patient.call("jobs:flood", 1, 10_000_000) == 7
        worker.call("faults:print_no_more")


def by_stream(children: str, value: bytes) -> None:
    with Worker(paths=[children], isolation="none") as worker:
        worker.call("faults:small_pipes")
        worker.call("faults:print_on")
        stream = worker.options(deadline=PATIENCE).stream("faults:copies", value, 4)
        assert [item == value for item in stream] == [True] * 4
        worker.call("faults:print_no_more")


def by_loop(children: str, value: bytes) -> None:
    async def read(stream: aio.Stream[Any]) -> list[bool]:
        return [item == value async for item in stream]

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker, asyncio.timeout(PATIENCE):
            await worker.call("faults:small_pipes")
            await worker.call("faults:print_on")
            calls = [worker.call("jobs:same", value) for _ in range(3)]
            items = read(worker.stream("faults:copies", value, 4))
            found = await asyncio.gather(items, *calls)
            assert found == [[True] * 4, value, value, value]
            await worker.call("faults:print_no_more")

    asyncio.run(main())


def by_executor(children: str, value: bytes) -> None:
    with hookless.Executor(1, paths=[children], isolation="none") as executor:
        executor.submit("faults:small_pipes")
        executor.submit("faults:print_on")
        futures = [executor.submit("jobs:same", value) for _ in range(3)]
        assert [future.result(PATIENCE) == value for future in futures] == [True] * 3
        executor.submit("faults:print_no_more").result(PATIENCE)


WAYS: list[Exchange] = [by_call, by_stream, by_loop, by_executor]


@pytest.mark.parametrize("way", WAYS)
def test_c148_pipes_are_full_both_ways(children: str, way: Exchange) -> None:
    """The child prints into pipes of 4096 bytes without a pause while large values pass in both directions.

    Source: n8n-io/n8n#19084, jonatanjacobsson/ifcpipeline#28, python/cpython#73983.
    """
    with nothing_left():
        way(children, MEGABYTES)


@pytest.mark.parametrize("size", [65_537, 262_144, 100_000_000])
def test_c148_a_channel_of_pipes_that_hold_4096_bytes(children: str, size: int) -> None:
    """A result that no pipe holds: the host reads while it waits."""
    with nothing_left(), attached(children) as worker:
        patient = worker.options(deadline=PATIENCE)
        assert patient.call("jobs:same", b"x" * 5) == b"x" * 5
        assert patient.call("telling:large", size) == bytes(size)
        assert list(patient.stream("telling:blocks", 2, size)) == [
            bytes([number]) * size for number in (0, 1)
        ]


@contextlib.contextmanager
def attached(children: str) -> Iterator[Worker]:
    """A worker whose channel is two pipes, each of 4096 bytes."""
    down, up = os.pipe(), os.pipe()
    for descriptor in (down[1], up[1]):
        assert fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 4096) == 4096
    command = [
        sys.executable,
        "-m",
        "hookless",
        "child",
        "--stdio",
        "--isolation",
        "none",
        "--path",
        children,
    ]
    with subprocess.Popen(command, stdin=down[0], stdout=up[1]) as child:
        os.close(down[0])
        os.close(up[1])
        with Worker.attach(up[0], write_fd=down[1]) as worker:
            yield worker
        child.wait(PATIENCE)


@pytest.mark.parametrize("pieces", [1, 3, 64])
def test_c167_streams_that_are_cut_at_every_byte(children: str, pieces: int) -> None:
    """Short reads and short writes on both sides: HELLO, calls, items, failures and progress all the same."""
    (host, near), (far, child) = socket.socketpair(), socket.socketpair()
    for end in (host, near, far, child):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)

    def relay(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(pieces):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    relays = [threading.Thread(target=relay, args=ends) for ends in ((near, far), (far, near))]
    for one in relays:
        one.start()
    number = str(child.fileno())
    command = [sys.executable, "-m", "hookless", "child", "--fd", number, "--isolation", "none"]
    command += ["--path", children]
    with subprocess.Popen(command, pass_fds=[child.fileno()]) as process:
        child.close()
        with Worker.attach(host) as worker:
            value = [random.Random(1).randbytes(20_000), "text" * 50, {"k": 1.5}]
            assert worker.call("jobs:same", value) == value
            assert list(worker.stream("telling:numbers", 20)) == list(range(20))
            with pytest.raises(ValueError, match="whole"):
                worker.call("jobs:fail", "whole")
            heard: list[int] = []
            options = worker.options(on_progress=lambda done, total, text: heard.append(done))
            assert options.call("telling:report", 20) == "reported" and heard[-1] == 19
        process.wait(PATIENCE)
    for one in relays:
        one.join()
    for end in (near, far):
        end.close()


@contextlib.contextmanager
def ticking(seconds: float) -> Iterator[list[int]]:
    """A signal to this process so often, with a handler that does nothing but count."""
    ticks = [0]

    def count(*_: object) -> None:
        ticks[0] += 1

    before = signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield ticks
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("way", WAYS)
def test_signals_at_every_millisecond(children: str, way: Exchange) -> None:
    """EINTR anywhere, in the host: nothing is lost, and nothing is sent twice."""
    with nothing_left(), ticking(0.001) as ticks:
        way(children, MEGABYTES)
    assert ticks[0] > 20


def test_signals_at_every_millisecond_in_the_child(children: str) -> None:
    """And in both at once."""
    with nothing_left(), Worker(paths=[children], isolation="none") as worker, ticking(0.001):
        worker.call("faults:tick", 0.001)
        patient = worker.options(deadline=PATIENCE)
        for _ in range(3):
            assert patient.call("jobs:same", MEGABYTES) == MEGABYTES
        assert list(patient.stream("telling:numbers", 300)) == list(range(300))
        assert patient.call("telling:wait", 0.2) == "waited"
        assert patient.call("telling:wait_async", 0.2) == "waited"
        assert worker.call("faults:tick", 0.0) > 20


ROUNDS = 150


def test_a_deadline_races_the_result(children: str) -> None:
    """One of two outcomes, the worker lives, and the next call gets its own answer."""
    rng = random.Random(5)
    outcomes = set()
    with nothing_left(), Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
        pid = worker.call("jobs:pid")
        for number in range(ROUNDS):
            target = rng.choice(("telling:wait_async", "faults:same_later"))
            try:
                options = worker.options(deadline=rng.uniform(0, 0.003))
                outcomes.add(options.call(target, 0.001, number) == number)
            except hookless.DeadlineExceeded as error:
                outcomes.add(None if str(error).endswith("the call was cancelled") else error)
            assert worker.call("jobs:same", [number]) == [number]
        assert worker.call("jobs:pid") == pid
    assert outcomes <= {True, None}


def test_leaving_a_stream_races_its_items(children: str) -> None:
    rng = random.Random(6)
    with nothing_left(), Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
        pid = worker.call("jobs:pid")
        for number in range(ROUNDS):
            target = rng.choice(("telling:numbers", "telling:async_numbers"))
            with worker.stream(target, rng.choice((0, 1, 2, 3, 20))) as stream:
                found = [item for item, _ in zip(stream, range(rng.randrange(20)), strict=False)]
            assert found == list(range(len(found)))
            assert worker.call("jobs:same", [number]) == [number]
        assert worker.call("jobs:pid") == pid


class Interrupted(Exception):
    """Raised by a signal's handler."""


def interrupt(*_: object) -> None:
    raise Interrupted


@pytest.mark.usefixtures("no_collector")
def test_an_interrupt_races_the_result(children: str) -> None:
    rng = random.Random(7)

    with nothing_left(), Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
        pid = worker.call("jobs:pid")
        before = signal.signal(signal.SIGALRM, interrupt)
        outcomes = set()
        try:
            for number in range(ROUNDS):
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 0.002))
                    outcomes.add(worker.call("faults:same_later", 0.001, number) == number)
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Interrupted:
                    outcomes.add(None)
                assert worker.call("jobs:same", [number]) == [number]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert worker.call("jobs:pid") == pid
    assert outcomes <= {True, None}


def test_cancelling_a_task_races_the_result(children: str) -> None:
    """Many at once: each task has one outcome, and the others their own answers."""
    rng = random.Random(8)

    async def ask(worker: aio.Worker, number: int) -> object:
        target = rng.choice(("telling:wait_async", "faults:same_later"))
        task = asyncio.create_task(worker.call(target, 0.0005, number))
        asyncio.get_running_loop().call_later(rng.uniform(0, 0.05), task.cancel)
        outcome: object
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        return isinstance(outcome, asyncio.CancelledError) or outcome == number

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
            pid = await worker.call("jobs:pid")
            for _ in range(ROUNDS // 10):
                calls = [ask(worker, number) for number in range(10)]
                others = [worker.call("jobs:same", [number]) for number in range(10)]
                found = await asyncio.gather(*calls, *others)
                assert found == [True] * 10 + [[number] for number in range(10)]
            assert await worker.call("jobs:pid") == pid

    with nothing_left():
        asyncio.run(main())


def test_a_deadline_races_the_result_of_a_task(children: str) -> None:
    """In an executor."""
    with (
        nothing_left(),
        hookless.Executor(2, deadline=0.02, grace=PATIENCE, paths=[children], isolation="none") as executor,
    ):
        futures = [executor.submit("faults:same_later", 0.0199, number) for number in range(ROUNDS)]
        for number, future in enumerate(futures):
            error = future.exception(PATIENCE)
            assert isinstance(error, hookless.DeadlineExceeded) or future.result() == number


def test_a_signal_that_is_lost_comes_again(children: str) -> None:
    """A frame's signal may come just before the code begins to wait, and interrupt nothing."""
    with nothing_left(), Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
        pid = worker.call("jobs:pid")
        with pytest.raises(hookless.DeadlineExceeded, match="the call was cancelled"):
            worker.options(deadline=0.3).call("faults:deaf_for_a_while")
        # And of a call that nobody waits for, while another waits for the child.
        with ticking(0):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(Interrupted):
                worker.call("faults:deaf_for_a_while")
        assert worker.options(deadline=PATIENCE / 2).call("jobs:pid") == pid


def test_a_signal_that_is_lost_comes_again_in_a_loop(children: str) -> None:
    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none", grace=PATIENCE) as worker:
            pid = await worker.call("jobs:pid")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await worker.call("faults:deaf_for_a_while")
            assert await worker.options(deadline=PATIENCE / 2).call("jobs:pid") == pid

    with nothing_left():
        asyncio.run(main())
