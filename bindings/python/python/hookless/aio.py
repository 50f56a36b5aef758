"""`Worker` for asyncio: many calls of one child at once, and nothing that keeps the loop waiting."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from hookless import _request
from hookless._aio import LoopCall, LoopSession
from hookless._background import in_thread
from hookless._bounds import default_memory
from hookless._builders import Errors
from hookless._hearing import LogListener, Options, ProgressListener
from hookless._hookless import Limits
from hookless._launcher import Launcher
from hookless._output import Listener
from hookless._request import Path
from hookless._start import Started
from hookless._target import Target
from hookless._window import Window
from hookless.errors import HooklessError, IsolationWarning

if TYPE_CHECKING:
    from hookless._hookless import _Adapter

__all__ = ["Configured", "Stream", "Worker"]

_T = TypeVar("_T")


class Worker:
    """A child process that runs code this process does not trust: `hookless.Worker` inside an event loop.

    It takes the same settings. It starts with `async with`, and belongs to the loop that runs then. Any
    number of tasks may call at once; the child runs `async def` functions side by side, and others in turn.
    To cancel a task that waits for a call is to cancel the call, at once; so `asyncio.timeout` works. If the
    child does not end it within `grace` seconds, it is stopped, with all that it does.

        async with hookless.aio.Worker(paths=["src"]) as worker:
            result = await worker.call("analysis:fit", data, order=3)
            async for step in worker.stream("analysis:steps", 10):
                print(step)

    The loop does not wait for the child: it starts and ends in a thread, and a large frame is received in
    one. Arguments are encoded in the loop.
    """

    def __init__(
        self,
        *,
        paths: Iterable[Path] = (),
        isolation: str = "strict",
        limits: Limits | None = None,
        stall: float = 30.0,
        start_timeout: float = 30.0,
        grace: float = 2.0,
        errors: Errors = "builtin",
        memory: int | None = default_memory(),
        cpu_seconds: int | None = None,
        file_size: int | None = 1 << 30,
        open_files: int | None = 256,
        threads: int | None = 1024,
        launcher: Launcher = (),
    ) -> None:
        self._plan = _request.plan(
            paths=paths,
            isolation=isolation,
            limits=limits,
            stall=stall,
            start_timeout=start_timeout,
            grace=grace,
            errors=errors,
            memory=memory,
            cpu_seconds=cpu_seconds,
            file_size=file_size,
            open_files=open_files,
            threads=threads,
            launcher=launcher,
        )
        self._options = Options(errors=self._plan.errors)
        self._isolation: dict[str, str] = {}
        self._is_begun = False
        self._session: LoopSession | None = None

    async def __aenter__(self) -> Worker:
        """Start the child. Raises as `hookless.Worker` does."""
        if self._is_begun:
            raise HooklessError("a worker is started once: make another one")
        self._is_begun = True
        started = await in_thread(self._plan.start, _undo)
        self._isolation = started.isolation
        plan = self._plan
        self._session = LoopSession(started, grace=plan.grace, room=plan.room, stall=plan.stall)
        for layer, reason in started.missing:
            warnings.warn(f"no {layer}: {reason}", IsolationWarning, stacklevel=2)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def call(self, target: Target, /, *args: object, **kwargs: object) -> Any:
        """Call a function in the child, and return what it returns: see `hookless.Worker.call`."""
        return await self._running().call(_request.function(target, args, kwargs), self._options)

    async def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> Any:
        """Run a script's text in the child: see `hookless.Worker.run`. The file is read in the loop."""
        return await self._running().call(_request.script(path, inputs), self._options)

    def stream(self, target: Target, /, *args: object, **kwargs: object) -> Stream[Any]:
        """Call a generator function in the child, and return an asynchronous iterator of what it yields.

        See `hookless.Worker.stream`. The call is made at once.
        """
        return Stream(self, self._running(), _request.stream(target, args, kwargs), self._options)

    @overload
    def options(
        self,
        *,
        returns: type[_T] | _Adapter[_T],
        deadline: float | None = None,
        on_output: Listener | None = None,
        on_progress: ProgressListener | None = None,
        on_log: LogListener | None = None,
        errors: Errors | None = None,
    ) -> Configured[_T]: ...
    @overload
    def options(
        self,
        *,
        returns: Any = None,
        deadline: float | None = None,
        on_output: Listener | None = None,
        on_progress: ProgressListener | None = None,
        on_log: LogListener | None = None,
        errors: Errors | None = None,
    ) -> Configured[Any]: ...
    def options(
        self,
        *,
        returns: Any = None,
        deadline: float | None = None,
        on_output: Listener | None = None,
        on_progress: ProgressListener | None = None,
        on_log: LogListener | None = None,
        errors: Errors | None = None,
    ) -> Configured[Any]:
        """Return this worker with options for its calls and streams: see `hookless.Worker.options`.

        The functions are called in the loop, by the task that waits for the call; they are no coroutines.
        """
        chosen = _request.options(
            self._options.errors,
            returns=returns,
            deadline=deadline,
            on_output=on_output,
            on_progress=on_progress,
            on_log=on_log,
            own_errors=errors,
        )
        return Configured(self, chosen)

    def _running(self) -> LoopSession:
        if self._session is None:
            raise HooklessError(
                "this worker has not been started: `async with hookless.aio.Worker() as worker`"
            )
        return self._session

    @property
    def isolation(self) -> dict[str, str]:
        """What holds the child back, by layer, as the kernel told it before foreign code ran."""
        return dict(self._isolation)

    @property
    def is_alive(self) -> bool:
        """Whether calls can be made: started, and neither closed nor over by an error that is known."""
        return self._session is not None and self._session.is_alive

    @property
    def output(self) -> bytes:
        """The last 64 KiB that the child printed, to both streams."""
        return b"" if self._session is None else self._session.output.both

    @property
    def output_dropped(self) -> int:
        """Bytes that `on_output` was not given, because a call printed more than 16 MiB."""
        return 0 if self._session is None else self._session.output.dropped

    async def close(self) -> None:
        """End the child: it may finish by itself, or SIGTERM asks it, or SIGKILL makes it. Twice is fine.

        If a task waits for a call, the child is killed, and that call raises HooklessError.
        """
        if self._session is not None:
            await self._session.close()

    def __del__(self) -> None:
        session: LoopSession | None = getattr(self, "_session", None)
        if session is None or not session.is_open:
            return
        try:
            if session.is_ours and session.doomed is None:
                warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
        finally:
            session.abandon()

    def __repr__(self) -> str:
        if self._session is None:
            return "<hookless.aio.Worker, not started>"
        state = "open" if self._session.is_open else "over"
        return f"<hookless.aio.Worker, child {self._session.child.pid}, {state}>"


