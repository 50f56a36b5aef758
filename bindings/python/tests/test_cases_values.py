"""Reported problems with plain values, one test or more each, numbered as they were collected."""

from __future__ import annotations

import io
import subprocess
import sys
from array import array
from collections import defaultdict
from typing import Any

import pytest

import hookless
from hookless import Limits, dumps, loads
from same import assert_same


def roundtrip(value: object) -> None:
    """The value comes back with every type and bit, and encodes to the same bytes again."""
    frame = dumps(value)
    result = loads(frame)
    assert_same(result, value)
    assert dumps(result) == frame


def refused(value: object, **limits: int) -> hookless.EncodeError:
    with pytest.raises(hookless.EncodeError) as caught:
        dumps(value, limits=Limits(**limits))
    return caught.value


class Traps:
    """Counts what runs of the value's own code."""

    ran: list[str] = []


def _spring(*_: object) -> Any:
    Traps.ran.append("trap")
    raise RuntimeError("user code ran")


class RaisingClass:
    __class__ = property(_spring)


class ClaimsDict:
    __class__ = property(lambda self: dict)


class RaisingGetattr:
    __getattribute__ = _spring
    __getattr__ = _spring


class Noisy:
    __reduce__ = __reduce_ex__ = __getstate__ = __iter__ = __len__ = _spring
    __index__ = __float__ = __str__ = __repr__ = __bool__ = __array__ = _spring


@pytest.mark.parametrize("liar", [RaisingClass, ClaimsDict, RaisingGetattr, Noisy])
def test_c001_objects_that_lie_about_their_class(liar: type) -> None:
    """Classified by type(x): none of the value's code runs, and the error names the true type."""
    Traps.ran.clear()
    error = refused([1, liar()])
    assert error.path == "$[1]"
    assert liar.__name__ in error.type_name
    assert Traps.ran == []


def test_c002_nan_and_infinities() -> None:
    """NaN and the infinities stay floats."""
    roundtrip([float("nan"), float("inf"), float("-inf"), -0.0])


def test_c004_bytes_and_bytearray() -> None:
    """bytes and bytearray stay distinct, and the bytearray can be changed."""
    value = [b"hello", bytearray(b"hello"), bytearray()]
    roundtrip(value)
    result = loads(dumps(value))
    result[1].append(33)
    assert result[1] == b"hello!"


@pytest.mark.parametrize("size", [0, 1, 255, 256, 16_383, 16_384, 65_536])
@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_c004_every_length_form(kind: type, size: int) -> None:
    """The same on both sides of each length form and of the region threshold."""
    roundtrip([kind(size), kind(size)])


def test_c006_tuples_of_tuples_as_keys() -> None:
    """Nested tuples and frozensets are keys with default options."""
    roundtrip({((10, 20), (20, 30)): 10, (frozenset({1}),): 2})


def test_c007_ints_of_every_size() -> None:
    """Every s * (2**k + d) around the powers of two: no low bits are cut."""
    sweep = [s * (2**k + d) for k in range(131) for d in (-1, 0, 1) for s in (1, -1)]
    roundtrip(sweep)
    for number in sweep:
        roundtrip(number)


def test_c008_list_and_tuple() -> None:
    """Lists and tuples are two kinds at every node."""
    roundtrip(([1], (1,), [(1,), [2]], ((),), []))


@pytest.mark.parametrize("data", [b"\x00\xff", b"", bytes(range(256))])
def test_c011_bytes_stay_bytes(data: bytes) -> None:
    """No base64 dict: bytes alone, nested and as a key."""
    roundtrip([data, [data], {data: data}])


