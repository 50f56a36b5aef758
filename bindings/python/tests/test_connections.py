"""Frames over a Connection of multiprocessing: `send_bytes`, and `recv_bytes` with a bound."""

from __future__ import annotations

import builtins
import multiprocessing
import os
import pickle
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

import hookless
from carried import HOSTILE, LARGE, SHORT, Gadget, accepted, check_value, limits_at, refused
from hookless import dumps, loads
from same import assert_same
from test_vectors import check_refusal

Ends = tuple["Connection[Any, Any]", "Connection[Any, Any]"]

MOST = 1 << 20


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The host's, and the child's."""
    host, child = multiprocessing.Pipe()
    with host, child:
        yield host, child


@pytest.fixture
def clean() -> Iterator[None]:
    yield
    vars(builtins).pop("unpickled", None)


def raw(child: Connection[Any, Any], data: bytes) -> None:
    os.write(child.fileno(), data)


def test_every_accepted_frame(ends: Ends) -> None:
    host, child = ends
    for vector in accepted():
        if len(vector.frame) < 100_000:
            child.send_bytes(vector.frame)
            check_value(vector, loads(host.recv_bytes(MOST)))
    child.send_bytes(dumps(LARGE))
    assert_same(loads(host.recv_bytes(MOST)), LARGE)


def test_every_refused_frame(ends: Ends) -> None:
    """The message is whole, so the next one can be received."""
    host, child = ends
    for vector in refused():
        child.send_bytes(vector.frame)
        with pytest.raises(hookless.DecodeError) as caught:
            loads(host.recv_bytes(MOST))
        check_refusal(caught.value, vector.code, vector.offset)
    child.send_bytes(SHORT)
    assert loads(host.recv_bytes(MOST)) == ["short", 1]


@pytest.mark.parametrize(("name", "data", "code"), HOSTILE)
def test_what_is_no_frame(ends: Ends, name: str, data: bytes, code: str) -> None:
    host, child = ends
    child.send_bytes(data)
    with pytest.raises(hookless.DecodeError) as caught:
        loads(host.recv_bytes(MOST))
    assert caught.value.code == code and not hasattr(builtins, "unpickled")


@pytest.mark.parametrize("method", ["recv", "recv_bytes", "recv_bytes_into", "poll"])
@pytest.mark.usefixtures("clean")
def test_which_methods_unpickle(ends: Ends, method: str) -> None:
    """`recv` alone."""
    host, child = ends
    child.send_bytes(pickle.dumps(Gadget()))
    arguments = {"recv_bytes": (MOST,), "recv_bytes_into": (bytearray(1000),)}.get(method, ())
    getattr(host, method)(*arguments)
    assert hasattr(builtins, "unpickled") == (method == "recv")


def test_torn_at_every_byte() -> None:
    """The child's end closes inside a message: EOFError before its first byte, OSError after."""
    message = len(SHORT).to_bytes(4) + SHORT
    for cut in range(len(message)):
        host, child = multiprocessing.Pipe()
        with host, child:
            raw(child, message[:cut])
            child.close()
            with pytest.raises(OSError if cut not in (0, 4) else EOFError):
                host.recv_bytes(MOST)
    for cut in range(len(SHORT)):
        with pytest.raises(hookless.Truncated) as caught:
            loads(SHORT[:cut])
        check_refusal(caught.value, "truncated", cut)


def test_maxlength_at_and_past(ends: Ends) -> None:
    """Past it the connection is closed to reading: nothing after it is taken for a message."""
    host, child = ends
    child.send_bytes(SHORT)
    assert loads(host.recv_bytes(len(SHORT))) == ["short", 1]
    child.send_bytes(SHORT)
    child.send_bytes(SHORT)
    with pytest.raises(OSError, match="bad message length"):
        host.recv_bytes(len(SHORT) - 1)
    with pytest.raises(OSError, match=r"closed|write-only"):
        host.recv_bytes(MOST)


@pytest.mark.parametrize("announced", [(2**31 - 1).to_bytes(4), b"\xff" * 4 + (2**62).to_bytes(8)])
def test_a_length_that_does_not_arrive(ends: Ends, announced: bytes) -> None:
    """Refused by its bound; without one it would be asked of the allocator."""
    host, child = ends
    raw(child, announced)
    with pytest.raises(OSError, match="bad message length"):
        host.recv_bytes(MOST)


def test_limits_at_and_past(ends: Ends) -> None:
    host, child = ends
    frame, at, past = limits_at()
    for _ in range(2):
        child.send_bytes(frame)
    assert loads(host.recv_bytes(MOST), limits=at) == "x" * 100
    with pytest.raises(hookless.LimitExceeded) as caught:
        loads(host.recv_bytes(MOST), limits=past)
    check_refusal(caught.value, "body_limit", 16)
