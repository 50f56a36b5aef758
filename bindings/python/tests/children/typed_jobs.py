"""A child's own classes, for the tests of typed results; the host has others of the same fields."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Corner(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Shape:
    name: str
    color: Color
    corners: tuple[Corner, ...]
    tags: frozenset[str] = frozenset()
    access: Access = Access.READ | Access.WRITE
    by_color: dict[Color, Any] = field(default_factory=dict, hash=False)


def shape(name: str = "s") -> Shape:
    corners = (Corner(0.0, 1.0), Corner(2, 3.5))
    return Shape(name, Color.BLUE, corners, frozenset({"a"}), by_color={Color.RED: Shape("r", Color.RED, ())})


@dataclass(frozen=True)
class Spot:
    x: float


def corners() -> set[Spot]:
    return {Spot(0.0), Spot(2)}
