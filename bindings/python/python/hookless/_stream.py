"""`Stream`: what a function in the child yields, one item at a time."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hookless._turns import Place
from hookless._window import Window
from hookless.errors import HooklessError

if TYPE_CHECKING:
    from hookless._hearing import Options
    from hookless._request import Request
    from hookless._session import Session

__all__ = ["Stream"]

_T = TypeVar("_T")


class Stream(Generic[_T]):
    """An iterator of what a generator in the child yields; made by `Worker.stream`.

    An item is there as soon as it is made. The child runs ahead by a few items, at most 16, and then waits to
    be asked for more. Other calls may be made meanwhile. One thread at a time may read it.

    A stream that is left before its end is cancelled, which takes no time: by `close`, by the end of a `with`
    block, by an error or an interrupt that comes out of it, or because nobody holds it any more.
    """

    __module__ = "hookless"

    def __init__(self, worker: object, session: Session, request: Request, options: Options) -> None:
        # The worker is held, not only its session: it closes that when nobody holds it any more.
        self._worker, self._session, self._options = worker, session, options
        # The first of them reads.
        self._readers: deque[Place] = deque()
        self._is_over = self._is_left = False
        self._value: tuple[Any] | None = None
        self._window = Window(session.windows, session.room)
        self._call = session.new_call(options)
        try:
            session.begin(self._call, request, self._window.first)
            session.windows.append(self._window)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Stream[_T]:
        return self

    def __next__(self) -> _T:
        """Return the next item.

        Raises what the generator raised, as a call does; DeadlineExceeded if no item comes in time;
        DecodeError for one that does not fit `returns`, after which the stream goes on.
        """
        place = Place()
        # Twice: an interrupt may come in the midst of the first.
        try:
            try:
                self._readers.append(place)
                if self._readers[0] is not place:
                    raise HooklessError("this stream is being read: one thread at a time may read it")
                item = self._read(place)
            finally:
                self._leave(place)
        finally:
            self._leave(place)
        converted: _T = self._options.converted(item)
        return converted

    def _read(self, place: Place) -> Any:
        began = time.monotonic()
        if self._is_over:
            raise StopIteration
        call = self._call
        try:
            call.wait_in(place)
            event = self._session.next_event(call, began)
            kind, _, value, cost = event
            if kind == "item":
                self._session.take(call)
                if more := self._window.taken(cost):
                    self._session.grant(call, more)
                return value
            if kind == "cancelled":
                raise HooklessError("the worker was closed while this stream was open")
            self.close()
        except BaseException:
            self.close()
            raise
        self._value = (call.hearing.outcome(event, convert=False),)
        raise StopIteration

    def _leave(self, place: Place) -> None:
        try:
            self._readers.remove(place)
        except ValueError:
            pass

    @property
    def value(self) -> Any:
        """What the generator returned. Raises HooklessError unless all items have been read."""
        if self._value is None:
            raise HooklessError("a stream has a value when all of its items have been read")
        return self._value[0]

    def close(self) -> None:
        """Cancel the stream, unless it has ended; more than once is fine. The worker goes on."""
        self._is_over = True
        try:
            self._session.windows.remove(self._window)
        except ValueError:
            pass
        self._session.leave(self._call)
        self._is_left = True

    def __enter__(self) -> Stream[_T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Not when it could not be made; and again when an interrupt came in the midst of `close`.
        if "_call" in self.__dict__ and not self._is_left:
            self.close()

    def __repr__(self) -> str:
        return f"<hookless.Stream, {'over' if self._is_over else 'open'}>"
