"""The child's side of a worker: gives up what it can, says HELLO, and answers calls until its stream ends.

It trusts the host. Nobody trusts the code that it calls, which may break this loop, but only in this process.
"""

from __future__ import annotations

import io
import os
import sys
from types import CoroutineType, ModuleType

import hookless.worker
from hookless._hookless import (
    Array,
    Channel,
    Failure,
    Limits,
    Scalar,
    close_descriptors,
    dumps,
    loads,
    lockdown,
    use_numpy,
)
from hookless._readable import readable
from hookless._safe import attempt, never_interrupted
from hookless.errors import EncodeError, IsolationError
from hookless.failure import describe
from hookless.records import EnumValue, NamedRecord, Record

# Each module that is imported here is a part of each child's start: json and traceback, with the regular
# expressions that they load, take as long as all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["main", "run_function"]

# Verb of a CALL for a script (S4); the other one is a function.
_SCRIPT = 1


def main(request: str) -> None:
    """Be the child, to the end of the process.

    `request` is a VALUE frame in hexadecimal, of a dict: isolation, paths, limits, rlimits and stall, as the
    host's `Worker` was given them; fd, the channel; report, the pipe that tells how the isolation went; and
    scratch, the folder to write to.
    """
    status = 1
    try:
        settings = loads(bytes.fromhex(request))
        limits = Limits(**settings["limits"])
        channel = Channel(_prepare(settings), "worker", limits=limits, stall=settings["stall"])
        channel.hello()
        while (event := channel.step(None)) is not None:
            kind, number, value, _ = event
            if kind == "eof":
                break
            if kind == "call":
                _answer(channel, limits, number, *value)
            elif kind == "shutdown":
                channel.close()
                break
            # Arguments are let go before the next ones come.
            del event, value
        status = 0
    except BaseException:  # noqa: BLE001 (the host is told by the exit status and by standard error)
        import traceback

        traceback.print_exc()
    finally:
        _flush()
        # At once: threads that foreign code left behind could hold up an orderly end for ever.
        os._exit(status)


def _prepare(settings: dict[str, Any]) -> int:
    """Give up what foreign code shall not have; return the descriptor of the channel."""
    descriptor: int = settings["fd"]
    report: int = settings["report"]
    close_descriptors([descriptor, report])
    # It leads a session of its own: no Ctrl-C comes here.
    never_interrupted()
    # What foreign code starts must not hold the channel open when this process is gone.
    os.set_inheritable(descriptor, False)
    os.register_at_fork(after_in_child=lambda: _cut_off(descriptor))
    _lock_down(settings, report)
    hookless.worker._channel = descriptor
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    sys.argv[:] = ["hookless"]
    sys.path[:0] = settings["paths"]
    return descriptor


def _lock_down(settings: dict[str, Any], report: int) -> None:
    """Put the isolation in force, and tell the host of it while this process runs no code but ours."""
    told: dict[str, object] = {}
    try:
        layers, missing = lockdown(
            settings["isolation"],
            readable=readable(),
            required=settings["paths"],
            writable=[settings["scratch"]],
            **settings["rlimits"],
        )
        told = {"layers": layers, "missing": missing}
    except IsolationError as error:
        told = {"refused": [error.layer, str(error)]}
        raise
    finally:
        os.write(report, dumps(told))
        os.close(report)


def _cut_off(descriptor: int) -> None:
    """Take the channel from a fork of this process."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor, inheritable=False)
    os.close(null)


def _answer(
    channel: Channel,
    limits: Limits,
    number: int,
    verb: int,
    name: str,
    source: str | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Do what a call asks for, and answer it. No exception of foreign code, of any kind, ends the child."""
    value: object = None
    failure: Failure | None = None
    hookless.worker._begin_call()
    try:
        args, kwargs = _with_numpy(args, kwargs, limits)
        value = _run(name, source or "", kwargs) if verb == _SCRIPT else _call(name, args, kwargs)
    except BaseException as error:  # noqa: BLE001 (SystemExit and its like are outcomes of a call too)
        failure = _describe(error, limits)
    # Before the answer: the host drains the pipes when it has come.
    _flush()
    if failure is None:
        try:
            channel.result(number, value)
        except EncodeError as error:
            failure = _describe(error, limits)
    if failure is not None:
        channel.fail(number, failure)


