"""Typed results: dataclasses, NamedTuples, TypedDicts and attrs classes; generic and recursive ones."""

from __future__ import annotations

import collections
import dataclasses
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Final, Generic, NamedTuple, NotRequired, Required, TypedDict, TypeVar

import attrs
import pytest

import hookless
from hookless import NamedRecord, Record
from refusing import kept, refused

T = TypeVar("T")
U = TypeVar("U")


@dataclass
class Point:
    x: int
    y: int = 2


@dataclass(kw_only=True, slots=True, frozen=True)
class Shape:
    name: str
    corners: list[Point] = field(default_factory=list)
    tags: frozenset[str] = frozenset()
    best: Point | None = None
    by_name: dict[str, tuple[Point, float]] = field(default_factory=dict)
    kind: ClassVar[str] = "shape"


def point(x: object, **more: object) -> Record:
    return Record("app", "Point", {"x": x, **more})


def test_a_record_becomes_the_class_of_the_annotation() -> None:
    """With its defaults; so does a dict with the same names, and records anywhere below."""
    assert hookless.convert(point(1), Point) == Point(1, 2)
    assert hookless.convert({"y": 3, "x": 1}, Point) == Point(1, 3)
    parts = {
        "name": "s",
        "corners": [point(1), {"x": 3}],
        "tags": frozenset({"a"}),
        "best": point(4, y=5),
        "by_name": {"p": (point(6), 1)},
    }
    wanted = Shape(
        name="s",
        corners=[Point(1), Point(3)],
        tags=frozenset({"a"}),
        best=Point(4, 5),
        by_name={"p": (Point(6), 1.0)},
    )
    for value in (Record("x", "y", parts), parts):
        found = hookless.convert(value, Shape)
        assert found == wanted
        assert type(found.by_name["p"][1]) is float
    assert hookless.convert([point(1), None], list[Point | None]) == [Point(1), None]


@pytest.mark.parametrize(
    ("module", "qualname"),
    [("builtins", "eval"), ("os", "system"), ("\x1b[2J", "__class__"), (__name__, "Shape"), ("x" * 999, ".")],
)
def test_claimed_names_choose_nothing(module: str, qualname: str) -> None:
    """Not the class, not a message: they are never looked at."""
    found = hookless.convert(Record(module, qualname, {"x": 1}), Point)
    assert (type(found), found) == (Point, Point(1))
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.convert(Record(module, qualname, {"x": "1"}), Point)
    assert str(caught.value) == "type_mismatch in $.x: expected int, found str"
    for wanted in (int, list[int], dict[str, int]):
        with pytest.raises(hookless.DecodeError) as caught:
            hookless.convert(Record(module, qualname, {"x": 1}), wanted)
        assert str(caught.value).endswith("found hookless.records.Record")


def test_fields_that_do_not_fit() -> None:
    """The path leads to the part; missing and unknown names are told at the record."""
    refused(point("1"), Point, "$.x", "expected int, found str")
    refused({"a": [point(1), point(True)]}, dict[str, list[Point]], "$.a[1].x")
    refused({"name": "s", "by_name": {"a b": (point(1, y=None), 1.0)}}, Shape, '$.by_name["a b"][0].y')
    refused({"y": 1}, Point, match="needs a field 'x'")
    refused(point(1, z=3), Point, match='Point has no field "z"')
    refused({"x": 1, "\x1b[2J" + "z" * 100: 3}, Point, match=r'no field "\\x1b')
    refused({"x": 1, 2: 3}, Point, "$.keys[1]", "named fields")
    refused({"x": 1, "kind": "k", "name": "s"}, Shape)
    for value in (None, [1, 2], (1, 2), "Point", NamedRecord("m", "Point", {"x": 1})):
        refused(value, Point, match="expected Point, found")


def test_a_class_attribute_is_no_field() -> None:
    """Neither dunder names nor methods are reached by a field's name."""
    for name in ("__class__", "__dict__", "__init__", "__post_init__", "kind", "self"):
        refused({"x": 1, name: 2}, Point, match="has no field")


