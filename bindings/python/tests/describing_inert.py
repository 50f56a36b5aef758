"""What a host without NumPy makes of arrays and NumPy scalars, as `describing` has values."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

import hookless

# Scalars that have a leaf: `<f8`, `<M8[ns]`, and `S`, `U`, `V` without a size.
LEAF = re.compile(r"[<|][biufcmM][0-9].*|[SUV]")


def describe(value: Any, describe_any: Callable[[Any], Any]) -> Any:
    """A value of one of hookless's inert classes."""
    kind = type(value)
    if kind is hookless.Array:
        return ["ndarray", _array(value)]
    if kind is hookless.Scalar:
        structure = value.structure
        leaf = structure is None and LEAF.fullmatch(value.dtype)
        dtype = value.dtype if structure is None else _plain(structure)
        return ["scalar" if leaf else "element", {"dtype": dtype, "data": value.tobytes().hex()}]
    if kind is hookless.MaskedArray:
        mask, fill_value = value.mask, value.fill_value
        parts = {
            "data": _array(value.data),
            "mask": mask and _array(mask),
            "fill_value": fill_value and _array(fill_value),
        }
        return ["masked", parts | {"hard_mask": value.hard_mask}]
    if kind is hookless.ObjectArray:
        items = [describe_any(item) for item in value.items]
        return ["objects", {"shape": list(value.shape), "order": value.order, "items": items}]
    if kind is hookless.StringArray:
        spec = {"missing": missing(value.na_object) if value.has_na_object else False, "coerce": value.coerce}
        shape = {"shape": list(value.shape), "order": value.order}
        return ["strings", spec | shape | {"items": list(value.items)}]
    raise AssertionError(f"not of the closed set: {kind!r}")


def missing(na_object: Any) -> Any:
    """What stands for a missing text."""
    if na_object is None:
        return ["none"]
    return ["str", na_object] if type(na_object) is str else ["float", struct.pack(">d", na_object).hex()]


def _array(array: hookless.Array) -> Any:
    structure = array.structure
    dtype = array.dtype if structure is None else _plain(structure)
    found = {"dtype": dtype, "shape": list(array.shape), "order": array.order, "data": array.tobytes().hex()}
    return found | ({"class": "recarray"} if array.recarray else {})


def _plain(value: Any) -> Any:
    """Tuples as lists, and the flags as one number."""
    if isinstance(value, dict):
        flags = value["align"] + 2 * value["record"]
        return {"itemsize": value["itemsize"], "flags": flags, "fields": _plain(value["fields"])}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
