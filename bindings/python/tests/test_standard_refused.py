"""What the encoder refuses of the standard library: by type and place, and never flattened."""

from __future__ import annotations

import array
import subprocess
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone, tzinfo
from datetime import time as clock_time
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Interface
from pathlib import PosixPath, PurePosixPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

import hookless
from hookless import Limits, dumps, loads
from same import assert_same


def refused(value: Any, **limits: int) -> hookless.EncodeError:
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value, limits=Limits(**limits))
    return caught.value


class Zone(tzinfo):
    """A zone of a user's own, which must not be asked anything."""

    def utcoffset(self, when: datetime | None, /) -> timedelta:
        raise RuntimeError("user code ran")

    tzname = dst = utcoffset  # type: ignore[assignment]


def sub(base: Any) -> Any:
    return type(f"My{base.__name__}", (base,), {})


SUBCLASSES = [
    sub(date)(2024, 1, 1),
    sub(datetime)(2024, 1, 1),
    sub(clock_time)(1),
    sub(timedelta)(1),
    sub(ZoneInfo)("UTC"),
    sub(Decimal)("1"),
    sub(Fraction)(1, 2),
    sub(UUID)(int=1),
    sub(IPv4Address)("1.2.3.4"),
    sub(IPv6Interface)("::1/64"),
    sub(PurePosixPath)("a"),
    sub(PosixPath)("a"),
    sub(deque)([1]),
    sub(OrderedDict)(a=1),
    sub(Counter)("a"),
    sub(array.array)("b", b"1"),
    sub(hookless.ForeignPath)(PurePosixPath("a")),
]


@pytest.mark.parametrize("value", SUBCLASSES, ids=lambda value: type(value).__name__)
def test_subclasses(value: Any) -> None:
    """A subclass may hold more than its base shows."""
    error = refused({"rows": [0, {"key": value}]})
    assert (error.code, error.path) == ("unsupported_type", "$.rows[1].key")
    assert type(value).__name__ in error.type_name


def broken_fraction(numerator: Any, denominator: Any) -> Fraction:
    made = Fraction(1, 2)
    made._numerator, made._denominator = numerator, denominator  # type: ignore[attr-defined]
    return made


FIELDS: dict[str, tuple[Any, str]] = {
    "datetime with a zone of its own": (datetime(2024, 1, 1, tzinfo=Zone()), "tzinfo"),
    "time with a zone of its own": (clock_time(1, tzinfo=Zone()), "tzinfo"),
    "datetime with a subclass of ZoneInfo": (datetime(2024, 1, 1, tzinfo=sub(ZoneInfo)("UTC")), "tzinfo"),
    "UUID with another is_safe": (UUID(int=1, is_safe="safe"), "is_safe"),  # type: ignore[arg-type]
    "struct_time of texts": (time.struct_time("123456789"), "tm_year"),
    "struct_time of floats": (time.struct_time((1, 2, 3, 4, 5, 6, 7, 8, 0.0)), "tm_isdst"),
    "struct_time past 64 bits": (time.struct_time((2**63, *range(8))), "tm_year"),
    "struct_time with an odd zone": (time.struct_time((*range(9), b"CET", 0)), "text"),
    "struct_time with an odd offset": (time.struct_time((*range(9), "CET", 0.5)), "tm_gmtoff"),
    "path with NUL": (PurePosixPath("a\0b"), "NUL"),
    "concrete path with NUL": (PosixPath("/\0"), "NUL"),
    "fraction by zero": (broken_fraction(1, 0), "denominator"),
    "fraction that is not in lowest terms": (broken_fraction(2, 4), "lowest terms"),
    "fraction of a float": (broken_fraction(1.5, 2), "fields"),
    "fraction by less than zero": (broken_fraction(1, -2), "denominator"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields(name: str) -> None:
    """The type is right and a field is not: the message says which."""
    value, what = FIELDS[name]
    error = refused([value])
    assert (error.code, error.path) == ("unsupported_type", "$[0]")
    assert type(value).__name__ in error.type_name
    assert what in str(error)


@pytest.mark.parametrize(
    "count", ["1", None, [1], 1j, Decimal(1), Fraction(1, 2), b"1", (), Counter()], ids=repr
)
def test_counts(count: Any) -> None:
    """D17: a Counter's counts are bools, ints or floats; a Python Counter may hold anything."""
    value: Counter[str] = Counter()
    value["a"] = 1
    dict.__setitem__(value, "b", count)
    error = refused({"c": value})
    assert (error.code, error.path) == ("unsupported_type", "$.c.b")
    assert type(count).__name__ in error.type_name


def test_items_have_paths() -> None:
    """What lies inside these containers is named as in a list or a dict, the parts of a slice by name."""
    odd = object()
    assert refused(deque([1, odd])).path == "$[1]"
    assert refused(OrderedDict(a=1, b=odd)).path == "$.b"
    assert refused(OrderedDict([((1, odd), 1)])).path == "$.keys[0][1]"
    assert refused(slice(None, odd)).path == "$.stop"
    assert refused([slice(0, 1, [odd])]).path == "$[0].step[0]"


@pytest.mark.parametrize(
    "value",
    [
        10**40,
        Fraction(10**40, 3),
        Fraction(1, 10**40),
        range(10**40, 0),
        range(10**40),
        range(0, 1, 10**40),
        Decimal(10**40),
    ],
    ids=repr,
)
def test_l6_int_limit(value: Any) -> None:
    """L6 in the encoder, at the limit and one past: 41 digits, or 17 bytes."""
    most = 41 if isinstance(value, Decimal) else 17
    frame = dumps([value], limits=Limits(int_bytes=most))
    assert_same(loads(frame, limits=Limits(int_bytes=most)), [value])
    error = refused([value], int_bytes=most - 1)
    assert (error.code, error.path) == ("int_limit", "$[0]")


def test_l6_does_not_wait_for_a_huge_int() -> None:
    """Far past every ceiling: refused before its bytes are made."""
    huge = 1 << (1 << 28)
    for value in (range(huge), Fraction(huge, 3), Fraction(1, huge)):
        assert refused(value).code == "int_limit"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Decimal("NaN1"), Decimal("NaN1")),
        (hookless.ForeignPath(PurePosixPath("a")), PurePosixPath("a")),
    ],
    ids=repr,
)
def test_k3_k7_duplicates_that_python_admits(first: Any, second: Any) -> None:
    """A dict can hold both, the wire neither in a dict nor in a set."""
    for table in ({first: 1, second: 2}, {first, second}, OrderedDict([(first, 1), (second, 2)])):
        assert len(table) == 2
        assert refused(table).code == "duplicate_key"


