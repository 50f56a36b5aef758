"""`lossy`: a ready-made `default=` that always finds something to send, and says that it did."""

from __future__ import annotations

import sys

from hookless._safe import Broken, attempt, exact_text, lineage, names, without_addresses
from hookless.display import escape_line
from hookless.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["lossy"]

# Characters of a repr that stands for an object.
_REPR = 256


def _dict(value: Any) -> dict[Any, Any]:
    return dict(dict.items(value))


# By the nearest class in the MRO: what an instance holds, read by the class's own methods and not by those of
# a subclass.
_NEAREST: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    bytes: bytes.__bytes__,
    bytearray: lambda value: bytearray.__getitem__(value, slice(None)),
    list: lambda value: [*list.__iter__(value)],
    tuple: lambda value: (*tuple.__iter__(value),),
    set: lambda value: {*set.__iter__(value)},
    frozenset: lambda value: frozenset({*frozenset.__iter__(value)}),
    dict: _dict,
    memoryview: memoryview.tobytes,
}


def lossy(value: object) -> Record:
    """Return a stand-in for an object that cannot be sent: `dumps(value, default=hookless.lossy)`.

    It is a `Record` named `hookless.Lossy` with the fields `type`, the name of the object's class, and either
    `value`, the nearest kind that can be sent, or `repr`, a short and escaped text. Subclasses of str, int,
    float, complex, bytes, bytearray, list, tuple, set, frozenset and dict become what they hold, and lose
    what the subclass adds; so does a memoryview, as bytes, and a mapping, as a dict. Nothing else is asked
    for its contents: an iterator is not consumed, and of an array of an unknown kind there is only the repr.
    """
    kind = type(value)
    module, qualname, _ = names(kind)
    type_name = qualname if module in ("builtins", "(builtins)") else f"{module}.{qualname}"
    held = _held(value)
    if isinstance(held, Broken):
        return Record("hookless", "Lossy", {"type": type_name, "repr": _repr(value, type_name)})
    return Record("hookless", "Lossy", {"type": type_name, "value": held})


def _held(value: object) -> Any:
    mro = lineage(type(value))
    for one in mro:
        for nearest, read in _NEAREST.items():
            if one is nearest:
                return attempt(read, value)
    if type(value) is type(type.__dict__) or any(one is _mapping() for one in mro):
        # A mapping's contents are to be had by its own methods alone.
        return attempt(dict, value)
    return Broken("TypeError")


def _mapping() -> object:
    module = sys.modules.get("collections.abc") or sys.modules.get("_collections_abc")
    return vars(module).get("Mapping") if module is not None else None


def _repr(value: object, type_name: str) -> str:
    text = exact_text(attempt(repr, value))
    return escape_line(f"<{type_name} object>" if text is None else without_addresses(text), most=_REPR)
