"""What the tests of streams, progress, messages and cancelling call in a worker's child."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any, NoReturn

from hookless import worker

# What was left before its end.
left: list[str] = []


def numbers(count: int) -> Generator[int, None, int]:
    try:
        yield from range(count)
    except GeneratorExit:
        left.append("numbers")
        raise
    return count


async def async_numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(0)
        yield number


def as_list(count: int) -> Iterator[int]:
    """No generator, but an iterator."""
    return iter(range(count))


def no_stream() -> int:
    return 5


def blocks(count: int, size: int) -> Iterator[bytes]:
    for number in range(count):
        yield bytes([number % 256]) * size


def then_fail(count: int) -> Iterator[int]:
    yield from range(count)
    raise ValueError("in the middle")


def then_unsendable(count: int) -> Iterator[Any]:
    yield from range(count)
    yield object()


def then_wait(count: int) -> Iterator[int]:
    yield from range(count)
    time.sleep(60)


def made() -> Iterator[float]:
    """When each item was made."""
    for _ in range(3):
        yield time.monotonic()
        time.sleep(0.2)


def was_left() -> list[str]:
    found = left[:]
    left.clear()
    return found


def wait(seconds: float) -> str:
    try:
        time.sleep(seconds)
    except worker.Cancelled:
        left.append("wait")
        raise
    return "waited"


async def wait_async(seconds: float, value: Any = "waited") -> Any:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        left.append("wait_async")
        raise
    return value


def swallow(ignores: bool = False) -> NoReturn:
    """Does not end when it is cancelled, nor when SIGTERM asks it to."""
    if ignores:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        with contextlib.suppress(worker.Cancelled):
            time.sleep(60)


def report(count: int) -> str:
    for number in range(count):
        worker.progress(number, count, f"step {number}")
    return "reported"


def log(name: str, level: int, message: str, *args: Any) -> str:
    logger = logging.getLogger(name)
    logger.setLevel(1)
    logger.log(level, message, *args)
    return "logged"


def tell_all(count: int) -> Iterator[int]:
    """Output, progress and messages between the items."""
    for number in range(count):
        print("item", number)
        print("error", number, file=sys.stderr)
        worker.progress(number, count)
        logging.getLogger("telling").warning("item %d", number)
        yield number


def large(size: int) -> bytes:
    return bytes(size)
