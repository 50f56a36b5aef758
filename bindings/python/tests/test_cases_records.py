"""Reported problems with classes derived from builtins, numbered as they were collected."""

from __future__ import annotations

import enum
from collections import namedtuple
from typing import Any

import pytest

import hookless
from hookless import EnumValue, NamedRecord, dumps, loads
from same import assert_same

HERE = __name__


class S(str):
    """Text that takes `repr` down to itself."""

    def __repr__(self) -> str:
        return self

    __str__ = __repr__


class T(tuple[Any, ...]):
    """A tuple, but for its class."""


P = namedtuple("P", "x y")


class E(enum.IntEnum):
    A = 1


class Text(enum.StrEnum):
    A = "a"


class Flags(enum.Flag):
    A = 1
    B = 2


def came(value: Any) -> Any:
    """What arrives; it encodes to the same bytes."""
    frame = dumps(value)
    found = loads(frame)
    assert dumps(found) == frame
    return found


def refused(value: Any) -> hookless.EncodeError:
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value)
    return caught.value


def test_c028_text_of_a_report_is_exact() -> None:
    """Message, arguments, notes and what `__str__` gives: str in the host, whatever class they had."""

    class Failed(Exception):
        def __str__(self) -> str:
            return S("from str")

    error = Failed(S("argument"))
    error.__notes__ = [S("note")]
    remote = came(error).remote
    assert_same(remote.message, "from str")
    assert_same(list(remote.notes), ["note"])
    assert type(remote.args[0]) is str and "argument" in remote.args[0]
    assert_same(came(ValueError(S("plain"))).remote.message, "plain")


def test_c028_a_subclass_of_str_is_no_str() -> None:
    """As a value and as a key: refused by `type(x) is str`, with the name of its class."""
    for value, path in (([S("x")], "$[0]"), ({"k": S("x")}, "$.k")):
        error = refused(value)
        assert (error.code, error.path, error.type_name) == ("unsupported_type", path, f"{HERE}.S")
    assert refused({S("x"): 1}).type_name == f"{HERE}.S"


def test_c029_named_tuples_keep_their_names() -> None:
    """A `NamedRecord`, and no tuple; other subclasses of tuple are refused."""
    assert_same(came([P(1, 2)]), [NamedRecord(HERE, "P", {"x": 1, "y": 2})])
    assert_same(came({P(1, 2): (1, 2)}), {NamedRecord(HERE, "P", {"x": 1, "y": 2}): (1, 2)})
    error = refused({"t": T((1,))})
    assert (error.code, error.path, error.type_name) == ("unsupported_type", "$.t", f"{HERE}.T")


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (E.A, EnumValue(HERE, "E", "A", 1)),
        (Text.A, EnumValue(HERE, "Text", "A", "a")),
        (Flags.A, EnumValue(HERE, "Flags", "A", 1)),
        (Flags.A | Flags.B, EnumValue(HERE, "Flags", "A|B", 3)),
    ],
    ids=str,
)
def test_c035_enums_stay_enums(member: Any, expected: EnumValue) -> None:
    """Class, member and value as data; never the bare int or str, as a value, a key or a member of a set."""
    assert_same(came([member, {member: 1}, {member}]), [expected, {expected: 1}, {expected}])
    assert_same(came({"plain": expected.value}), {"plain": expected.value})
