"""`Worker`: runs code in a child process, and gets its results, failures and output."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from hookless import _request
from hookless._bounds import default_memory
from hookless._builders import Errors
from hookless._hearing import LogListener, Options, ProgressListener
from hookless._hookless import Limits
from hookless._output import Listener
from hookless._request import Path
from hookless._session import Session
from hookless._stream import Stream
from hookless._target import Target
from hookless.errors import IsolationWarning

if TYPE_CHECKING:
    from hookless._hookless import _Adapter

__all__ = ["Configured", "Stream", "Worker"]

_T = TypeVar("_T")


class Worker:
    """A child process that runs code this process does not trust, on a private socket.

    What it returns, and what it raises, arrives as inert values. One worker is one domain of trust: a later
    call may be falsified by an earlier one. Any thread may call at any time: all calls are sent at once, and
    each thread gets its own answer. The child runs plain functions and scripts one after the other.

    `paths` are folders that the child may read and import from; it has the interpreter's own packages as
    well. It may write to a temporary folder of its own, which it finds in TMPDIR and starts in, and which
    goes when the worker is closed.

    `isolation` is "strict": Landlock and seccomp are both in force, or no child starts. "auto" takes what the
    kernel offers, and warns (IsolationWarning) of what is missing. With "none" the child may do all that its
    user may do.

    `limits` bound what the host decodes and the child encodes. `stall` is how many seconds a frame that has
    begun may stand still, `start_timeout` how many the child has to start, `grace` how many it has to end a
    call that is cancelled: by its deadline, by an interrupt such as Ctrl-C, or because its stream is left. If
    it does not, it is stopped, with all that it does.

    `errors` says what a failure of the child is raised as. "builtin": what derived from a builtin Exception
    in the child does so here, and is a RemoteError as well. "plain": all are a RemoteError and no more. A
    dict of builders such as `{"app.Quota": build}` is asked first: the one for the nearest class in the
    failure's MRO, by name, is given the `Failure` and returns the exception to raise. Failures among values
    are never built so.

    What the child may use up, where None leaves the system's own bound: `memory`, its address space in
    bytes; `cpu_seconds` of all its threads; `file_size` of one file in bytes; `open_files`; and `threads`.
    The kernel counts those together with all else that the user runs, and not for root: there only memory
    bounds them.

        with hookless.Worker(paths=["src"]) as worker:
            result = worker.call("analysis:fit", data, order=3)

    Raises IsolationError, WorkerDied or DeadlineExceeded if no child starts, OSError for a bad folder.
    """

    __module__ = "hookless"

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
    ) -> None:
        plan = _request.plan(
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
        )
        self._options = Options(errors=plan.errors)
        started = plan.start()
        self._isolation = started.isolation
        self._session = Session(started, grace=plan.grace, room=plan.room)
        for layer, reason in started.missing:
            warnings.warn(f"no {layer}: {reason}", IsolationWarning, stacklevel=2)

    def call(self, target: Target, /, *args: object, **kwargs: object) -> Any:
        """Call a function in the child, and return what it returns.

        `target` is "module:qualname", or a function object of a module that the child can import, which is
        then named so. An `async def` function is run to its end. Arguments and result are values of the
        closed set.

        Raises RemoteError for what the function raised (but see `errors`), or if its result cannot be sent;
        EncodeError if an argument cannot be sent; LimitExceeded if 1024 calls are open; WorkerDied,
        DecodeError, ProtocolError or Stalled if the child ended or broke a rule, after which the worker is
        over. An interrupt cancels the call, and the worker goes on.
        """
        return self._session.call(_request.function(target, args, kwargs), self._options)

    def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> Any:
        """Run a script's text in the child, and return what it assigned to `result`; None if nothing.

        The file is read here. `inputs` are global names that it finds. Raises as `call` does, and OSError or
        SyntaxError if the file cannot be read.
        """
        return self._session.call(_request.script(path, inputs), self._options)

    def stream(self, target: Target, /, *args: object, **kwargs: object) -> Stream[Any]:
        """Call a generator function in the child, and return an iterator of what it yields.

        A function that returns an iterator will do, and an `async def` with `yield`. The call is made at
        once. Raises as `call` does, here or from the iterator.

            for step in worker.stream("analysis:steps", 10):
                print(step)
        """
        return Stream(self, self._session, _request.stream(target, args, kwargs), self._options)

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
        """Return this worker with options for its calls and streams.

        Results, and the items of a stream, are converted to the type `returns`: see `hookless.convert`. One
        that does not fit is a DecodeError with the code `type_mismatch`, and the worker goes on; TypeError
        for what is no type.

        A call that has no answer after `deadline` seconds raises DeadlineExceeded and is cancelled; so does a
        stream if there is no next item, or end, so long after it was asked for. The worker goes on if the
        child ends the call within the worker's `grace`; else the child is stopped.

        The functions are called by the thread that waits for the call, one at a time. If one of them raises,
        that comes out when the call is over.
        `on_output("stdout" or "stderr", data)` is given what the child prints during the call, all of it
        before the call returns, up to 16 MiB.
        `on_progress(done, total or None, text)` is given what the child's code reports by
        `hookless.worker.progress`, raw; only the latest is kept while the thread is busy.
        `on_log(record)` is given what the child's code logs: a `logging.LogRecord` whose texts are escaped,
        and raw in its `remote`. Without it records go to the host's logger `hookless.child` and those below.

        `errors` is that of `Worker`, for these calls.
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
        return Configured(self, self._session, chosen)

    @property
    def isolation(self) -> dict[str, str]:
        """What holds the child back, by layer, as the kernel told it before foreign code ran."""
        return dict(self._isolation)

    @property
    def is_alive(self) -> bool:
        """Whether calls can be made: neither closed, nor over by an error, as far as this side knows."""
        return self._session.is_alive

    @property
    def output(self) -> bytes:
        """The last 64 KiB that the child printed, to both streams, as far as calls have taken it."""
        return self._session.output.both

    @property
    def output_dropped(self) -> int:
        """Bytes that `on_output` was not given, because a call printed more than 16 MiB."""
        return self._session.output.dropped

    def close(self) -> None:
        """End the child: it may finish by itself, or SIGTERM asks it, or SIGKILL makes it. Twice is fine.

        If another thread waits for a call, the child is killed, and that call raises HooklessError.
        """
        self._session.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        session: Session | None = getattr(self, "_session", None)
        if session is None or not session.is_open:
            return
        try:
            if session.is_ours:
                warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
        finally:
            session.close()

    def __repr__(self) -> str:
        session = self._session
        return f"<hookless.Worker, child {session.child.pid}, {'open' if session.is_open else 'over'}>"


class Configured(Generic[_T]):
    """A worker with options for its calls; made by `Worker.options`."""

    def __init__(self, worker: Worker, session: Session, options: Options) -> None:
        # The worker is held, not only its session: it closes that when nobody holds it any more.
        self._worker, self._session, self._options = worker, session, options

    def call(self, target: Target, /, *args: object, **kwargs: object) -> _T:
        """Call a function in the child: see `Worker.call`."""
        return self._result(_request.function(target, args, kwargs))

    def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> _T:
        """Run a script's text in the child: see `Worker.run`."""
        return self._result(_request.script(path, inputs))

    def stream(self, target: Target, /, *args: object, **kwargs: object) -> Stream[_T]:
        """Call a generator function in the child: see `Worker.stream`."""
        return Stream(self._worker, self._session, _request.stream(target, args, kwargs), self._options)

    def _result(self, request: _request.Request) -> _T:
        result: _T = self._session.call(request, self._options)
        return result
