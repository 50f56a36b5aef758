"""Whose turn it is to use a session: threads stand in line, and an interrupt at any point leaves it whole."""

from __future__ import annotations

import threading
import time
from collections import deque

__all__ = ["Place", "Turns"]

# Seconds after which one who waits looks by itself: an interrupt may keep the one in front from saying that
# it has left.
_LOOK = 0.05


class Place:
    """A place in the line, of the thread that makes it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.gate = threading.Lock()
        self.gate.acquire()


class Turns:
    """The line. Its first place has the turn.

    To take a place and to leave it are one step of the interpreter each, and to leave is harmless when there
    is nothing to leave. So whoever enters inside a `try` that leaves at its end cannot lose the turn: it need
    not know how far it came.
    """

    def __init__(self) -> None:
        self._line: deque[Place] = deque()

    def is_mine(self) -> bool:
        """Whether this thread stands in line: further out, a signal handler or `on_output` of its own."""
        me = threading.get_ident()
        return any(place.thread == me for place in list(self._line))

    def enter(self, place: Place) -> bool:
        """Stand in line; return whether the turn is there at once."""
        self._line.append(place)
        return self._line[0] is place

    def wait(self, place: Place, seconds: float | None) -> bool:
        """Wait for the turn of a place that has been entered, for at most so long; return whether it came."""
        end = None if seconds is None else time.monotonic() + seconds
        while self._line[0] is not place:
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0:
                return False
            place.gate.acquire(timeout=left)
        return True

    def leave(self, place: Place) -> None:
        """Leave the line, if this place is in it, and wake who is first then."""
        try:
            self._line.remove(place)
        except ValueError:
            return
        try:
            self._line[0].gate.release()
        except (IndexError, RuntimeError):
            # Nobody waits, or that one has been woken already.
            pass
