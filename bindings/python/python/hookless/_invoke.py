"""What a call names, found and run: a function of a module, or the text of a script."""

from __future__ import annotations

import os
import sys
from types import CoroutineType, ModuleType

from hookless._hookless import Array, Scalar, dumps, loads, use_numpy
from hookless._safe import names
from hookless.records import EnumValue, NamedRecord, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hookless._hookless import Limits

__all__ = ["iterator_of", "resolve", "run_function", "run_script", "with_numpy"]

_script = ""


def resolve(name: str) -> Any:
    """Return what `module:qualname` names; the module is imported."""
    module, _, qualname = name.partition(":")
    __import__(module)
    found: Any = sys.modules[module]
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def iterator_of(value: Any) -> Any:
    """Return what a stream takes its items from: a value, if it is an iterator of either kind, or its own.

    Raises TypeError for what has none.
    """
    kind: Any = type(value)
    if hasattr(kind, "__anext__"):
        return value
    if hasattr(kind, "__aiter__"):
        return value.__aiter__()
    if hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
        return iter(value)
    if kind is CoroutineType:
        value.close()
    raise TypeError(f"stream needs a generator or iterator, not {names(kind)[1]}")


def run_script(name: str, source: str, inputs: dict[str, Any]) -> object:
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

            # Not a task of the loop that other calls share: its module is there for this call only.
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


def with_numpy(
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
