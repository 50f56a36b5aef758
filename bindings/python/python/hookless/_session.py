"""The host's side of one child: starts it, talks to it, and knows why it is gone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any, TypeAlias

from hookless._builders import Builder, raise_remote
from hookless._hookless import Channel, Limits
from hookless._launch import Child, launch
from hookless._output import Listener, Output, Sink, drain
from hookless._report import in_force, is_confined
from hookless._turns import Place, Turns
from hookless.errors import DeadlineExceeded, EncodeError, HooklessError, IsolationError, WorkerDied
from hookless.remote import RemoteError

__all__ = ["Request", "Session"]

# Verb, name, source, arguments by place and by name (S4).
Request: TypeAlias = tuple[int, str, str | None, tuple[object, ...], dict[str, Any]]

# Seconds that a child has to end by itself once its channel has ended.
_PATIENCE = 2.0

_CLOSED = "the worker is closed"


class Session:
    """One child, one call at a time; other threads wait for their turn."""

    def __init__(
        self, settings: Mapping[str, object], limits: Limits | None, stall: float, start_timeout: float
    ) -> None:
        """Start a child. `settings` are those of `_child.main`, but for what `launch` adds to them."""
        self.output = Output()
        # Why no call can be made any more.
        self.over = ""
        self._process = os.getpid()
        self._turns = Turns()
        self._closing = False
        self.child: Child = launch(settings)
        # Those of its pipes that have not ended; -1 for one that has.
        self._outputs = list(self.child.outputs)
        try:
            self._channel = Channel(self.child.take_channel(), "host", limits=limits, stall=stall)
        except BaseException:
            self.child.end(0.0, lambda: None)
            raise
        self._start(start_timeout)
        mode = str(settings["isolation"])
        report = self.child.report()
        self.isolation = in_force(self.child.pid, mode, report.get("layers", []))
        # Layers that are not in force, with the reason; none in strict mode.
        self.missing: list[tuple[str, str]] = [(name, reason) for name, reason in report.get("missing", [])]
        if mode == "strict" and not is_confined(self.child.pid):
            self._end("its isolation is not in force", 0.0, Sink(self.output, None))
            raise IsolationError("the kernel does not confirm that the child's system calls are filtered")

    def _start(self, seconds: float) -> None:
        sink = Sink(self.output, None)
        try:
            self._channel.hello(seconds)
        except DeadlineExceeded:
            self._end("its child did not start", 0.0, sink)
            raise DeadlineExceeded(f"the worker's child did not start within {seconds:g} s") from None
        except (HooklessError, OSError) as error:
            # Most likely it could not import hookless, or could not lock itself down: its last words tell.
            status = self._end("its child did not start", _PATIENCE, sink)
            if refused := self.child.report().get("refused"):
                layer, message = refused
                raise IsolationError(
                    f"{message}. isolation='auto' goes without it, and warns", layer=layer
                ) from None
            if status is None:
                raise
            raise self._died("the worker's child did not start: it", status) from error
        except BaseException:
            self._end("its start was interrupted", 0.0, sink)
            raise

    @property
    def is_ours(self) -> bool:
        """Whether this process started the child, and is not a fork of the one that did."""
        return os.getpid() == self._process

    @property
    def is_open(self) -> bool:
        """Whether there is still something to close."""
        return self.child.is_held

    def call(
        self,
        request: Request,
        deadline: float | None = None,
        listener: Listener | None = None,
        errors: str | dict[str, Builder] = "builtin",
    ) -> Any:
        """Make one call: returns its result, or raises what `errors` says, or a HooklessError.

        What the listener raises is raised when the call is over, in place of the call's own outcome.
        """
        began = time.monotonic()
        place = Place()
        # Twice: an interrupt may come in the midst of the first.
        try:
            try:
                self._take_turn(place, deadline)
                failed, value = self._turn(request, deadline, began, listener)
            finally:
                self._turns.leave(place)
        finally:
            self._turns.leave(place)
        # The turn is over: a builder of the program's own may use the worker.
        if failed is not None:
            raise_remote(failed, errors)
        return value

    def _turn(
        self, request: Request, deadline: float | None, began: float, listener: Listener | None
    ) -> tuple[RemoteError | None, Any]:
        if self.over:
            raise HooklessError(_CLOSED) if self.over == _CLOSED else WorkerDied(self.over)
        sink = Sink(self.output, listener)
        try:
            failed, value = self._exchange(request, deadline, began, sink)
        except HooklessError as error:
            if sink.error is None:
                raise
            raise sink.error from error
        if sink.error is not None:
            raise sink.error from failed
        return failed, value

    def _take_turn(self, place: Place, deadline: float | None) -> None:
        if not self.is_ours:
            raise HooklessError(
                "this worker belongs to the process that was forked from: make one in this process"
            )
        if self._turns.is_mine():
            raise HooklessError(
                "a worker cannot be used from inside its own on_output or from a signal handler"
            )
        if not self._turns.enter(place) and not self._turns.wait(place, deadline):
            text = f"other calls kept the worker busy for {deadline:g} s; this one was not sent"
            raise DeadlineExceeded(text)

    def _exchange(
        self, request: Request, deadline: float | None, began: float, sink: Sink
    ) -> tuple[RemoteError | None, Any]:
        """Send the call and take its answer: a failure, or else a result."""
        try:
            self._channel.begin(*request)
            kind, value = self._await(None if deadline is None else began + deadline, sink)
            drain(self._outputs, sink)
        except EncodeError:
            raise  # Nothing has been sent, and the session goes on.
        except BaseException as error:
            # A broken rule, or an interrupt: what comes next on this channel would have no meaning.
            self._end(f"{type(error).__name__}: {error}".removesuffix(": "), 0.0, sink)
            raise
        if kind == "result":
            return None, value
        if isinstance(value, RemoteError):
            return value, None
        if kind == "late":
            text = f"no answer within {deadline:g} s"
            self._end(text, 0.0, sink)
            raise DeadlineExceeded(f"{text}; the worker's child was stopped")
        raise self._died("the worker's child", self._end("its child ended", _PATIENCE, sink))

    def _await(self, end: float | None, sink: Sink) -> tuple[str, Any]:
        """Take events until the call is over, or the stream has ended, or the time."""
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            event = self._channel.step(left, life=self.child.life, outputs=self._outputs)
            if event is None:
                return "late", None
            kind, number, value, cost = event
            if kind == "output":
                if not value:
                    self._outputs[number] = -1
                sink(number, value)
            elif kind in ("result", "error", "eof"):
                self._channel.release(cost)
                return kind, value

    def _end(self, cause: str, patience: float, sink: Sink) -> int | None:
        """End the session and the child. Returns the child's status as `Child.end` does."""
        self.over = _CLOSED if self._closing else f"this worker is over since an earlier call: {cause}"
        self._channel.close()
        self.child.hang_up()
        status = self.child.end(patience, lambda: drain(self._outputs, sink))
        self._outputs.clear()
        return status

    def _died(self, who: str, status: int | None) -> HooklessError:
        if self._closing:
            return HooklessError("the worker was closed while this call was open")
        stderr = self.output.errors
        if status is None:
            return WorkerDied(f"{who} closed its channel without an answer and was stopped", stderr=stderr)
        if status >= 0:
            return WorkerDied(f"{who} exited with status {status}", exit_status=status, stderr=stderr)
        return WorkerDied(f"{who} was killed by {_signal_name(-status)}", signal=-status, stderr=stderr)

    def close(self) -> None:
        """End the session, and the child within bounded time. A call that is open in another thread fails."""
        if not self.is_ours:
            self._channel.close()
            self.child.disown()
            return
        if self._turns.is_mine():
            raise HooklessError(
                "a worker cannot be closed from inside its own on_output or from a signal handler"
            )
        place = Place()
        try:
            try:
                self._close(place)
            finally:
                self._turns.leave(place)
        finally:
            self._turns.leave(place)

    def _close(self, place: Place) -> None:
        if not self._turns.enter(place):
            self._closing = True
            self.child.signal(signal.SIGKILL)
            self.child.hang_up()
            self._turns.wait(place, None)
        self._closing = True
        if self.is_open:
            self._end("", _PATIENCE, Sink(self.output, None))


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:  # One of the real-time signals.
        return f"signal {number}"
