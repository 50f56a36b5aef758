"""Arrays over 0MQ: not copied on the way out, and on the way in as often as is said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import zmq

import hookless.zmq as carrier
from hookless import encode
from same import assert_same

Socket = zmq.Socket[bytes]

LARGE = np.arange(100_000.0)


@pytest.fixture
def sockets() -> Iterator[tuple[Socket, Socket]]:
    context = zmq.Context()
    host, child = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    host.rcvtimeo = child.rcvtimeo = 20_000
    child.connect(f"tcp://127.0.0.1:{host.bind_to_random_port('tcp://127.0.0.1')}")
    yield host, child
    context.destroy(linger=0)


def test_arrays(sockets: tuple[Socket, Socket]) -> None:
    """Owned and writable by default; read-only views with `copy=False`."""
    host, child = sockets
    value = [LARGE, np.arange(10), LARGE.reshape(250, 400).T, LARGE[::2]]
    for copy in (True, False):
        carrier.send(child, value)
        found = carrier.recv(host, copy=copy)
        assert [array.flags.writeable for array in found] == [copy, True, copy, copy]
        assert_same(found, [value[0], value[1], value[2], value[3].copy()])


def test_a_large_array_is_not_copied_to_be_sent(sockets: tuple[Socket, Socket]) -> None:
    """0MQ reads the array's own memory: a peer in the same process is handed it."""
    context = zmq.Context()
    one, two = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    one.bind("inproc://here")
    two.connect("inproc://here")
    array = LARGE.copy()
    tracker = carrier.send(two, array, track=True)
    parts = one.recv_multipart(copy=False)
    assert [np.shares_memory(np.frombuffer(part.buffer, "u1"), array) for part in parts] == [False, True]
    assert b"".join(part.bytes for part in parts) == b"".join(encode(array))
    assert tracker is not None and not tracker.done
    del parts
    tracker.wait(timeout=20)
    context.destroy(linger=0)


def test_small_ones_are_copied(sockets: tuple[Socket, Socket]) -> None:
    """Below `copy_threshold` of the socket an array may change at once."""
    host, child = sockets
    array = np.zeros(3000)
    carrier.send(child, array)
    array[:] = 1
    assert not carrier.recv(host).any()
