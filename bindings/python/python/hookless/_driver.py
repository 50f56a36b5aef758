"""The loop of a worker's child: takes frames, runs what they ask for, and answers.

Plain functions and scripts run in the order of their calls, each with the process to itself and outside of
any asyncio loop. Between them, streams are stepped, an item of each at a time, and coroutines go on.
"""

from __future__ import annotations

import sys
from types import CoroutineType

from hookless._calls import SCRIPT, STREAM, Call
from hookless._invoke import iterator_of, resolve, run_script, with_numpy
from hookless._runner import Runner
from hookless._safe import attempt, inherits
from hookless.errors import DecodeError, EncodeError
from hookless.failure import describe
from hookless.worker import Cancelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from typing import Any

    from hookless._hookless import Failure, Limits
    from hookless._wire import Wire
else:
    from _collections import deque  # `collections` takes as long to load as this package

__all__ = ["Driver", "flush"]

# Read so, no property of a subclass runs.
_RETURNED: Any = StopIteration.__dict__["value"]


class Driver(Runner):
    """Answers the calls of one channel."""

    def __init__(self, channel: Wire, limits: Limits, *, hears: bool = True) -> None:
        """`limits` are those that an outcome has to keep; `hears` says whether the channel raises signals."""
        super().__init__(channel, hears)
        self.limits = limits
        # What comes next: calls that have not begun, streams that have credit or have to be closed.
        self.ready: deque[Call] = deque()
        # SHUTDOWN has come.
        self.shut = False
        self._logs = False

    # The loop.

    def run(self) -> None:
        """Answer calls until the host has no more of them. Raises what broke the channel."""
        while True:
            self.post()
            self.follow()
            if self.ended:
                break
            if self.ready:
                self._advance(self.ready.popleft())
                if self.tasks is not None and self.tasks.has_open():
                    self.tasks.run(once=True)
                elif self.ready:
                    self.collect()
            elif self.shut and not self.calls:
                break
            elif self.tasks is not None and self.tasks.has_any():
                # Signals go on: code that holds up its loop is to end all the same when the host is gone.
                self.tasks.run()
            else:
                self._wait()
        if self.broken is not None:
            raise self.broken
        self._close()

    def _wait(self) -> None:
        self.unlisten()
        self.waiting = True
        try:
            # After the flag: a thread that has not seen it has left its entry before.
            self.post()
            event = self.channel.step(None)
        finally:
            self.waiting = False
        if event is not None:
            self.events.append(event)

    def follow(self) -> None:
        """Do what the events say that have been collected; no code of a call runs."""
        while self.events:
            kind, number, value, _ = self.events.popleft()
            call = self.calls.get(number)
            if kind == "call":
                self.calls[number] = call = Call(number, value)
                self.ready.append(call)
            elif kind == "shutdown":
                self.shut = True
            elif kind == "eof":
                self.end()
            elif call is None:
                pass  # It has its outcome: they have crossed.
            elif kind == "credit":
                call.credit += value
                if call.waiter is not None and not call.waiter.done():
                    call.waiter.set_result(None)
                self._enqueue(call)
            elif kind == "cancel":
                call.cancelled = True
                if number in self.excused:
                    call.over = True
                    del self.excused[number]
                if call.task is not None:
                    call.task.cancel()
                else:
                    self._hurry(call)

    def _enqueue(self, call: Call) -> None:
        """Come to a stream again, if there is something to do for it."""
        if call.source is not None and not call.queued and (call.credit or call.cancelled):
            call.queued = True
            self.ready.append(call)

    def _hurry(self, call: Call) -> None:
        """Come to a cancelled call before all others: what they do may take longer than the host waits."""
        if call.queued:
            self.ready.remove(call)
        call.queued = True
        self.ready.appendleft(call)

    def _close(self) -> None:
        """Let what is open clean up. Nobody hears of it any more."""
        for call in list(self.calls.values()):
            if call.source is not None:
                self._shut(call)
        if self.tasks is not None:
            self.tasks.close()

    # One call.

    # Outcomes are kept in the call. A frame that knew one in a local name would be kept by the traceback that
    # the exception has, and keep the exception: all that its frames hold would stay until a collection.

    def _advance(self, call: Call) -> None:
        call.queued = False
        if call.source is None and call.over:
            self._forget(call)
        elif call.source is None and call.cancelled:
            self.finish(call, is_cancelled=True)
        elif call.source is None:
            self._begin(call)
        elif call.over:
            self._shut(call)
            self._forget(call)
        elif call.cancelled:
            self._shut(call)
            self.finish(call, is_cancelled=call.error is None or inherits(call.error, GeneratorExit))
        else:
            self._step(call)

    def _begin(self, call: Call) -> None:
        """Run what a call asks for, as far as it is plain."""
        assert call.request is not None
        if isinstance(call.request, DecodeError):
            call.error, call.request = call.request, None
            self.finish(call)
            return
        verb, name, source, args, kwargs = call.request
        call.request = None
        try:
            args, kwargs = with_numpy(args, kwargs, self.limits)
        except BaseException as error:  # noqa: BLE001 (a NumPy that does not load is an outcome too)
            call.error = error
            self.finish(call)
            return
        if verb == SCRIPT:
            returned = self._script(call, name, source or "", kwargs)
        else:
            returned = self.foreign(call, resolve, name)
            # Most modules that have something to log have loaded logging just now.
            self._heed_logging()
            returned = returned and self.foreign(call, call.value, *args, **kwargs)
            if verb == STREAM:
                returned = returned and self.foreign(call, iterator_of, call.value)
        # Arguments are let go before the next ones come.
        del args, kwargs
        if returned and verb == STREAM:
            self._open(call)
        elif returned and type(call.value) is CoroutineType:
            self._hand_over(call)
        else:
            self.finish(call)

    def _script(self, call: Call, name: str, source: str, inputs: dict[str, Any]) -> bool:
        if "logging" in source and not self._logs:
            attempt(__import__, "logging")
        self._heed_logging()
        return self.foreign(call, run_script, name, source, inputs)

    def _open(self, call: Call) -> None:
        if hasattr(type(call.value), "__anext__"):
            self._hand_over(call)
        else:
            call.source, call.value = call.value, None
            self._enqueue(call)

    def _hand_over(self, call: Call) -> None:
        """Go on with a coroutine or an asynchronous iterator as a task."""
        what, call.value = call.value, None
        try:
            if self.tasks is None or self.tasks.is_closed():
                from hookless._tasks import Tasks

                self.tasks = Tasks(self)
                self._heed_logging()
            self.tasks.start(call, what)
        except BaseException as error:  # noqa: BLE001 (foreign code may have broken asyncio)
            call.error = error
            self.finish(call)

    def _step(self, call: Call) -> None:
        """Have a stream make an item, and send it."""
        self._heed_logging()
        if not self.foreign(call, next, call.source):
            if inherits(call.error, StopIteration):
                call.value, call.error = _RETURNED.__get__(call.error), None
            elif inherits(call.error, Cancelled):
                self._let_go(call)  # An iterator that is no generator may still hold something.
            self.finish(call)
            return
        # It may have swallowed what cancelled it; then it is closed next.
        if not call.cancelled and not self.ended:
            call.credit -= 1
            try:
                self.channel.item(call.id, call.value)
            except EncodeError as refused:
                call.error = refused
                self._let_go(call)
                self.finish(call)
                return
        call.value = None
        self._enqueue(call)

    def _shut(self, call: Call) -> None:
        """Close a stream."""
        self.foreign(call, _close, call.source)

    def _let_go(self, call: Call) -> None:
        """Close a stream that has failed, whatever that does."""
        error = call.error
        try:
            self._shut(call)
            call.error = error
        finally:
            del error

    def finish(self, call: Call, *, is_cancelled: bool = False) -> None:
        """Send the outcome of a call, after all that it has had to say. Its code has ended."""
        value, error = call.value, call.error
        call.value = call.error = None
        if error is not None and call.cancelled and inherits(error, Cancelled):
            is_cancelled = True
        failure = None if error is None or is_cancelled else self._describe(call, error)
        # The host drains the pipes when the outcome has come.
        flush()
        self.post()
        if not self.ended:
            self.outbox.last_report(call)
        self._forget(call)
        if self.ended:
            return
        if is_cancelled:
            self.channel.cancelled(call.id)
        elif failure is not None:
            self.channel.fail(call.id, failure)
        else:
            try:
                self.channel.result(call.id, value)
            except EncodeError as refused:
                self.channel.fail(call.id, self._describe(call, refused))

    def _forget(self, call: Call) -> None:
        call.over = True
        call.value = call.error = None
        call.source = call.task = call.waiter = None
        del self.calls[call.id]

    def _describe(self, call: Call, error: BaseException) -> Failure:
        return describe(error, self.limits, denials=list(call.denials), complete=not call.more)

    def _heed_logging(self) -> None:
        """Follow the log once foreign code has loaded logging: a child that does not log never loads it."""
        if not self._logs and "logging" in sys.modules:
            self._logs = attempt(_follow, self) is None


def _follow(driver: Driver) -> None:
    from hookless._logging import follow

    follow(driver)


def _close(source: Any) -> None:
    close = getattr(source, "close", None)
    if close is not None:
        close()


def flush() -> None:
    """Write out what is buffered; foreign code may have closed or replaced the streams."""
    for stream, own in ((sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__)):
        attempt(_flush, stream)
        if own is not stream:
            attempt(_flush, own)


def _flush(stream: Any) -> None:
    stream.flush()
