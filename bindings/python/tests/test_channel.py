"""`Channel`: the session over a socket, against a peer that writes its own bytes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

import hookless
import naive
from channels import HOST, PATIENCE, WORKER, Pair, Role, hello
from hookless import Limits


@pytest.fixture(params=["host", "worker"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    made = Pair(request.param)
    yield made
    made.close()


# HELLO of either end: what is sent, and the code with its offset.
REFUSED: dict[str, tuple[bytes, str, int | None]] = {
    "pickle": (b"\x80\x04N.", "bad_magic", 0),
    "version": (naive.frame(b"\xc0", kind=naive.HELLO, version=2), "bad_version", 4),
    "unknown kind": (naive.frame(b"\xc0", kind=13, call_id=1), "unknown_frame_kind", 5),
    "call id": (naive.frame(WORKER, kind=naive.HELLO, call_id=1), "bad_call_id", 8),
    "data": (naive.frame(WORKER, b"x", kind=naive.HELLO), "bad_length", 24),
    "no value": (hello(b"\xc1"), "bad_control", 32),
    "other value": (hello(b"\xc0"), "bad_control", 32),
    "longer form": (hello(b"\x96\xcc\x01" + WORKER[2:]), "bad_control", 32),
    "cut": (hello(WORKER[:-1]), "bad_control", 32),
    "too long": (hello(WORKER + b"\xc0"), "bad_control", 32),
    "value": (naive.frame(b"\xc0"), "unexpected_frame", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_s9_no_later_frame_is_read_after_an_error(pair: Pair, name: str) -> None:
    """The session is closed by whatever was wrong with the first frame, and says so at every step."""
    data, code, offset = REFUSED[name]
    pair.peer.sendall(data + hello(WORKER) + hello(HOST))
    with pytest.raises((hookless.DecodeError, hookless.ProtocolError)) as caught:
        pair.channel.hello(PATIENCE)
    error: Any = caught.value
    assert (error.code, getattr(error, "offset", None)) == (code, offset)
    for step in (lambda: pair.channel.hello(PATIENCE), pair.step, pair.begin):
        with pytest.raises(hookless.ProtocolError, match=r"session|other end") as again:
            step()
        assert again.value.code == "unexpected_frame"


@pytest.mark.parametrize(("role", "own", "other"), [("host", HOST, WORKER), ("worker", WORKER, HOST)])
def test_s3_roles_and_versions(role: Role, own: bytes, other: bytes) -> None:
    """The role is looked at first."""
    future = b"\x96\x02\x09"
    for body, code in [
        (own, "bad_role"),
        (future + own[3:], "bad_role"),
        (future + other[3:], "version_mismatch"),
        (b"\x96\x02\x01" + other[3:], "version_mismatch"),
    ]:
        pair = Pair(role)
        pair.peer.sendall(hello(body) + hello(other))
        for expected in (code, "unexpected_frame"):
            with pytest.raises(hookless.ProtocolError) as caught:
                pair.channel.hello(PATIENCE)
            assert caught.value.code == expected
        pair.close()


@pytest.mark.parametrize("name", ["depth", "memory", "nodes", "int_bytes", "region", "text"])
def test_f7_limits_of_values_do_not_shut_out_a_peer(name: str) -> None:
    """HELLO is no value: a host that allows none in a frame can still begin a session."""
    pair = Pair("host", Limits(**{name: 0}))
    pair.peer.sendall(hello(WORKER))
    pair.channel.hello(PATIENCE)
    pair.close()


@pytest.mark.parametrize(("role", "other"), [("host", WORKER), ("worker", HOST)])
def test_s10_the_end_of_the_stream_ends_the_session(role: Role, other: bytes) -> None:
    pair = Pair(role)
    pair.peer.sendall(hello(other))
    pair.channel.hello(PATIENCE)
    pair.peer.shutdown(socket.SHUT_WR)
    assert pair.step() == ("eof", 0, None, 0)
    with pytest.raises(hookless.ProtocolError) as caught:
        pair.step()
    assert caught.value.code == "unexpected_frame"
    pair.close()


def test_s9_nothing_follows_a_part_of_a_frame() -> None:
    """An answer that stalls half-way ends the session: no other frame is sent behind its first bytes."""
    pair = Pair("worker", stall=0.2)
    call = naive.array(
        [naive.integer(0), naive.text("m:f"), naive.NIL, naive.node(naive.TUPLE, []), naive.mapping([])]
    )
    pair.peer.sendall(hello(HOST) + naive.frame(call, kind=naive.CALL, call_id=1))
    pair.channel.hello(PATIENCE)
    assert pair.step() == ("call", 1, (0, "m:f", None, (), {}), 0)
    with pytest.raises(hookless.Stalled):
        pair.channel.result(1, bytes(50_000_000))
    with pytest.raises(hookless.ProtocolError) as caught:
        pair.channel.result(1, None)
    assert caught.value.code == "unexpected_frame"
    with pytest.raises(hookless.ProtocolError):
        pair.step()
    pair.peer.setblocking(False)
    while True:
        try:
            assert not pair.peer.recv(1 << 20).strip(b"\0").endswith(b"\xc0")
        except BlockingIOError:
            break
    pair.close()
