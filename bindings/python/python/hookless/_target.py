"""What to call in a child: a function by its name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

__all__ = ["Target", "check_names", "name_of"]

Target: TypeAlias = str | Callable[..., Any]


def name_of(target: Target) -> str:
    """Return `module:qualname` of a function, given as that text or as the function itself.

    Raises ValueError or TypeError for what a child could not find by a name.
    """
    if not isinstance(target, str):
        return _name_of_object(target)
    # Most calls of a program name one of a few functions.
    is_name = _is_known if type(target) is str else _is_name
    if not is_name(target):
        raise ValueError(
            f"{target!r} names no function: write 'module:function' or 'package.module:Class.method'"
        )
    return target


def _is_name(text: str) -> bool:
    """Return whether a text is a module's name, a colon, and a function's name in it."""
    module, _, qualname = text.partition(":")
    return all(part.isidentifier() for part in (*module.split("."), *qualname.split(".")))


_is_known: Callable[[str], bool] = lru_cache(maxsize=256)(_is_name)


def _name_of_object(function: Callable[..., Any]) -> str:
    if not callable(function):
        kind = type(function).__name__
        raise TypeError(f"a worker calls a function or 'module:function', not a value of type {kind}")
    module, qualname = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        raise TypeError(
            f"{function!r} has no name by which a child could find it: write a function that calls it"
        )
    if module == "__main__":
        raise ValueError(
            f"{qualname} is defined in the program itself, which the child does not run: "
            "move it into a module in one of the folders of paths="
        )
    if "<" in qualname:
        raise ValueError(
            f"{qualname} exists only inside a function or an expression, where a child could not find it: "
            "define it by `def` at the top level of a module"
        )
    if not _is_found(function, module, qualname):
        raise ValueError(
            f"{module}:{qualname} is not this object, so a child would call another: call it by name"
        )
    return f"{module}:{qualname}"


def _is_found(function: object, module: str, qualname: str) -> bool:
    """Return whether the name leads to the function here; for a method of an instance it does not."""
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    # A class method is a new object each time, and equal.
    return found is function or (type(found) is type(function) and found == function)


def check_names(kind: str, names: dict[str, Any]) -> None:
    """Refuse names that S4 does not know, which would end the session. Raises TypeError or ValueError."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names of {kind} are text, not {type(name).__name__}")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the name {name!r} of {kind} has a lone surrogate") from None
