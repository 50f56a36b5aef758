"""`default=` of the encoder, and `hookless.lossy`, the policy that comes with it."""

from __future__ import annotations

import collections
import io
import types
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import hookless
from hookless import Limits, Record, dumps, encode, loads
from same import assert_same


class Outside:
    """Of no known kind."""

    def __init__(self, value: Any = 1) -> None:
        self.value = value


def give_value(found: Any) -> Any:
    return found.value


def test_what_it_returns_is_sent_in_the_objects_place() -> None:
    """At any place, by dumps, encode and dump alike."""
    value = {"rows": [Outside([1, (2,)]), {"k": Outside(None)}]}
    expected = {"rows": [[1, (2,)], {"k": None}]}
    frame = dumps(value, default=give_value)
    assert_same(loads(frame), expected)
    assert b"".join(encode(value, default=give_value)) == frame
    file = io.BytesIO()
    hookless.dump(value, file, default=give_value)
    assert file.getvalue() == frame


def test_it_is_called_for_objects_outside_the_set_alone() -> None:
    """For subclasses and code; not for values of the set, for records, nor for exceptions."""
    seen: list[Any] = []

    def default(found: Any) -> str:
        seen.append(found)
        return "seen"

    text = type("Text", (str,), {})("x")
    outside = [text, collections.defaultdict(list), len, Outside, memoryview(b"x")]
    inside = [1, "x", [b"x"], {1: {2}}, ValueError(), Record("m", "Q", {"x": 1})]
    assert loads(dumps(outside + inside[:4], default=default)) == ["seen"] * 5 + inside[:4]
    dumps(inside, default=default)
    assert [id(one) for one in seen] == [id(one) for one in outside]


def test_what_it_returns_may_need_it_again() -> None:
    """Each call is a level: 128 in each other pass, 129 do not, nor does one that gives itself."""

    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = Outside(value)
        return value

    assert loads(dumps(nested(128), default=give_value)) == 1
    for value, default in ((nested(129), give_value), (Outside(), lambda found: found)):
        assert refused(value, default=default).code == "depth_limit"
    limits = Limits(depth=2)
    assert loads(dumps([nested(1)], default=give_value, limits=limits)) == [1]
    assert refused([nested(2)], default=give_value, limits=limits).code == "depth_limit"


def refused(value: object, **options: Any) -> hookless.EncodeError:
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value, **options)
    return caught.value


def test_what_it_raises_is_the_cause() -> None:
    """EncodeError with the type and path of the object; what `default` raised behind it."""

    def default(found: Any) -> Any:
        raise LookupError("nothing for this")

    error = refused({"a": [Outside()]}, default=default)
    assert (error.code, error.path) == ("unsupported_type", "$.a[0]")
    assert error.type_name.endswith("Outside")
    assert type(error.__cause__) is LookupError
    assert "LookupError" in str(error)
    assert type(refused(Outside(), default=1).__cause__) is TypeError


