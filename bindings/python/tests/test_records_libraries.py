"""Models of attrs, pydantic and msgspec become records."""

from __future__ import annotations

from typing import Any

import attrs
import msgspec
import pydantic
import pytest

import hookless
from hookless import Record, dumps, loads
from same import assert_same

HERE = __name__


@attrs.define
class Defined:
    x: Any
    _y: Any = 2


@attrs.frozen(slots=False)
class FrozenAttrs:
    x: Any = 1


class Model(pydantic.BaseModel):
    x: int
    y: list[int] = []
    _private: int = 3


class Child(Model):
    z: str = "z"


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", frozen=True)
    x: int


class Root(pydantic.RootModel[list[int]]):
    pass


@pydantic.dataclasses.dataclass
class Validated:
    x: int


class Struct(msgspec.Struct):
    x: Any
    y: Any = 2


class Sub(Struct, weakref=True, rename="camel"):
    long_name: Any = 3


class Dicted(msgspec.Struct, dict=True):
    x: int = 1


class Tagged(msgspec.Struct, tag=True, array_like=True, gc=False):
    x: int = 1


CASES: list[tuple[Any, str, dict[str, Any]]] = [
    (Defined(1), "Defined", {"x": 1, "_y": 2}),
    (FrozenAttrs(), "FrozenAttrs", {"x": 1}),
    (Model(x=1), "Model", {"x": 1, "y": []}),
    (Child(x=1, y=[2]), "Child", {"x": 1, "y": [2], "z": "z"}),
    (Open(x=1, more=[2]), "Open", {"x": 1, "more": [2]}),  # type: ignore[call-arg]
    (Root([1]), "Root", {"root": [1]}),
    (Validated(1), "Validated", {"x": 1}),
    (Struct(1), "Struct", {"x": 1, "y": 2}),
    (Sub(1), "Sub", {"x": 1, "y": 2, "long_name": 3}),
    (Dicted(), "Dicted", {"x": 1}),
    (Tagged(), "Tagged", {"x": 1}),
]


@pytest.mark.parametrize(("value", "qualname", "fields"), CASES, ids=lambda value: type(value).__name__)
def test_models_become_records(value: Any, qualname: str, fields: dict[str, Any]) -> None:
    """R1: their fields by name and in order, a pydantic model's extras after them."""
    expected = Record(HERE, qualname, fields)
    assert_same(loads(dumps(value)), expected)
    assert_same(loads(dumps([{"k": value}])), [{"k": expected}])


def test_r5_frozen_models_are_keys() -> None:
    """Those that the library lets be hashed."""
    value = {FrozenAttrs(): 1, Open(x=1): 2}
    assert_same(
        loads(dumps(value)), {Record(HERE, "FrozenAttrs", {"x": 1}): 1, Record(HERE, "Open", {"x": 1}): 2}
    )


def _emptied() -> Struct:
    value = Struct(1)
    del value.x
    return value


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (Model.model_construct(y=[1]), "x"),
        (Defined.__new__(Defined), "x"),
        (_emptied(), "x"),
    ],
    ids=["pydantic", "attrs", "msgspec"],
)
def test_models_without_a_value(value: Any, field: str) -> None:
    """A field that is not set: the path to it, and no value made up."""
    with pytest.raises(hookless.EncodeError) as caught:
        dumps([value])
    assert caught.value.path == f"$[0].{field}"
    assert type(caught.value.__cause__) is AttributeError


def test_values_of_these_libraries_that_are_no_models() -> None:
    """Markers, classes and descriptions of fields; attrs.NOTHING is a member of an enum."""
    for value in (msgspec.UNSET, pydantic.BaseModel, Struct, attrs.fields(Defined)):
        with pytest.raises(hookless.EncodeError) as caught:
            dumps([value])
        assert caught.value.path == "$[0]"
    assert loads(dumps(attrs.NOTHING)).name == "NOTHING"
