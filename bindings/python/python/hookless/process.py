"""`Worker`: runs code in a child process, and gets its results, failures and output."""

from __future__ import annotations

import errno
import os
import stat
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from hookless._bounds import default_memory, processes
from hookless._builders import Builder, Errors, check_errors
from hookless._hookless import Limits
from hookless._output import Listener
from hookless._session import Request, Session
from hookless._target import Target, check_names, name_of
from hookless.errors import IsolationWarning

if TYPE_CHECKING:
    from hookless._hookless import _Adapter
    from hookless._typed.conversion import Conversion

__all__ = ["Configured", "Worker"]

_T = TypeVar("_T")

Path: TypeAlias = str | os.PathLike[str]

# Verbs of a CALL (S4).
_FUNCTION, _SCRIPT = 0, 1

# Seconds from which on a wait is endless: about thirty years.
_ENDLESS = 1e9


class Worker:
    """A child process that runs code this process does not trust, on a private socket.

    What it returns, and what it raises, arrives as inert values. One worker is one domain of trust: a later
    call may be falsified by an earlier one. Calls of several threads take turns.

    `paths` are folders that the child may read and import from; it has the interpreter's own packages as
    well. It may write to a temporary folder of its own, which it finds in TMPDIR and starts in, and which
    goes when the worker is closed.

    `isolation` is "strict": Landlock and seccomp are both in force, or no child starts. "auto" takes what the
    kernel offers, and warns (IsolationWarning) of what is missing. With "none" the child may do all that its
    user may do.

    `limits` bound what the host decodes and the child encodes. `stall` is how many seconds a frame that has
    begun may stand still, `start_timeout` how many the child has to start.

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
        errors: Errors = "builtin",
        memory: int | None = default_memory(),
        cpu_seconds: int | None = None,
        file_size: int | None = 1 << 30,
        open_files: int | None = 256,
        threads: int | None = 1024,
    ) -> None:
        if isolation not in ("strict", "auto", "none"):
            raise ValueError(f"isolation= is 'strict', 'auto' or 'none', not {isolation!r}")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits= is a hookless.Limits, not a {type(limits).__name__}")
        self._errors = check_errors(errors)
        rlimits = {
            "memory": _count("memory", memory),
            "cpu_seconds": _count("cpu_seconds", cpu_seconds),
            "file_size": _count("file_size", file_size),
            "open_files": _count("open_files", open_files),
            "processes": processes(_count("threads", threads)),
        }
        stall = _seconds("stall", stall)
        settings = {
            "isolation": isolation,
            "paths": _folders(paths),
            "limits": {name: getattr(limits or Limits(), name) for name in Limits.TABLE},
            "stall": stall,
            "rlimits": rlimits,
        }
        self._session = Session(settings, limits, stall, _seconds("start_timeout", start_timeout))
        for layer, reason in self._session.missing:
            warnings.warn(f"no {layer}: {reason}", IsolationWarning, stacklevel=2)

    def call(self, target: Target, /, *args: object, **kwargs: object) -> Any:
        """Call a function in the child, and return what it returns.

        `target` is "module:qualname", or a function object of a module that the child can import, which is
        then named so. An `async def` function is run to its end. Arguments and result are values of the
        closed set.

        Raises RemoteError for what the function raised (but see `errors`), or if its result cannot be sent;
        EncodeError if an
        argument cannot be sent; WorkerDied, DecodeError, ProtocolError or Stalled if the child ended or broke
        a rule, after which the worker is over.
        """
        return self._session.call(_function(target, args, kwargs), errors=self._errors)

    def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> Any:
        """Run a script's text in the child, and return what it assigned to `result`; None if nothing.

        The file is read here. `inputs` are global names that it finds. Raises as `call` does, and OSError or
        SyntaxError if the file cannot be read.
        """
        return self._session.call(_script(path, inputs), errors=self._errors)

    @overload
    def options(
        self,
        *,
        returns: type[_T] | _Adapter[_T],
        deadline: float | None = None,
        on_output: Listener | None = None,
        errors: Errors | None = None,
    ) -> Configured[_T]: ...
    @overload
    def options(
        self,
        *,
        returns: Any = None,
        deadline: float | None = None,
        on_output: Listener | None = None,
        errors: Errors | None = None,
    ) -> Configured[Any]: ...
    def options(
        self,
        *,
        returns: Any = None,
        deadline: float | None = None,
        on_output: Listener | None = None,
        errors: Errors | None = None,
    ) -> Configured[Any]:
        """Return this worker with options for its calls.

        Results are converted to the type `returns`: see `hookless.convert`. One that does not fit is a
        DecodeError with the code `type_mismatch`, and the worker goes on; TypeError for what is no type.
        A call that has no answer after `deadline` seconds, time in the queue included, raises
        DeadlineExceeded, and the child is stopped. `on_output("stdout" or "stderr", data)` is given what the
        child prints during the call, all of it before the call returns, up to 16 MiB. If it raises, that
        comes out when the call is over. `errors` is that of `Worker`, for these calls.
        """
        if deadline is not None:
            deadline = _seconds("deadline", deadline)
        if on_output is not None and not callable(on_output):
            raise TypeError(f"on_output= is a function of stream and data, not a {type(on_output).__name__}")
        convert = None
        if returns is not None:
            from hookless._typed.conversion import conversion

            convert = conversion(returns)
        chosen = self._errors if errors is None else check_errors(errors)
        return Configured(self, deadline, on_output, chosen, convert)

    @property
    def isolation(self) -> dict[str, str]:
        """What holds the child back, by layer, as the kernel told it before foreign code ran."""
        return dict(self._session.isolation)

    @property
    def output(self) -> bytes:
        """The last 64 KiB that the child printed, to both streams, as far as calls have taken it."""
        return self._session.output.both

    @property
    def output_dropped(self) -> int:
        """Bytes that `on_output` was not given, because a call printed more than 16 MiB."""
        return self._session.output.dropped

    def close(self) -> None:
        """End the child: it may exit by itself, or SIGTERM asks it, or SIGKILL makes it. Twice is fine."""
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

    def __init__(
        self,
        worker: Worker,
        deadline: float | None,
        on_output: Listener | None,
        errors: str | dict[str, Builder],
        convert: Conversion | None,
    ) -> None:
        # The worker is held, not only its session: it closes that when nobody holds it any more.
        self._worker, self._deadline, self._on_output = worker, deadline, on_output
        self._errors, self._convert = errors, convert

    def call(self, target: Target, /, *args: object, **kwargs: object) -> _T:
        """Call a function in the child: see `Worker.call`."""
        return self._result(_function(target, args, kwargs))

    def run(self, path: Path, *, inputs: Mapping[str, object] | None = None) -> _T:
        """Run a script's text in the child: see `Worker.run`."""
        return self._result(_script(path, inputs))

    def _result(self, request: Request) -> _T:
        result: _T = self._worker._session.call(request, self._deadline, self._on_output, self._errors)
        return result if self._convert is None else self._convert(result)


