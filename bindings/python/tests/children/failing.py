"""What the tests of failures call in a worker's child. Imported there; the host only names it."""

from __future__ import annotations

import builtins
import ctypes
import linecache
import os
import resource
import sys
import traceback
from typing import Any, NoReturn

import hookless
from hookless import worker


def builtin(name: str) -> NoReturn:
    """Raise a builtin exception by its name, with what its class requires."""
    made: dict[str, Any] = {
        "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "bad"),
        "UnicodeEncodeError": lambda: UnicodeEncodeError("utf-8", "a\ud800", 1, 2, "bad"),
        "UnicodeTranslateError": lambda: UnicodeTranslateError("ab", 0, 1, "bad"),
        "BaseExceptionGroup": lambda: BaseExceptionGroup("g", [KeyboardInterrupt()]),
        "ExceptionGroup": lambda: ExceptionGroup("g", [ValueError(1)]),
        "SyntaxError": lambda: SyntaxError("bad", ("f.py", 3, 2, "a b\n", 3, 4)),
    }
    kind = getattr(builtins, name)
    if name in made:
        raise made[name]()
    if issubclass(kind, SyntaxError):
        raise kind("bad", ("f.py", 3, 2, "a b\n", 3, 4))
    if issubclass(kind, OSError):
        raise kind(5, "said so", "one", None, "two")
    raise kind("text")


def with_memory(mebibytes: int) -> NoReturn:
    held = bytearray(mebibytes << 20)
    raise ValueError("with a large local", len(held))


def bound_memory(mebibytes: int) -> None:
    """From now on this process may map that much more than it has."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + (mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def three_deep() -> NoReturn:
    def first() -> NoReturn:
        second()

    def second() -> NoReturn:
        raise Own("own class")

    first()


class Own(Exception):
    """Only the child has it."""


def denied(texts: list[str], *, fails: bool = True) -> str:
    for text in texts:
        worker.deny(text)
    if fails:
        raise PermissionError(13, "denied")
    return "went on"


def denied_by_exceptions() -> NoReturn:
    inner: Any = OSError("inner")
    inner.__denials__ = ["connect", "open"]
    outer: Any = Own("outer")
    outer.__denials__ = ("open", 5)
    worker.deny("recorded")
    raise outer from inner


def wrong_denial(value: Any) -> None:
    worker.deny(value)


def hop(folder: str, target: str, argument: str) -> object:
    """Call a worker of this worker's own, and let its failure through."""
    with hookless.Worker(paths=[folder], isolation="none") as inner:
        return inner.call(target, argument)


def hop_with_cause(folder: str) -> NoReturn:
    try:
        hop(folder, "failing:builtin", "KeyError")
    except KeyError as error:
        raise Own("outer") from error
    raise AssertionError


def hop_as_value(folder: str) -> object:
    try:
        hop(folder, "failing:builtin", "KeyError")
    except KeyError as error:
        return error
    raise AssertionError


def breaks_our_tools() -> NoReturn:
    """What describes an exception is in the hands of foreign code too."""

    def wrong(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    linecache.getline = linecache.checkcache = wrong
    traceback.print_exc = wrong
    sys.modules["reprlib"].Repr = wrong  # type: ignore[attr-defined]
    hookless._draft.collect = hookless.failure.collect = wrong  # type: ignore[attr-defined]
    raise Own("all is broken", object())


def named_file(name: str) -> NoReturn:
    """Raise from code that says it is of a file of that name."""
    exec(compile("def f():\n    raise KeyError('k')\nf()", name, "exec"))
    raise AssertionError


def pid() -> int:
    return os.getpid()


def unsendable_results(kind: str) -> object:
    return {
        "object": object(),
        "cycle": _cycle(),
        "deep": _deep(),
        "pointer": [ctypes.c_int(5)],
        "key": {object(): 1},
    }[kind]


def _cycle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def _deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(1000):
        found = [found]
    return found
