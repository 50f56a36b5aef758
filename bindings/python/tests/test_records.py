"""The inert classes themselves, and what the wire makes of them: R1 to R5."""

from __future__ import annotations

import copy
import pickle
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import hookless
import naive
from hookless import EnumValue, Limits, NamedRecord, Record, dumps, loads
from same import assert_same

RECORD = Record("app.models", "User", {"name": "ann", "age": 41})
NAMED = NamedRecord("app", "Point", {"x": 1, "y": [2]})
MEMBER = EnumValue("app", "Color", "RED", 1)


def deep(levels: int, around: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = around(value)
    return value


def test_a_record_is_read_like_a_mapping() -> None:
    """Names, values, items, length, membership and iteration; no field is an attribute."""
    assert (RECORD.module, RECORD.qualname, RECORD.type_name) == ("app.models", "User", "app.models.User")
    assert (RECORD["name"], RECORD.get("age"), RECORD.get("no"), RECORD.get("no", 0)) == ("ann", 41, None, 0)
    assert list(RECORD) == list(RECORD.keys()) == ["name", "age"]
    assert list(RECORD.values()) == ["ann", 41]
    assert dict(RECORD.items()) == {"name": "ann", "age": 41}
    assert len(RECORD) == 2
    assert "name" in RECORD
    assert "module" not in RECORD
    assert not hasattr(RECORD, "name")
    with pytest.raises(KeyError):
        RECORD["module"]


def test_a_named_record_has_positions_too() -> None:
    """By index and slice; iteration still gives names."""
    assert (NAMED[0], NAMED[-1], NAMED["y"], NAMED[:1]) == (1, [2], [2], (1,))
    assert list(NAMED) == ["x", "y"]
    with pytest.raises(IndexError):
        NAMED[2]
    with pytest.raises(KeyError):
        RECORD[0]  # type: ignore[index]


def test_a_member_has_name_and_value() -> None:
    """A name may be missing."""
    assert (MEMBER.module, MEMBER.qualname, MEMBER.name, MEMBER.value) == ("app", "Color", "RED", 1)
    assert MEMBER.type_name == "app.Color"
    assert EnumValue("app", "Color", None, 3).name is None


@pytest.mark.parametrize("value", [RECORD, NAMED, MEMBER], ids=lambda value: type(value).__name__)
def test_nothing_about_them_changes(value: Any) -> None:
    """No attribute can be set, added or deleted; and a subclass is not of the set."""
    for name in ("module", "_module", "_fields", "_value", "other"):
        with pytest.raises(AttributeError):
            setattr(value, name, 1)
        with pytest.raises(AttributeError):
            delattr(value, name)
    sub: Any = type("Sub", (type(value),), {})
    with pytest.raises(hookless.EncodeError, match="Sub"):
        dumps(sub(*value.__reduce__()[1]))


def test_the_fields_given_are_copied() -> None:
    """A dict that changes later changes no record."""
    fields: dict[str, Any] = {"x": 1}
    record = Record("m", "Q", fields)
    fields["y"] = 2
    assert list(record) == ["x"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Record("", "Q", {}), ValueError),
        (lambda: Record("m", "", {}), ValueError),
        (lambda: Record("m", "Q", {"": 1}), ValueError),
        (lambda: Record("m", "Q", {1: 1}), TypeError),  # type: ignore[dict-item]
        (lambda: NamedRecord(b"m", "Q", {}), TypeError),  # type: ignore[arg-type]
        (lambda: Record("m", type("S", (str,), {})("Q"), {}), TypeError),
        (lambda: EnumValue("m", "Q", "", 1), ValueError),
        (lambda: EnumValue("m", "Q", 1, 1), TypeError),  # type: ignore[arg-type]
    ],
)
def test_names_are_text_that_is_not_empty(wrong: Callable[[], object], error: type[Exception]) -> None:
    """R2 and R3 hold before anything is encoded."""
    with pytest.raises(error):
        wrong()


def test_equal_when_all_is_equal() -> None:
    """Class, names, names of fields in their order, and values; never another class."""
    one = Record("m", "Q", {"x": 1, "y": 2})
    assert one == Record("m", "Q", {"x": 1.0, "y": 2})
    assert hash(one) == hash(Record("m", "Q", {"x": 1.0, "y": True + 1}))
    for other in (
        Record("n", "Q", {"x": 1, "y": 2}),
        Record("m", "R", {"x": 1, "y": 2}),
        Record("m", "Q", {"y": 2, "x": 1}),
        Record("m", "Q", {"x": 1, "z": 2}),
        Record("m", "Q", {"x": 1}),
        Record("m", "Q", {"x": 1, "y": 3}),
        NamedRecord("m", "Q", {"x": 1, "y": 2}),
        {"x": 1, "y": 2},
        (1, 2),
        None,
    ):
        assert one != other
    assert MEMBER != 1
    assert EnumValue("app", "Color", "RED", True) == MEMBER
    assert EnumValue("app", "Color", None, 1) != MEMBER
    assert EnumValue("app", "Color", "BLUE", 1) != MEMBER