class Meddler(Exception):
    """Its text is asked for while it is encoded: the one place where user code runs meanwhile."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        super().__init__()
        self.meddle = meddle

    def __str__(self) -> str:
        self.meddle()
        return "meddled"


def meddled(kind: str, how: str) -> Any:
    """A container that changes when its first item of two is encoded."""
    if kind == "deque":
        queue: deque[Any] = deque()
        actions: dict[str, Callable[[], object]] = {
            "grows": lambda: queue.append(3),
            "shrinks": lambda: queue.pop(),
            "is emptied": lambda: queue.clear(),
        }
        queue.extend([Meddler(actions[how]), 2])
        return queue
    table: Any = OrderedDict() if kind == "OrderedDict" else {}
    actions = {
        "grows": lambda: table.update(c=3),
        "shrinks": lambda: table.pop("b"),
        "is emptied": lambda: table.clear(),
    }
    table.update(a=Meddler(actions[how]), b=2)
    return table


@pytest.mark.parametrize("how", ["grows", "shrinks", "is emptied"])
@pytest.mark.parametrize("kind", ["deque", "OrderedDict", "dict"])
def test_mutated_while_it_is_encoded(kind: str, how: str) -> None:
    """No frame whose lengths are not kept: `mutated`."""
    assert refused([meddled(kind, how)]).code == "mutated"


def test_aware_zone_is_not_asked() -> None:
    """C001 for zones: neither `utcoffset` nor anything else of a user's tzinfo runs."""
    assert "RuntimeError" not in str(refused(datetime(2024, 1, 1, tzinfo=Zone())))


def test_timezones_of_odd_names() -> None:
    """A name is any str, lone surrogates and NUL included; of a zone it is data and is looked up nowhere."""
    for name in ("", "\ud800", "\0", "x" * 10_000, "Europe/Paris"):
        zone = timezone(timedelta(0), name)
        assert_same(loads(dumps([zone])), [zone])


class Counted:
    """Counts how often it is hashed and compared."""

    calls = 0

    def __hash__(self) -> int:
        Counted.calls += 1
        return 5

    def __eq__(self, other: object) -> bool:
        Counted.calls += 1
        return False


@pytest.mark.parametrize("kind", [Counter, dict, set, deque])
def test_c001_keys_are_not_asked_for_their_hash(kind: Any) -> None:
    """A key that is refused was not looked up first: none of its code runs.

    An OrderedDict is not among them: CPython's own iterator over one hashes its keys.
    """
    key = Counted()
    value = kind([key]) if kind in (set, deque) else kind({key: 1})
    Counted.calls = 0
    assert "Counted" in str(refused(value))
    assert Counted.calls == 0


DEEP = """
import threading
from collections import OrderedDict, deque
import hookless

threading.stack_size(256 * 1024)
limits = hookless.Limits(depth=512)
wraps = [lambda v: [v], lambda v: (v,), lambda v: {"n": v}, lambda v: OrderedDict(n=v), lambda v: deque([v]),
         lambda v: slice(None, v)]

def work():
    for wrap in wraps:
        value = None
        for _ in range(512):
            value = wrap(value)
        frame = hookless.dumps(value, limits=limits)
        again = hookless.dumps(hookless.loads(frame, limits=limits), limits=limits)
        try:
            hookless.dumps(wrap(value), limits=limits)
        except hookless.EncodeError as error:
            print(again == frame, error.code)

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_c033_every_container_at_its_deepest() -> None:
    """V17: 512 levels of each on a thread stack of 256 KiB; one more is an error, no crash."""
    done = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True depth_limit"] * 6
