"""Values of the standard library as JSON lists, in the form of `proto/vectors/README.md`."""

from __future__ import annotations

import array
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone, tzinfo
from datetime import time as clock_time
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import hookless

__all__ = ["describe_standard", "normal_standard"]

Describe = Callable[[Any], Any]

_PATHS = (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
_IPS = (IPv4Address, IPv4Network, IPv4Interface, IPv6Address, IPv6Network, IPv6Interface)
# Kinds that are described by plain JSON alone.
_AS_THEY_ARE = ("Ellipsis", "date", "timedelta", "ZoneInfo", "UUID", "SafeUUID", "Decimal")


def normal_standard(value: Any, normal: Describe, number: Callable[[str], str]) -> Any:
    """The `value` of a vector with each int as hex; None if its kind is not of the standard library."""
    kind = value[0]

    def text(described: Any) -> Any:
        return None if described is None else normal(described)

    if kind in _AS_THEY_ARE:
        return value
    if kind in ("time", "datetime"):
        return [*value[:-1], text(value[-1])]
    if kind in ("timezone", "ip", "struct_time"):
        return [*value[:-1], text(value[-1])]
    if kind in ("Fraction", "range"):
        return [kind, *(number(part) for part in value[1:])]
    if kind == "path":
        return [kind, value[1], normal(value[2]), normal(value[3]), [normal(part) for part in value[4]]]
    if kind == "slice":
        return [kind, [normal(part) for part in value[1]]]
    if kind == "deque":
        return [kind, value[1], [normal(item) for item in value[2]]]
    if kind in ("OrderedDict", "Counter"):
        return [kind, [[normal(key), normal(item)] for key, item in value[1]]]
    return None


def describe_standard(value: Any, describe: Describe, number: Callable[[int], str]) -> Any:
    """A value of the standard library as a JSON list; None if it is of another kind."""
    kind = type(value)
    if value is Ellipsis:
        return ["Ellipsis"]
    if kind is date:
        return ["date", value.year, value.month, value.day]
    if kind is clock_time:
        return ["time", *_clock(value, describe)]
    if kind is datetime:
        return ["datetime", value.year, value.month, value.day, *_clock(value, describe)]
    if kind is timedelta:
        return ["timedelta", value.days, value.seconds, value.microseconds]
    if kind in (timezone, ZoneInfo):
        return _zone(value, describe)
    if kind is UUID:
        return ["UUID", value.hex, value.is_safe.name]
    if kind is SafeUUID:
        return ["SafeUUID", value.name]
    if kind is Decimal:
        sign, digits, exponent = value.as_tuple()
        return ["Decimal", sign, "" if exponent == "F" else "".join(map(str, digits)), exponent]
    if kind is Fraction:
        return ["Fraction", number(value.numerator), number(value.denominator)]
    if kind is range:
        return ["range", number(value.start), number(value.stop), number(value.step)]
    if kind is slice:
        return ["slice", [describe(part) for part in (value.start, value.stop, value.step)]]
    return _describe_rest(value, kind, describe)


def _describe_rest(value: Any, kind: type, describe: Describe) -> Any:
    if kind in _IPS:
        return _ip(value, describe)
    if kind in _PATHS:
        return _path(kind.__name__, value, describe)
    if kind is hookless.ForeignPath:
        return _path("WindowsPath" if value.flavour == "windows" else "PosixPath", value.pure, describe)
    if kind is time.struct_time:
        zone = None if value.tm_zone is None else describe(value.tm_zone)
        return ["struct_time", list(value), value.tm_gmtoff, zone]
    if kind is deque:
        return ["deque", value.maxlen, [describe(item) for item in value]]
    if kind in (OrderedDict, Counter):
        return [kind.__name__, [[describe(key), describe(item)] for key, item in value.items()]]
    if kind is array.array:
        little = value[:]
        if sys.byteorder == "big":
            little.byteswap()
        return ["array", value.typecode, value.itemsize, little.tobytes().hex()]
    return None


def _clock(value: Any, describe: Describe) -> list[Any]:
    zone = None if value.tzinfo is None else _zone(value.tzinfo, describe)
    return [value.hour, value.minute, value.second, value.microsecond, value.fold, zone]


def _zone(zone: tzinfo, describe: Describe) -> Any:
    if type(zone) is ZoneInfo:
        return ["ZoneInfo", zone.key]
    assert type(zone) is timezone
    # A name that was given stands in the arguments; `tzname` would make one up.
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
    micros = (offset.days * 86_400 + offset.seconds) * 1_000_000 + offset.microseconds
    return ["timezone", micros, describe(name[0]) if name else None]


def _ip(value: Any, describe: Describe) -> Any:
    address = value.network_address if isinstance(value, IPv4Network | IPv6Network) else value
    prefix = None if type(value) in (IPv4Address, IPv6Address) else int(value.with_prefixlen.split("/")[1])
    scope = getattr(address, "scope_id", None)
    return [
        "ip",
        type(value).__name__,
        address.packed.hex(),
        prefix,
        None if scope is None else describe(scope),
    ]


def _path(name: str, path: PurePath, describe: Describe) -> Any:
    parts = path.parts[1:] if path.drive or path.root else path.parts
    return ["path", name, describe(path.drive), describe(path.root), [describe(part) for part in parts]]
