"""Typed results: msgspec's Structs and bounds."""

from __future__ import annotations

import datetime
import decimal
from typing import Annotated, Any, Generic, TypeVar

import msgspec
import pytest
from msgspec import Meta, Struct

import hookless
from hookless import Record
from refusing import kept, refused
from same import assert_same

T = TypeVar("T")
Port = Annotated[int, Meta(ge=1, le=65_535)]
Name = Annotated[str, Meta(min_length=1, max_length=8, pattern="^[a-z]+$")]


def test_numbers() -> None:
    """At the bound and one past."""
    for value in (1, 65_535):
        kept(value, Port)
    for value in (0, 65_536, 1 << 80, -(1 << 80)):
        refused(value, Port, match="Expected `int` [<>]= ")
    refused(True, Port, match="found bool")
    refused(1.0, Port)
    kept(1.5, Annotated[float, Meta(multiple_of=0.5)])
    refused(1.25, Annotated[float, Meta(multiple_of=0.5)])
    assert_same(hookless.convert(2, Annotated[float, Meta(gt=1)]), 2.0)
    refused(1, Annotated[float, Meta(gt=1)])
    refused(float("nan"), Annotated[float, Meta(ge=0)])


def test_text_and_bytes() -> None:
    """Length and pattern; text is never read as bytes."""
    kept("abc", Name)
    for value in ("", "abcdefghi", "ABC"):
        refused(value, Name)
    kept(b"ab", Annotated[bytes, Meta(max_length=2)])
    refused(b"abc", Annotated[bytes, Meta(max_length=2)])
    refused("aGk=", Annotated[bytes, Meta(max_length=9)], match="found str")


def test_times() -> None:
    """Aware or naive."""
    aware = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    wanted: Any = Annotated[datetime.datetime, Meta(tz=True)]
    assert hookless.convert(aware, wanted) is aware
    refused(aware.replace(tzinfo=None), wanted)
    refused("2020-01-01T00:00:00Z", wanted, match="found str")


def test_inside_of_containers() -> None:
    """With the path to the item that is past its bound; a list that is right is handed on."""
    ports = [1, 2, 3]
    assert hookless.convert(ports, list[Port]) is ports
    refused([1, 2, 0], list[Port], "$[2]")
    refused([1, "2"], list[Port], "$[1]", "found str")
    refused({"a": {"b": (1, 0)}}, dict[str, dict[Name, tuple[Port, Port]]], "$.a.b[1]")
    refused({"A": 1}, dict[Name, int], "$.keys[0]")
    refused({0}, set[Port], "${0}")
    members = {1, 2}
    assert hookless.convert(members, set[Port]) is members
    kept(None, Port | None)
    refused(0, Port | None)
    kept("abc", Port | Name)


def test_lengths_of_containers() -> None:
    """At the bound and one past; a set is not built again to be counted."""
    bound = Meta(min_length=1, max_length=2)
    one: Any
    for one, two, wanted in [
        ([], [1, 2], list[int]),
        ((), (1, 2), tuple[int, ...]),
        (set(), {1, 2}, set[int]),
        ({}, {1: 1, 2: 2}, dict[int, int]),
    ]:
        refused(one, Annotated[wanted, bound], match="of length >= 1, found 0")
        kept(two, Annotated[wanted, bound])
    refused([1, 2, 3], Annotated[list[int], bound], match="of length <= 2, found 3")
    refused(["1"], Annotated[list[int], bound], "$[0]")
    refused([1, 1], Annotated[set[int], bound], match="found list")


def test_bounds_that_do_not_belong() -> None:
    """Told before there is a value. What only describes is passed over."""
    for wanted in (
        Annotated[int, Meta(pattern="x")],
        Annotated[str, Meta(ge=1)],
        Annotated[list[int], Meta(ge=1)],
        Annotated[int | None, Meta(ge=1)],
        Annotated[decimal.Decimal, Meta(min_length=1)],
    ):
        with pytest.raises(TypeError):
            hookless.convert(None, wanted)
    kept(5, Annotated[int | None, Meta(title="a number"), "text"])
    annotated_types = pytest.importorskip("annotated_types", reason="comes with pydantic")
    with pytest.raises(TypeError, match="annotated_types"):
        hookless.convert(5, Annotated[int, annotated_types.Ge(0)])


