"""Reported problems with values of the standard library, numbered as they were collected."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID
from zoneinfo import TZPATH, ZoneInfo

import pytest

import hookless
import naive
from hookless import Decoder, dumps, loads
from same import assert_same
from watching import watched

NEW_YORK = ZoneInfo("America/New_York")


def roundtrip(value: Any) -> Any:
    """The value comes back with every type and bit, and encodes to the same bytes again."""
    frame = dumps(value)
    result = loads(frame)
    assert_same(result, value)
    assert dumps(result) == frame
    return result


@pytest.mark.parametrize(
    "value",
    [datetime(9999, 1, 1, 1, 1, 1, 999_999), timedelta.max, timedelta.min, timedelta(microseconds=-1)],
    ids=repr,
)
def test_c003_microseconds(value: Any) -> None:
    """Microseconds are ints all the way: nothing goes through float seconds."""
    roundtrip([value])


KEYS = [None, True, 1.5, b"x", date(2024, 2, 29), UUID(int=1), Decimal("1.10"), range(3)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_c005_every_hashable_builtin_is_a_key(key: Any) -> None:
    """As a value, as a dict key and as a set member."""
    roundtrip([key, {key: key}, {key}, frozenset({key}), {(key, 1): 0}])


def test_c009_offset_and_name() -> None:
    """Wall clock, offset to the microsecond, and the zone's name."""
    offset = timedelta(hours=5, minutes=53, seconds=28, microseconds=7)
    result = roundtrip(datetime(2020, 1, 1, tzinfo=timezone(offset, "X")))
    assert (result.utcoffset(), result.tzname()) == (offset, "X")


IMPOSSIBLE = [
    ("year", naive.ext(10, b"\0\0\1\1")),
    ("year", naive.ext(10, (10_000).to_bytes(2) + b"\1\1")),
    ("day", naive.ext(10, (2024).to_bytes(2) + b"\4\x1f")),
    ("microsecond", naive.ext(11, bytes(4) + (10**6).to_bytes(4))),
    ("offset", naive.ext(14, b"\0" + (86_400 * 10**6).to_bytes(8))),
]


@pytest.mark.parametrize(("field", "body"), IMPOSSIBLE)
def test_c010_impossible_dates_name_their_field(field: str, body: bytes) -> None:
    """Refused with the field's name; frames that came before it are not lost."""
    bad = naive.frame(naive.array([body]))
    with pytest.raises(hookless.DecodeError, match=field) as caught:
        loads(bad)
    assert (caught.value.code, caught.value.offset, caught.value.path) == ("bad_payload", 33, "$[0]")
    decoder = Decoder()
    found = decoder.feed(dumps(date.min) + dumps([date.max]) + bad)
    assert_same([frame.value for frame in found], [date.min, [date.max]])
    with pytest.raises(hookless.DecodeError, match=field):
        decoder.feed(b"")


@pytest.mark.parametrize(
    "value",
    [
        datetime(2023, 11, 5, 1, 30, fold=1),
        datetime(2023, 11, 5, 1, 30, fold=1, tzinfo=NEW_YORK),
        datetime(2023, 11, 5, 1, 30, tzinfo=NEW_YORK),
        time(1, 30, fold=1),
    ],
    ids=repr,
)
def test_c012_fold(value: Any) -> None:
    """`==` does not see the fold, so it and what follows from it are compared."""
    result = roundtrip(value)
    assert (result.fold, result.utcoffset()) == (value.fold, value.utcoffset())
    if isinstance(value, datetime) and value.tzinfo is not None:
        assert result.astimezone(UTC) == value.astimezone(UTC)


def test_c013_dict_subclasses() -> None:
    """OrderedDict and Counter are kinds of their own; a defaultdict holds code and is refused."""
    roundtrip([Counter(a=-1), OrderedDict([("b", 1), ("a", 2)])])
    with pytest.raises(hookless.EncodeError) as caught:
        dumps({"x": defaultdict(list, a=[1])})
    assert (caught.value.code, caught.value.path) == ("unsupported_type", "$.x")
    assert "defaultdict" in caught.value.type_name


def test_c013_an_ordered_dict_keeps_its_own_order() -> None:
    """`move_to_end` changes what the dict below does not know."""
    value = OrderedDict.fromkeys("abc", 0)
    value.move_to_end("a")
    value.move_to_end("c", last=False)
    result = roundtrip(value)
    assert list(result) == list("cba")
    # What comes back is an OrderedDict in full: its order can be changed, and counts in `==`.
    result.move_to_end("c")
    assert result != value
    assert result.popitem() == ("c", 0)


