"""What the tests of a child's session run inside it."""

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import hookless
from hookless import worker

LOGGER = logging.getLogger("talking")


def echo(*args: Any) -> Any:
    return args


def numbers(count: int) -> Generator[int, None, str]:
    yield from range(count)
    return "end"


def large(count: int, size: int) -> Iterator[bytes]:
    for number in range(count):
        yield bytes([number % 256]) * size


async def later(seconds: float, value: Any) -> Any:
    await asyncio.sleep(seconds)
    return value


async def later_numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(0)
        yield number


def progress(*given: Any) -> None:
    worker.progress(*given)


def log(count: int, size: int) -> None:
    for number in range(count):
        LOGGER.warning("%d %s", number, "x" * size)


def log_text(name: str, message: str, created: float) -> None:
    record = logging.LogRecord(name, 30, "p" * 5000, 1, message, (), None, "f" * 300)
    record.created = created
    LOGGER.handle(record)


def ready(then: str) -> Any:
    """Tell the host that foreign code runs, and wait in some way."""
    worker.progress(1)
    return WAYS[then]()


def sleep() -> None:
    time.sleep(60)


def lock() -> None:
    held = threading.Lock()
    held.acquire()
    held.acquire()


def join() -> None:
    thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
    thread.start()
    thread.join()


def read() -> None:
    reading, _writing = os.pipe()
    os.read(reading, 1)


def spin() -> None:
    while True:
        pass


def loop() -> None:
    asyncio.run(asyncio.sleep(60))


def swallow() -> str:
    """Tells the host once it can swallow a CANCEL."""
    try:
        worker.progress(2)
        time.sleep(60)
    except worker.Cancelled as error:
        return str(error)
    return "never"


def deaf() -> str:
    signal.signal(signal.SIGURG, signal.SIG_IGN)
    time.sleep(0.2)
    return "whole"


def clean_up() -> None:
    try:
        worker.progress(1)
        time.sleep(60)
    finally:
        LOGGER.warning("cleaned up")
        print("cleaned up")


WAYS = {one.__name__: one for one in (sleep, lock, join, read, spin, loop, swallow, deaf, clean_up)}


def closed() -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        LOGGER.warning("closed")


def reports_of_a_thread() -> None:
    """The main thread waits for what only the host can bring about: nobody but it can send."""

    def work() -> None:
        worker.progress(1)
        LOGGER.warning("thread")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    time.sleep(60)


def leave_a_thread(seconds: float) -> None:
    def work() -> None:
        time.sleep(seconds)
        LOGGER.warning("left behind")

    threading.Thread(target=work, daemon=True).start()


def loaded() -> list[str]:
    import sys

    return sorted(sys.modules)


def settles() -> None:
    """Set when the host is gone: written to the file that this process keeps."""
    worker.progress(1)
    try:
        time.sleep(60)
    finally:
        with open(os.path.join(os.environ["TMPDIR"], "over"), "w") as file:
            file.write("over")
        time.sleep(0.2)


def fork_and_talk() -> int:
    """A fork uses all that there is; the session is not its own."""
    pid = os.fork()
    if pid == 0:
        try:
            worker.progress(5)
            worker.deny("x")
            LOGGER.error("from a fork")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    return pid


def too_large(size: int) -> bytes:
    return bytes(size)


def version() -> str:
    return hookless.__version__
