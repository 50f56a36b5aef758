"""Typed results of arbitrary values and types, held against a naive reading of the annotation."""

from __future__ import annotations

import enum
from typing import Any, Literal, NamedTuple, TypedDict, Union, get_args, get_origin

from hypothesis import given, settings
from hypothesis import strategies as st

import hookless
from hookless import EnumValue, NamedRecord, Record
from same import form


class Color(enum.Enum):
    RED = 1
    NAME = "name"


class Fields(TypedDict):
    a: int
    b: list[str]


class Place(NamedTuple):
    a: int
    b: str | None


SCALARS: list[Any] = [None, bool, int, float, str, bytes, Literal[1, "a"], Color]
KEYS = st.one_of(st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "b", "name"]), st.just(b"x"))
KEYABLE = st.recursive(KEYS, lambda inner: st.tuples(inner, inner), max_leaves=4)


def unhashed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.sets(KEYABLE, max_size=3),
        st.dictionaries(KEYABLE, inner, max_size=3),
        names,
        names.map(lambda fields: Record("os", "system", fields)),
        names.map(lambda fields: NamedRecord("os", "system", fields)),
        inner.map(lambda value: EnumValue("os", "system", "RED", value)),
    )


VALUES = st.recursive(KEYABLE | st.none() | st.floats(), unhashed, max_leaves=8)


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Types of types; subscripted by a call, since what is drawn is a variable to a type checker."""
    pair = st.tuples(inner, inner)
    return st.one_of(
        inner.map(list.__class_getitem__),
        inner.map(lambda item: tuple.__class_getitem__((item, ...))),
        pair.map(tuple.__class_getitem__),
        inner.map(set.__class_getitem__),
        pair.map(dict.__class_getitem__),
        pair.map(Union.__getitem__),
    )


TYPES = st.recursive(st.sampled_from([*SCALARS, Fields, Place, Any]), nested, max_leaves=6)


def fits(value: Any, wanted: Any) -> bool:
    """The naive reading: no plan, no fast path, no dispatch."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return True
    if origin is Union:
        return any(fits(value, one) for one in arguments)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in arguments)
    if wanted is float:
        return type(value) is float or (type(value) is int and float(value) == value)
    if wanted is Color:
        plain = value.value if type(value) is EnumValue else value
        return form_of(plain) in ((int, 1), (str, "name"))
    if wanted is Fields:
        if type(value) not in (dict, Record) or set(value) != {"a", "b"}:
            return False
        return fits(value["a"], int) and fits(value["b"], list[str])
    if wanted is Place:
        if type(value) is NamedRecord and list(value) != ["a", "b"]:
            return False
        if type(value) not in (tuple, NamedRecord) or len(value) != 2:
            return False
        return fits(value[0], int) and (value[1] is None or fits(value[1], str))
    if origin is None:
        return type(value) is (type(None) if wanted is None else wanted)
    if type(value) is not origin:
        return False
    if origin is tuple:
        if arguments[-1:] == (...,):
            return all(fits(one, arguments[0]) for one in value)
        return len(value) == len(arguments) and all(map(fits, value, arguments))
    if origin is dict:
        return all(fits(key, arguments[0]) for key in value) and all(
            fits(one, arguments[1]) for one in value.values()
        )
    return all(fits(one, arguments[0]) for one in value)


def form_of(value: Any) -> Any:
    return form(value) if type(value) in (bool, int, str, bytes, type(None)) else None


def untouched(wanted: Any) -> bool:
    """Whether no part of an annotation makes anything of a value."""
    if wanted in (float, Color, Fields, Place):
        return False
    return all(one is ... or untouched(one) for one in get_args(wanted) if get_origin(wanted) is not Literal)


@settings(deadline=None, max_examples=600)
@given(VALUES, TYPES)
def test_as_a_naive_reading(value: Any, wanted: Any) -> None:
    """Taken exactly when each part has the type that its place asks for; else the one documented error."""
    refusal: Exception | None = None
    found: Any = None
    try:
        found = hookless.convert(value, wanted)
    except (TypeError, hookless.DecodeError) as error:
        refusal = error
    if isinstance(refusal, TypeError):
        assert "both take a" in str(refusal)
    elif isinstance(refusal, hookless.DecodeError):
        assert refusal.code == "type_mismatch" and refusal.path.startswith("$")
        assert "become one" in str(refusal) or not fits(value, wanted)
    else:
        assert fits(value, wanted)
        if untouched(wanted):
            assert parts(found) == parts(value)


def parts(value: Any) -> Any:
    """Types and bits of a value, records by their parts."""
    kind = type(value)
    if kind in (Record, NamedRecord):
        return (kind, [(name, parts(one)) for name, one in value.items()])
    if kind is EnumValue:
        return (kind, parts(value.value))
    if kind in (list, tuple):
        return (kind, [parts(one) for one in value])
    if kind is dict:
        return (kind, [(parts(key), parts(one)) for key, one in value.items()])
    return form(value)


def test_the_naive_reading_says_no_as_well() -> None:
    """It can fail: otherwise the comparison would hold nothing."""
    assert fits([1], list[int]) and not fits([True], list[int]) and not fits((1,), list[int])
    assert fits({"a": 1, "b": []}, Fields) and not fits({"a": 1}, Fields)
    assert fits(EnumValue("m", "E", "X", 1), Color) and not fits(True, Color)
