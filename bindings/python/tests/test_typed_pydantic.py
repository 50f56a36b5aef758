"""Typed results: what pydantic converts, by its own rules, after records have become plain values."""

from __future__ import annotations

import collections
import dataclasses
from typing import Annotated, Any

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

import hookless
from hookless import EnumValue, NamedRecord, Record
from refusing import refused

MODULUS = (1 << 61) - 1


class User(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    age: Annotated[int, Field(ge=0)] = 0
    tags: set[str] = set()
    friends: list[User] = []


def test_adapters() -> None:
    """A `TypeAdapter` is asked for like a type."""
    adapter = TypeAdapter(list[Annotated[int, Field(ge=0)]])
    assert hookless.loads(hookless.dumps([1, 2]), type=adapter) == [1, 2]
    refused([1, -2], adapter, "$[1]", "greater than or equal to 0")
    refused({"a": 1}, adapter)


def test_models() -> None:
    """Of records and dicts, alone and inside other types."""
    record = Record("m", "Q", {"name": "a", "friends": [Record("os", "system", {"name": "b"})]})
    for wanted in (User, TypeAdapter(User)):
        found = hookless.convert(record, wanted)
        assert (type(found), found.friends) == (User, [User(name="b")])
    assert hookless.convert({"u": {"name": "a"}}, dict[str, User]) == {"u": User(name="a")}
    refused({"u": {"name": 1}}, dict[str, User], "$.u.name")
    refused({"name": "a", "friends": [{"name": "b"}, {"name": "c", "age": -1}]}, User, "$.friends[1].age")
    refused({"name": "a", "tags": ["x", "x"]}, User, "$.tags")
    refused([], User, match="expected User, found list")
    with pytest.raises(hookless.DecodeError) as caught:
        hookless.convert({}, User)
    assert isinstance(caught.value.__cause__, pydantic.ValidationError)


def test_records_are_lowered_everywhere() -> None:
    """By their shape alone: dict, tuple, value."""
    inner = Record("m", "Q", {"x": EnumValue("m", "E", "A", 1)})
    value = {
        "list": [inner],
        "tuple": (inner, NamedRecord("m", "N", {"a": 1, "b": inner})),
        "queue": collections.deque([inner], 3),
        "same": [1, (2,)],
        EnumValue("m", "E", "A", "key"): {EnumValue("m", "E", "B", 2)},
    }
    found = hookless.convert(value, TypeAdapter(Any))
    plain = {"x": 1}
    assert found == {
        "list": [plain],
        "tuple": (plain, (1, plain)),
        "queue": collections.deque([plain], 3),
        "same": [1, (2,)],
        "key": {2},
    }
    assert type(found["tuple"]) is tuple
    assert found["same"] is value["same"]


def test_lowering_never_merges() -> None:
    """Two enum values with one value are two keys on the wire."""
    one, two = EnumValue("m", "E", "A", 1), EnumValue("m", "F", "A", 1)
    refused({"a": {one: 1, two: 2}}, TypeAdapter(Any), "$.a", "two keys become one")
    refused({one, two}, TypeAdapter(Any), match="two members become one")


def test_the_flood_of_a_list_for_a_set() -> None:
    """A lenient adapter makes a set of a list: one of chosen hashes does not get there."""
    adapter = TypeAdapter(set[int])
    flood = [MODULUS * n for n in range(20_000)]
    refused(flood, adapter, code="key_collision")
    refused({"a": [tuple(flood)]}, TypeAdapter(Any), "$.a[0]", code="key_collision")
    hidden = [EnumValue("m", "E", None, number) for number in flood[:2_000]]
    refused(hidden, adapter, code="key_collision")
    refused(NamedRecord("m", "N", {f"f{n}": n for n in flood[:2_000]}), adapter, code="key_collision")
    spread = [n << 20 for n in range(2_000)]
    assert hookless.convert(spread, adapter) == set(spread)


def test_equal_items_are_no_flood() -> None:
    """They cost a set nothing, and are pydantic's to judge."""
    adapter = TypeAdapter(list[Any])
    value: list[Any]
    for value in ([0] * 5_000, [1, True, 1.0] * 1_000, [(1, 2)] * 1_000, ["x"] * 1_000, [{}] * 1_000):
        assert hookless.convert(value, adapter) == value
    assert hookless.convert([1, 1, 2], TypeAdapter(set[int])) == {1, 2}
    refused([1, 1, 2], pydantic.TypeAdapter(set[int], config=ConfigDict(strict=True)))


def test_validators_of_the_host() -> None:
    """What pydantic does not take for a refusal comes out unchanged."""

    def check(value: int) -> int:
        if value == 0:
            raise KeyError("a bug of the host")
        if value < 0:
            raise ValueError("negative")
        return value

    adapter = TypeAdapter(Annotated[int, pydantic.AfterValidator(check)])
    assert hookless.convert(1, adapter) == 1
    refused(-1, adapter, match="negative")
    with pytest.raises(KeyError, match="a bug of the host"):
        hookless.convert(0, adapter)


@pydantic.dataclasses.dataclass
class Checked:
    x: Annotated[int, Field(ge=0)]


@dataclasses.dataclass
class Around:
    checked: Checked
    user: User | None = None


def test_pydantic_dataclasses() -> None:
    """Their bounds are checked, inside plain dataclasses too."""
    assert hookless.convert({"checked": {"x": 1}}, Around) == Around(Checked(1))
    refused({"checked": {"x": -1}}, Around, "$.checked.x")
    found = hookless.convert(
        Record("m", "Q", {"checked": Record("m", "Q", {"x": 1}), "user": {"name": "a"}}), Around
    )
    assert found == Around(Checked(1), User(name="a"))


def test_bounds_of_pydantic_outside_of_it() -> None:
    """Nothing would check them: a TypeError, and no silence."""
    with pytest.raises(TypeError, match=r"only a pydantic\.TypeAdapter"):
        hookless.convert(1, Annotated[int, Field(ge=0)])
