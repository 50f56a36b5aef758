"""`hookless.aio.Worker` with a real child."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import RemoteError, aio
from test_aio_session import run
from test_worker_death import PATIENCE, fds, gone, offspring


def test_settings_are_those_of_the_other_worker() -> None:
    """Names, defaults and annotations; and those of `options`."""
    for name in ("__init__", "options"):
        one = inspect.signature(getattr(hookless.Worker, name)).parameters
        two = inspect.signature(getattr(aio.Worker, name)).parameters
        assert list(one.values()) == list(two.values())


def test_call_run_and_failures(children: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("result = [value + 1 for value in values]\n")

    async def main() -> None:
        async with aio.Worker(paths=[children]) as worker:
            assert await worker.call("jobs:add", 2, right=40) == 42
            assert await worker.run(script, inputs={"values": [1, 2]}) == [2, 3]
            assert await worker.options(returns=list[int]).run(script, inputs={"values": (1,)}) == [2]
            with pytest.raises(ValueError, match="no more") as caught:
                await worker.call("jobs:fail", "no more")
            assert isinstance(caught.value, RemoteError)
            with pytest.raises(hookless.EncodeError):
                await worker.call("jobs:same", object())
            with pytest.raises(hookless.HooklessError, match="once"):
                await worker.__aenter__()
            assert worker.isolation["mode"].startswith("strict") and worker.is_alive
            assert repr(worker).endswith("open>")
        assert not worker.is_alive
        with pytest.raises(hookless.HooklessError, match="closed"):
            await worker.call("jobs:add", 1)

    run(main())


def test_many_calls_of_one_worker(children: str) -> None:
    """Coroutines of the child run side by side: one after the other they would take ten times too long."""

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            calls = [worker.call("telling:wait_async", 1.0, number) for number in range(200)]
            calls += [worker.call("jobs:same", number) for number in range(200)]
            assert await asyncio.gather(*calls) == [*range(200), *range(200)]

    run(main())


def test_streams(children: str) -> None:
    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            stream = worker.stream("telling:numbers", 100)
            assert [item async for item in stream] == list(range(100)) and stream.value == 100
            items = worker.options(returns=int).stream("telling:async_numbers", 5)
            assert [item async for item in items] == list(range(5))
            async for item in worker.stream("telling:numbers", 10**9):
                if item == 50:
                    break
            async with worker.stream("telling:numbers", 10**9) as left:
                assert await anext(left) == 0
            gc.collect()
            while len(found := await worker.call("telling:was_left")) < 1:
                pass
            assert set(found) == {"numbers"}
            with pytest.raises(ValueError, match="in the middle"):
                async for _ in worker.stream("telling:then_fail", 3):
                    pass

    run(main())


@pytest.mark.parametrize("target", ["telling:wait", "telling:wait_async"])
def test_cancelling(children: str, target: str) -> None:
    """`asyncio.timeout`, `Task.cancel` and `deadline=`: the child goes on with the other calls."""

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            pid = await worker.call("jobs:pid")
            # Loads the module, so that none of these interrupts its import.
            await worker.call("telling:was_left")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await worker.call(target, 60)
            task = asyncio.create_task(worker.call(target, 60))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(hookless.DeadlineExceeded, match="was cancelled"):
                await worker.options(deadline=0.2).call(target, 60)
            assert await worker.call("jobs:pid") == pid
            assert await worker.call("telling:was_left") == [target.partition(":")[2]] * 3

    run(main())


@pytest.mark.filterwarnings("ignore:coroutine 'LoopSession._end' was never awaited:RuntimeWarning")
def test_a_loop_that_ends_before_it_has_ended_what_broke(children: str) -> None:
    """The child is stopped when nobody holds the worker any more."""
    loop = asyncio.new_event_loop()
    worker = loop.run_until_complete(aio.Worker(paths=[children], isolation="none").__aenter__())
    pid = loop.run_until_complete(worker.call("jobs:pid"))
    assert worker._session is not None
    loop.call_soon(worker._session.doom, "for a test", 60.0, 1.0)
    loop.call_soon(loop.stop)
    loop.run_forever()
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    assert not gone(pid)
    del worker, task
    gc.collect()
    assert gone(pid)


def test_a_call_that_swallows_its_cancelling_is_stopped(children: str) -> None:
    """In the background, past the grace."""

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none", grace=0.3) as worker:
            pid = await worker.call("jobs:pid")
            await worker.call("telling:was_left")
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await worker.call("telling:swallow")
            assert time.monotonic() - began < PATIENCE
            while not gone(pid):
                await asyncio.sleep(0.01)
            with pytest.raises(hookless.WorkerDied):
                await worker.call("jobs:pid")

    run(main())


@pytest.mark.parametrize("size", [1 << 20, 64 << 20])
def test_the_loop_goes_on_while_a_large_result_arrives(children: str, size: int) -> None:
    """A task that does nothing but yield gets its turns between the call and its result."""
    ticks = 0

    async def beat() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            await worker.call("jobs:add", 1)
            heart = asyncio.create_task(beat())
            before = ticks
            result = await worker.call("telling:large", size)
            assert ticks > before and result == bytes(size)
            heart.cancel()
            data = os.urandom(size)
            assert await worker.call("jobs:same", data) == data

    run(main())


def test_a_large_list_arrives_in_a_thread(children: str) -> None:
    """Its objects are made there, and other calls are answered meanwhile."""

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            large = list(range(10**6))
            found = await asyncio.gather(
                worker.call("jobs:same", large), *[worker.call("jobs:add", n) for n in range(10)]
            )
            assert found == [large, *range(1, 11)]

    run(main())


def test_what_is_heard(children: str) -> None:
    async def main() -> None:
        heard: list[Any] = []
        async with aio.Worker(paths=[children], isolation="none") as worker:
            options = worker.options(
                on_output=lambda stream, data: heard.append(data),
                on_progress=lambda *parts: heard.append(parts),
                on_log=lambda record: heard.append(record.getMessage()),
            )
            assert [item async for item in options.stream("telling:tell_all", 3)] == [0, 1, 2]
            assert b"item 0\n" in b"".join(one for one in heard if type(one) is bytes)
            assert "item 2" in heard and (2, 3, "") in heard
            assert b"error 2" in worker.output

    run(main())


def test_death_of_the_child(children: str) -> None:
    """All calls that are open are told, with status and last words."""

    async def main() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            open_calls = [asyncio.create_task(worker.call("telling:wait_async", 60)) for _ in range(3)]
            await asyncio.sleep(0.1)
            with pytest.raises(hookless.WorkerDied, match="last words") as caught:
                await worker.call("jobs:die", 3)
            assert caught.value.exit_status == 3
            for error in await asyncio.gather(*open_calls, return_exceptions=True):
                assert isinstance(error, hookless.WorkerDied) and error.exit_status == 3
            with pytest.raises(hookless.WorkerDied, match="since an earlier call"):
                await worker.call("jobs:pid")

    run(main())


def test_a_start_that_fails_and_one_that_is_cancelled(children: str) -> None:
    """No child and no descriptor is left."""

    async def main() -> None:
        gc.collect()
        before = (fds(), offspring())
        with pytest.raises(hookless.DeadlineExceeded):
            async with aio.Worker(isolation="none", start_timeout=0.0):
                pass
        task = asyncio.create_task(aio.Worker(isolation="none").__aenter__())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while (fds(), offspring()) != before:
            await asyncio.sleep(0.01)
            gc.collect()

    run(main())


def test_nothing_is_left_behind(children: str) -> None:
    """No descriptor, no zombie, no thread."""

    async def once() -> None:
        async with aio.Worker(paths=[children], isolation="none") as worker:
            await worker.call("telling:large", 8 << 20)
            stream = worker.stream("telling:numbers", 10**9)
            assert await anext(stream) == 0

    def state() -> tuple[int, list[str], int]:
        gc.collect()
        return fds(), offspring(), threading.active_count()

    run(once())
    before = state()
    for _ in range(3):
        run(once())
    end = time.monotonic() + PATIENCE
    # The last thread has said that the child has ended, and may have yet to end itself.
    while state() != before and time.monotonic() < end:
        time.sleep(0.01)
    assert state() == before


def test_a_forgotten_worker_is_ended(children: str) -> None:
    async def main() -> None:
        worker = aio.Worker(paths=[children], isolation="none")
        await worker.__aenter__()
        pid = await worker.call("jobs:pid")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del worker
            gc.collect()
        assert [one.category for one in caught] == [ResourceWarning] and gone(pid)

    run(main())


def test_a_worker_can_be_closed_after_its_loop(children: str) -> None:
    """From another loop; and while its own goes on, only there."""

    async def start() -> aio.Worker:
        worker = aio.Worker(paths=[children], isolation="none")
        return await worker.__aenter__()

    async def inside() -> None:
        loop = asyncio.new_event_loop()
        worker = await start()
        with pytest.raises(hookless.HooklessError, match="another event loop"):
            await asyncio.to_thread(loop.run_until_complete, worker.close())
        loop.close()
        assert worker.is_alive and await worker.call("jobs:add", 1, right=1) == 2
        await worker.close()

    run(inside())
    worker = asyncio.run(start())
    session = worker._session
    assert session is not None and not gone(session.child.pid)
    for _ in range(2):
        run(worker.close())
    assert gone(session.child.pid) and not worker.is_alive and not session.is_open
