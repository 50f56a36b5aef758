"""What can go wrong in a child, each in the midst of a call, of a stream and of their asynchronous kind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NoReturn

import jobs
import rogue

from hookless import worker

_LONG = 60.0


def _killed() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def _written(data: bytes) -> None:
    os.write(worker.channel_fd(), data)


def _half_and_exit() -> None:
    _written(b"HKLS\x01\x04")
    os._exit(0)


def _half_and_nothing() -> None:
    _written(b"HKLS\x01\x04")
    time.sleep(_LONG)


def _garbage() -> None:
    _written(b"\x80\x05 no frame at all, and longer than a head")
    time.sleep(_LONG)


def _second_hello() -> None:
    """A frame of the right form that nobody may send now."""
    _written(b"HKLS\x01\x02\x00\x00" + bytes(8) + (14).to_bytes(8) + bytes(8))
    _written(b"\x96\x01\x01\x18\x32\xa6worker\x90")
    time.sleep(_LONG)


def _no_output() -> str:
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            os.close(descriptor)
    return "done"


def _deaf() -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(_LONG)


_FAULTS: dict[str, Callable[[], object]] = {
    "killed": _killed,
    "crash": jobs.crash,
    "exit": lambda: os._exit(0),
    "half and exit": _half_and_exit,
    "heir": lambda: rogue.grandchild_and_exit(20.0),
    "close": jobs.close_channel,
    "garbage": _garbage,
    "second hello": _second_hello,
    "half and nothing": _half_and_nothing,
    "memory": lambda: len(bytearray(1 << 40)),
    "no output": _no_output,
    "late": lambda: time.sleep(_LONG),
    "deaf": _deaf,
}


async def ready() -> None:
    """Have all imported that is wanted later."""
    import asyncio

    await asyncio.sleep(0)


def note(log: str) -> None:
    """Leave a mark for each run, and the number of the process."""
    with open(log, "a") as file:
        file.write(f"{os.getpid()}\n")


def call(fault: str, log: str) -> object:
    note(log)
    return _FAULTS[fault]()


def stream(fault: str, log: str) -> Iterator[object]:
    note(log)
    yield 1
    yield 2
    yield _FAULTS[fault]()


async def coroutine(fault: str, log: str) -> object:
    import asyncio

    note(log)
    await asyncio.sleep(_LONG if fault == "late" else 0)
    return _FAULTS[fault]()


async def generator(fault: str, log: str) -> AsyncIterator[object]:
    import asyncio

    note(log)
    yield 1
    yield 2
    await asyncio.sleep(_LONG if fault == "late" else 0)
    yield _FAULTS[fault]()


# What a host may be killed in the midst of.


def busy(log: str) -> NoReturn:
    note(log)
    while True:
        pass


def asleep(log: str) -> None:
    note(log)
    time.sleep(600)


def endless(log: str) -> Iterator[int]:
    note(log)
    number = 0
    while True:
        yield number
        number += 1


def stuck_stream(log: str) -> Iterator[int]:
    note(log)
    yield 0
    time.sleep(600)


async def waiting(log: str) -> None:
    import asyncio

    note(log)
    await asyncio.sleep(600)


def flooding(log: str) -> bytes:
    note(log)
    return bytes(64 << 20)


# Bytes in all directions at once.


def small_pipes() -> list[int]:
    """Have the pipes of the output hold as little as they can."""
    import fcntl

    return [fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 4096) for descriptor in (1, 2)]


_stop = threading.Event()


def print_on() -> None:
    """Leave threads that print until `print_no_more`, whether anybody reads it or not."""

    def work(descriptor: int) -> None:
        while not _stop.is_set():
            os.write(descriptor, b"." * 10_000)

    for descriptor in (1, 2):
        threading.Thread(target=work, args=(descriptor,), daemon=True).start()


def print_no_more() -> None:
    _stop.set()


def copies(value: Any, count: int) -> Iterator[Any]:
    for _ in range(count):
        yield value


def same_later(seconds: float, value: Any) -> Any:
    time.sleep(seconds)
    return value


_ticks = 0


def tick(seconds: float) -> int:
    """Have a signal come so often in this process, or with 0 no more; how many there were."""

    def count(*_: object) -> None:
        global _ticks
        _ticks += 1

    signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    return _ticks


def forks_while_a_thread_writes(forks: int) -> list[int]:
    """Each fork says what it can, and exits with 0 if it comes so far; their statuses."""
    logger, stop = logging.getLogger("faults"), threading.Event()

    def work() -> None:
        while not stop.is_set():
            logger.warning("of the thread %s", "x" * 1000)

    thread = threading.Thread(target=work)
    thread.start()
    found = []
    try:
        for _ in range(forks):
            number = os.fork()
            if number == 0:
                logger.warning("of a fork")
                worker.progress(1, None, "of a fork")
                print("of a fork", flush=True)
                os._exit(0)
            found.append(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
    finally:
        stop.set()
        thread.join()
    return found


async def blocking(log: str) -> NoReturn:
    """Holds up its loop."""
    busy(log)


def then_sleep() -> Iterator[int]:
    """Begins to wait at about the time when the host has the item."""
    yield 0
    time.sleep(600)


def deaf_for_a_while() -> None:
    """The signal of a frame is lost, as it is when it comes just before the code begins to wait."""
    handler = signal.signal(signal.SIGURG, signal.SIG_IGN)
    worker.progress(1)
    time.sleep(0.5)
    signal.signal(signal.SIGURG, handler)
    time.sleep(600)
