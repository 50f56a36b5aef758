"""`assert_same`: equality by type and bits at every node, where `==` takes 1, 1.0 and True for one."""

from __future__ import annotations

import array
import ipaddress
import json
import struct
import sys
import time
from collections import Counter, OrderedDict, deque
from datetime import date, datetime, timedelta, timezone
from datetime import time as clock_time
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import describing_numpy
import hookless

__all__ = ["assert_same", "form"]


def assert_same(left: object, right: object, path: str = "$") -> None:
    """Raise AssertionError, naming the path, unless both values have equal types and bits everywhere."""
    assert type(left) is type(right), f"{path}: {type(left)!r} is not {type(right)!r}"
    one: Any = left
    two: Any = right
    kind = type(left)
    if kind is deque:
        assert one.maxlen == two.maxlen, f"{path}: maxlen {one.maxlen}, not {two.maxlen}"
    if kind in (list, tuple, deque):
        assert len(one) == len(two), f"{path}: {len(one)} items, not {len(two)}"
        for index, (a, b) in enumerate(zip(one, two, strict=True)):
            assert_same(a, b, f"{path}[{index}]")
    elif kind is slice:
        for name in ("start", "stop", "step"):
            assert_same(getattr(one, name), getattr(two, name), f"{path}.{name}")
    elif kind in (dict, OrderedDict, Counter):
        assert len(one) == len(two), f"{path}: {len(one)} pairs, not {len(two)}"
        for index, ((key_a, a), (key_b, b)) in enumerate(zip(one.items(), two.items(), strict=True)):
            assert_same(key_a, key_b, f"{path}.<key {index}>")
            assert_same(a, b, f"{path}.<value {index}>")
    elif kind in (hookless.Record, hookless.NamedRecord):
        assert (one.module, one.qualname, list(one)) == (two.module, two.qualname, list(two)), path
        for name in one:
            assert_same(one[name], two[name], f"{path}.{name}")
    elif kind is hookless.EnumValue:
        assert (one.module, one.qualname, one.name) == (two.module, two.qualname, two.name), path
        assert_same(one.value, two.value, f"{path}.value")
    elif (items := _items(one)) is not None:
        head_a, head_b = _array_head(one), _array_head(two)
        assert head_a == head_b, f"{path}: {head_a} is not {head_b}"
        for index, (a, b) in enumerate(zip(items, _items(two) or [], strict=True)):
            assert_same(a, b, f"{path}[{index}]")
    elif kind.__name__ == "MaskedArray" and kind is not hookless.MaskedArray:
        for name, (a, b) in {name: (_part(one, name), _part(two, name)) for name in MASKED}.items():
            assert_same(a, b, f"{path}.{name}")
    else:
        a, b = form(left), form(right)
        assert a == b, f"{path}: {left!r} is not {right!r}"


