"""What a child prints: all of it is taken, the end is kept, and who asks is given it, within a budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal, TypeAlias

__all__ = ["BUDGET", "KEPT", "MARK", "Listener", "Outlet", "Output"]

Listener: TypeAlias = Callable[[Literal["stdout", "stderr"], bytes], object]

# Bytes that are kept of the child's output, and of its standard error.
KEPT = 64 << 10

# Bytes of one call's output that a listener is given at most, and what it is given in place of the rest.
BUDGET = 16 << 20
MARK = b"\n[hookless: output past 16 MiB dropped]\n"

# What a piece costs beside its bytes, while it waits for a listener that is busy.
_PIECE = 128


class _Tail:
    """The end of a stream of bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self._bytes += data
        if len(self._bytes) > 2 * KEPT:
            del self._bytes[:-KEPT]

    def read(self) -> bytes:
        return bytes(self._bytes[-KEPT:])


class Output:
    """The end of what a child has printed so far, and the outlets of the calls that listen."""

    def __init__(self) -> None:
        self._both, self._errors = _Tail(), _Tail()
        # Bytes that listeners were not given.
        self.dropped = 0
        # To join and to leave are one step of the interpreter each.
        self.outlets: deque[Outlet] = deque()

    def keep(self, index: int, data: bytes) -> None:
        """Take what came from standard output (0) or standard error (1)."""
        self._both.add(data)
        if index == 1:
            self._errors.add(data)
        for outlet in list(self.outlets):
            self.dropped += outlet.put(index, data)

    @property
    def both(self) -> bytes:
        """The last `KEPT` bytes of both, in the order of their arrival."""
        return self._both.read()

    @property
    def errors(self) -> bytes:
        """The last `KEPT` bytes of standard error."""
        return self._errors.read()


class Outlet:
    """The output of one call on its way to a listener.

    Whoever reads the child's pipes puts, and the owner of the call takes: two threads, perhaps. What waits is
    bounded as well as what is given in all.
    """

    def __init__(self) -> None:
        self._left = BUDGET
        self._waiting: deque[tuple[int, bytes]] = deque()
        # Each has one writer: what waits is their difference.
        self._put = self._taken = 0
        # Called when something has been put.
        self.wake: Callable[[], object] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, index: int, data: bytes) -> int:
        """Add a piece; return how many bytes of it are past the budget."""
        room = min(self._left, BUDGET - (self._put - self._taken))
        given = data[: max(room, 0)]
        if given:
            self._add(index, given)
            self._left -= len(given)
        dropped = len(data) - len(given)
        if dropped and self._left >= 0:
            self._add(index, MARK)
            self._left = -1
        if self.wake is not None:
            self.wake()
        return dropped

    def _add(self, index: int, data: bytes) -> None:
        self._put += len(data) + _PIECE
        self._waiting.append((index, data))

    def take(self) -> tuple[int, bytes]:
        """Remove the oldest piece. Raises IndexError if there is none."""
        index, data = self._waiting.popleft()
        self._taken += len(data) + _PIECE
        return index, data
