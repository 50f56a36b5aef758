"""Who leads: of the threads that wait for a session, one moves its bytes, and the others wait for their mail.

An interrupt at any point leaves the line whole.
"""

from __future__ import annotations

import threading
from collections import deque

__all__ = ["Place", "Turns"]

# Seconds after which one who waits looks by itself: an interrupt may keep the one in front from saying that
# it has left, or that there is mail. With many in the line each looks more seldom.
_LOOK = 0.05


class Place:
    """A place in the line, of the thread that makes it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self._gate = threading.Lock()
        self._gate.acquire()

    def wake(self) -> None:
        """Have the thread look again; it need not be waiting yet."""
        try:
            self._gate.release()
        except RuntimeError:
            pass  # It has been woken already.

    def pause(self, seconds: float) -> None:
        """Wait until woken, for at most so long."""
        self._gate.acquire(timeout=seconds)


class Turns:
    """The line. Its first place leads.

    To take a place and to leave it are one step of the interpreter each, and to leave is harmless when there
    is nothing to leave. So whoever enters inside a `try` that leaves at its end cannot lose the turn: it need
    not know how far it came.
    """

    def __init__(self) -> None:
        self._line: deque[Place] = deque()

    def is_mine(self) -> bool:
        """Whether this thread stands in line: further out, this is a signal handler or a finaliser."""
        if not self._line:
            return False
        me = threading.get_ident()
        return any(place.thread == me for place in list(self._line))

    def is_free(self) -> bool:
        """Whether nobody waits."""
        return not self._line

    def enter(self, place: Place) -> None:
        """Stand in line."""
        self._line.append(place)

    def is_first(self, place: Place) -> bool:
        """Whether a place that has been entered leads."""
        return self._line[0] is place

    def pause(self, place: Place, seconds: float | None) -> None:
        """Wait until it may be worth to look again, for at most so long."""
        look = _LOOK * len(self._line)
        place.pause(look if seconds is None else min(look, seconds))

    def leave(self, place: Place) -> None:
        """Leave the line, if this place is in it, and wake who is first then."""
        try:
            self._line.remove(place)
        except ValueError:
            return
        try:
            self._line[0].wake()
        except IndexError:
            pass  # Nobody waits.
