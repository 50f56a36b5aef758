"""Classes that are not the host's own: those of the closed set, NumPy's, hookless's and pydantic's."""

from __future__ import annotations

import sys
import types
from typing import Any, Literal, get_args, get_origin

from hookless._hookless import Array
from hookless._typed.arrays import Arrays, ArraySpec
from hookless._typed.foreign import Adapted
from hookless._typed.hints import unaliased
from hookless._typed.nodes import Family, Node, Plain
from hookless.records import Record
from hookless.remote import RemoteError

__all__ = ["array", "is_array", "leaf", "of_pydantic"]

_BUILTIN = frozenset(
    {type(None), bool, int, complex, str, bytes, bytearray, range, slice, types.EllipsisType}
)

# Exact types of the standard library, by module: a module that nobody has loaded need not be imported.
_EXACT = {
    "array": {"array"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "ipaddress": {
        "IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network",
    },
    "time": {"struct_time"},
    "uuid": {"UUID"},
    "zoneinfo": {"ZoneInfo"},
}  # fmt: skip

# Classes that others derive from.
_FAMILIES = {
    "datetime": {"tzinfo"},
    "pathlib": {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
}


def leaf(cls: type, text: str) -> Node | None:
    """Return the node of a class of the closed set; None if it is none."""
    if cls in _BUILTIN or _is_of(cls, _EXACT):
        return Plain(cls)
    if _is_of(cls, _FAMILIES):
        return Family(cls)
    if issubclass(cls, BaseException) and (cls.__module__ == "builtins" or issubclass(cls, RemoteError)):
        return Family(cls, RemoteError)
    if cls.__module__.partition(".")[0] == "hookless":
        return Plain(cls)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.generic):
        return Family(cls)
    return None


def _is_of(cls: type, table: dict[str, set[str]]) -> bool:
    """Return whether a class is one of a table: that very class, and not one that has its name."""
    for module, names in table.items():
        loaded = sys.modules.get(module)
        if cls.__name__ in names and loaded is not None and getattr(loaded, cls.__name__, None) is cls:
            return True
    return False


def is_array(cls: type) -> bool:
    """Return whether a class is NumPy's array, or hookless's."""
    numpy = sys.modules.get("numpy")
    return cls is Array or (numpy is not None and issubclass(cls, numpy.ndarray))


def array(cls: type, annotation: Any, arguments: tuple[Any, ...]) -> Node:
    """Return the node of an array class. Of NumPy's annotations it reads the shape and the type of elements.

    `ndarray[tuple[int, Literal[3]], dtype[float64]]` has two dimensions, the second of them 3.
    """
    if not arguments:
        return Arrays([cls], None, [])
    import numpy

    # NumPy 2.5 names its own shapes by `type`.
    shape, *dtype = map(unaliased, arguments)
    specs = []
    if get_origin(shape) is tuple and Ellipsis not in get_args(shape):
        specs.append(ArraySpec(shape=tuple(map(_length, get_args(shape)))))
    elif shape is not Any and get_origin(shape) is not tuple and shape is not tuple:
        raise TypeError(f"no shape of an array: {shape!r}")
    family = None
    if dtype and dtype[0] is not Any:
        elements = get_args(dtype[0])
        family = elements[0] if elements else numpy.generic
        family = get_origin(family) or family
        if family is Any:
            family = None
        elif not (isinstance(family, type) and issubclass(family, numpy.generic)):
            raise TypeError(f"no type of an array's elements: {family!r}")
    return Arrays([cls], family, specs)


def _length(dimension: Any) -> int | None:
    if get_origin(dimension) is Literal:
        (length,) = get_args(dimension)
        if type(length) is int:
            return length
    elif dimension is int or dimension is Any:
        return None
    raise TypeError(f"no length of a dimension: {dimension!r}")


def of_pydantic(cls: type, text: str) -> Node | None:
    """Return the node of a pydantic model or dataclass; None if it is none."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or "__pydantic_core_schema__" not in cls.__dict__:
        return None
    return Adapted(pydantic.TypeAdapter(cls), text, frozenset({Record, dict}))
