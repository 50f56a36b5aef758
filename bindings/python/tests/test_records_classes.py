"""What instances of a child's own classes become: known by their true type, and none of their code runs."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import subprocess
import sys
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest

import hookless
from hookless import EnumValue, NamedRecord, Record, dumps, loads
from same import assert_same

T = TypeVar("T")
HERE = __name__


@dataclasses.dataclass
class Plain:
    """Every sort of field."""

    x: int
    y: list[Any] = dataclasses.field(default_factory=list)
    hidden: int = dataclasses.field(default=7, repr=False, compare=False)
    constant: ClassVar[int] = 3
    start: dataclasses.InitVar[int] = 0

    def __post_init__(self, start: int) -> None:
        self.beside = start

    @functools.cached_property
    def cached(self) -> int:
        return self.x + 1


@dataclasses.dataclass
class Derived(Plain):
    z: int = 5


class Undecorated(Derived):
    def method(self) -> None: ...


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    x: Any
    y: Any = 2


@dataclasses.dataclass(slots=True, weakref_slot=True)
class Weak:
    x: Any = 1


@dataclasses.dataclass
class Typed(Generic[T], abc.ABC):
    x: T


class Slotted:
    __slots__ = ("a",)


@dataclasses.dataclass
class OverSlots(Slotted):
    x: int = 1


class Pair(NamedTuple):
    x: Any
    y: Any = 2


Old = collections.namedtuple("Old", "a b")


class Longer(Old):
    """A subclass of a namedtuple is one too."""


class Color(enum.Enum):
    RED = 1
    CRIMSON = RED
    ODD = (1, [2])


class Number(enum.IntEnum):
    A = 1


class Text(enum.StrEnum):
    A = "a"


class Flags(enum.Flag):
    A = 1
    B = 2


class IntFlags(enum.IntFlag):
    A = 1


class Mixed(float, enum.Enum):
    HALF = 0.5


def came(value: object) -> Any:
    """The value by the wire; what came encodes as it did."""
    frame = dumps(value)
    found = loads(frame)
    assert dumps(found) == frame
    return found


def record(qualname: str, **fields: Any) -> Record:
    return Record(HERE, qualname, fields)


def named(qualname: str, **fields: Any) -> NamedRecord:
    return NamedRecord(HERE, qualname, fields)


CASES: list[tuple[Any, Any]] = [
    (Plain(1, [2], start=9), record("Plain", x=1, y=[2], hidden=7)),
    (Derived(1), record("Derived", x=1, y=[], hidden=7, z=5)),
    (Undecorated(1), record("Undecorated", x=1, y=[], hidden=7, z=5)),
    (Frozen(None), record("Frozen", x=None, y=2)),
    (Weak(), record("Weak", x=1)),
    (Typed("t"), record("Typed", x="t")),
    (OverSlots(), record("OverSlots", x=1)),
    (dataclasses.make_dataclass("Empty", [])(), Record("types", "Empty", {})),
    (Pair(1), named("Pair", x=1, y=2)),
    (Old(1, ()), named("Old", a=1, b=())),
    (Longer(1, 2), named("Longer", a=1, b=2)),
    (collections.namedtuple("Zero", "")(), named("Zero")),
    (Color.CRIMSON, EnumValue(HERE, "Color", "RED", 1)),
    (Color.ODD, EnumValue(HERE, "Color", "ODD", (1, [2]))),
    (Number.A, EnumValue(HERE, "Number", "A", 1)),
    (Text.A, EnumValue(HERE, "Text", "A", "a")),
    (Flags.A | Flags.B, EnumValue(HERE, "Flags", "A|B", 3)),
    (Flags(0), EnumValue(HERE, "Flags", None, 0)),
    (IntFlags(8), EnumValue(HERE, "IntFlags", None, 8)),
    (Mixed.HALF, EnumValue(HERE, "Mixed", "HALF", 0.5)),
]


@pytest.mark.parametrize(("value", "expected"), CASES, ids=lambda value: type(value).__name__)
def test_r1_instances_become_records(value: Any, expected: Any) -> None:
    """C029, C035: fields in their order, never a bare tuple, int or str; at any place in a value."""
    if type(expected) is Record and expected.qualname == "Empty":
        expected = Record(type(value).__module__, "Empty", {})
    assert_same(came(value), expected)
    assert_same(came({"rows": [value, (value,)]}), {"rows": [expected, (expected,)]})


def test_what_is_beside_the_fields_stays() -> None:
    """Cached properties, class variables and other attributes are not fields."""
    value = Plain(1)
    assert value.cached == 2
    value.other = 1  # type: ignore[attr-defined]
    assert list(came(value)) == ["x", "y", "hidden"]


def test_local_classes_have_their_qualified_name() -> None:
    """With `<locals>` in it, as the class says."""

    @dataclasses.dataclass
    class Local:
        x: int

    found = came(Local(1))
    assert found.type_name == f"{HERE}.test_local_classes_have_their_qualified_name.<locals>.Local"


def test_a_class_that_says_it_is_builtin_is_not() -> None:
    """The module is not taken over where it is a lie."""
    lying = dataclasses.make_dataclass("int", [("x", int)])
    lying.__module__ = "builtins"
    assert came(lying(1)).module == "(builtins)"


@dataclasses.dataclass(eq=False)
class Identity:
    x: int


def test_r5_as_keys_and_members() -> None:
    """C035: frozen instances, namedtuples and members as keys come back as keys."""
    value: dict[Any, Any] = {Frozen(1): 1, Pair(1): 2, Color.RED: 3, Number.A: 4, Text.A: 5, (Flags.A,): 6}
    expected = {
        record("Frozen", x=1, y=2): 1,
        named("Pair", x=1, y=2): 2,
        EnumValue(HERE, "Color", "RED", 1): 3,
        EnumValue(HERE, "Number", "A", 1): 4,
        EnumValue(HERE, "Text", "A", "a"): 5,
        (EnumValue(HERE, "Flags", "A", 1),): 6,
    }
    assert_same(came(value), expected)
    assert_same(came({Number.A}), {EnumValue(HERE, "Number", "A", 1)})
    assert_same(came({frozenset({Frozen(1)})}), {frozenset({record("Frozen", x=1, y=2)})})


def test_r5_unhashable_parts_are_not_keyable() -> None:
    """A value that the child can hash and the host cannot: an error in the child."""
    for key in (Identity([1]), Color.ODD):  # type: ignore[arg-type]
        with pytest.raises(hookless.EncodeError) as refused:
            dumps({key: 1})
        assert refused.value.code == "not_keyable"


@pytest.mark.parametrize("around", [lambda key: key, lambda key: (key,), lambda key: frozenset({key})])
def test_k3_instances_that_become_equal_keys(around: Any) -> None:
    """Two keys for Python, one for the wire: refused by the encoder, in dicts and in sets."""
    one, two = around(Identity(1)), around(Identity(1))
    for value in ({one: 1, two: 2}, {one, two}, [{"s": 0, one: 1, "t": 1, two: 2}]):
        assert refused(value).code == "duplicate_key"
    assert len(came({one: 1, around(Identity(2)): 2})) == 2


def refused(value: object) -> hookless.EncodeError:
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value)
    return caught.value


class Sprung:
    """What ran."""

    ran: ClassVar[list[str]] = []


def _spring(*_: object) -> Any:
    Sprung.ran.append("trap")
    raise RuntimeError("user code ran")


class Meta(type):
    __getattr__ = _spring
    __getattribute__ = _spring
    __eq__ = _spring
    __hash__ = _spring
    __instancecheck__ = __subclasscheck__ = mro_entries = _spring
    __module__ = property(_spring)


@dataclasses.dataclass
class _Bare:
    x: Any = 1
    y: Any = 2


class Trapped(_Bare):
    __getattr__ = _spring
    __getattribute__ = _spring
    __class__ = property(_spring)
    __iter__ = __len__ = __reduce__ = __repr__ = __str__ = __eq__ = _spring
    __hash__ = _spring


class TrappedPair(Pair):
    __getattr__ = _spring
    __getattribute__ = _spring
    __getitem__ = __iter__ = __len__ = __repr__ = _asdict = _spring


def test_c001_no_code_of_the_value_runs() -> None:
    """C001: instances and metaclasses that trap everything are read all the same."""
    hostile = Meta("Hostile", (_Bare,), {"__qualname__": "Hostile"})
    instance: object = object.__new__(hostile)  # type: ignore[arg-type]
    pair = tuple.__new__(TrappedPair, (1, 2))
    Sprung.ran.clear()
    frame = dumps([Trapped(), pair, instance])
    assert Sprung.ran == []
    found = loads(frame)
    assert [one.qualname for one in found] == ["Trapped", "TrappedPair", "Hostile"]
    assert [dict(one.items()) for one in found] == [{"x": 1, "y": 2}] * 3


def test_c001_objects_of_trapping_metaclasses_without_fields() -> None:
    """Refused by name, and asked nothing."""
    nothing = Meta("Nothing", (), {})
    instance: object = object.__new__(nothing)  # type: ignore[arg-type]
    Sprung.ran.clear()
    assert refused([instance]).type_name.endswith("Nothing")
    assert Sprung.ran == []


@dataclasses.dataclass
class HoldsDict(dict[str, int]):
    x: int = 1


@dataclasses.dataclass
class HoldsList(list[int]):
    x: int = 1


@dataclasses.dataclass
class HoldsText(str):
    x: int = 1


@dataclasses.dataclass
class HoldsFloat(float):
    x: int = 1


@dataclasses.dataclass
class HoldsTuple(tuple[int, ...]):
    x: int = 1


@dataclasses.dataclass
class HoldsDeque(collections.deque[int]):
    x: int = 1


class HoldsTwice(Pair, abc.ABC):
    _fields = ("x", "y", "z")  # type: ignore[assignment]


class Claims(tuple[int, ...]):
    _fields = ["x"]


class Twice(tuple[int, ...]):
    _fields = ("x", "x")


class Fake:
    __dataclass_fields__ = 1


class Faker:
    __dataclass_fields__: ClassVar[dict[str, Any]] = {"x": 1}


class FakeAttrs:
    __attrs_attrs__ = [1]


class FakeModel:
    __pydantic_fields__ = ("a",)


class Items(list[int]):
    pass


class Bare:
    def __init__(self) -> None:
        self.x = 1


@pytest.mark.parametrize(
    "value",
    [
        HoldsDict(),
        HoldsList(),
        HoldsText(),
        HoldsFloat(),
        HoldsTuple(),
        HoldsDeque(),
        HoldsTwice(1, 2),
        Claims((1,)),
        Twice((1, 2)),
        Fake(),
        FakeAttrs(),
        FakeModel(),
        Items([1]),
        Bare(),
        collections.UserDict(a=1),
        Plain,
        Color,
        Pair,
        dataclasses.field(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_content_is_lost_in_silence(value: object) -> None:
    """C028, C029: a builtin's content beside the fields, or no fields at all: refused by type and path."""
    error = refused({"rows": [value]})
    assert error.path == "$.rows[0]"
    assert error.code == "unsupported_type"
    assert type(value).__name__ in error.type_name


