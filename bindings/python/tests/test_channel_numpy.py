"""Arrays that are gathered while they are sent, in whatever pieces the stream takes them."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from channels import PATIENCE, WORKER, Pair, hello
from hookless import EncodeError, dumps
from test_strided_numpy import DTYPES, VIEWS, rows

# Of one window of the sender, of several, and of a part of one.
COUNTS = (5_000, 300_000)


@pytest.fixture
def host() -> Iterator[Pair]:
    made = Pair("host")
    made.peer.sendall(hello(WORKER))
    made.channel.hello(PATIENCE)
    made.peer.recv(1 << 16)
    yield made
    made.close()


def taken(host: Pair, count: int, chance: random.Random) -> bytes:
    """So many bytes, for which this end steps now and then, and moves little at a time."""
    found = bytearray()
    host.peer.setblocking(False)
    while len(found) < count:
        host.channel.step(0, most=chance.choice([1, 1000, 100_000, 10_000_000]))
        try:
            found += host.peer.recv(chance.choice([1, 1000, 70_000, 1 << 20]))
        except BlockingIOError:
            pass
    return bytes(found)


def values(count: int) -> dict[str, Any]:
    names = ("f8", "S3", "S17", "padded", "padded inside", "?", "U1")
    views = ("backwards", "columns", "rows of the transposed", "as they lie")
    return {
        f"{name}, {view}": VIEWS[view](rows(DTYPES[name], count // DTYPES[name].itemsize * 8))
        for name in names
        for view in views
    }


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("sndbuf", [1, 1 << 20])
def test_pieces_are_joined_to_the_frame(host: Pair, count: int, sndbuf: int) -> None:
    """Beside bytes that are lent, each byte leaves once and in its place."""
    fd = socket.socket(fileno=socket.dup(host.channel.fileno()))
    fd.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    fd.close()
    args = (b"x" * 20_001, *values(count).values(), bytearray(b"y" * 16_385))
    host.channel.begin(0, "m:f", None, args, {"z": np.arange(40_000)[::-2]})
    expected = dumps([0, "m:f", None, args, {"z": np.arange(40_000)[::-2]}])
    frame = taken(host, len(expected), random.Random(sndbuf))
    # The heads differ in kind and call.
    assert frame[32:] == expected[32:]
    assert host.channel.step(0) is None and not host.channel.wants_write


def test_frames_in_a_row(host: Pair) -> None:
    """Frames that wait have windows of their own."""
    all_args = [(array,) for array in values(5_000).values()]
    for args in all_args:
        host.channel.begin(0, "m:f", None, args, {})
    expected = [dumps([0, "m:f", None, args, {}])[32:] for args in all_args]
    stream = taken(host, sum(len(one) + 32 for one in expected), random.Random(1))
    for one in expected:
        assert stream[32 : 32 + len(one)] == one
        stream = stream[32 + len(one) :]


def test_elements_that_change_while_they_wait(host: Pair) -> None:
    """What is sent is what is there when it is gathered, and as much as was announced."""
    array = np.zeros(4_000_000, "u1")
    host.channel.begin(0, "m:f", None, (array[::2],), {})
    array[:] = 1
    size = len(dumps([0, "m:f", None, (array[::2],), {}]))
    frame = taken(host, size, random.Random(2))
    sent = np.frombuffer(frame, "u1")[-2_000_000:]
    assert sent.max() == 1 and 0 < sent.sum() < 2_000_000


def test_bad_elements_are_refused_before_a_byte_leaves(host: Pair) -> None:
    """A10: the call has not begun."""
    bad = np.array([0, 0, 2, 0] * 10_000, "u1").view("?")
    with pytest.raises(EncodeError) as caught:
        host.channel.begin(0, "m:f", None, (bad[::2],), {})
    assert caught.value.code == "bad_element"
    host.peer.setblocking(False)
    with pytest.raises(BlockingIOError):
        host.peer.recv(1)
    assert host.begin() == 1
