"""Reading objects that may misbehave: none of their exceptions gets out, and no code of theirs runs unasked.

Types are told apart by `type(x)` and by the getters of `type` itself, which no metaclass can replace.
"""

from __future__ import annotations

import builtins

from hookless._hookless import encodable
from hookless.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _T = TypeVar("_T")

__all__ = [
    "Broken",
    "attempt",
    "cap",
    "exact_text",
    "inherits",
    "lineage",
    "names",
    "never_interrupted",
    "sendable",
    "short_repr",
    "without_addresses",
]

_MODULE: Any = type.__dict__["__module__"]
_QUALNAME: Any = type.__dict__["__qualname__"]
_MRO: Any = type.__dict__["__mro__"]

# Characters of a repr that stands for an object.
_REPR = 256

# Levels of containers in an argument; the report around it takes some of `Limits.depth` too.
_DEPTH = 24


class Broken:
    """What `attempt` returns in place of a result: the name of the exception's class."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name


# Whether Ctrl-C may come. In a worker's child it cannot: there a KeyboardInterrupt is foreign code's own.
_interruptible = True


def never_interrupted() -> None:
    """Say that this process is no one's to interrupt, so that `attempt` lets nothing out at all."""
    global _interruptible
    _interruptible = False


def attempt(call: Callable[..., _T], *arguments: Any) -> _T | Broken:
    """Call, and return what it returns, or Broken. Only Ctrl-C gets out, unless an argument raised itself."""
    try:
        return call(*arguments)
    except BaseException as error:
        interrupt = _interruptible and type(error) is KeyboardInterrupt
        if interrupt and not any(error is one for one in arguments):
            raise
        return Broken(names(type(error))[1])


def names(kind: type) -> tuple[str, str, bool]:
    """Return module and qualified name of a class, never empty, and whether they are what the class has."""
    module, qualname = (
        exact_text(attempt(_MODULE.__get__, kind)),
        exact_text(attempt(_QUALNAME.__get__, kind)),
    )
    true = bool(module and qualname)
    if module == "builtins" and getattr(builtins, qualname or "", None) is not kind:
        # Not one of Python's own, whatever it says.
        module, true = "(builtins)", False
    return module or "?", qualname or "?", true


def lineage(kind: type) -> tuple[type, ...]:
    """Return the MRO of a class."""
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def inherits(value: object, kind: type) -> bool:
    """Return whether a value is an instance by its true type; `isinstance` would ask the value as well."""
    # Not `in`, which asks a metaclass for equality.
    return any(one is kind for one in lineage(type(value)))


def exact_text(value: object) -> str | None:
    """Return the characters of a str or of a str subclass; None for anything else."""
    if type(value) is str:
        return value
    return str.__str__(value) if inherits(value, str) else None


def cap(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` bytes of UTF-8 with each surrogate as three."""
    if len(text) * 4 <= most or (text.isascii() and len(text) <= most):
        return text
    data = text[: most + 1].encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return text
    while most and data[most] & 0xC0 == 0x80:
        most -= 1
    return data[:most].decode("utf-8", "surrogatepass")


def short_repr(value: object) -> str:
    """Return the repr of a value, on one line, escaped and short; a placeholder where it has none."""
    if type(value) in (str, bytes, bytearray):
        value = value[:_REPR]  # type: ignore[index]
    text = exact_text(attempt(_repr, value))
    if text is None:
        text = _plain_repr(value)
    return escape_line(without_addresses(text), most=_REPR)


def without_addresses(text: str) -> str:
    """Return a text with dots for the places in memory that reprs tell: `<object object at 0x...>`."""
    first, *others = text.split(" at 0x")
    return first + "".join(" at 0x..." + one.lstrip("0123456789abcdefABCDEF") for one in others)


def _repr(value: object) -> str:
    """Return a repr that shows a few items of each container, and of what has no repr why."""
    import reprlib

    short = reprlib.Repr()
    short.maxother = short.maxstring = short.maxlong = _REPR
    # Of what is no container; reprlib's own would hide the failure.
    short.repr_instance = lambda x, level: _plain_repr(x)  # type: ignore[method-assign]
    return short.repr(value)


def _plain_repr(value: object) -> str:
    shown = attempt(repr, value)
    text = exact_text(shown)
    if text is None:
        reason = f": repr() raised {shown.type_name}" if isinstance(shown, Broken) else ""
        text = f"<unprintable {names(type(value))[1]}{reason}>"
    return text[:_REPR]


def sendable(value: object, most: int) -> bool:
    """Return whether a value can be part of a report as it is, in at most `most` bytes.

    Exceptions cannot: they travel as links, and a report within a report would have no end.
    """
    if type(value) in (str, int, float, bool, bytes, type(None)):
        return encodable(value, most)
    holds = attempt(_holds_exception, value, most)
    return holds is False and attempt(encodable, value, most) is True


def _holds_exception(value: object, most: int) -> bool:
    """Return whether there is an exception in a value, or so much that it cannot be sent anyway."""
    from hookless._classify import parts_of

    level: list[Any] = [value]
    for _ in range(_DEPTH):
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind in (list, tuple, set, frozenset):
                below.extend(one)
            elif kind is dict:
                below.extend(one)
                below.extend(one.values())
            elif inherits(one, BaseException):
                return True
            else:
                below.extend(parts_of(one) or ())
            if len(below) > most:
                return True
        if not below:
            return False
        level = below
    return True
