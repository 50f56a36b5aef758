"""Arrays that are more than numbers as text: masked ones, and those whose items are values or texts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from hookless._hookless import MaskedArray, ObjectArray, StringArray

__all__ = ["items_of", "kind_of", "shape_text", "special"]

# Items that are shown.
_ITEMS = 6


def kind_of(value: Any) -> str:
    """Return the name of a class of NumPy, such as `recarray`; empty for all others."""
    kind = type(value)
    return kind.__name__ if kind.__module__.partition(".")[0] == "numpy" else ""


def shape_text(shape: tuple[int, ...]) -> str:
    """Return dimensions as Python writes them."""
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def items_of(value: Any) -> list[Any] | None:
    """Return the items of an array of objects or texts, in the order in which they lie; None for all else."""
    if isinstance(value, ObjectArray | StringArray):
        return list(value.items)
    if kind_of(value) != "ndarray" or value.dtype.kind not in "OT":
        return None
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return list(value.reshape(-1, order=order))


def special(value: Any, single: Callable[[Any], str]) -> str | None:
    """Return an array that is more than numbers on one line; None for all else."""
    if isinstance(value, MaskedArray):
        return f"masked {single(value.data)}"
    if kind_of(value) == "MaskedArray":
        mask = value._mask
        masked = int(mask.sum()) if mask.dtype.names is None else "some"
        return f"masked {single(value.view(value._baseclass))}; {masked if mask.shape else int(mask)} masked"
    items = items_of(value)
    if items is None:
        return None
    of = (
        "objects"
        if isinstance(value, ObjectArray) or (kind_of(value) and value.dtype.kind == "O")
        else "texts"
    )
    shown = " ".join(map(_short(single), itertools.islice(items, _ITEMS)))
    more = " …" if len(items) > _ITEMS else ""
    return f"array of {of} {shape_text(value.shape)}" + (f": {shown}{more}" if items else "")


def _short(single: Callable[[Any], str]) -> Callable[[Any], str]:
    """Show what is simple, and name the type of what may hold more."""

    def show(item: Any) -> str:
        simple = item is None or type(item) in (bool, int, float, complex, str, bytes)
        return single(item) if simple else type(item).__name__

    return show