def form(value: object) -> tuple[Any, ...]:
    """A hashable stand-in for a leaf or a set: two are equal when types and bits are."""
    kind = type(value)
    any_value: Any = value
    if value is None or kind in (bool, int, str, bytes):
        return (kind, value)
    if kind is bytearray:
        return (kind, bytes(any_value))
    if kind is float:
        return (kind, struct.pack(">d", value))
    if kind is complex:
        return (kind, struct.pack(">dd", any_value.real, any_value.imag))
    if kind is tuple:
        return (kind, tuple(form(item) for item in any_value))
    if kind in (set, frozenset):
        return (kind, frozenset(form(member) for member in any_value))
    if kind in (hookless.Record, hookless.NamedRecord):
        items = tuple((name, form(item)) for name, item in any_value.items())
        return (kind, any_value.module, any_value.qualname, items)
    if kind is hookless.EnumValue:
        return (kind, any_value.module, any_value.qualname, any_value.name, form(any_value.value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind in (numpy.ndarray, numpy.recarray):
        return _array_form(any_value)
    if numpy is not None and isinstance(value, numpy.generic):
        return _scalar_form(any_value, numpy)
    standard = _standard_form(any_value, kind)
    if standard is not None:
        return (kind, *standard)
    # What cannot be compared must not count as equal.
    raise AssertionError(f"no rule to compare {kind!r}")


MASKED = ["data", "_mask", "_fill_value", "_hardmask", "_baseclass"]


def _part(masked: Any, name: str) -> Any:
    """An attribute of a masked array; classes by name, `nomask` as False."""
    part = getattr(masked, name)
    if name == "_baseclass":
        return part.__name__
    return bool(part) if name == "_mask" and part.shape == () and part is type(part)(0) else part


def _items(value: Any) -> list[Any] | None:
    """Of an array of objects or of texts, the items in the order in which they lie."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) is not numpy.ndarray or value.dtype.kind not in "OT":
        return None
    return describing_numpy.flat(value)


def _array_head(array: Any) -> tuple[Any, ...]:
    # Without bytes there is no order: NumPy's flags for zero-width elements depend on how the array was made.
    flags = (array.flags.c_contiguous, array.flags.f_contiguous) if array.nbytes else ()
    return (type(array), _dtype_form(array.dtype), array.shape, flags)


def _dtype_form(dtype: Any) -> Any:
    if dtype.kind == "T":
        na_object = form(dtype.na_object) if hasattr(dtype, "na_object") else ()
        return ("StringDType", dtype.coerce, na_object)
    if dtype.kind == "O":
        return "O"
    return json.dumps(describing_numpy.dtype_text(dtype, sys.modules["numpy"]))


def _array_form(array: Any) -> tuple[Any, ...]:
    return (*_array_head(array), describing_numpy.contents(array, sys.modules["numpy"]))


def _scalar_form(scalar: Any, numpy: Any) -> tuple[Any, ...]:
    kind = type(scalar)
    if kind is numpy.str_:
        return (kind, str.__str__(scalar))
    if kind is numpy.bytes_:
        # Not `tobytes`: the dtype of a bytes_ forgets trailing NULs.
        return (kind, bytes(scalar))
    # `tobytes` copies the scalar's memory, so a signalling NaN keeps its bits and NaT its int.
    return (kind, _dtype_form(scalar.dtype), describing_numpy.contents(scalar, numpy))


_PATHS = (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
_ADDRESSES = (
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
)
_NETWORKS = (ipaddress.IPv4Network, ipaddress.IPv6Network)


def _standard_form(value: Any, kind: type) -> tuple[Any, ...] | None:
    """All fields of a value of the standard library, those that its `==` does not see as well."""
    if value is Ellipsis or kind is SafeUUID:
        return (repr(value),)
    if kind in (date, datetime, clock_time):
        names = "year month day hour minute second microsecond fold".split()
        zone = form(getattr(value, "tzinfo", None))
        return (*(getattr(value, name, None) for name in names), zone)
    if kind is timedelta:
        return (value.days, value.seconds, value.microseconds)
    if kind is timezone:
        return tuple(form(part) for part in value.__getinitargs__())
    if kind is ZoneInfo:
        return (value.key,)
    if kind is UUID:
        return (value.bytes, value.is_safe.name)
    if kind is Decimal:
        return tuple(value.as_tuple())
    if kind is Fraction:
        return (form(value.numerator), form(value.denominator))
    if kind is range:
        return (form(value.start), form(value.stop), form(value.step))
    if kind in _ADDRESSES:
        return (str(value), value.packed, getattr(value, "scope_id", None))
    if kind in _NETWORKS:
        return (str(value), form(value.network_address))
    if kind in _PATHS:
        return (value.drive, value.root, value.parts, str(value))
    if kind is hookless.ForeignPath:
        return (form(value.pure),)
    if kind is time.struct_time:
        return (*(form(field) for field in value), form(value.tm_zone), form(value.tm_gmtoff))
    if kind is array.array:
        return (value.typecode, value.itemsize, value.tobytes())
    return None