def _function(target: Target, args: tuple[object, ...], kwargs: dict[str, object]) -> Request:
    check_names("keyword arguments", kwargs)
    return _FUNCTION, name_of(target), None, args, kwargs


def _script(path: Path, inputs: Mapping[str, object] | None) -> Request:
    given = dict(inputs or {})
    check_names("inputs", given)
    # By Python's own rules for source files: the coding cookie or UTF-8, and any line ends.
    with tokenize.open(path) as file:
        source = file.read()
    # Shown in tracebacks, never opened in the child; bytes of a name that are no text are shown as escapes.
    name = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    return _SCRIPT, name, source, (), given


def _folders(paths: Iterable[Path]) -> list[str]:
    """Return the folders as absolute paths. Raises OSError for what is none."""
    if isinstance(paths, str | bytes | os.PathLike):
        raise TypeError("paths= takes a list of folders, such as ['src']")
    found = [os.path.abspath(os.fsdecode(path)) for path in paths]
    for path in found:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "paths= takes folders", path)
    return found


def _seconds(name: str, value: float) -> float:
    """Check a time; a very long one is cut to what the system's clocks can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name}= is a number of seconds, not a {type(value).__name__}")
    if not value >= 0:
        raise ValueError(f"{name}= is a number of seconds from 0 on, not {value}")
    return float(min(value, _ENDLESS))


def _count(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}= is an int, not a {type(value).__name__}")
    if not 0 <= value < 1 << 63:
        raise ValueError(f"{name}= may be 0 to 2**63 - 1, not {value}")
    return value