def test_a_mark_that_cannot_be_read() -> None:
    """A class that only looks like a dataclass is an EncodeError too, whatever reading it raises."""
    assert refused([Faker()]).path == "$[0]"


@dataclasses.dataclass
class Raising:
    x: int = 1
    y: int = 2


def _raise(_: object) -> Any:
    raise ValueError("no value today")


Raising.y = property(_raise)  # type: ignore[assignment]


def test_a_field_that_cannot_be_read() -> None:
    """Missing, or a property that raises: type, path to the field, and what was raised as the cause."""
    error = refused([object.__new__(Raising)])
    assert (error.path, error.type_name) == ("$[0].y", f"{HERE}.Raising")
    assert type(error.__cause__) is ValueError
    value = Plain(1)
    del value.x
    error = refused({"a": value})
    assert (error.path, error.type_name) == ("$.a.x", f"{HERE}.Plain")
    assert type(error.__cause__) is AttributeError


def test_interrupts_pass_through() -> None:
    """Ctrl-C in a property is no error of the value's."""

    @dataclasses.dataclass
    class Interrupts:
        x: int = 0

    Interrupts.x = property(_interrupt)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        dumps([object.__new__(Interrupts)])


def _interrupt(_: object) -> Any:
    raise KeyboardInterrupt


