"""Typed results: type aliases, and what Python 3.12 and 3.13 added to annotations."""

from __future__ import annotations

import sys
import typing
from typing import Annotated, Any

import pytest
import typing_extensions

import hookless
from refusing import kept, refused

T = typing.TypeVar("T")
D = typing_extensions.TypeVar("D", default=int)

Json = typing_extensions.TypeAliasType(
    "Json", "bool | int | float | str | list[Json] | dict[str, Json] | None"
)
Pairs = typing_extensions.TypeAliasType("Pairs", list[tuple[T, T]], type_params=(T,))


def run(source: str) -> dict[str, Any]:
    """Run the source as a module of its own, so that its names can be resolved."""
    module = type(sys)("aliases_of_a_test")
    sys.modules[module.__name__] = module
    exec(compile(source, "aliases", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


NEW = """
type Json = None | bool | int | float | str | list[Json] | dict[str, Json]
type Pairs[T] = list[tuple[T, T]]
type Itself = Itself
"""

BOX = """
from dataclasses import dataclass
@dataclass
class Box[T]:
    item: T
    next: Box[T] | None = None
"""

from_3_12 = pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is of Python 3.12")


@from_3_12
def test_aliases_that_hold_themselves() -> None:
    """As deep as the value is; what is wrong is found where it is."""
    wanted = run(NEW)["Json"]
    kept({"a": [1, {"b": None}, "x", 2.5, True], "c": {}}, wanted)
    refused({"a": [1, {"b": b""}]}, wanted, "$.a[1].b")
    refused({"a": {1: 2}}, wanted, "$.a.keys[0]")
    with pytest.raises(TypeError, match="stands for itself"):
        hookless.convert(1, run(NEW)["Itself"])


@from_3_12
def test_generic_aliases() -> None:
    """With what their variables are given."""
    pairs = run(NEW)["Pairs"]
    kept([(1, 2)], pairs[int])
    refused([(1, "2")], pairs[int], "$[0][1]")
    kept([(1, "2")], pairs)


@from_3_12
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_generic_classes_of_the_new_syntax(future: str) -> None:
    """`class Box[T]`, also where annotations are text."""
    source = BOX if future else BOX.replace("Box[T] | None", '"Box[T] | None"')
    box = run(future + source)["Box"]
    assert hookless.convert({"item": 1, "next": {"item": 2}}, box[int]) == box(1, box(2))
    refused({"item": 1, "next": {"item": "2"}}, box[int], "$.next.item")


def test_aliases_of_typing_extensions() -> None:
    """For Python 3.11."""
    kept([(1, 2)], Pairs[int])
    refused([(1, "2")], Pairs[int], "$[0][1]")
    refused({"x": [(1, "2")]}, dict[str, Annotated[Pairs[int], "a note"]], "$.x[0][1]")


def test_defaults_of_variables() -> None:
    """What a variable stands for when nothing is given."""
    kept(5, D)
    refused("5", D)


def test_text_that_nothing_resolves() -> None:
    """Outside of a class there is no module to look in."""
    for wanted in ("int", list["int"], dict[str, "int"], Json):
        with pytest.raises(TypeError, match="is text: give the type itself"):
            hookless.convert(5, wanted)