def _describe(error: BaseException, limits: Limits) -> Failure:
    own = hookless.worker
    return describe(error, limits, denials=list(own._denials), complete=not own._more)


def _call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    module, _, qualname = name.partition(":")
    __import__(module)
    found: Any = sys.modules[module]
    for part in qualname.split("."):
        found = getattr(found, part)
    value: object = found(*args, **kwargs)
    if type(value) is CoroutineType:
        import asyncio

        return asyncio.run(value)
    return value


_script = ""


def _run(name: str, source: str, inputs: dict[str, Any]) -> object:
    """Run a script as `__main__`, with `inputs` among its globals; return its `result`."""
    return _execute("__main__", name, source, inputs, lambda scope: scope.get("result"))


def run_function(name: str, source: str, function: str, arguments: dict[str, Any]) -> object:
    """Run a file's text as a module, and then a function that it defines; return what that returns.

    The command line has it called, by its name.
    """

    def call(scope: dict[str, Any]) -> object:
        found: Any = scope.get(function)
        if not callable(found):
            own = [key for key, one in scope.items() if getattr(one, "__module__", None) == module]
            known = ", ".join(key for key in own if callable(scope[key])) or "none"
            raise LookupError(f"{name} defines no function {function!r}; it has {known}")
        value: object = found(**arguments)
        if type(value) is CoroutineType:
            import asyncio

            return asyncio.run(value)
        return value

    # What such a file does only as a program, it does not do now.
    module = os.path.splitext(os.path.basename(name))[0]
    return _execute(module, name, source, {}, call)


def _execute(
    module_name: str,
    name: str,
    source: str,
    inputs: dict[str, Any],
    outcome: Callable[[dict[str, Any]], object],
) -> object:
    """Run a text as a module of that name; return the outcome of its globals."""
    import linecache

    global _script
    # Tracebacks show its lines, though there may be no such file here. Only the last script's text is kept.
    linecache.cache.pop(_script, None)
    lines = [f"{line}\n" for line in source.split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)
    _script = name
    module, before = ModuleType(module_name), sys.modules.get(module_name)
    scope = vars(module)
    scope.update({"__file__": name, **inputs})
    sys.modules[module_name] = module
    try:
        exec(compile(source, name, "exec", dont_inherit=True), scope)  # noqa: S102 (what a worker is for)
        return outcome(scope)
    finally:
        if before is None:
            sys.modules.pop(module_name, None)
        else:
            sys.modules[module_name] = before


def _with_numpy(
    args: tuple[Any, ...], kwargs: dict[str, Any], limits: Limits
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Load NumPy when the host sends the first array, and not before: many children never need it.

    In a child without NumPy, arrays stay `hookless.Array`.
    """
    if "numpy" in sys.modules or not _holds_array([*args, *kwargs.values()]):
        return args, kwargs
    try:
        use_numpy()
    except ImportError:
        return args, kwargs
    found: tuple[tuple[Any, ...], dict[str, Any]] = loads(dumps((args, kwargs), limits=limits), limits=limits)
    return found


def _holds_array(level: list[Any]) -> bool:
    while level:
        kinds = set(map(type, level))
        if Array in kinds or Scalar in kinds:
            return True
        below: list[Any] = []
        if not kinds.isdisjoint((list, tuple, dict, set, frozenset, Record, NamedRecord, EnumValue)):
            for one in level:
                if type(one) in (list, tuple, set, frozenset):
                    below.extend(one)
                elif type(one) is dict:
                    below.extend(one)
                    below.extend(one.values())
                elif type(one) in (Record, NamedRecord):
                    below.extend(one.values())
                elif type(one) is EnumValue:
                    below.append(one.value)
        level = below
    return False


def _flush() -> None:
    """Write out what is buffered; foreign code may have closed or replaced the streams."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        attempt(lambda stream=stream: stream.flush())
