"""`Limits`: each one at the limit and one past it, in both directions, and the hard ceilings."""

from __future__ import annotations

from typing import Any

import pytest

import hookless
import naive
from hookless import Decoder, Limits, decode, dumps, encode, loads
from same import assert_same
from samples import PLAIN
from standard_samples import STANDARD

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Name, default and hard ceiling, as proto/limits.md has them.
TABLE = [
    ("depth", 128, 512),
    ("body", 256 * MIB, 4 * GIB),
    ("region", 8 * GIB, 1024 * GIB),
    ("memory", GIB, 64 * GIB),
    ("nodes", 32 * MIB, GIB),
    ("int_bytes", 16 * KIB, MIB),
    ("chain", 64, 128),
    ("group_depth", 16, 64),
    ("exceptions", 256, 1024),
    ("frames", 256, 4096),
    ("text", 64 * KIB, MIB),
    ("descriptor", MIB, 64 * MIB),
    ("dtype_fields", 1024, 65_536),
    ("dtype_depth", 8, 32),
    ("undelivered", GIB, 1024 * GIB),
]


@pytest.mark.parametrize(("name", "default", "ceiling"), TABLE)
def test_defaults_and_ceilings(name: str, default: int, ceiling: int) -> None:
    """From 0 to the ceiling; past it a ValueError that names both numbers."""
    assert getattr(Limits(), name) == default
    for value in (0, 1, ceiling):
        assert getattr(Limits(**{name: value}), name) == value
    for value in (ceiling + 1, 2**64, 2**200, -1):
        with pytest.raises(ValueError, match=name):
            Limits(**{name: value})
    with pytest.raises(ValueError, match=f"{ceiling:_}|{ceiling:,}|{ceiling}"):
        Limits(**{name: ceiling + 1})


def test_profiles() -> None:
    """Each limit rises from profile to profile, each profile takes changes, and a change keeps the rest."""
    strict, generous = Limits.strict(), Limits.generous()
    assert sorted(name for name, *_ in TABLE) == sorted(Limits.TABLE)
    for name, default, ceiling in TABLE:
        low, high = getattr(strict, name), getattr(generous, name)
        assert type(low) is type(high) is int
        assert 0 < low < default < high <= ceiling
        for profile in (Limits.strict, Limits.generous):
            changed = profile(**{name: 1})
            assert getattr(changed, name) == 1
            assert changed != profile() == profile(**{name: getattr(profile(), name)})
    assert (strict.depth, strict.memory, generous.memory) == (32, 64 * MIB, 16 * GIB)
    nested: list[object] = []
    for _ in range(32):
        nested = [nested]
    with pytest.raises(hookless.LimitExceeded, match="depth_limit"):
        loads(dumps(nested), limits=Limits.strict())
    assert_same(loads(dumps(nested[0]), limits=Limits.strict()), nested[0])
    with pytest.raises(ValueError, match="depth"):
        Limits.strict(depth=513)
    with pytest.raises(TypeError, match="dept"):
        Limits.generous(dept=5)  # type: ignore[call-arg]


@pytest.mark.parametrize("value", ["5", 1.5, None, b"1"], ids=repr)
def test_limits_are_ints(value: Any) -> None:
    """Nothing is guessed from text or floats."""
    with pytest.raises(TypeError):
        Limits(depth=value)