@pytest.mark.parametrize("passing", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupts_pass_through(passing: type[BaseException]) -> None:
    """They are no errors of the value's."""

    def default(found: Any) -> Any:
        raise passing

    with pytest.raises(passing):
        dumps([Outside()], default=default)


def test_the_path_goes_on_in_what_it_returned() -> None:
    """The place in the object, then the place in its stand-in."""
    error = refused([Outside({"k": [len]})], default=lambda found: found.value if found is not len else 1 / 0)
    assert error.path == "$[0].k[0]"


def test_stand_ins_as_keys() -> None:
    """Keyable if what is sent is; and two that become one key are refused."""
    one, two = Outside("a"), Outside("b")
    assert_same(loads(dumps({one: 1, two: 2, "c": 3}, default=give_value)), {"a": 1, "b": 2, "c": 3})
    assert_same(loads(dumps({one, two}, default=give_value)), {"a", "b"})
    assert refused({one: 1, "x": 2, Outside("a"): 3}, default=give_value).code == "duplicate_key"
    assert refused({"a": 1, one: 3}, default=give_value).code == "duplicate_key"
    assert refused({one, "a"}, default=give_value).code == "duplicate_key"
    assert refused({Outside([])}, default=give_value).code == "not_keyable"


def test_there_is_no_default_on_the_way_in() -> None:
    """Decoders take no hook."""
    entries: list[Any] = [hookless.loads, hookless.decode, hookless.load]
    for decode in entries:
        with pytest.raises(TypeError, match="default"):
            decode(io.BytesIO(dumps(1)), default=give_value)
    decoder: Any = hookless.Decoder
    with pytest.raises(TypeError, match="default"):
        decoder(default=give_value)


class Loud:
    """Every method of the subclasses below raises."""

    def _refuse(self, *_: object) -> Any:
        raise AssertionError("a method of the subclass ran")

    __iter__ = __len__ = __getitem__ = __str__ = __repr__ = __bytes__ = _refuse
    __int__ = __index__ = __float__ = __complex__ = __bool__ = items = keys = copy = _refuse


def loud(base: type, *arguments: Any) -> Any:
    kind = type(f"Loud{base.__name__.title()}", (Loud, base), {"__hash__": lambda self: 0})
    return kind(*arguments)


SUBCLASSES: list[tuple[Any, Any]] = [
    (loud(str, "x\ud800"), "x\ud800"),
    (loud(int, 2**70), 2**70),
    (loud(float, -0.0), -0.0),
    (loud(complex, 1j), 1j),
    (loud(bytes, b"x"), b"x"),
    (loud(bytearray, b"x"), bytearray(b"x")),
    (loud(list, [1, [2]]), [1, [2]]),
    (loud(tuple, (1, 2)), (1, 2)),
    (loud(set, {1}), {1}),
    (loud(frozenset, {1}), frozenset({1})),
    (loud(dict, {"a": 1}), {"a": 1}),
]


@pytest.mark.parametrize(("value", "held"), SUBCLASSES, ids=lambda value: type(value).__name__)
def test_lossy_takes_the_nearest_kind(value: Any, held: Any) -> None:
    """What the base class holds, read by the base class's own methods."""
    found = loads(dumps([value], default=hookless.lossy))
    name = f"{__name__}.{type(value).__name__}"
    assert_same(found, [Record("hookless", "Lossy", {"type": name, "value": held})])


def lossy(value: Any) -> Any:
    found = loads(dumps([value], default=hookless.lossy))[0]
    assert (type(found), found.type_name) == (Record, "hookless.Lossy")
    return dict(found.items())


def test_lossy_says_what_there_was() -> None:
    """The name of the class, always; a subclass's content is encoded by the same policy."""
    value = collections.defaultdict[str, Any](None, a=len)
    assert lossy(value)["type"] == "collections.defaultdict"
    assert lossy(value)["value"]["a"]["type"] == "builtin_function_or_method"
    assert lossy(memoryview(b"abcdef")[::2]) == {"type": "memoryview", "value": b"ace"}


class OwnMapping(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"a": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class BrokenMapping(OwnMapping):
    def __getitem__(self, key: str) -> int:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "value",
    [
        types.MappingProxyType({"a": 1}),
        OwnMapping(),
        collections.UserDict(a=1),
        collections.ChainMap({"a": 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_lossy_takes_mappings_as_dicts(value: Any) -> None:
    """A mapping by its true type."""
    assert lossy(value)["value"] == {"a": 1}


class NoRepr:
    def __repr__(self) -> str:
        raise ZeroDivisionError


class BadRepr:
    def __repr__(self) -> str:
        return 1  # type: ignore[return-value]


class Exits:
    def __repr__(self) -> str:
        raise SystemExit


class Terminal:
    def __repr__(self) -> str:
        return "\x1b[31m\u202e\n" + "x" * 10**6


def test_lossy_falls_back_to_a_repr() -> None:
    """Short, escaped, and there whatever the object does."""
    assert lossy(len)["repr"] == "<built-in function len>"
    for kind in (NoRepr, BadRepr, Exits):
        assert lossy(kind())["repr"] == f"<{__name__}.{kind.__name__} object>"
    text = lossy(Terminal())["repr"]
    assert text.isprintable()
    assert len(text) <= 300
    assert text.startswith("\\x1b[31m\\u202e\\nxxx")
    assert "repr" in lossy(BrokenMapping())
    released = memoryview(b"x")
    released.release()
    assert "repr" in lossy(released)


def test_lossy_does_not_consume_an_iterator() -> None:
    """Nothing is taken from a generator or a file."""
    numbers = (number for number in [1, 2])
    file = io.BytesIO(b"text")
    assert list(lossy(numbers)) == ["type", "repr"]
    assert list(lossy(file)) == ["type", "repr"]
    assert list(numbers) == [1, 2]
    assert file.read() == b"text"


def test_lossy_lets_ctrl_c_through() -> None:
    """In the repr of an object."""

    class Slow:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dumps([Slow()], default=hookless.lossy)


def test_lossy_ends_in_what_holds_itself() -> None:
    """A subclass of list that is its own item is too deep."""

    class Items(list[Any]):
        pass

    items = Items()
    items.append(items)
    assert refused(items, default=hookless.lossy).code == "depth_limit"