def test_constructors_of_the_host_run() -> None:
    """`__post_init__` refuses by ValueError or TypeError; what else it raises is the host's own error."""

    @dataclass
    class Checked:
        x: int
        double: int = field(init=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("x is negative")
            if self.x == 0:
                raise KeyError("a bug of the host")
            self.double = self.x * 2

    assert hookless.convert({"x": 2}, Checked).double == 4
    # A record has the computed field too: it is checked, and then left to the class.
    assert hookless.convert({"x": 2, "double": 99}, Checked).double == 4
    refused({"x": 2, "double": "99"}, Checked, "$.double")
    refused([{"x": -1}], list[Checked], "$[0]", "refused its fields: x is negative")
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.convert({"x": -1}, Checked)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(KeyError, match="a bug of the host"):
        hookless.convert({"x": 0}, Checked)


def test_classes_that_cannot_be_made() -> None:
    """Told before there is a value."""

    @dataclass
    class Needs:
        x: int
        scale: InitVar[int]

    @dataclass(init=False)
    class Bare:
        x: int

    @dataclass
    class Lost:
        x: NoSuchName  # type: ignore[name-defined]  # noqa: F821

    @dataclass
    class Odd:
        x: int
        call: collections.abc.Callable[[int], int]

    class Plain:
        x: int

    for wanted, match in [
        (Needs, "scale is an InitVar"),
        (Bare, "no __init__"),
        (Lost, "cannot be resolved.*NoSuchName"),
        (Odd, "Callable"),
        (Plain, "Plain is no type"),
    ]:
        with pytest.raises(TypeError, match=match):
            hookless.convert({"x": 1}, wanted)


@attrs.define
class Reading:
    value: float = attrs.field(validator=attrs.validators.ge(0))
    _unit: str = "m"
    note: str = attrs.field(default="", init=False)


def test_attrs() -> None:
    """By the attributes' names; validators run, private names are those of the constructor."""
    record = Record("m", "Reading", {"value": 2, "_unit": "s", "note": "n"})
    assert hookless.convert(record, Reading) == Reading(2.0, unit="s")
    refused({"value": -1.0}, Reading, match="refused its fields")
    refused({"value": "1"}, Reading, "$.value")
    refused({"value": 1.0, "unit": "s"}, Reading, match="no field")


class Place(NamedTuple):
    name: str
    at: Point
    height: float = 0.0


def test_named_tuples() -> None:
    """A tuple of as many values, or a named record with the same names."""
    assert hookless.convert(("a", point(1)), Place) == Place("a", Point(1))
    named = NamedRecord("m", "Q", {"name": "a", "at": point(1), "height": 2})
    found = hookless.convert(named, Place)
    assert (type(found), found) == (Place, Place("a", Point(1), 2.0))
    refused(("a",), Place, match="2 to 3 fields")
    refused(("a", point(1), 1.0, 2), Place, match="2 to 3 fields")
    refused(("a", point("x")), Place, "$[1].x")
    refused(NamedRecord("m", "Q", {"name": "a", "at": point("x")}), Place, "$.at.x")
    refused(NamedRecord("m", "Q", {"at": point(1), "name": "a"}), Place, match="another order")
    for value in (["a", point(1)], {"name": "a", "at": point(1)}, Record("m", "Q", {"name": "a", "at": 1})):
        refused(value, Place)
    plain = collections.namedtuple("plain", "a b")
    assert hookless.convert((1, [2]), plain) == plain(1, [2])


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Extra(Movie, total=False):
    rating: float
    votes: Required[int]
    by: dict[str, Point]


def test_typed_dicts() -> None:
    """A plain dict comes out: total, NotRequired and Required as the class says, its base too."""
    kept({"title": "t"}, Movie)
    kept({"year": 1, "title": "t"}, Movie)
    assert hookless.convert(Record("m", "Q", {"title": "t"}), Movie) == {"title": "t"}
    refused({"year": 1}, Movie, match="needs a field 'title'")
    refused({"title": "t", "year": None}, Movie, "$.year")
    refused({"title": "t", "director": "d"}, Movie, match='no field "director"')
    assert hookless.convert({"title": "t", "votes": 1, "by": {"a": point(1)}}, Extra) == {
        "title": "t",
        "votes": 1,
        "by": {"a": Point(1)},
    }
    refused({"title": "t"}, Extra, match="needs a field 'votes'")
    refused({"votes": 1}, Extra, match="needs a field 'title'")
    refused({"title": "t", "votes": 1, "rating": "5"}, Extra, "$.rating")


@dataclass
class Box(Generic[T]):
    content: T
    more: list[T] = field(default_factory=list)


@dataclass
class Pair(Box[T], Generic[T, U]):
    other: U | None = None


@dataclass
class Ints(Pair[int, str]):
    last: Final[int] = 0


def test_generic_classes() -> None:
    """Variables are what the annotation gives them, through bases as well."""
    assert hookless.convert({"content": 1, "more": [2]}, Box[int]) == Box(1, [2])
    assert hookless.convert({"content": {"content": "a"}}, Box[Box[str]]) == Box(Box("a"))
    refused({"content": {"content": 1}}, Box[Box[str]], "$.content.content")
    refused({"content": 1, "more": ["2"]}, Box[int], "$.more[0]")
    bare: Any = Box
    assert hookless.convert({"content": 1, "more": ["2"]}, bare) == bare(1, ["2"])
    assert hookless.convert({"content": 1, "other": "x"}, Pair[int, str]) == Pair(1, other="x")
    refused({"content": 1, "other": 2}, Pair[int, str], "$.other")
    refused({"content": "1"}, Ints, "$.content")
    refused({"content": 1, "more": ["x"]}, Ints, "$.more[0]")
    assert hookless.convert({"content": 1, "last": 4}, Ints) == Ints(1, last=4)
    wanted: Any = Pair
    wanted = wanted[T, list[T]][int]
    refused({"content": 1, "other": ["x"]}, wanted, "$.other[0]")


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)
    parent: Tree | None = None


