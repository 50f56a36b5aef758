"""The repr of an inert record: one line, escaped, short, and made without recursion."""

from __future__ import annotations

from hookless._safe import Broken, attempt
from hookless.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["text_of"]

# Characters of the whole, and of one value in it.
_WHOLE = 1000
_ONE = 100

_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


def text_of(value: object, parts: Callable[[Any], tuple[tuple[Any, ...], Any]]) -> str:
    """Return the repr of a record of type `type(value)`; `parts` gives the arguments that make one."""
    written: list[str] = []
    length = 0
    stack: list[Iterator[Any]] = [iter([value])]
    records = type(value).__mro__[-2]
    while stack:
        item = next(stack[-1], stack)
        if item is stack:
            stack.pop()
            continue
        if type(item) is _Raw:
            piece = item
        elif type(item) in _BRACKETS:
            stack.append(_container(item))
            continue
        elif records in type(item).__mro__:
            stack.append(_record(item, parts))
            continue
        else:
            piece = _Raw(_leaf(item))
        written.append(piece)
        length += len(piece)
        if length > _WHOLE:
            return escape_line("".join(written), most=_WHOLE)
    return escape_line("".join(written))


class _Raw(str):
    """Text that is written as it is."""

    __slots__ = ()


def _record(value: Any, parts: Callable[[Any], tuple[tuple[Any, ...], Any]]) -> Iterator[Any]:
    names, rest = parts(value)
    yield _Raw(f"{type(value).__name__}(")
    for name in names:
        yield name
        yield _Raw(", ")
    yield rest
    yield _Raw(")")


def _container(value: Any) -> Iterator[Any]:
    opening, closing = _BRACKETS[type(value)]
    if not value and type(value) in (set, frozenset):
        yield _Raw(f"{type(value).__name__}()")
        return
    yield _Raw(opening)
    first = True
    for item in value.items() if type(value) is dict else value:
        if not first:
            yield _Raw(", ")
        first = False
        if type(value) is dict:
            yield item[0]
            yield _Raw(": ")
            yield item[1]
        else:
            yield item
    if type(value) is tuple and len(value) == 1:
        yield _Raw(",")
    yield _Raw(closing)


def _leaf(value: Any) -> str:
    """Return the repr of a value that is no container, short."""
    kind = type(value)
    if kind in (str, bytes, bytearray):
        more = "\u2026" if len(value) > _ONE else ""
        return repr(value[:_ONE]) + more
    if kind is int and value.bit_length() > 400:
        return f"<int of {value.bit_length()} bits>"
    if hasattr(kind, "__len__"):
        # Arrays and containers of other kinds may be large, and their own repr recurses.
        return f"<{kind.__name__}>"
    text = attempt(repr, value)
    if isinstance(text, Broken):
        return f"<{kind.__name__}>"
    return text if len(text) <= _ONE else text[: _ONE - 1] + "\u2026"