@pytest.mark.parametrize(
    "value",
    [
        defaultdict(list, a=[1]),
        NotImplemented,
        len,
        int,
        sys,
        (item for item in [1]),
        type("Text", (str,), {})("x"),
        type("Number", (int,), {})(1),
        type("Items", (list,), {})(),
        type("Pair", (tuple,), {})((1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_outside_the_set_is_refused(value: object) -> None:
    """Subclasses, code and kinds of a later version: refused by name and place, never flattened."""
    error = refused({"rows": [0, 1, 2, {"key": value}]})
    assert error.path == "$.rows[3].key"
    assert error.code == "unsupported_type"
    assert type(value).__name__ in error.type_name


@pytest.mark.parametrize(
    "value",
    [
        {"__type__": "bytes", "data": "aGVsbG8="},
        {b"nd": True, b"type": b"<f8", b"shape": [1], b"data": bytes(8)},
        {"__exception__": "ValueError"},
        [b"\x01\x01", 1],
        {"$type": "tuple", "items": []},
    ],
    ids=repr,
)
def test_c014_user_data_that_looks_like_type_markers(value: object) -> None:
    """Type information is never in user data, so these are plain dicts and lists."""
    roundtrip(value)


@pytest.mark.parametrize(
    "view",
    [
        memoryview(array("I", [1, 2, 3])),
        memoryview(b"abc"),
        memoryview(b"abcdef")[::2],
        memoryview(b"abcdef")[::-1],
        memoryview(bytes(6)).cast("B", (3, 2)),
    ],
    ids=["items", "bytes", "strided", "reversed", "two-dimensional"],
)
def test_c015_c025_c036_memoryviews(view: memoryview) -> None:
    """Of "bytes or an error" hookless takes the error for every memoryview, and says what to send instead."""
    error = refused({"view": view})
    assert error.path == "$.view"
    assert error.type_name == "memoryview"
    assert "bytes(m)" in str(error)
    roundtrip(bytes(view))


def test_c036_next_message_still_decodes() -> None:
    """After the refusal of a memoryview nothing is out of step."""
    file = io.BytesIO()
    for value in ([1], [memoryview(bytes(6)).cast("B", (3, 2))], [2]):
        try:
            hookless.dump(value, file)
        except hookless.EncodeError:
            assert value != [2]
    file.seek(0)
    assert [hookless.load(file), hookless.load(file), file.read()] == [[1], [2], b""]


@pytest.mark.parametrize("number", [5e-324, 2.2250738585072009e-308, -5e-324, 2.2250738585072014e-308])
def test_c016_subnormals(number: float) -> None:
    """The smallest floats, bit for bit."""
    roundtrip([number])


def test_c017_int_keys() -> None:
    """Int keys of any size need no option in either direction, and one limit holds for both."""
    value = {1: 2, -5: 3, 10**20: 4}
    roundtrip(value)
    tight = Limits(int_bytes=8)
    assert refused(value, int_bytes=8).code == "int_limit"
    with pytest.raises(hookless.LimitExceeded) as caught:
        loads(dumps(value), limits=tight)
    assert caught.value.code == "int_limit"


def test_c018_int_beyond_64_bits_deep_in_a_payload() -> None:
    """2**64 is an int like any other."""
    roundtrip({"rows": [1] * 1000 + [18446744073709551616]})


def test_c018_nothing_is_written_when_a_leaf_fails() -> None:
    """One bad leaf after much good work leaves no byte in the file."""
    file = io.BytesIO()
    with pytest.raises(hookless.EncodeError) as caught:
        hookless.dump({"rows": [1] * 1000 + [object()]}, file)
    assert caught.value.path == "$.rows[1000]"
    assert file.getvalue() == b""
    hookless.dump("usable", file)
    assert loads(file.getvalue()) == "usable"


def test_c019_sets_with_mixed_members() -> None:
    """Members that do not compare with each other are no problem: encoded bytes are ordered, not values."""
    roundtrip({1, "a", (2, 3), frozenset({4}), b"x", None})
    roundtrip([frozenset(), set(), {True, "1", 2.5, 1j}])


def test_c023_keys_of_different_types() -> None:
    """Keys that would be one text are six keys, in their order."""
    value = {1: "a", "1": "b", b"1": "c", None: "d", "None": "e", 1.5: "f"}
    roundtrip(value)
    assert len(loads(dumps(value))) == 6


def doubling(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


def test_c031_shared_value_is_written_twice() -> None:
    """The rule of aliasing: equal values come back, in two objects."""
    item = [1]
    result = loads(dumps([item, item]))
    assert_same(result, [[1], [1]])
    assert result[0] is not result[1]


@pytest.mark.parametrize("limits", [{}, {"nodes": 10_000}], ids=["default", "10000 nodes"])
def test_c031_sixty_doublings(limits: dict[str, int]) -> None:
    """2**60 leaves are stopped by a budget, not by memory or patience."""
    assert refused(doubling(60), **limits).code in ("node_limit", "memory_limit")


def test_c031_a_cycle_is_refused() -> None:
    """A list that holds itself is too deep, in dicts as in lists."""
    loop: list[Any] = []
    loop.append(loop)
    assert refused(loop).code == "depth_limit"
    knot: dict[str, Any] = {}
    knot["self"] = knot
    assert refused(knot).code == "depth_limit"


def test_c032_tuple_keys() -> None:
    """Mappings with tuple keys decode again with default options."""
    roundtrip({(1, 2): 0})
    roundtrip({(): None})


DEEP = """
import sys, threading
import hookless

sys.setrecursionlimit(10**6)
threading.stack_size(256 * 1024)
top = inner = {}
for _ in range(10_000):
    inner["n"] = {}
    inner = inner["n"]
codes = []

def work():
    for value in (top, [[top]], (top,)):
        try:
            hookless.dumps(value)
        except hookless.EncodeError as error:
            codes.append(error.code)
    try:  # dicts 512 deep fit the ceiling, and the small stack
        value = None
        for _ in range(512):
            value = {"n": value}
        wide = hookless.Limits(depth=512)
        value = hookless.loads(hookless.dumps(value, limits=wide), limits=wide)
        codes.append(len(hookless.dumps(value, limits=wide)))
    except hookless.HooklessError as error:
        codes.append(repr(error))

thread = threading.Thread(target=work)
thread.start()
thread.join()
print(codes)
"""


def test_c033_ten_thousand_nested_dicts() -> None:
    """A depth error, whatever recursion limit the user set, also on a thread stack of 256 KiB."""
    done = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    body = 512 * 3 + 1
    assert done.stdout.strip() == str(["depth_limit"] * 3 + [32 + body])


def test_c033_the_deepest_value_that_passes() -> None:
    """The limit is exact: 128 levels pass and 129 do not."""
    value: dict[str, Any] = {}
    for _ in range(127):
        value = {"n": value}
    roundtrip(value)
    assert refused({"n": value}).code == "depth_limit"
