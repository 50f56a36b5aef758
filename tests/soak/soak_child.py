"""What the children of the soak do: the honest, and each way to break."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import hookless.worker


def note(log: str, token: int) -> None:
    """Leave a mark that the call of this number ran: one line, in one write."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, b"%d\n" % token)
    finally:
        os.close(descriptor)


def echo(log: str, token: int, value: Any) -> tuple[int, Any]:
    """Return what came."""
    note(log, token)
    return token, value


async def echo_later(log: str, token: int, value: Any) -> tuple[int, Any]:
    """Return what came, from the loop."""
    import asyncio

    note(log, token)
    await asyncio.sleep(0)
    return token, value


def fail(log: str, token: int) -> None:
    """Raise."""
    note(log, token)
    raise ValueError(token)


def unsendable(log: str, token: int) -> Any:
    """Return what no frame can carry."""
    note(log, token)
    return [token, lambda: None]


def chatter(log: str, token: int, lines: int) -> int:
    """Print a lot, tell of progress, return the number."""
    note(log, token)
    for line in range(lines):
        print(f"{token} {line} {'.' * 60}")
        hookless.worker.progress(line + 1, lines)
    return token


def count(log: str, token: int, length: int) -> Iterator[tuple[int, int]]:
    """Give numbers, one by one."""
    note(log, token)
    for number in range(length):
        yield token, number
    return


async def count_later(log: str, token: int, length: int) -> AsyncIterator[tuple[int, int]]:
    """Give numbers, one by one, from the loop."""
    import asyncio

    note(log, token)
    for number in range(length):
        await asyncio.sleep(0)
        yield token, number


def sleep(log: str, token: int, seconds: float) -> int:
    """Be late."""
    note(log, token)
    time.sleep(seconds)
    return token


def kill(log: str, token: int) -> None:
    """Die by a signal."""
    note(log, token)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(log: str, token: int, status: int) -> None:
    """Exit without a word."""
    note(log, token)
    os._exit(status)


def garbage(log: str, token: int) -> int:
    """Write to the channel what is no frame."""
    note(log, token)
    os.write(hookless.worker.channel_fd(), b"\x80\x05no frame at all, and longer than a head is")
    return token


def half(log: str, token: int) -> None:
    """Begin a frame, and leave."""
    note(log, token)
    os.write(hookless.worker.channel_fd(), b"HKLS\x01\x04")
    os._exit(0)


def stop_printing(log: str, token: int) -> int:
    """Close standard output and standard error alone; the call goes on."""
    note(log, token)
    for descriptor in (1, 2):
        # A second time it would be what has been opened since, such as the loop's.
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.close(descriptor)
    return token
