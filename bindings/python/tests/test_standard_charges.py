"""L4: what a decoded value of the standard library occupies stays below what it was charged."""

from __future__ import annotations

import array
import gc
import time
import tracemalloc
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from datetime import time as clock_time
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID

import pytest

import hookless
from hookless import Limits, dumps, loads

COUNT = 500
HOUR = timedelta(hours=1)

# How a value is made from its number; no two are equal, so that nothing is shared.
MAKERS: dict[str, Callable[[int], Any]] = {
    "date": lambda i: date.fromordinal(i + 1),
    "time": lambda i: clock_time(microsecond=i, fold=1),
    "aware time": lambda i: clock_time(microsecond=i, tzinfo=timezone(HOUR, f"zone {i}")),
    "datetime": lambda i: datetime(2024, 1, 1, microsecond=i),
    "aware datetime": lambda i: datetime(2024, 1, 1, tzinfo=timezone(timedelta(microseconds=i + 1))),
    "timedelta": lambda i: timedelta(i, i, i),
    "timezone": lambda i: timezone(timedelta(microseconds=i + 1), f"\U0001f600 {i}"),
    "UUID": lambda i: UUID(int=(i << 100) + i, is_safe=SafeUUID.safe),
    "Decimal": lambda i: Decimal(f"{i + 1}.5"),
    "long Decimal": lambda i: Decimal("9" * (i + 30)),
    "Fraction": lambda i: Fraction(i * 2**40 + 1, 3**50),
    "long Fraction": lambda i: Fraction(2**i + 1, 2 ** (i + 400)),
    "range": lambda i: range(i + 1000, i + 5000, 257),
    "long range": lambda i: range(-(2 ** (70 + i)), 2 ** (90 + i), 2 ** (60 + i)),
    "IPv4Address": lambda i: IPv4Address(2**31 + i),
    "IPv4Network": lambda i: IPv4Network((2**31 + 256 * i, 24)),
    "IPv4Interface": lambda i: IPv4Interface((2**31 + i, 20)),
    "IPv6Address": lambda i: IPv6Address(f"fe80::{i:x}%eth{i}"),
    "IPv6Network": lambda i: IPv6Network((2**127 + 256 * i, 120)),
    "IPv6Interface": lambda i: IPv6Interface((f"fe80::{i:x}%eth{i}", 64)),
    "path": lambda i: PurePosixPath(f"/a/{i}"),
    "empty path": lambda i: PurePosixPath("/" if i % 2 else ""),
    "path of many parts": lambda i: PurePosixPath(*(f"{i}" for _ in range(40))),
    "wide path": lambda i: PurePosixPath(f"/\U0001f600{i}"),
    "windows path": lambda i: PureWindowsPath(f"c:\\A{i}\\b"),
    "foreign path": lambda i: hookless.ForeignPath(PureWindowsPath(f"c:\\A{i}\\b")),
    "struct_time": lambda i: time.struct_time((2**62 + i,) * 9 + (f"\U0001f600{i}", 2**62)),
    "slice": lambda i: slice(i + 1000, i + 2000, i + 3000),
    "deque": lambda i: deque([i + 1000]),
    "empty deque": lambda i: deque(maxlen=i),
    "full deque": lambda i: deque([i + 1000] * 65),
    "OrderedDict": lambda i: OrderedDict([(i + 1000, i + 2000)]),
    "empty OrderedDict": lambda i: OrderedDict(),
    "wide OrderedDict": lambda i: OrderedDict((i * 100 + j, None) for j in range(43)),
    "Counter": lambda i: Counter({i + 1000: i + 2000}),
    "empty Counter": lambda i: Counter(),
    "array.array": lambda i: array.array("d", [i]),
    "empty array.array": lambda i: array.array("b"),
    "inline array.array": lambda i: array.array("h", [i] * 500),
}


def charge_of(frame: bytes) -> int:
    """The least `memory` with which the frame is taken."""
    low, high = 0, 1 << 24
    while low < high:
        middle = (low + high) // 2
        try:
            loads(frame, limits=Limits(memory=middle))
            high = middle
        except hookless.LimitExceeded:
            low = middle + 1
    return low


def used(value: Any) -> None:
    """Makes a value keep what it caches: text, hash, and the ints of a range's length."""
    str(value)
    if isinstance(value, PurePosixPath | PureWindowsPath | Decimal | UUID):
        hash(value)  # not of a Fraction, whose class keeps the hashes of many
    if isinstance(value, hookless.ForeignPath):
        hash(value), value.names
    if isinstance(value, IPv4Network | IPv6Network | IPv4Interface | IPv6Interface):
        value.is_private, hash(value)


@pytest.mark.parametrize("name", MAKERS)
def test_l4_many_values_stay_below_their_charge(name: str) -> None:
    """As they are decoded, and after they were shown and hashed; the list around them is charged too."""
    hookless.warm_up()
    frame = dumps([MAKERS[name](i) for i in range(COUNT)])
    charge = charge_of(frame)
    for item in loads(frame)[:2]:
        used(item)  # what a class caches once
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = loads(frame)
        held, peak = tracemalloc.get_traced_memory()
        for item in result:
            used(item)
        shown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(result) == COUNT
    assert held - before <= charge
    assert peak - before <= charge + (64 << 10)
    assert shown - before <= charge