@dataclass
class Endless(Generic[T]):
    inner: Endless[list[T]] | None = None


def test_recursive_classes() -> None:
    """A class may hold itself, also one of a function; one that grows without end is refused."""
    value = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}], "parent": {"value": 4}}
    assert hookless.convert(value, Tree) == Tree(1, [Tree(2, [Tree(3)])], Tree(4))
    value["children"][0]["children"][0]["value"] = "3"  # type: ignore[index]
    refused(value, Tree, "$.children[0].children[0].value")

    @dataclass
    class Local:
        down: Local | None = None

    assert hookless.convert({"down": {}}, Local) == Local(Local())
    with pytest.raises(TypeError, match="no end"):
        hookless.convert({}, Endless[int])


@dataclass
class Circle:
    radius: float
    inner: Circle | Square | None = None


@dataclass
class Square:
    side: float
    inner: Circle | Square | None = None


def test_unions_of_classes() -> None:
    """Chosen by the names of the fields, and then kept to: what is wrong inside is looked at once."""
    assert hookless.convert({"radius": 1.0}, Circle | Square) == Circle(1.0)
    assert hookless.convert(Record("m", "Circle", {"side": 1.0}), Circle | Square) == Square(1.0)
    refused({"radius": "1"}, Circle | Square, "$.radius", "expected float, found str")
    refused({"diameter": 1.0}, Circle | Square, match="has the fields of this dict")
    refused([{"side": 1.0, "inner": {}}], list[Circle | Square], "$[0].inner")
    with pytest.raises(TypeError, match="both take a dict"):
        hookless.convert({}, Circle | dict[str, float])
    # One choice at each level: with two tries at each, this would never end.
    value: Any = {"radius": "wrong"}
    for level in range(100):
        value = {"side" if level % 2 else "radius": 1.0, "inner": value}
    refused(value, Circle | Square, "$" + ".inner" * 100 + ".radius")


def test_a_dataclass_is_not_read_from_its_own_instances() -> None:
    """Only what the wire brings is taken: an object of the host is no inert value."""
    refused(Point(1), Point)
    refused([Point(1)], list[Point], "$[0]")
    assert dataclasses.asdict(hookless.convert({"x": 1}, Point)) == {"x": 1, "y": 2}
