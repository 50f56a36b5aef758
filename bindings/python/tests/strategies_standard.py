"""Hypothesis strategies for every kind of the standard library, at the edges of each field."""

from __future__ import annotations

import array
import time
import warnings
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

import hookless

__all__ = ["arrays", "keyables", "others"]

KEYS = ["UTC", "Europe/Paris", "America/New_York", "America/Argentina/Buenos_Aires", "Etc/GMT+10"]
DAY = timedelta(days=1)
TINY = timedelta(microseconds=1)
TOP, BOTTOM = 999_999_999_999_999_999, -1_999_999_999_999_999_997
# All code points, lone surrogates included, but not NUL.
_characters = st.characters(exclude_characters="\0", exclude_categories=())
_names = st.text(_characters, max_size=6)
_ints = st.one_of(st.integers(-5, 5), st.integers(-(2**70), 2**70), st.integers(-(2**300), 2**300))

_folds = st.sampled_from([0, 1])
_times = st.builds(lambda at, fold: at.replace(fold=fold), st.times(), _folds)
_datetimes = st.builds(lambda at, fold: at.replace(fold=fold), st.datetimes(), _folds)
_offsets = st.one_of(
    st.timedeltas(TINY - DAY, DAY - TINY), st.sampled_from([TINY - DAY, DAY - TINY, timedelta(0)])
)


def _fixed(offset: timedelta, name: str | None) -> tzinfo:
    return timezone(offset) if name is None else timezone(offset, name)


zones = st.one_of(
    st.builds(_fixed, _offsets, st.none() | st.text(max_size=5)), st.sampled_from(KEYS).map(ZoneInfo)
)
_aware = st.builds(lambda at, zone: at.replace(tzinfo=zone), _times | _datetimes, zones)


def _decimal(sign: int, digits: list[int], exponent: int) -> Decimal:
    """The exponent moved as far as the digits ask for."""
    return Decimal((sign, tuple(digits), min(exponent, TOP - len(digits) + 1)))


_digits = st.lists(st.integers(0, 9), min_size=1, max_size=40)
_exponents = st.one_of(
    st.integers(-40, 40), st.integers(BOTTOM, TOP), st.sampled_from([BOTTOM, BOTTOM + 1, TOP - 1, TOP])
)
_quiet = st.sampled_from(["NaN", "-NaN", "NaN1", "-NaN9876543210"]).map(Decimal)
decimals = st.one_of(
    st.builds(_decimal, st.integers(0, 1), _digits, _exponents),
    st.sampled_from(["Infinity", "-Infinity", "0E+30", "-0.00", "1E+1000", "0.1", "1.0"]).map(Decimal),
    _quiet,
)
_signalling = st.sampled_from(["sNaN", "-sNaN", "sNaN12"]).map(Decimal)

_safeties = st.sampled_from(SafeUUID)
_uuids = st.builds(lambda number, safe: UUID(int=number, is_safe=safe), st.integers(0, 2**128 - 1), _safeties)
fractions = st.one_of(st.fractions(), st.builds(Fraction, _ints, _ints.filter(bool)), _ints.map(Fraction))
ranges = st.one_of(
    st.builds(range, _ints, _ints, _ints.filter(bool)),
    st.builds(range, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([-2, -1, 1, 2])),
)

_scopes = st.one_of(st.none(), st.text(_characters.filter(lambda c: c not in "%/"), min_size=1, max_size=5))
_four = st.integers(0, 2**32 - 1)
_six = st.one_of(st.integers(0, 2**128 - 1), st.integers(0, 2**32))


def _scoped(number: int, scope: str | None) -> str:
    return str(IPv6Address(number)) + ("" if scope is None else f"%{scope}")


def _network(cls: Callable[[Any], Any], bits: int) -> Callable[[int, int], Any]:
    return lambda number, prefix: cls(((number >> (bits - prefix)) << (bits - prefix), prefix))


ips = st.one_of(
    st.builds(IPv4Address, _four),
    st.builds(_network(IPv4Network, 32), _four, st.integers(0, 32)),
    st.builds(lambda number, prefix: IPv4Interface((number, prefix)), _four, st.integers(0, 32)),
    st.builds(_scoped, _six, _scopes).map(IPv6Address),
    st.builds(_network(IPv6Network, 128), _six, st.integers(0, 128)),
    st.builds(lambda text, prefix: IPv6Interface((text, prefix)), st.builds(_scoped, _six, _scopes),
              st.integers(0, 128)),
)  # fmt: skip

_posix = st.one_of(
    st.lists(_names, max_size=4).map("/".join),
    st.builds(lambda root, names: root + "/".join(names), st.sampled_from(["", "/", "//"]),
              st.lists(_names, max_size=4)),
)  # fmt: skip
_windows = st.builds(
    lambda start, names: start + "\\".join(names),
    st.sampled_from(["", "\\", "c:", "C:\\", "\\\\server\\share\\", "\\\\?\\C:\\", "\u0130:"]),
    st.lists(_names.filter(lambda name: ":" not in name), max_size=4),
)
windows = _windows.map(PureWindowsPath)
paths = st.one_of(
    _posix.map(PurePosixPath),
    _posix.map(PosixPath),
    windows,
    windows.map(hookless.ForeignPath),
)

_numbers = st.integers(-(2**63), 2**63 - 1)
struct_times = st.builds(
    lambda fields, zone, offset: time.struct_time((*fields, zone, offset)),
    st.tuples(*[_numbers] * 9),
    st.none() | st.text(max_size=4),
    st.none() | _numbers,
)


def _array(code: str, data: bytes, text: str) -> array.array[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of "u"
        made: array.array[Any] = array.array(code)
    if code not in "uw":
        made.frombytes(data * made.itemsize)
    elif text:  # CPython 3.13.0 fails for no characters
        made.fromunicode(text)
    return made


arrays = st.builds(
    _array,
    st.sampled_from(array.typecodes),
    st.one_of(st.binary(max_size=30), st.sampled_from([16_383, 16_384]).map(bytes)),
    st.text(st.characters(exclude_categories=()), max_size=30),
)

# What may be a key.
keyables = st.one_of(
    st.just(...),
    st.dates(),
    _times,
    _datetimes,
    st.timedeltas(),
    st.sampled_from([date.min, date.max, datetime.max, timedelta.min, timedelta.max]),
    _uuids,
    _safeties,
    decimals,
    fractions,
    ranges,
    ips,
    paths,
)
# What may be none, without containers.
others = st.one_of(_aware, zones, _signalling, struct_times, arrays)
