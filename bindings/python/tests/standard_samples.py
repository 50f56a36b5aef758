"""Values of the standard library: each kind, with the edges of its fields, by whether it may be a key."""

from __future__ import annotations

import array
import time
from collections import Counter, OrderedDict, deque
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as clock_time
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import hookless

__all__ = ["KEYABLE", "NOT_KEYABLE", "STANDARD"]

EAST = timezone(timedelta(hours=5, minutes=53, seconds=28, microseconds=7), "X")
PARIS = ZoneInfo("Europe/Paris")

# One value of each line may stand beside one of any other line in the keys of a dict.
KEYABLE: dict[str, list[Any]] = {
    "Ellipsis": [...],
    "date": [date(2024, 2, 29), date.min, date.max],
    "time": [clock_time(1, 30, fold=1), clock_time.min, clock_time.max],
    "datetime": [datetime(2023, 11, 5, 1, 30, fold=1), datetime.min, datetime.max],
    "timedelta": [timedelta(microseconds=-1), timedelta.min, timedelta.max, timedelta()],
    "UUID": [UUID(int=1), UUID(int=2**128 - 1, is_safe=SafeUUID.safe), UUID(int=0, is_safe=SafeUUID.unsafe)],
    "SafeUUID": list(SafeUUID),
    "Decimal": [
        Decimal("1.10"),
        Decimal("-0.00"),
        Decimal("0.1"),
        Decimal("1E+999999999999999999"),
        Decimal("1E-1999999999999999997"),
        Decimal("-Infinity"),
        Decimal("NaN"),
        Decimal("-NaN123"),
        Decimal("9" * 300),
    ],
    "Fraction": [Fraction(-3, 7), Fraction(1, 3), Fraction(2**200, 3)],
    "range": [range(0, 10, 2), range(10**30, 0, -7), range(0), range(-5, 5)],
    "IPv4Address": [IPv4Address("192.168.0.1")],
    "IPv4Network": [IPv4Network("192.168.0.0/16"), IPv4Network("0.0.0.0/0")],
    "IPv4Interface": [IPv4Interface("192.168.0.1/24"), IPv4Interface("192.168.0.1/32")],
    "IPv6Address": [IPv6Address("::1"), IPv6Address("fe80::1%eth0")],
    "IPv6Network": [IPv6Network("2001:db8::/32"), IPv6Network("::/0")],
    "IPv6Interface": [IPv6Interface("fe80::1%eth0/64"), IPv6Interface("::1/128")],
    "PurePosixPath": [PurePosixPath("/a/b"), PurePosixPath("//a"), PurePosixPath(), PurePosixPath("\udc80")],
    "PureWindowsPath": [PureWindowsPath("C:\\a"), PureWindowsPath("c:b"), PureWindowsPath("\\\\s\\h\\x")],
    "PosixPath": [PosixPath("/tmp/x.tar.gz"), PosixPath("../..")],
    "ForeignPath": [hookless.ForeignPath(PureWindowsPath("D:\\x"))],
}

NOT_KEYABLE: dict[str, list[Any]] = {
    "aware time": [clock_time(1, 2, tzinfo=UTC), clock_time(1, 30, fold=1, tzinfo=PARIS)],
    "aware datetime": [
        datetime(2020, 1, 1, tzinfo=EAST),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime(2023, 11, 5, 1, 30, fold=1, tzinfo=ZoneInfo("America/New_York")),
    ],
    "timezone": [UTC, EAST, timezone(timedelta(0), ""), timezone(-timedelta(hours=23, minutes=59))],
    "ZoneInfo": [PARIS],
    "signalling Decimal": [Decimal("sNaN"), Decimal("-sNaN7")],
    "struct_time": [time.gmtime(0), time.struct_time(range(9)), time.struct_time((1,) * 9 + ("CET", 3600))],
    "slice": [slice(1, None, -1), slice("a", [1], slice(None))],
    "deque": [deque(), deque([1, deque()], maxlen=3), deque(maxlen=0)],
    "OrderedDict": [OrderedDict([("b", 1), ("a", 2)]), OrderedDict()],
    "Counter": [Counter(a=-1, b=2**70), Counter({1: True, 2: 0.5}), Counter()],
    "array.array": [array.array("d", [1.5, float("nan")]), array.array("b"), array.array("h", range(16_384))],
}

STANDARD = KEYABLE | NOT_KEYABLE
