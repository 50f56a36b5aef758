"""The ways to call a child in which something goes wrong, and what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hookless
from hookless import aio
from processes import PATIENCE, holds, wait_until

SETTINGS: dict[str, Any] = {"isolation": "none", "stall": 0.5, "grace": 0.5}


@dataclass
class Outcome:
    """How a call ended."""

    # Its result, or the exception.
    value: object
    # Items that came before.
    items: list[object]
    # Whether the worker could be used afterwards; and what a call then came to.
    is_alive: bool
    after: object
    # What another call of the same child came to that was open then.
    other: object


def _attempt(call: Callable[[], object]) -> object:
    try:
        return call()
    except BaseException as error:
        return error


async def _later(call: Any) -> object:
    try:
        return await call
    except BaseException as error:
        return error


def _read(stream: Any, items: list[object]) -> object:
    for item in stream:
        items.append(item)
    return items.pop()


def _sync(children: str, kind: str, fault: str, log: str, deadline: float | None) -> Outcome:
    items: list[object] = []
    with hookless.Worker(paths=[children], **SETTINGS) as worker:
        # A deadline that ends the import would end the call before its fault.
        worker.call("faults:ready")
        other = worker.stream("telling:numbers", 50)
        with_options = worker.options(deadline=deadline)
        target = f"faults:{kind}"
        if kind in ("stream", "generator"):
            value = _attempt(lambda: _read(with_options.stream(target, fault, log), items))
        else:
            value = _attempt(lambda: with_options.call(target, fault, log))
        is_alive = worker.is_alive
        after = _attempt(lambda: worker.call("jobs:add", 41))
        return Outcome(value, items, is_alive, after, _attempt(lambda: list(other)))


def _aio(children: str, kind: str, fault: str, log: str, deadline: float | None) -> Outcome:
    items: list[object] = []

    async def read(stream: Any) -> object:
        async for item in stream:
            items.append(item)
        return items.pop()

    async def numbers(stream: Any) -> list[object]:
        return [item async for item in stream]

    async def main() -> Outcome:
        async with aio.Worker(paths=[children], **SETTINGS) as worker:
            await worker.call("faults:ready")
            other = worker.stream("telling:numbers", 50)
            with_options = worker.options(deadline=deadline)
            target = f"faults:{kind}"
            if kind in ("stream", "generator"):
                value = await _later(read(with_options.stream(target, fault, log)))
            else:
                value = await _later(with_options.call(target, fault, log))
            is_alive = worker.is_alive
            after = await _later(worker.call("jobs:add", 41))
            return Outcome(value, items, is_alive, after, await _later(numbers(other)))

    return asyncio.run(main())


def _executor(children: str, kind: str, fault: str, log: str, deadline: float | None) -> Outcome:
    with hookless.Executor(1, deadline=deadline, paths=[children], **SETTINGS) as executor:
        executor.submit("faults:ready").result(PATIENCE)
        pid = executor.submit("jobs:pid").result(PATIENCE)
        future = executor.submit(f"faults:{kind}", fault, log)
        others = [executor.submit("jobs:same", number) for number in range(50)]
        value = _attempt(lambda: future.result(PATIENCE))
        is_alive = executor.submit("jobs:pid").result(PATIENCE) == pid
        return Outcome(value, [], is_alive, 42, [one.result(PATIENCE) for one in others])


# Of the folder of the children, the fault, its log, and the deadline.
WAYS: dict[str, Callable[[str, str, str, float | None], Outcome]] = {}


def _way(name: str, how: Callable[..., Outcome], kind: str) -> None:
    WAYS[name] = lambda children, fault, log, deadline: how(children, kind, fault, log, deadline)


_way("call", _sync, "call")
_way("coroutine", _sync, "coroutine")
_way("stream", _sync, "stream")
_way("aio call", _aio, "call")
_way("aio coroutine", _aio, "coroutine")
_way("aio stream", _aio, "generator")
_way("executor", _executor, "call")


@contextlib.contextmanager
def nothing_left() -> Any:
    """No descriptor, no child and no zombie more than before, and in bounded time."""
    before, began = holds(), time.monotonic()
    yield
    assert time.monotonic() - began < PATIENCE
    wait_until(lambda: holds() == before)
