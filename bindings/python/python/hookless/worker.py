"""What code that runs inside a worker's child may ask hookless for."""

from __future__ import annotations

from hookless._attributes import DENIAL_BYTES
from hookless._safe import cap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from hookless._driver import Driver

__all__ = ["Cancelled", "channel_fd", "deny", "progress"]

# One past the largest count (proto/session.md).
_COUNTS = 1 << 64

_channel: int | None = None
_driver: Driver | None = None


class Cancelled(BaseException):
    """Raised in the code of a call, between two of its steps, when the host has no more use for its result.

    It interrupts what waits, as `time.sleep` or `Lock.acquire` do, and nothing that computes in C. It comes
    once; `finally` and `with` blocks run. Code that swallows it goes on, until the host's patience ends and
    the child is stopped. A generator that waits for its next item is closed instead, a coroutine gets
    `asyncio.CancelledError`. An import comes to its end first: broken off, it could not be made again.
    """


def channel_fd() -> int:
    """Return the descriptor of the channel to the host.

    Whoever writes to it breaks the session; it is there so that this can be tried. Raises RuntimeError
    outside a child.
    """
    if _channel is None:
        raise RuntimeError("channel_fd() is for code inside a hookless worker's child; this process is none")
    return _channel


def deny(text: str) -> None:
    """Record what was denied to the code of this call, for the host to read in `RemoteError.denials`.

    A sandbox inside the child calls it; an exception may carry such texts in its own `__denials__` as well. A
    call that succeeds loses them. 64 texts of 2048 bytes are kept.

    Raises TypeError for what is no str, RuntimeError outside a child.
    """
    driver = _of_child("deny")
    if type(text) is not str:
        raise TypeError(f"deny() takes a str, not {type(text).__name__}")
    driver.deny(cap(text, DENIAL_BYTES))


def progress(done: SupportsIndex, total: SupportsIndex | None = None, text: str = "") -> None:
    """Tell the host how far this call has come: `done` of `total`, in units of your own, and a line of text.

    A call sends one report in 50 ms at most. One that comes sooner is held back; the next one takes its
    place, and the last one is sent before the call's outcome.

    Any thread may call it. The report belongs to the call in whose context the code runs, which threads made
    by `asyncio.to_thread` inherit, or else to the plain function that runs just now. When there is no such
    call, or its outcome is sent already, nothing happens. The main thread does the sending; that of another
    thread waits until the main thread can, which is not in the midst of a long computation in C.

    Counts are ints from 0 below 2**64. Of the text 1024 bytes are sent (S15).
    Raises TypeError and ValueError for anything else, RuntimeError outside a child.
    """
    driver = _of_child("progress")
    if type(text) is not str:
        raise TypeError(f"progress() takes a str as its text, not {type(text).__name__}")
    whole = None if total is None else _count(total, "total")
    driver.report((_count(done, "done"), whole, text))


def _of_child(name: str) -> Driver:
    if _driver is None:
        raise RuntimeError(f"{name}() is for code inside a hookless worker's child; this process is none")
    return _driver


def _count(value: SupportsIndex, name: str) -> int:
    if type(value) is not int:
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(f"progress() takes an int as {name}, not {type(value).__name__}")
        value = int(value.__index__())
    if not 0 <= value < _COUNTS:
        raise ValueError(f"progress() takes a {name} from 0 to 2**64 - 1")
    return value