class Configured(Generic[_T]):
    """A worker with options for its calls; made by `Worker.options`."""

    def __init__(self, worker: Worker, options: Options) -> None:
        self._worker, self._options = worker, options

    async def call(self, target: Target, /, *args: object, **kwargs: object) -> _T:
        """Call a function in the child: see `Worker.call`."""
        return await self._result(_request.function(target, args, kwargs))

    async def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> _T:
        """Run a script's text in the child: see `Worker.run`."""
        return await self._result(_request.script(path, inputs))

    def stream(self, target: Target, /, *args: object, **kwargs: object) -> Stream[_T]:
        """Call a generator function in the child: see `Worker.stream`."""
        request = _request.stream(target, args, kwargs)
        return Stream(self._worker, self._worker._running(), request, self._options)

    async def _result(self, request: _request.Request) -> _T:
        result: _T = await self._worker._running().call(request, self._options)
        return result


class Stream(Generic[_T]):
    """An asynchronous iterator of what a generator in the child yields; made by `Worker.stream`.

    As `hookless.Stream`: an item is there as soon as it is made, and a stream that is left before its end is
    cancelled. One task at a time may read it.
    """

    def __init__(
        self, worker: Worker, session: LoopSession, request: _request.Request, options: Options
    ) -> None:
        # The worker is held, not only its session: it ends its child when nobody holds it any more.
        self._worker, self._session, self._options = worker, session, options
        self._is_over = False
        self._value: tuple[Any] | None = None
        self._window = Window(session.windows, session.room)
        self._call = session.new_call(options)
        try:
            session.send_now(self._call, request, self._window.first)
        except BaseException:
            self.close()
            raise
        session.windows.append(self._window)

    def __aiter__(self) -> Stream[_T]:
        return self

    async def __anext__(self) -> _T:
        """Return the next item: see `hookless.Stream`."""
        began = time.monotonic()
        if self._is_over:
            raise StopAsyncIteration
        if self._call.is_awaited:
            raise HooklessError("this stream is being read: one task at a time may read it")
        try:
            event = await self._session.next_event(self._call, began)
            kind, _, item, cost = event
            if kind == "cancelled":
                raise HooklessError("the worker was closed while this stream was open")
        except BaseException:
            self.close()
            raise
        if kind == "item":
            self._session.take(self._call)
            if more := self._window.taken(cost):
                self._session.grant(self._call, more)
            converted: _T = self._options.converted(item)
            return converted
        self.close()
        self._value = (self._call.hearing.outcome(event, convert=False),)
        raise StopAsyncIteration

    @property
    def value(self) -> Any:
        """What the generator returned. Raises HooklessError unless all items have been read."""
        if self._value is None:
            raise HooklessError("a stream has a value when all of its items have been read")
        return self._value[0]

    def close(self) -> None:
        """Cancel the stream, unless it has ended; more than once is fine. It takes no time."""
        self._is_over = True
        _leave(self._session, self._call, self._window)

    async def aclose(self) -> None:
        """As `close`, for `contextlib.aclosing`."""
        self.close()

    async def __aenter__(self) -> Stream[_T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if "_call" not in self.__dict__ or self._is_over:
            return
        # Whatever thread this is.
        loop = self._session.loop
        if not loop.is_closed():
            loop.call_soon_threadsafe(_leave, self._session, self._call, self._window)

    def __repr__(self) -> str:
        return f"<hookless.aio.Stream, {'over' if self._is_over else 'open'}>"


def _leave(session: LoopSession, call: LoopCall, window: Window) -> None:
    if window in session.windows:
        session.windows.remove(window)
    session.leave(call)


def _undo(started: Started) -> None:
    """End a child that nobody waits for any more."""
    started.channel.close()
    started.child.end(0.0, lambda: None)