def test_values_are_compared_inside_containers() -> None:
    """Lists, tuples, dicts and records nested in each other, and NaN by identity as in Python's own lists."""
    nan = float("nan")

    def value(last: object) -> Record:
        inner = NamedRecord("m", "P", {"a": (1, [last])})
        return Record("m", "Q", {"x": [inner], "y": {"k": inner}, "z": nan})

    assert value(1) == value(1)
    assert value(1) != value(2)
    assert Record("m", "Q", {"x": {"a": 1}}) != Record("m", "Q", {"x": {"b": 1}})
    assert Record("m", "Q", {"x": [1]}) != Record("m", "Q", {"x": [1, 2]})
    assert Record("m", "Q", {"x": [1]}) != Record("m", "Q", {"x": (1,)})


def test_hashable_when_the_values_are() -> None:
    """A list in a record makes it unhashable; -1 and -2 are told apart, which Python's tuples do not."""
    assert len({RECORD, copy.copy(RECORD), MEMBER, NamedRecord("m", "P", {"a": (RECORD,)})}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(NAMED)
    assert hash(Record("m", "Q", {"x": -1})) != hash(Record("m", "Q", {"x": -2}))
    assert hash(Record("m", "Q", {"x": -1})) == hash(Record("m", "Q", {"x": -1.0}))


@pytest.mark.parametrize(
    "around",
    [
        lambda value: Record("m", "Q", {"x": value}),
        lambda value: EnumValue("m", "Q", None, value),
        lambda value: NamedRecord("m", "Q", {"x": (value,)}),
        lambda value: Record("m", "Q", {"x": 0, "y": ((value,), 1)}),
    ],
    ids=["record", "member", "tuple", "tuples"],
)
def test_no_depth_is_too_much(around: Callable[[Any], Any]) -> None:
    """Compared, hashed and shown without recursion, past what the wire lets in."""
    one, two, other = deep(600, around), deep(600, around), around(deep(599, around))
    assert one == two == other
    assert hash(one) == hash(two)
    assert len(repr(one)) <= 1000
    assert one != deep(599, around)


def test_a_record_that_holds_itself() -> None:
    """Its repr ends, and its comparison raises RecursionError rather than going on."""
    left: list[Any] = []
    right: list[Any] = []
    one, two = Record("m", "Q", {"x": left}), Record("m", "Q", {"x": right})
    left.append(one)
    right.append(two)
    assert len(repr(one)) <= 1000
    with pytest.raises(RecursionError):
        assert one == two


def test_the_repr_makes_the_record_again() -> None:
    """Small ones are Python as it would be written."""
    for value in (RECORD, NAMED, MEMBER, Record("m", "Q", {}), EnumValue("m", "E", None, (1,))):
        assert eval(repr(value)) == value
    nested = Record("m", "Q", {"a": [1, (2,), {"k": {3}}, frozenset({4}), set(), frozenset(), ()], "b": b"x"})
    assert eval(repr(nested)) == nested


def test_the_repr_is_one_short_escaped_line() -> None:
    """Names and values are the child's: nothing of them reaches a terminal as it is."""
    evil = "\x1b[31m\u202e\nx\ud800"
    value = Record(
        evil, evil, {evil: evil * 100, "big": 10**5000, "bytes": bytes(10**6), "many": [1] * 10**6}
    )
    text = repr(value)
    assert text.isascii() or "\u2026" in text
    assert text.isprintable()
    assert len(text) <= 1000
    assert "<int of 16610 bits>" in repr(Record("m", "Q", {"x": 10**5000}))


def test_the_repr_asks_no_unknown_container() -> None:
    """Whatever recurses or is large by its own repr is named only; what raises too."""

    class Raises:
        def __repr__(self) -> str:
            raise ValueError

    held = deque([1])
    assert repr(Record("m", "Q", {"x": held})) == "Record('m', 'Q', {'x': <deque>})"
    assert repr(Record("m", "Q", {"x": Raises()})) == "Record('m', 'Q', {'x': <Raises>})"


@pytest.mark.parametrize("value", [RECORD, NAMED, MEMBER, Record("m", "Q", {})], ids=repr)
def test_copy_and_pickle_work_in_the_host(value: Any) -> None:
    """The host's own copies; nothing of the wire asks for them."""
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert_same(again, value)


@pytest.mark.parametrize("value", [RECORD, NAMED, MEMBER, Record("m", "Q", {})], ids=repr)
def test_r1_they_encode_as_they_came(value: Any) -> None:
    """Bit for bit, and as the naive encoder writes them."""
    frame = dumps(value)
    assert_same(loads(frame), value)
    assert dumps(loads(frame)) == frame


def test_r1_the_layout() -> None:
    """Against an encoder that was written from the document."""
    fields = [("x", naive.integer(1)), ("y", naive.text("s"))]
    assert dumps(Record("m", "Q", {"x": 1, "y": "s"})) == naive.frame(naive.record(fields))
    named = naive.record(fields, kind=naive.NAMED)
    assert dumps(NamedRecord("m", "Q", {"x": 1, "y": "s"})) == naive.frame(named)
    assert dumps(EnumValue("m", "E", "A", 1)) == naive.frame(naive.member("A", naive.integer(1)))
    assert dumps(EnumValue("m", "E", None, 1)) == naive.frame(naive.member(None, naive.integer(1)))


def test_r2_text_of_every_width() -> None:
    """Names in Latin-1, UCS-2, UCS-4 and with lone surrogates."""
    for name in ("\u00e9", "\u6f22", "\U0001f600", "\ud800"):
        value = [Record(name, name, {name: 1}), EnumValue(name, name, name, 1)]
        assert_same(loads(dumps(value)), value)


def test_r2_long_names_are_an_error() -> None:
    """A name past `Limits.text`, in the encoder as in the decoder, at the limit and one past."""
    limits = Limits(text=4)
    for good, bad in (
        (Record("m", "Q", {"abcd": 1}), Record("m", "Q", {"abcde": 1})),
        (Record("abcd", "Q", {}), Record("abcde", "Q", {})),
        (EnumValue("m", "Q", "abcd", 1), EnumValue("m", "Q", "abcde", 1)),
    ):
        assert_same(loads(dumps(good, limits=limits), limits=limits), good)
        with pytest.raises(hookless.EncodeError) as refused:
            dumps(bad, limits=limits)
        assert refused.value.code == "text_limit"
        with pytest.raises(hookless.LimitExceeded) as caught:
            loads(dumps(bad), limits=limits)
        assert caught.value.code == "text_limit"


def test_the_path_goes_through_fields() -> None:
    """By name in both directions; a name itself by its number."""
    value = {"rows": [Record("m", "Q", {"a": 1, "b c": NamedRecord("m", "P", {"d": object()})})]}
    with pytest.raises(hookless.EncodeError) as refused:
        dumps(value)
    assert refused.value.path == '$.rows[0]["b c"].d'
    with pytest.raises(hookless.EncodeError) as refused:
        dumps([EnumValue("m", "E", "A", object())])
    assert refused.value.path == "$[0].value"
    for body, path in (
        (naive.record([("a", naive.integer(1)), ("b", b"\xc1")]), "$.b"),
        (naive.record([("a", naive.integer(1)), ("", b"\xc0")]), "$.names[1]"),
        (naive.member("A", b"\xc1"), "$.value"),
    ):
        with pytest.raises(hookless.DecodeError) as caught:
            loads(naive.frame(body))
        assert caught.value.path == path


def test_l1_a_record_is_one_level() -> None:
    """128 records in each other pass, 129 do not."""

    def record(value: Any) -> Record:
        return Record("m", "Q", {"x": value})

    assert_same(loads(dumps(deep(128, record))), deep(128, record))
    with pytest.raises(hookless.EncodeError) as refused:
        dumps(deep(129, record))
    assert refused.value.code == "depth_limit"
    limits = Limits(depth=512)
    deepest = loads(dumps(deep(512, record), limits=limits), limits=limits)
    assert deepest == deep(512, record)


def test_nothing_of_a_name_is_looked_up() -> None:
    """Names of real classes make records, and no instance of them."""
    value = Record("os", "system", {"__class__": 1, "__reduce__": "os.system", "__dict__": 2})
    found = loads(dumps(value))
    assert type(found) is Record
    assert_same(found, value)
    assert found.__class__ is Record
    assert found["__class__"] == 1
