"""Reported attacks on other decoders, C133 to C146, against this one."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import hookless
import naive
from hookless import DecodeError, Limits, dumps, encode, loads
from same import assert_same
from test_cases_hostile import refused, refused_frame, within
from watching import watched

hookless.warm_up()


@pytest.mark.parametrize("code", [2, 3, 4, 8, 10, 127, 200])
def test_c133_extensions_in_extensions(code: int) -> None:
    """A payload is never read as values, so there is nothing to nest; of arrays the depth counts."""
    inner = b"\xc0"
    for _ in range(5000):
        inner = naive.ext(code, inner)
    assert refused(inner)
    turns = naive.NIL
    for _ in range(5000):
        turns = naive.array([turns])
    assert refused(turns) == "depth_limit"
    marked = b"\x92\xd4\x01\x01" * 5000 + b"\xc0"
    assert refused(marked) == "depth_limit"


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"\xed\xa0\xbd", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_c136_invalid_utf8(raw: bytes) -> None:
    """In a text, in a key and in a name; surrogates have a leaf of their own, which takes nothing else."""
    for length in (len(raw), len(raw) + 40):
        text = naive.binary(b"a" * (length - len(raw)) + raw)
        as_text = (
            naive._length(length, 0xD9, 0xDA, 0xDB) + text[2:]
            if length > 31
            else bytes([0xA0 | length]) + text[2:]
        )
        assert refused(as_text) == "bad_utf8"
        assert refused(naive.mapping([(as_text, naive.NIL)])) == "bad_utf8"
    if raw == b"\xed\xa0\xbd":
        assert loads(naive.frame(naive.ext(4, raw))) == "\ud83d"
        assert refused(naive.ext(4, b"abc")) in ("not_canonical", "bad_payload")
    else:
        assert refused(naive.ext(4, raw)) in ("bad_utf8", "not_canonical")


def test_c137_there_is_no_compression() -> None:
    """The flags of the head are all reserved, and a bomb of zeros is as large as it is."""
    import gzip
    import zlib

    frame = bytearray(dumps(1))
    for bit in range(16):
        frame[6:8] = (1 << bit).to_bytes(2)
        assert refused_frame(bytes(frame)) == "bad_flags"
    for packed in (gzip.compress(bytes(10**6)), zlib.compress(bytes(10**6)), b"\x28\xb5\x2f\xfd", b"PK\3\4"):
        assert refused_frame(packed) == "bad_magic"
        assert_same(loads(dumps(packed)), packed)
    assert len(dumps(bytes(10**6))) > 10**6


def test_c139_one_parser() -> None:
    """What is accepted is what was checked: the bytes that a value came from are those that it gives."""
    chance = random.Random("c139")
    for _ in range(2000):
        body = naive.array([naive.integer(chance.getrandbits(chance.randrange(1, 64))) for _ in range(3)])
        data = bytearray(naive.frame(body))
        data[chance.randrange(32, len(data))] = chance.randrange(256)
        try:
            value = loads(bytes(data))
        except DecodeError:
            continue
        assert dumps(value) == bytes(data)


def test_c140_tuples_of_small_ints_that_collide() -> None:
    """32 768 tuples of -1 and -2, one hash; and those of length 3, as honest people have them, pass."""
    choices = itertools.product((naive.integer(-1), naive.integer(-2)), repeat=15)
    keys = [naive.node(naive.TUPLE, items) for items in choices]
    within(60, lambda: refused(naive.mapping([(key, naive.NIL) for key in keys])))
    assert refused(naive.mapping([(key, naive.NIL) for key in keys])) == "key_collision"
    honest = dict.fromkeys(itertools.product((-1, -2), repeat=3), 0)
    assert_same(loads(dumps(honest)), honest)


SPELLINGS = {
    "-20": [b"\xec", b"\xd0\xec", b"\xd1\xff\xec", b"\xd2\xff\xff\xff\xec", b"\xd3" + b"\xff" * 7 + b"\xec"],
    "5": [b"\x05", b"\xcc\x05", b"\xcd\0\x05", b"\xce\0\0\0\x05", b"\xcf" + bytes(7) + b"\x05", b"\xd0\x05"],
    "text": [b"\xa1a", b"\xd9\1a", b"\xda\0\1a", b"\xdb\0\0\0\1a"],
    "bytes": [b"\xc4\1a", b"\xc5\0\1a", b"\xc6\0\0\0\1a"],
    "list": [b"\x90", b"\xdc\0\0", b"\xdd\0\0\0\0"],
    "dict": [b"\x80", b"\xde\0\0", b"\xdf\0\0\0\0"],
    "2**64": [naive.ext(2, b"\0\1" + bytes(8)), naive.ext(2, b"\0\0\1" + bytes(8))],
    "of 64 bits": [b"\xcf" + b"\xff" * 8, naive.ext(2, b"\0" + b"\xff" * 8)],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_c141_one_spelling(name: str) -> None:
    """Only the shortest is accepted."""
    first, *others = SPELLINGS[name]
    assert dumps(loads(naive.frame(first))) == naive.frame(first)
    for other in others:
        assert refused(other) in ("not_canonical", "bad_payload")
        assert refused(naive.array([other])) in ("not_canonical", "bad_payload")


DOTTED = [
    "numpy.core.numeric.builtins.eval",
    "a.b.c",
    "__class__",
    "os.system",
    "builtins.eval",
    "",
    "a\0b",
    ".",
    "..",
]


@pytest.mark.parametrize("name", DOTTED)
def test_c142_names_are_text(name: str) -> None:
    """In every place of the wire that has a name: text, or refused by a grammar; never looked up."""
    bodies = [
        naive.exception(naive.entry(name or "m", "q", bases=[name or "b"])),
        naive.exception(naive.entry("m", name or "q")),
        naive.record([("x", naive.NIL)], module=name, qualname=name or "q"),
        naive.record([(name, naive.NIL)]),
        naive.member(name, naive.NIL, module=name, qualname=name or "E"),
        naive.ext(14, b"\1" + name.encode()),
        naive.text(name),
        naive.mapping([(naive.text(name), naive.NIL)]),
    ]
    for body in bodies:
        with watched():
            try:
                value = loads(naive.frame(body))
            except DecodeError as error:
                code = error.code
            else:
                code = ""
        assert code in ("", "bad_name", "bad_payload", "zone_unknown", "not_canonical")
        if not code:
            assert dumps(value) == naive.frame(body)
    with watched():
        found = loads(naive.frame(bodies[0]))
    assert not hasattr(found, "system") and not hasattr(found, "eval")


def test_c143_outside_the_set_is_an_error_in_every_mode(shared: hookless.Worker) -> None:
    """By each function that encodes, and with a default that does not help."""
    outside: list[Any] = [
        object(),
        lambda: 1,
        int,
        sys,
        iter(()),
        memoryview(b""),
        threading.Lock(),
    ]
    for value in outside:
        for wrapped in (value, [value], {"a": (value,)}):
            calls: list[Callable[[], object]] = [
                lambda wrapped=wrapped: dumps(wrapped),  # type: ignore[misc]
                lambda wrapped=wrapped: encode(wrapped),  # type: ignore[misc]
                lambda wrapped=wrapped: dumps(wrapped, default=lambda one: one),  # type: ignore[misc]
                lambda wrapped=wrapped: dumps(wrapped, default=lambda one: [object()]),  # type: ignore[misc]
            ]
            for call in calls:
                with pytest.raises(hookless.EncodeError):
                    call()
    with pytest.raises(hookless.EncodeError):
        shared.call("jobs:echo", outside[0])
    with pytest.raises(hookless.RemoteError) as caught:
        shared.call("jobs:unsendable", "result")
    assert "EncodeError" in caught.value.remote.qualname


def decimal_body(digits: str, exponent: int) -> bytes:
    import decimal

    return dumps(decimal.Decimal((0, tuple(map(int, digits)), exponent)))[32:]


def test_c144_numbers_as_an_attack() -> None:
    """Decimals past the limits, fractions over zero or unreduced, ints of ten million digits: refused."""
    from fractions import Fraction

    huge = naive.ext(2, b"\0" + b"\xff" * (10**7))
    within(30, lambda: refused(huge))
    assert refused(huge) == "int_limit"
    for payload in (b"\0" + b"9" * 10**7, b"\1" + b"\xff" * 10**7, bytes(10**7)):
        assert refused(naive.ext(17, payload))
        assert refused(naive.ext(18, payload))
    third = dumps(Fraction(1, 3))[32:]
    assert loads(naive.frame(third)) == Fraction(1, 3)
    for last in (b"\0", b"\1\0"):
        assert refused(third[:-1] + last) in ("bad_payload", "not_canonical", "truncated", "trailing_bytes")
    assert refused(dumps(Fraction(1, 3))[32:].replace(b"\1", b"\3")) in ("bad_payload", "not_canonical")
    far = decimal_body("1", 10**17)
    small = Limits(int_bytes=16)
    table = naive.mapping([(far, naive.NIL), (naive.integer(1), naive.NIL)])
    within(30, lambda: loads(naive.frame(table)))
    assert loads(naive.frame(table), limits=small)


def test_c146_values_are_inert() -> None:
    """No protocol of Python's leads back to the sender: what is decoded has no method that sends anything."""
    protocols = "__array__ __reduce_ex__ __call__ __array_interface__ __del__".split()
    record = hookless.Record("m", "q", {"__array__": 1, "__len__": 2})
    for made in (record, hookless.EnumValue("m", "q", "A", 1)):
        value = loads(dumps(made))
        with watched():
            for name in protocols:
                getattr(type(value), name, None)
            repr(value), hash(value), value == made
        assert getattr(value, "__array__", None) is None
        assert not callable(value)
        defined = {name for kind in type(value).__mro__ for name in vars(kind)}
        assert [name for name in protocols if name in defined] == ["__reduce_ex__"]


SMALL = """
import sys, threading
import hookless
threading.stack_size(256 * 1024)
frame = bytes.fromhex(sys.stdin.read())
def work():
    try:
        hookless.loads(frame)
    except hookless.DecodeError as error:
        print(error.code)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_c138_millions_of_levels() -> None:
    """0x91 ten thousand to ten million times, on a thread with 256 KiB of stack."""
    for count in (10**4, 10**5, 10**6, 10**7):
        for head in (b"\x91", b"\x81\x01"):
            assert refused(head * count) == "depth_limit"
    done = subprocess.run(
        [sys.executable, "-c", SMALL],
        input=naive.frame(b"\x91" * 10**5).hex(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "depth_limit")
