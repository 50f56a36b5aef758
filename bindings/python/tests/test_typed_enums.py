"""Typed results: enums, by value. The name and the class that an enum value claims choose nothing."""

from __future__ import annotations

import enum
from typing import Any, Literal

import pytest

import hookless
from hookless import EnumValue
from refusing import refused


class Color(enum.Enum):
    RED = 1
    CRIMSON = RED
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mode(enum.StrEnum):
    FAST = "fast"
    SAFE = "safe"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Loose(enum.IntFlag):
    READ = 1


class Mixed(enum.Enum):
    PAIR = (1, "a")
    RATE = 1.5
    LIST = [1, 2]
    NOTHING = None
    YES = True


class Lenient(enum.Enum):
    OTHER = 0
    ONE = 1

    @classmethod
    def _missing_(cls, value: object) -> Lenient | None:
        if value == 13:
            raise KeyError("a bug of the host")
        return cls.OTHER if isinstance(value, int) and value > 0 else None


def member(value: object, name: str | None = "NAME", qualname: str = "Color") -> EnumValue:
    return EnumValue("app", qualname, name, value)


def test_a_member_is_found_by_its_value() -> None:
    """Plain values are taken as well; aliases are one member."""
    for value in (1, member(1), member(1, "BLUE"), member(1, None), EnumValue("os", "system", "x", 1)):
        assert hookless.convert(value, Color) is Color.RED
        assert hookless.convert({"c": [value]}, dict[str, list[Color]]) == {"c": [Color.RED]}
        assert hookless.convert(value, Level) is Level.LOW
    assert hookless.convert("fast", Mode) is Mode.FAST
    assert hookless.convert(member("safe"), Mode) is Mode.SAFE


def test_a_name_is_no_value() -> None:
    """Neither `RED` nor `FAST` says anything."""
    refused("RED", Color)
    refused("FAST", Mode, match="no member of Mode has this value")
    refused(member(3, "RED"), Color, match="no member of Color has this value")
    refused(member("RED"), Color)
    refused({"a": 5}, dict[str, Color], "$.a")


def test_by_type_as_well() -> None:
    """True is not 1, and 1.0 is not either, inside of tuples too."""
    value: Any
    for value in (True, 1.0, "1", None, [1], {"value": 1}):
        refused(value, Color)
        refused(member(value), Color)
    for value, found in [
        ((1, "a"), Mixed.PAIR),
        (1.5, Mixed.RATE),
        ([1, 2], Mixed.LIST),
        (None, Mixed.NOTHING),
        (True, Mixed.YES),
    ]:
        assert hookless.convert(value, Mixed) is found
        assert hookless.convert(member(value), Mixed) is found
    for value in ((True, "a"), (1.0, "a"), (1,), [1], 1, False):
        refused(value, Mixed)


def test_flags() -> None:
    """Combinations of what there is: other bits are refused, whatever the class makes of them."""
    assert hookless.convert(3, Access) is Access.READ | Access.WRITE
    assert hookless.convert(member(3, None), Access) is Access.READ | Access.WRITE
    assert hookless.convert(0, Access) is Access(0)
    refused(4, Access)
    refused(member(-1), Access)
    refused(True, Access)
    assert hookless.convert(1, Loose) is Loose.READ
    kept = len(Loose._value2member_map_)
    for value in (9, -1, 1 << 70):
        refused(value, Loose)
    # Python keeps each value that an IntFlag was ever asked for: the wire does not choose how many.
    assert len(Loose._value2member_map_) == kept


def test_missing_is_asked() -> None:
    """The class's own `_missing_`; what it raises but ValueError and TypeError is the host's own error."""
    assert hookless.convert(7, Lenient) is Lenient.OTHER
    refused(-1, Lenient)
    refused("7", Lenient)
    with pytest.raises(KeyError, match="a bug of the host"):
        hookless.convert(13, Lenient)


def test_members_as_keys() -> None:
    """Two keys for one member are refused, never merged."""
    assert hookless.convert({member(1): "a", member(2): "b"}, dict[Color, str]) == {
        Color.RED: "a",
        Color.BLUE: "b",
    }
    refused({member(1): "a", 1: "b"}, dict[Color, str], match="two keys become one")
    refused({7: "a", 8: "b"}, dict[Lenient, str], match="two keys become one")
    refused({member(1, "RED"), member(1, "CRIMSON")}, set[Color], match="two members become one")
    assert hookless.convert(frozenset({1, 2}), frozenset[Level]) == frozenset(Level)


def test_enums_in_unions() -> None:
    """An enum value is an enum's; a plain value stays plain where its own type is there."""
    for wanted in (Color | int, int | Color):
        assert hookless.convert(member(1), wanted) is Color.RED
        assert type(hookless.convert(1, wanted)) is int
    assert hookless.convert("fast", Color | Mode) is Mode.FAST
    assert hookless.convert(2, Color | Mode) is Color.BLUE
    refused(member("slow"), Color | Mode, match="fits no part")
    assert hookless.convert(None, Color | None) is None


def test_literals_of_members() -> None:
    """Only these members."""
    wanted: Any = Literal[Color.RED, "none"]
    assert hookless.convert(member(1), wanted) is Color.RED
    assert hookless.convert("none", wanted) == "none"
    refused(member(2), wanted, match="another value")
    refused("RED", wanted)


def test_without_members() -> None:
    """There is nothing that a value could be."""
    for wanted in (enum.Enum, enum.IntEnum, enum.Flag):
        with pytest.raises(TypeError, match="no members"):
            hookless.convert(1, wanted)
