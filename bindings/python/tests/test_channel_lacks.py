"""S18: a CALL that the worker's end cannot hold, for what it lacks, is an event like any other."""

from __future__ import annotations

import array
import threading
import zoneinfo
from collections.abc import Iterator
from typing import Any

import pytest

import hookless
import naive
from channels import CALL, Pair
from hookless import Limits
from hookless.failure import describe

# Eight bytes an element here, and half of that on other machines (D18).
assert array.array("l").itemsize == 8


def other_machines(count: int, data: bytes = b"") -> bytes:
    """An `array.array` that this machine has no type code for; in the region without data."""
    inline = naive.binary(data) if data else naive.NIL
    return naive.node(11, [naive.integer(ord("l")), naive.integer(4), naive.integer(count), inline])


def colliding() -> bytes:
    keys = [number * (2**61 - 1) for number in range(1, 3000)]
    return naive.mapping([(naive.integer(key), naive.NIL) for key in keys])


def zoned(name: str) -> bytes:
    """A ZoneInfo (D6): what `dumps` writes, with another key of the same length."""
    frame = hookless.dumps(zoneinfo.ZoneInfo("UTC"))[32:]
    assert frame.count(b"UTC") == 1 and len(name) == 3
    return frame.replace(b"UTC", name.encode())


def body(*args: bytes, name: str = "m:f") -> bytes:
    given = naive.node(naive.TUPLE, args)
    return naive.array([naive.integer(0), naive.text(name), naive.NIL, given, naive.mapping([])])


def frame(call_id: int, *args: bytes, data: bytes = b"") -> bytes:
    return naive.frame(body(*args), data, kind=naive.CALL, call_id=call_id)


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair("worker", Limits(depth=16))
    made.begin_session()
    yield made
    made.close()


def taken(pair: Pair) -> tuple[int, Any]:
    kind, number, value, _ = pair.channel.step(20.0) or ("", 0, None, 0)
    assert kind == "call"
    return number, value


LACKING = [
    ("dtype_unsupported", other_machines(1, bytes(4))),
    ("key_collision", colliding()),
    ("zone_unknown", zoned("Xyz")),
]


@pytest.mark.parametrize(("code", "argument"), LACKING, ids=[code for code, _ in LACKING])
def test_s18_what_an_environment_lacks_is_told_and_the_session_goes_on(
    pair: Pair, code: str, argument: bytes
) -> None:
    """The error stands where `loads` has it; the calls after it are as they were."""
    pair.peer.sendall(frame(1, argument) + frame(2, naive.integer(7)))
    number, error = taken(pair)
    assert number == 1 and type(error) is hookless.DecodeError and error.code == code
    assert error.offset >= 32 and error.path.startswith("$[3][0]")
    assert taken(pair) == (2, (0, "m:f", None, (7,), {}))
    pair.channel.fail(1, describe(error, Limits()))
    assert pair.heard()[:2] == (naive.ERROR, 1)
    pair.channel.result(2, None)
    assert pair.heard() == (naive.RESULT, 2, naive.NIL)


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_s18_the_data_region_is_read_to_its_end(pair: Pair, size: int) -> None:
    """Of a frame in pieces: the next one begins where it does."""
    data = bytes(range(256)) * 256
    whole = frame(1, other_machines(len(data) // 4), data=data) + frame(2, naive.integer(7))

    def say() -> None:
        for start in range(0, len(whole), size):
            pair.peer.sendall(whole[start : start + size])

    saying = threading.Thread(target=say)
    saying.start()
    number, error = taken(pair)
    assert (number, error.code) == (1, "dtype_unsupported")
    assert taken(pair) == (2, (0, "m:f", None, (7,), {}))
    saying.join()


BOOLS = naive.ndarray(naive.dtype("b", "|", 1), [16_384], b"")


def ill_formed() -> list[tuple[str, bytes]]:
    """Frames with an argument that this end lacks, and something that nobody takes behind it."""
    lacking = other_machines(1, bytes(4))
    deep = b"\x91" * 15 + naive.NIL
    name = naive.frame(body(lacking, b"\xa1\xff"), kind=naive.CALL, call_id=1)
    return [
        ("bad_utf8", name),
        ("bad_call", frame(1, lacking)[:-1] + b"\xc0"),
        ("depth_limit", frame(1, lacking, deep)),
        ("unknown_call", frame(2, lacking)),
        ("bad_element", frame(1, other_machines(4096), BOOLS, data=bytes(16_384) + b"\2" * 16_384)),
    ]


@pytest.mark.parametrize(("code", "sent"), ill_formed(), ids=[code for code, _ in ill_formed()])
def test_s18_what_is_wrong_for_everybody_ends_the_session(pair: Pair, code: str, sent: bytes) -> None:
    """Also behind what this end lacks, which is met first."""
    pair.peer.sendall(sent + frame(2, naive.integer(7)))
    with pytest.raises((hookless.DecodeError, hookless.ProtocolError)) as caught:
        pair.step()
    error: Any = caught.value
    assert error.code == code
    with pytest.raises(hookless.ProtocolError, match="unexpected_frame"):
        pair.step()


def test_s18_bools_behind_it_that_are_right(pair: Pair) -> None:
    """The control of `bad_element` above."""
    data = bytes(16_384) + b"\1" * 16_384
    pair.peer.sendall(frame(1, other_machines(4096), BOOLS, data=data))
    assert taken(pair)[1].code == "dtype_unsupported"


@pytest.mark.parametrize(("code", "argument"), LACKING, ids=[code for code, _ in LACKING])
def test_s9_at_a_host_it_ends_the_session(code: str, argument: bytes) -> None:
    """There the peer is not trusted."""
    pair = Pair("host")
    try:
        pair.begin_session()
        assert pair.channel.begin(0, *CALL) == 1
        pair.heard()
        pair.say(naive.RESULT, argument, 1)
        with pytest.raises(hookless.DecodeError, match=code):
            pair.step()
        with pytest.raises(hookless.ProtocolError):
            pair.begin()
    finally:
        pair.close()
