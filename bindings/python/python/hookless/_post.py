"""Sorts what a channel brings into boxes, one for each call, so that no event is lost or told twice.

An interrupt may come between any two steps of the interpreter. So events move from one queue to the next by
one call of C code, and whoever goes on finds each of them in one place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import starmap
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from hookless._output import Output

__all__ = ["ENDS", "LOGS", "Box", "Event", "Log", "Post", "Progress"]

# As `Channel.step` returns them: kind, id of the call, what came, and its cost (L10).
Event: TypeAlias = tuple[str, int, Any, int]
# Done, total and text.
Progress: TypeAlias = tuple[int, int | None, str]
# Level, logger, message, created, path, line and function.
Log: TypeAlias = tuple[int, str, str, float, str, int, str]

# Messages that are kept of one call while its owner is busy, and characters of their texts.
LOGS = 1000
_LOG_CHARACTERS = 1 << 20

_COST = itemgetter(3)
ENDS = frozenset({"result", "error", "cancelled"})


class LogQueue:
    """Messages that wait for the owner of a call; past the bound they are counted."""

    def __init__(self) -> None:
        self.waiting: deque[Log] = deque()
        # Each has one writer: what waits is their difference.
        self._put = self._taken = 0
        self._missed = self._told = 0

    def put(self, log: Log) -> None:
        """Add a message, or count it."""
        size = sum(len(part) for part in log if isinstance(part, str))
        if len(self.waiting) >= LOGS or self._put - self._taken + size > _LOG_CHARACTERS:
            self._missed += 1
            return
        self._put += size
        self.waiting.append(log)

    def take(self) -> Log:
        """Remove the oldest message. Raises IndexError if there is none."""
        log = self.waiting.popleft()
        self._taken += sum(len(part) for part in log if isinstance(part, str))
        return log

    def missed(self) -> int:
        """Return how many have been counted since this was asked before."""
        count = self._missed - self._told
        self._told += count
        return count


class Box:
    """What has come for one call: its items and its end, and beside them messages and the last progress."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque()
        # Made with the first of them, by who sorts.
        self.logs: LogQueue | None = None
        # Only the latest is kept for an owner that is busy.
        self.progress: deque[Progress] = deque(maxlen=1)
        # Called when something has come.
        self.wake: Callable[[], object] | None = None
        # When the call was cancelled, because nobody waits for it any more.
        self.abandoned: float | None = None

    def has_end(self) -> bool:
        """Whether the call's RESULT, ERROR or CANCELLED has come."""
        return bool(self.events) and self.events[-1][0] in ENDS


class Post:
    """The boxes of a session. One thread at a time sorts; each owner empties its own box."""

    def __init__(self, release: Callable[[int], object], output: Output, now: Callable[[], float]) -> None:
        """`now` is the clock that `abandon` reads."""
        self.output, self.now = output, now
        # Taken from the channel, not yet sorted.
        self.arrived: deque[Event] = deque()
        self.boxes: dict[int, Box] = {}
        # Messages that belong to no open call.
        self.loose = LogQueue()
        self._release = release
        # Cancelled calls that nobody waits for, whose end has not come yet.
        self._owed: dict[int, float] = {}

    def collect(self, step: Callable[[float | None], Event | None], seconds: float | None) -> None:
        """Take one event, if one comes within that time. It is here when it has left the channel."""
        self.arrived.extend(filter(None, map(step, (seconds,))))

    def begin(self, begun: list[int], begin: Callable[..., int], arguments: tuple[Any, ...]) -> None:
        """Begin a call. Its id is in `begun` when it has been begun."""
        begun.extend(starmap(begin, (arguments,)))

    def box(self, call_id: int) -> Box:
        """Return the box of a call, whoever asks first: its owner, or who sorts."""
        return self.boxes.get(call_id) or self.boxes.setdefault(call_id, Box())

    def sort(self) -> Literal["eof", "failed", ""]:
        """Put all that has arrived where it belongs; stop at the stream's end."""
        arrived = self.arrived
        while arrived:
            kind, call_id, value, _ = arrived[0]
            box: Box | None
            if kind in ENDS or kind == "item":
                box = self.box(call_id)
                box.events.extend(map(deque.popleft, (arrived,)))
                if box.abandoned is not None:
                    self.discard(call_id, box)
            elif kind == "eof":
                return "eof"
            else:
                # At worst, after an interrupt, told twice.
                self._aside(kind, call_id, value)
                arrived.popleft()
                if kind == "output":
                    continue
                box = self.box(call_id) if call_id else None
            if box is not None and box.wake is not None:
                box.wake()
        return ""

    def _aside(self, kind: str, call_id: int, value: Any) -> None:
        """Note what is no answer."""
        if kind == "output":
            self.output.keep(call_id, value)
        elif kind == "log":
            box = self.box(call_id) if call_id else None
            if box is None or box.abandoned is not None:
                self.loose.put(value)
                return
            if box.logs is None:
                box.logs = LogQueue()
            box.logs.put(value)
        elif kind == "progress":
            self.box(call_id).progress.append(value)

    def take(self, box: Box) -> None:
        """Remove the oldest event of a box, which has been handed to the program, and give its cost back."""
        deque(map(self._release, map(_COST, map(deque.popleft, (box.events,)))), maxlen=0)

    def abandon(self, call_id: int, box: Box) -> bool:
        """Note that nobody waits for a call any more; return whether it has yet to end: CANCEL is due."""
        if box.abandoned is None:
            box.abandoned = self.now()
        return self.discard(call_id, box)

    def discard(self, call_id: int, box: Box) -> bool:
        """Drop what has come for an abandoned call; return whether it has yet to end."""
        ended = box.has_end()
        if not ended and box.abandoned is not None and call_id in self.boxes:
            self._owed[call_id] = box.abandoned
        while box.events:
            # The end stays until all the rest is undone.
            if len(box.events) == 1 and box.has_end():
                ended = True
                self._owed.pop(call_id, None)
                self.boxes.pop(call_id, None)
            try:
                self.take(box)
            except IndexError:
                break  # The other one was faster.
        return not ended

    def owed_since(self) -> float | None:
        """Return when the oldest of the cancelled calls was cancelled that have not ended; None for none."""
        for call_id in list(self._owed):
            box = self.boxes.get(call_id)
            # An interrupt may have come between its end and this note of it.
            if box is None:
                self._owed.pop(call_id, None)
            elif box.has_end():
                self.discard(call_id, box)
        return min(list(self._owed.values()), default=None)

    def wake_all(self) -> None:
        """Wake the owners of all calls: the session is over."""
        for box in list(self.boxes.values()):
            if box.wake is not None:
                box.wake()
