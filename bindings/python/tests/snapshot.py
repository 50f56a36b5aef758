"""What a process is, as far as Python can see: before decoding and after it must be the same."""

from __future__ import annotations

import atexit
import builtins
import contextvars
import copyreg
import decimal
import gc
import linecache
import locale
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Snapshot", "take"]

# No metaclass can replace these.
_DICT: Any = type.__dict__["__dict__"]
_QUALNAME: Any = type.__dict__["__qualname__"]

_HERE = str(Path(__file__).parent)


class Snapshot:
    """Every name of every module and of every class that stands in one, and the settings of the process."""

    def __init__(self) -> None:
        # The objects themselves are kept, so that no other can get the address of one.
        self._kept: list[object] = []
        self.state: dict[str, object] = {}
        # The settings first: looking round in the modules makes some of them do things.
        self.state.update(_settings())
        for name, module in sorted(sys.modules.items()):
            if not self._is_of_the_tests(module):
                self._names(f"module {name}", getattr(module, "__dict__", {}))
        for kind in _classes():
            self._names(f"class {_place(kind)}.{_QUALNAME.__get__(kind)} {id(kind):x}", _DICT.__get__(kind))

    @staticmethod
    def _is_of_the_tests(module: object) -> bool:
        file = getattr(module, "__file__", None)
        return getattr(module, "__name__", "") == "__main__" or str(file).startswith(_HERE)

    def _names(self, where: str, names: Mapping[str, object]) -> None:
        for name, value in list(names.items()):
            self.state[f"{where}: {name}"] = self._token(value)

    def _token(self, value: object) -> object:
        self._kept.append(value)
        if type(value) is dict:
            self._kept.extend((*value, *value.values()))
            return id(value), [(id(key), id(one)) for key, one in value.items()]
        if type(value) in (list, set):
            items: Any = value
            self._kept.extend(items)
            return id(value), sorted(map(id, items)) if type(value) is set else list(map(id, items))
        return id(value)

    def changes(self, later: Snapshot) -> list[str]:
        """Names of all that differs."""
        both = self.state.keys() | later.state.keys()
        missing = object()
        return sorted(one for one in both if self.state.get(one, missing) != later.state.get(one, missing))


def _place(kind: type) -> object:
    """The module of a class, if it has one."""
    return _DICT.__get__(kind).get("__module__", "builtins")


def _classes() -> Iterator[type]:
    """Each class once: those in the modules, and all below them."""
    done: set[int] = set()
    todo: list[type] = [object, *(one for one in vars(builtins).values() if isinstance(one, type))]
    while todo:
        kind = todo.pop()
        if id(kind) in done or _place(kind) in ("__main__", "watching", "snapshot"):
            continue
        done.add(id(kind))
        todo += type.__subclasses__(kind)
        yield kind


def _settings() -> dict[str, object]:
    found: dict[str, object] = {
        "builtins": sorted(vars(builtins)),
        "sys.modules": sorted(sys.modules),
        "copyreg.dispatch_table": sorted(map(repr, copyreg.dispatch_table)),
        "linecache.cache": sorted(linecache.cache),
        "warnings.filters": list(map(repr, warnings.filters)),
        "decimal context": repr(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "signals": [repr(signal.getsignal(one)) for one in sorted(signal.valid_signals())],
        "recursion limit": sys.getrecursionlimit(),
        "int digits": sys.get_int_max_str_digits(),
        "flags": repr(sys.flags),
        "switch interval": sys.getswitchinterval(),
        "trace": sys.gettrace(),
        "collector": (gc.get_threshold(), list(map(repr, gc.callbacks))),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "descriptors": _descriptors(),
        "threads": sorted(one.name for one in threading.enumerate()),
        "random": random.getstate(),
        "at exit": atexit._ncallbacks(),
        "context": sorted(
            f"{key!r}={value!r}"
            for key, value in contextvars.copy_context().items()
            if not isinstance(value, decimal.Context)
        ),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy errors"] = numpy.geterr()
        found["numpy prints"] = repr(numpy.get_printoptions())
        found["numpy types"] = [sorted(map(str, numpy.sctypeDict)), numpy.typecodes]
    return found


def _descriptors() -> list[str]:
    """Open files, without the one by which they are listed."""
    found = []
    for one in os.listdir("/proc/self/fd"):
        try:
            found.append(f"{one} {os.readlink(f'/proc/self/fd/{one}')}")
        except FileNotFoundError:
            continue
    return sorted(found)


def take() -> Snapshot:
    """A snapshot; the first one of a process is thrown away, since taking it fills caches."""
    Snapshot()
    return Snapshot()