def test_unknown_limits_are_refused() -> None:
    """A misspelt limit must not be a limit that is silently off."""
    with pytest.raises(TypeError, match="dept"):
        Limits(dept=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Limits(5)  # type: ignore[misc, call-arg, unused-ignore]


def test_frozen() -> None:
    """They can be shared: no field can be set, added or deleted."""
    limits = Limits()
    for name in ("depth", "other"):
        with pytest.raises(AttributeError):
            setattr(limits, name, 1)
    with pytest.raises(AttributeError):
        del limits.depth
    assert limits.depth == 128


def test_equal_by_value_and_shown_readably() -> None:
    """As one expects of a small record."""
    assert Limits(depth=5) == Limits(depth=5) != Limits()
    assert hash(Limits(depth=5)) == hash(Limits(depth=5))
    assert "depth=5" in repr(Limits(depth=5))


NESTED: list[Any] = [[[]]]
# 88 for the list, 32 for None, 40 for the int, 40 for the float, 72 + 3 for the text.
CHARGED = [None, 1, 1.0, "abc"]
BIG = 1 << 8 * 99

EXACT = [
    ("depth", NESTED, 3, "depth_limit"),
    ("depth", ((),), 2, "depth_limit"),
    ("depth", {1: {2: 3}}, 2, "depth_limit"),
    ("depth", 5, 0, None),
    ("body", "x" * 50, 52, "body_limit"),
    ("region", bytes(16_384), 16_384, "region_limit"),
    ("region", [bytes(16_385), bytearray(16_384)], 16_448 + 16_384, "region_limit"),
    ("memory", CHARGED, 88 + 32 + 40 + 40 + 75, "memory_limit"),
    ("memory", {1: None}, 72 + 160 + 40 + 32, "memory_limit"),
    # A compound key is charged eight times its three bytes of marker and its array's head.
    ("memory", {(): b"12"}, 72 + 160 + 88 + 8 * 4 + 98, "memory_limit"),
    ("memory", frozenset({2}), 240 + 160 + 40, "memory_limit"),
    ("memory", ["\u00e9", "\ud800"], 88 + (112 + 8) + (112 + 12), "memory_limit"),
    ("memory", [2**64, 1j, bytearray(3)], 88 + (64 + 2 * 10) + 48 + 99, "memory_limit"),
    ("memory", bytes(20_000), 96, "memory_limit"),
    ("nodes", [1, [2, 3]], 5, "node_limit"),
    ("nodes", {1: (2, 3)}, 5, "node_limit"),
    ("nodes", {1, 2}, 3, "node_limit"),
    ("int_bytes", BIG, 100, "int_limit"),
    ("int_bytes", [-BIG], 100, "int_limit"),
]


@pytest.mark.parametrize(("name", "value", "limit", "code"), EXACT)
def test_at_the_limit_and_one_past(name: str, value: Any, limit: int, code: str | None) -> None:
    """What encoder and decoder both pass at the limit, both refuse one below it, with the same code."""
    enough = Limits(**{name: limit})
    frame = dumps(value, limits=enough)
    for result in (loads(frame, limits=enough), decode(encode(value, limits=enough), limits=enough)):
        assert_same(result, value)
    assert_same(Decoder(limits=enough).feed(frame)[0].value, value)
    if code is None:
        return
    short = Limits(**{name: limit - 1})
    for encoder in (dumps, encode):
        with pytest.raises(hookless.EncodeError) as refused:
            encoder(value, limits=short)
        assert refused.value.code == code
    for decoder in (
        loads,
        lambda data, limits: decode([data], limits=limits),
        lambda d, limits: Decoder(limits=limits).feed(d),
    ):
        with pytest.raises(hookless.LimitExceeded) as caught:
            decoder(frame, limits=short)
        assert caught.value.code == code


EVERY_KIND: dict[str, Any] = PLAIN | STANDARD
PAYLOADS = {
    f"{name} of {length}": make(length)
    for length in (15, 16, 31, 32, 64, 65, 255, 256, 16_383, 65_535, 65_536)
    for name, make in (
        ("str", lambda length: "x" * length),
        ("surrogates", lambda length: "x" * length + "\ud800"),
        ("bytes", bytes),
        ("bytearray", bytearray),
        ("int", lambda length: -(1 << 8 * length - 1)),
        ("list", lambda length: [None] * length),
        ("tuple", lambda length: (None,) * length),
        ("dict", lambda length: dict.fromkeys(range(length))),
        ("set", lambda length: set(range(length))),
    )
    if name != "int" or length <= 16_383
}


@pytest.mark.parametrize("name", [*EVERY_KIND, *PAYLOADS])
def test_l2_is_exact_for_every_kind(name: str) -> None:
    """An encoder refuses no body that a decoder takes, however long the head of a value might have been."""
    value = (EVERY_KIND | PAYLOADS)[name]
    frame = dumps(value)
    length = int.from_bytes(frame[16:24])
    exact, short = Limits(body=length), Limits(body=length - 1)
    assert dumps(value, limits=exact) == frame == b"".join(encode(value, limits=exact))
    loads(frame, limits=exact)
    for encoder in (dumps, encode):
        with pytest.raises(hookless.EncodeError) as refused:
            encoder(value, limits=short)
        assert refused.value.code == "body_limit"


HEAD_OFFSETS = [
    ("body", naive.frame(b"\xc0", body_length=101), 16),
    ("region", naive.frame(b"\xc0", data_length=101), 24),
]


@pytest.mark.parametrize(("name", "frame", "offset"), HEAD_OFFSETS)
def test_head_limits_stand_at_their_fields(name: str, frame: bytes, offset: int) -> None:
    """Refused from the head alone, whatever follows it."""
    for call in (loads, lambda data, limits: Decoder(limits=limits).feed(data[:32])):
        with pytest.raises(hookless.LimitExceeded) as caught:
            call(frame, limits=Limits(**{name: 100}))
        assert (caught.value.code, caught.value.offset) == (f"{name}_limit", offset)


def chained(length: int) -> bytes:
    entries = [naive.entry(cause=i + 1 if i + 1 < length else None) for i in range(length)]
    return naive.frame(naive.exception(*entries))


def grouped(depth: int) -> bytes:
    entries = [naive.entry(group=[i + 1] if i + 1 < depth else []) for i in range(depth)]
    return naive.frame(naive.exception(*entries))


def wide(members: int) -> bytes:
    entries = [naive.entry(group=list(range(1, members)))] + [naive.entry()] * (members - 1)
    return naive.frame(naive.exception(*entries))


def traced(frames: int) -> bytes:
    return naive.frame(naive.exception(naive.entry(frames=[naive.trace_frame("f", 1, "g")] * frames)))


def said(length: int) -> bytes:
    return naive.frame(naive.exception(naive.entry(message="x" * length)))


REPORTS = [
    ("chain", chained, 5, "chain_limit", 5),
    # Links to members are counted, and of exceptions there is one more.
    ("group_depth", grouped, 6, "group_limit", 5),
    ("exceptions", wide, 5, "exception_limit", 5),
    ("frames", traced, 5, "frame_limit", 5),
    ("text", said, 40, "text_limit", 40),
    ("descriptor", said, 40, "descriptor_limit", len(said(40)) - 32),
]


@pytest.mark.parametrize(("name", "make", "size", "code", "limit"), REPORTS)
def test_limits_of_exception_reports(name: str, make: Any, size: int, code: str, limit: int) -> None:
    """L7 in the decoder: the exact size passes, one more does not."""
    limits = Limits(**{name: limit})
    assert isinstance(loads(make(size), limits=limits), hookless.RemoteError)
    with pytest.raises(hookless.LimitExceeded) as caught:
        loads(make(size + 1), limits=limits)
    assert caught.value.code == code


def test_region_entries() -> None:
    """L8: 65 536 of them and no more; the encoder says so before it sends."""
    item = bytes(16_384)
    parts = encode([item] * 65_536)
    assert sum(memoryview(part).nbytes for part in parts) > GIB
    del parts
    with pytest.raises(hookless.EncodeError) as caught:
        encode([item] * 65_537)
    assert caught.value.code == "region_entry_limit"


def test_default_depth_is_the_hosts_own_recursion() -> None:
    """What passes by default can be shown, compared and hashed without RecursionError."""
    value: Any = ()
    for _ in range(127):
        value = (value,)
    result = loads(dumps(value))
    assert repr(result) == repr(value)
    assert result == value
    assert hash(result) == hash(value)


def test_limits_argument_must_be_limits() -> None:
    """A dict or a number is a mistake, not a limit."""
    for wrong in ({"depth": 5}, 5, "5"):
        with pytest.raises(TypeError):
            loads(dumps(1), limits=wrong)  # type: ignore[call-overload]