def test_c013_a_counter_works_as_one() -> None:
    """Missing keys count zero, and counters add up."""
    result = roundtrip(Counter(a=2, b=-1))
    assert (result["none"], result + Counter(b=3), result.most_common(1)) == (
        0,
        Counter(a=2, b=2),
        [("a", 2)],
    )


@pytest.mark.parametrize(
    "value",
    [
        range(0, 10, 2),
        range(10**30, 0, -7),
        range(0),
        PurePosixPath("/a/b"),
        Path("/a/b"),
    ],
    ids=repr,
)
def test_c020_ranges_and_paths(value: Any) -> None:
    """Start, stop and step of any size; a path is a path and no str."""
    roundtrip([value, {value: 0}])


def test_c021_uuid() -> None:
    """A UUID and no text, as a key too."""
    roundtrip([UUID(int=1), {UUID(int=1): UUID(int=2)}])


def from_file(key: str | None = None) -> ZoneInfo:
    for folder in TZPATH:
        path = Path(folder, "UTC")
        if path.exists():
            with path.open("rb") as file:
                return ZoneInfo.from_file(file, key)
    import importlib.resources

    with importlib.resources.files("tzdata.zoneinfo").joinpath("UTC").open("rb") as file:
        return ZoneInfo.from_file(file, key)


@pytest.mark.parametrize(
    "value",
    [from_file(), datetime(2020, 1, 1, tzinfo=from_file()), time(1, tzinfo=from_file())],
    ids=lambda value: type(value).__name__,
)
def test_c022_a_zone_without_a_key(value: Any) -> None:
    """Refused by name of type and field: no crash, no fixed offset instead."""
    with pytest.raises(hookless.EncodeError, match="key") as caught:
        dumps({"when": value})
    assert (caught.value.code, caught.value.path) == ("unsupported_type", "$.when")
    assert type(value).__name__ in caught.value.type_name


@pytest.mark.parametrize("key", ["../UTC", "/UTC", "a//b", "UTC\0", "x" * 65, "\u00dc"])
def test_c022_a_zone_whose_key_is_none(key: str) -> None:
    """A key that was made up to look like a path does not leave the process."""
    with pytest.raises(hookless.EncodeError, match="IANA") as caught:
        dumps([from_file(key)])
    assert (caught.value.code, caught.value.path) == ("unsupported_type", "$[0]")


@pytest.mark.parametrize(
    "value",
    [
        datetime(1901, 2, 3, 4, 5, 6, 999_999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
    ],
    ids=repr,
)
def test_c024_before_1970(value: datetime) -> None:
    """No seconds since an epoch, so nothing is cut towards zero."""
    roundtrip(value)


def test_c026_naive_stays_naive() -> None:
    """Naive and aware are two forms, whatever the host's zone is."""
    naive_one = datetime(2020, 7, 24, 0, 37, 28, 190_432)
    assert roundtrip(naive_one).tzinfo is None
    assert dumps(naive_one) != dumps(naive_one.replace(tzinfo=UTC))


def test_c027_fractions_and_complex_numbers() -> None:
    """Fractions as well as decimals, and both parts of a complex number with zero's sign and NaN."""
    roundtrip([Fraction(-3, 7), complex(float("nan"), -0.0), 1j, Decimal("0.10")])


@pytest.mark.parametrize(
    "value",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=14))),
    ],
    ids=repr,
)
def test_c030_the_edges_of_the_calendar(value: datetime) -> None:
    """Fields and offset cross as they are: neither side computes UTC, which would overflow."""
    roundtrip(value)


def test_c034_a_named_zone_stays_named() -> None:
    """A day later on the host is the same wall clock, across the change to summer time."""
    value = datetime(2026, 3, 7, 9, tzinfo=NEW_YORK)
    result = roundtrip(value)
    assert isinstance(result.tzinfo, ZoneInfo)
    later = result + timedelta(days=1)
    assert (later.hour, later.utcoffset()) == (9, timedelta(hours=-4))
    assert result.utcoffset() == timedelta(hours=-5)


@pytest.mark.parametrize("key", [b"../../etc/passwd", b"/etc/localtime", b"x\0y", b"A" * 65, b"a//b"])
def test_c034_a_key_is_matched_before_a_file_is_opened(key: bytes) -> None:
    """A key outside the pattern is refused at its own byte, and nothing was opened for it."""
    frame = naive.frame(naive.array([naive.ext(14, b"\1" + key)]))
    hookless.warm_up()
    with watched(), pytest.raises(hookless.DecodeError) as caught:
        loads(frame)
    assert (caught.value.code, caught.value.path) == ("bad_payload", "$[0]")
