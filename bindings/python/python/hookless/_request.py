"""What a worker is asked for, checked: the settings of its child, the parts of a call, and its options."""

from __future__ import annotations

import errno
import os
import stat
import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hookless._bounds import processes
from hookless._builders import Builder, Errors, check_errors
from hookless._hearing import LogListener, Options, ProgressListener
from hookless._hookless import Limits
from hookless._launcher import Launcher
from hookless._launcher import check as check_launcher
from hookless._output import Listener
from hookless._start import Started, start
from hookless._target import Target, check_names, name_of

if TYPE_CHECKING:
    from hookless._typed.conversion import Conversion

__all__ = ["Path", "Plan", "Request", "function", "options", "plan", "room_of", "script", "seconds", "stream"]

Path: TypeAlias = str | os.PathLike[str]

# Verb, name, source, arguments by place and by name (S4).
Request: TypeAlias = tuple[int, str, str | None, tuple[object, ...], dict[str, Any]]
_FUNCTION, _SCRIPT, _STREAM = 0, 1, 2

# Seconds from which on a wait is endless: about thirty years.
_ENDLESS = 1e9


@dataclass(frozen=True)
class Plan:
    """A worker that can be started."""

    settings: Mapping[str, object]
    limits: Limits | None
    stall: float
    start_timeout: float
    grace: float
    errors: str | dict[str, Builder]
    launcher: tuple[str, ...]

    def start(self) -> Started:
        """Start a child: see `_start.start`."""
        return start(self.settings, self.limits, self.stall, self.start_timeout, self.launcher)

    @property
    def room(self) -> int:
        """See `room_of`."""
        return room_of(self.limits)


def room_of(limits: Limits | None) -> int:
    """Return what items of streams may cost that wait to be taken: half of L10, the rest is for results."""
    return (limits or Limits()).undelivered // 2


def plan(
    *,
    paths: Iterable[Path],
    isolation: str,
    limits: Limits | None,
    stall: float,
    start_timeout: float,
    grace: float,
    errors: Errors,
    memory: int | None,
    cpu_seconds: int | None,
    file_size: int | None,
    open_files: int | None,
    threads: int | None,
    launcher: Launcher,
) -> Plan:
    """Check the settings of a worker. Raises TypeError, ValueError, or OSError for a bad folder."""
    if isolation not in ("strict", "auto", "none"):
        raise ValueError(f"isolation= is 'strict', 'auto' or 'none', not {isolation!r}")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits= is a hookless.Limits, not a {type(limits).__name__}")
    chosen = check_errors(errors)
    rlimits = {
        "memory": _count("memory", memory),
        "cpu_seconds": _count("cpu_seconds", cpu_seconds),
        "file_size": _count("file_size", file_size),
        "open_files": _count("open_files", open_files),
        "processes": processes(_count("threads", threads)),
    }
    stall = seconds("stall", stall)
    settings = {
        "isolation": isolation,
        "paths": _folders(paths),
        "limits": {name: getattr(limits or Limits(), name) for name in Limits.TABLE},
        "rlimits": rlimits,
    }
    start_timeout = seconds("start_timeout", start_timeout)
    grace = seconds("grace", grace)
    return Plan(settings, limits, stall, start_timeout, grace, chosen, check_launcher(launcher))


def options(
    errors: str | dict[str, Builder],
    *,
    returns: Any,
    deadline: float | None,
    on_output: Listener | None,
    on_progress: ProgressListener | None,
    on_log: LogListener | None,
    own_errors: Errors | None,
) -> Options:
    """Check the options of calls; `errors` is the worker's own choice. Raises TypeError or ValueError."""
    if deadline is not None:
        deadline = seconds("deadline", deadline)
    _check_function("on_output", on_output, "stream and data")
    _check_function("on_progress", on_progress, "done, total and text")
    _check_function("on_log", on_log, "a logging.LogRecord")
    convert: Conversion | None = None
    if returns is not None:
        from hookless._typed.conversion import conversion

        convert = conversion(returns)
    chosen = errors if own_errors is None else check_errors(own_errors)
    return Options(deadline, on_output, on_progress, on_log, chosen, convert)


def function(target: Target, args: tuple[object, ...], kwargs: dict[str, object]) -> Request:
    """Return the request to call a function. Raises TypeError or ValueError for what has no name."""
    check_names("keyword arguments", kwargs)
    return _FUNCTION, name_of(target), None, args, kwargs


def stream(target: Target, args: tuple[object, ...], kwargs: dict[str, object]) -> Request:
    """Return the request to step through what a function yields: see `function`."""
    return (_STREAM, *function(target, args, kwargs)[1:])


def script(path: Path, inputs: Mapping[str, object] | None) -> Request:
    """Read a script and return the request to run it. Raises OSError or SyntaxError if it cannot be read."""
    given = dict(inputs or {})
    check_names("inputs", given)
    # By Python's own rules for source files: the coding cookie or UTF-8, and any line ends.
    with tokenize.open(path) as file:
        source = file.read()
    # Shown in tracebacks, never opened in the child; bytes of a name that are no text are shown as escapes.
    name = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    return _SCRIPT, name, source, (), given


def _check_function(name: str, value: Callable[..., object] | None, parameters: str) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{name}= is a function of {parameters}, not a {type(value).__name__}")


def _folders(paths: Iterable[Path]) -> list[str]:
    """Return the folders as absolute paths. Raises OSError for what is none."""
    if isinstance(paths, str | bytes | os.PathLike):
        raise TypeError("paths= takes a list of folders, such as ['src']")
    found = [os.path.abspath(os.fsdecode(path)) for path in paths]
    for path in found:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "paths= takes folders", path)
    return found


def seconds(name: str, value: float) -> float:
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
