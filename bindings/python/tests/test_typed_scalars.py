"""Typed results: scalars, literals and unions. A value fits by its exact type, and is never coerced."""

from __future__ import annotations

import datetime
import decimal
import fractions
import ipaddress
import math
import pathlib
import re
import time
import types
import uuid
import zoneinfo
from typing import Any, Literal, NewType, TypeVar, Union

import pytest

import hookless
from refusing import kept, refused
from same import assert_same

VALUES: list[Any] = [
    None,
    True,
    5,
    1 << 80,
    2.5,
    1 + 2j,
    "text",
    b"bytes",
    bytearray(b"array"),
    range(3),
    slice(1, 2),
    ...,
    datetime.date(2020, 1, 2),
    datetime.datetime(2020, 1, 2, 3),
    datetime.time(4),
    datetime.timedelta(5),
    datetime.UTC,
    zoneinfo.ZoneInfo("UTC"),
    decimal.Decimal("1.50"),
    fractions.Fraction(1, 3),
    uuid.UUID(int=7),
    ipaddress.ip_address("127.0.0.1"),
    ipaddress.ip_network("::/64"),
    time.gmtime(0),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_each_type_takes_its_own_values_only(value: Any) -> None:
    """Of all values of the closed set, a type takes those that are exactly of it."""
    for other in VALUES:
        wanted = type(other)
        if type(value) is wanted:
            assert hookless.convert(value, wanted) is value
        elif (type(value), wanted) != (int, float):
            refused(value, wanted)


def test_float_takes_an_int_that_it_can_hold() -> None:
    """As Python's own annotations mean it; a digit is never lost."""
    assert_same(hookless.convert(3, float), 3.0)
    assert_same(hookless.convert([1, 2.5], list[float]), [1.0, 2.5])
    assert_same(hookless.convert(1 << 1000, float), float(1 << 1000))
    for value in ((1 << 53) + 1, 10**400, -(10**400)):
        refused(value, float, match="no float is equal")
    refused(True, float)
    refused(1, complex)
    refused(1.0, complex)


def test_bits_survive() -> None:
    """Nothing is made anew where the type is right."""
    for value in (-0.0, math.inf, float("nan")):
        kept(value, float)
        kept([value], list[float])


def test_text_is_never_read() -> None:
    """Not as a date, a number, a UUID, or base64."""
    for text, wanted in [
        ("2020-01-01T00:00:00Z", datetime.datetime),
        ("2020-01-01", datetime.date),
        ("00:00", datetime.time),
        ("P1D", datetime.timedelta),
        ("aGk=", bytes),
        ("aGk=", bytearray),
        ("1.5", decimal.Decimal),
        ("12345678-1234-5678-1234-567812345678", uuid.UUID),
        ("1", int),
        ("1.0", float),
        ("true", bool),
        ("a/b", pathlib.PurePosixPath),
        ("", type(None)),
    ]:
        refused(text, wanted, match="found str$")


def test_numbers_are_not_read_either() -> None:
    """Decimal from a float, UUID from an int or bytes, a time from seconds."""
    for value in (1, 1.5):
        for wanted in (decimal.Decimal, fractions.Fraction, datetime.datetime, datetime.timedelta, bool, str):
            refused(value, wanted)
    refused(uuid.uuid4().bytes, uuid.UUID)
    refused(7, uuid.UUID)
    refused(b"a", bytearray)
    refused(bytearray(b"a"), bytes)


def test_families() -> None:
    """Classes that others derive from take those, and only those of the closed set."""
    paths = [pathlib.PurePosixPath("a"), pathlib.PosixPath("b"), pathlib.PureWindowsPath("c")]
    for path in paths:
        for wanted in (pathlib.PurePath, pathlib.Path, pathlib.PurePosixPath):
            if wanted in type(path).__mro__:
                assert hookless.convert(path, wanted) is path
            else:
                refused(path, wanted)
    assert hookless.convert(datetime.UTC, datetime.tzinfo) is datetime.UTC
    refused("x", datetime.tzinfo)
    refused([pathlib.PurePosixPath("a"), 1], list[pathlib.PurePath], "$[1]")


def test_exception_values() -> None:
    """They are RemoteError; a builtin class is never made of one."""
    failure = hookless.Failure("m", "Q", ("builtins.ValueError",), "text")
    error = hookless.RemoteError(failure)
    for wanted in (hookless.RemoteError, Exception, BaseException):
        assert hookless.convert(error, wanted) is error
    refused(error, ValueError)
    refused(ValueError("x"), ValueError)


def test_any() -> None:
    """The inert value, whatever it is."""
    record = hookless.Record("m", "Q", {"x": 1})
    for wanted in (Any, object, TypeVar("T"), Union[int, Any]):  # noqa: UP007
        assert hookless.convert(record, wanted) is record
    assert hookless.convert(record, hookless.Record) is record
    refused({"x": 1}, hookless.Record)


def test_literals() -> None:
    """By value and by type."""
    value: Any
    for value in (1, "a", b"b", None, True):
        kept(value, Literal[1, "a", b"b", None, True])
    for value in (2, "b", b"a", False, 1.0, [1]):
        refused(value, Literal[1, "a", b"b", None, True])
    refused(True, Literal[1])
    refused(1, Literal[True])
    kept("b", Literal["a"] | Literal["b"])
    kept("any", Literal["a"] | str)
    kept(5, Literal["a"] | int)


def test_unions() -> None:
    """The type of the value decides, whatever the order of the union."""
    for wanted in (int | float | None, float | int | None, Union[float, int, None]):  # noqa: UP007
        kept(1, wanted)
        kept(1.0, wanted)
        kept(None, wanted)
        refused("x", wanted)
    kept([1], list[int] | tuple[str, ...] | set[int] | dict[str, int])
    kept(("a",), list[int] | tuple[str, ...] | set[int] | dict[str, int])
    refused(["a"], list[int] | str, "$[0]", "expected int, found str")
    for pair in ((1, 2), (1, "a", 2), ()):
        kept(pair, tuple[int, int] | tuple[int, str, int] | tuple[()] | None)
    refused((1,), tuple[int, int] | tuple[()], match="has the length of this tuple")
    refused((1, "a"), tuple[int, int] | tuple[()], "$[1]")
    assert_same(hookless.convert([1, 2.0, "x"], list[int | float | str]), [1, 2.0, "x"])
    assert_same(hookless.convert([1, 2.0], list[float | str]), [1.0, 2.0])
    refused([1, b""], list[int | str], "$[1]")


def test_unions_that_do_not_say_which() -> None:
    """Two of one kind: a TypeError that names both, before there is a value."""
    for wanted in (
        list[int] | list[str],
        dict[str, int] | dict[int, str],
        set[int] | set[str],
        tuple[int, str] | tuple[str, int],
        tuple[int, ...] | tuple[str, str],
    ):
        with pytest.raises(TypeError, match="both take a"):
            hookless.convert(None, wanted)


UserId = NewType("UserId", int)
Bound = TypeVar("Bound", bound=int)
Either = TypeVar("Either", int, str)


def test_new_types_and_variables() -> None:
    """A NewType is what it was made of; a variable its bound or constraints."""
    kept(5, UserId)
    kept([5], list[UserId])
    refused("5", UserId)
    refused("5", Bound)
    kept("5", Either)
    refused(5.0, Either)


def unsupported() -> None: ...


@pytest.mark.parametrize(
    "wanted",
    [
        unsupported,
        5,
        "int",
        [int],
        list["int"],
        type,
        type[int],
        memoryview,
        types.FunctionType,
        hookless.dumps,
        dict[str],  # type: ignore[misc]
        list[int, str],  # type: ignore[misc]
        dict[str, unsupported],  # type: ignore[valid-type]
        list[type],
        int | type,
    ],
    ids=repr,
)
def test_no_types(wanted: Any) -> None:
    """A TypeError that names it: it is the host's mistake and none of the value."""
    with pytest.raises(TypeError) as caught:
        hookless.convert(None, wanted)
    assert not isinstance(caught.value, hookless.HooklessError)
    assert re.search("no type that|is text|arguments, not", str(caught.value))