class Inner(Struct, frozen=True, forbid_unknown_fields=True):
    port: Port
    hosts: frozenset[str] = frozenset()


class Outer(Struct, rename="camel", kw_only=True):
    inner_one: Inner
    more: dict[str, list[Inner]] = {}
    some_name: Name = "name"
    next: Outer | None = None


def test_structs() -> None:
    """Bounds of fields, defaults, and nested Structs."""
    assert hookless.convert({"port": 1}, Inner) == Inner(1)
    record = Record("m", "Q", {"port": 2, "hosts": frozenset({"a"})})
    assert hookless.convert(record, Inner) == Inner(2, frozenset({"a"}))
    refused({"port": 0}, Inner, "$.port")
    refused({"port": 1, "hosts": ["a", "a"]}, Inner, "$.hosts", "found list")
    refused({"hosts": frozenset()}, Inner, match="needs a field 'port'")
    refused([1], Inner)


def test_names_of_fields() -> None:
    """A record has the attributes' names, as the child's Struct does; a dict those that it is encoded by."""
    parts = {"inner_one": Record("m", "Q", {"port": 1}), "more": {"a": [{"port": 2}]}}
    wanted = Outer(inner_one=Inner(1), more={"a": [Inner(2)]})
    assert hookless.convert(Record("m", "Q", parts), Outer) == wanted
    assert hookless.convert({"innerOne": {"port": 1}, "more": {"a": [{"port": 2}]}}, Outer) == wanted
    refused(parts, Outer, match="needs a field 'inner_one'")
    refused({"innerOne": {"port": 1}, "someName": "UPPER"}, Outer, "$.someName")
    refused({"innerOne": {"port": 1}, "next": {"innerOne": {"port": 0}}}, Outer, "$.next.innerOne.port")


def test_unknown_fields_are_the_structs_own_choice() -> None:
    """`forbid_unknown_fields`."""
    refused({"port": 1, "other": 2}, Inner, match='no field "other"')
    assert hookless.convert({"innerOne": {"port": 1}, "other": 2}, Outer) == Outer(inner_one=Inner(1))


class Cat(Struct, tag=True):
    lives: int


class Dog(Struct, tag=True):
    lives: int
    tricks: list[str] = []


def test_tagged_unions() -> None:
    """The tag of a dict chooses; a record has none, so its fields do."""
    assert hookless.convert({"type": "Dog", "lives": 1}, Cat | Dog) == Dog(1)
    assert hookless.convert({"type": "Cat", "lives": 1}, Dog | Cat) == Cat(1)
    refused({"type": "Cow", "lives": 1}, Cat | Dog, match="has the fields of this dict")
    refused({"type": "Dog", "lives": "1"}, Cat | Dog, "$.lives")
    refused({"type": "Dog", "lives": 1}, Cat, match="the tag is not that of Cat")
    assert hookless.convert(Record("m", "Cat", {"lives": 1, "tricks": []}), Dog | Cat) == Dog(1)
    assert hookless.convert({"lives": 1}, Cat) == Cat(1)


class Wrapped(Struct, Generic[T]):
    value: T

    def __post_init__(self) -> None:
        if self.value == 0:
            raise ValueError("zero")


def test_generic_structs() -> None:
    """And what `__post_init__` refuses."""
    assert hookless.convert({"value": [1]}, Wrapped[list[int]]) == Wrapped([1])
    refused({"value": ["1"]}, Wrapped[list[int]], "$.value[0]")
    refused([{"value": 0}], list[Wrapped[int]], "$[0]", "refused its fields: zero")


def test_msgspec_is_not_imported_for_plain_types() -> None:
    """Whoever writes no bounds needs no msgspec."""
    from test_import import run

    code = """
import sys
sys.modules["msgspec"] = None
sys.modules["pydantic"] = None
import dataclasses, hookless
@dataclasses.dataclass
class Point:
    x: int
frame = hookless.dumps([{"x": 1}])
print(hookless.loads(frame, type=list[Point]))
"""
    assert run(code) == "[Point(x=1)]"
    assert msgspec.Meta is Meta