def test_exceptions_stay_exceptions() -> None:
    """Also one that is a dataclass."""

    @dataclasses.dataclass
    class Failed(Exception):
        code: int = 1

    found = loads(dumps(Failed(3)))
    assert isinstance(found, hookless.RemoteError)


def test_an_exception_in_a_record_in_an_exception() -> None:
    """A report in a report would have no end: such an argument becomes its repr, and is named as cut."""
    error = ValueError()
    error.args = (Frozen(error), Frozen(1))
    failure = loads(dumps(error)).remote
    assert failure.args[1] == record("Frozen", x=1, y=2)
    assert type(failure.args[0]) is str
    assert failure.cut == ("args[0]",)


def test_a_changed_class_is_read_anew() -> None:
    """What is remembered of a class is forgotten when its fields or its bases are others."""

    class One:
        def __init__(self) -> None:
            self.x, self.y = 1, 2

    value = One()
    assert refused(value)
    made = dataclasses.make_dataclass("Two", ["x"])
    One.__dataclass_fields__ = made.__dataclass_fields__  # type: ignore[attr-defined]
    for _ in range(600):
        assert dumps(dataclasses.make_dataclass("Many", [])())
    assert list(came(value)) == ["x"]
    One.__dataclass_fields__ = dataclasses.make_dataclass("Three", ["y"]).__dataclass_fields__  # type: ignore[attr-defined]
    assert list(came(value)) == ["y"]


DEEP = """
import dataclasses, enum, threading, typing
import hookless

threading.stack_size(256 * 1024)

@dataclasses.dataclass(eq=False)
class Data:
    n: object

class Pair(typing.NamedTuple):
    n: object

class Outside:
    def __init__(self, n):
        self.n = n

limits = hookless.Limits(depth=512)
done = []

def deep(kind, levels):
    value = None
    for _ in range(levels):
        value = kind(value)
    return value

def work():
    for kind in (Data, Pair, Outside, lambda n: hookless.EnumValue("m", "E", None, n)):
        frame = hookless.dumps(deep(kind, 512), limits=limits, default=lambda found: found.n)
        value = hookless.loads(frame, limits=limits)
        done.append(hookless.dumps(value, limits=limits) == frame)
        try:
            hookless.dumps(deep(kind, 513), limits=limits, default=lambda found: found.n)
        except hookless.EncodeError as error:
            done.append(error.code)

thread = threading.Thread(target=work)
thread.start()
thread.join()
print(done)
"""


def test_c033_records_on_a_small_stack() -> None:
    """512 levels of each kind of instance on 256 KiB of stack; 513 are an error."""
    command = [sys.executable, "-c", DEEP]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([True, "depth_limit"] * 4)
