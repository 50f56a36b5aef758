"""Typed results of a child that returns instances of its own classes."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

import hookless
from hookless import Worker
from refusing import refused

# The classes of the host: other names, other modules, and stricter.


class Colour(enum.Enum):
    ROT = 1
    BLAU = 2


class Rights(enum.IntFlag):
    R = 1
    W = 2


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Figure:
    name: str
    color: Colour
    corners: tuple[Point, ...]
    tags: frozenset[str]
    access: Rights
    by_color: dict[Colour, Figure] = field(hash=False)


class Struct(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(min_length=1)]
    color: Colour
    corners: tuple[Point, Point] | tuple[()]
    tags: set[str] | frozenset[str]
    access: Rights
    by_color: dict[Colour, Struct]


class Plain(TypedDict):
    name: str
    color: Colour
    corners: tuple[Point, ...]
    tags: frozenset[str]
    access: Rights
    by_color: dict[Colour, hookless.Record]


class Model(pydantic.BaseModel):
    name: str
    color: Colour
    corners: tuple[Point, ...]
    tags: frozenset[str]
    access: Rights
    by_color: dict[Colour, Model]


def figure(name: str = "s") -> Figure:
    inner = Figure("r", Colour.ROT, (), frozenset(), Rights.R | Rights.W, {})
    corners = (Point(0.0, 1.0), Point(2.0, 3.5))
    return Figure(name, Colour.BLAU, corners, frozenset({"a"}), Rights.R | Rights.W, {Colour.ROT: inner})


def test_classes_of_the_child_become_those_of_the_host(shared: Worker) -> None:
    """By their fields and values; without a type they stay inert."""
    record = shared.call("typed_jobs:shape")
    assert (type(record), record.type_name) == (hookless.Record, "typed_jobs.Shape")
    found = shared.options(returns=Figure).call("typed_jobs:shape")
    assert found == figure()
    assert [type(corner.x) for corner in found.corners] == [float, float]
    assert shared.options(returns=dict[Colour, Figure]).call("jobs:same", {1: record}) == {
        Colour.ROT: figure()
    }


def test_each_kind_of_class(shared: Worker) -> None:
    """Struct, TypedDict, pydantic model."""
    struct = shared.options(returns=Struct).call("typed_jobs:shape")
    assert (struct.name, struct.color, struct.by_color[Colour.ROT].name) == ("s", Colour.BLAU, "r")
    plain = shared.options(returns=Plain).call("typed_jobs:shape")
    assert type(plain) is dict and type(plain["by_color"][Colour.ROT]) is hookless.Record
    model = shared.options(returns=Model).call("typed_jobs:shape")
    assert (model.corners[1], model.by_color[Colour.ROT].access) == (Point(2.0, 3.5), Rights.R | Rights.W)
    with pytest.raises(hookless.DecodeError, match="length >= 1"):
        shared.options(returns=Struct).call("typed_jobs:shape", "")


def test_a_set_of_records(shared: Worker) -> None:
    """Its members hash as the host's class has it."""
    found = shared.options(returns=set[hookless.Record]).call("typed_jobs:corners")
    assert {corner["x"] for corner in found} == {0.0, 2.0}
    assert shared.options(returns=set[Spot]).call("typed_jobs:corners") == {Spot(0.0), Spot(2.0)}


@dataclass(frozen=True)
class Spot:
    x: float


def test_mismatches_deep_inside(shared: Worker) -> None:
    """The path goes through records, by the names of their fields."""
    record = shared.call("typed_jobs:shape")

    class Narrow(TypedDict):
        name: str
        color: Colour
        corners: tuple[tuple[int, int], ...]
        tags: frozenset[str]
        access: Rights
        by_color: dict[Colour, hookless.Record]

    refused(record, Narrow, "$.corners[0]", "found hookless.records.NamedRecord")
    refused([record], list[Spot], "$[0]", 'Spot has no field "name"')
