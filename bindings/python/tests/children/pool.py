"""What the tests of the executor call in its children; they tell each other things by files."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from typing import Any, NoReturn

# Far above what a test takes, far below what would hold one up for ever.
_PATIENCE = 60.0


def touch(path: str) -> None:
    open(path, "a").close()


def meet(mine: str, other: str) -> bool:
    """Make a file, and wait for another one."""
    touch(mine)
    end = time.monotonic() + _PATIENCE
    while not os.path.exists(other):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def later(seconds: float, value: Any) -> Any:
    time.sleep(seconds)
    return value


def but_two(number: int) -> int:
    if number == 2:
        raise ValueError("two")
    return number


def count_and_die(path: str, how: str) -> NoReturn:
    """Leave a mark for each run, and end in the midst of the call."""
    with open(path, "a") as file:
        file.write("x")
    if how == "exit":
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(_PATIENCE)
    raise AssertionError("unreachable")


def die_later(seconds: float) -> None:
    """Answer, and end by itself some time after."""
    import threading

    threading.Timer(seconds, os._exit, (0,)).start()


def meet_as(mine: str, other: str) -> bool:
    """As `meet`, but the file tells which process waits."""
    with open(f"{mine}.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(f"{mine}.part", mine)
    return meet(mine, other)


def fill(count: int) -> int:
    return len(bytearray(count))


def nest(depth: int) -> list[Any]:
    """An empty list inside so many others."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def count(most: int) -> Iterator[int]:
    yield from range(most)


def stuck() -> NoReturn:
    """Does not heed that it is cancelled."""
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(_PATIENCE)
