"""What both decoders of events share: the calls that are open, and what an error leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hookless.errors import HooklessError, ProtocolError
from hookless.events import Event, OpenCalls

__all__ = ["EventStream"]


class EventStream:
    """One stream of events. After an error it is dead: it has lost its place, and says the same again."""

    def __init__(self, calls: Iterable[int]) -> None:
        self._calls = OpenCalls(calls)
        self._dead: HooklessError | None = None

    def open(self, call_id: int) -> None:
        """Say that a call has been made, whose events may come. Raises ValueError for one that is open."""
        self._calls.open(call_id)

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes; return the events that they complete, in order.

        Events that were complete before an error are returned first, and the error is raised by the next
        call. Raises DecodeError (LimitExceeded, Truncated) and ProtocolError.
        """
        self._check()
        found: list[Event] = []
        try:
            found.extend(self._events(bytes(chunk)))
        except HooklessError as error:
            self._dead = error
            if not found:
                raise
        except BaseException:
            self._dead = ProtocolError("interrupted while events were being decoded", code="busy")
            raise
        return found

    def finish(self) -> None:
        """Say that the stream has ended. Raises Truncated inside an event, and while calls are open."""
        self._check()
        self._end()
        self._calls.finish()

    def _check(self) -> None:
        if self._dead is not None:
            raise self._dead

    def _events(self, chunk: bytes) -> Iterator[Event]:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError
