"""`Channel`: each byte leaves and arrives exactly once, however the stream cuts them."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

import pytest

import hookless
import naive
from channels import CALL, HOST, PATIENCE, WORKER, Pair, hello
from hookless._hookless import Channel


def narrow() -> tuple[socket.socket, socket.socket]:
    """A pair that holds as little as the kernel lets it."""
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    return pair


def frames(stream: bytes) -> list[tuple[int, int, bytes]]:
    """Kind, call id, and what follows the head, of each frame of a stream that ends with one."""
    found = []
    while stream:
        assert stream[:4] == b"HKLS"
        body, data = (int.from_bytes(stream[at : at + 8]) for at in (16, 24))
        end = 32 + body + (-(32 + body) % 64 + data if data else 0)
        assert len(stream) >= end
        found.append((stream[5], int.from_bytes(stream[8:16]), stream[32:end]))
        stream = stream[end:]
    return found


def large(byte: int, count: int) -> bytes:
    return bytes([byte]) * count


@pytest.mark.parametrize("piece", [1, 7, 4096])
def test_what_is_queued_leaves_byte_for_byte(piece: int) -> None:
    """Calls with data regions, and small frames between them, to a peer that reads a little at a time."""
    size, text = (16_400, 10) if piece < 10 else (300_000, 10_000)
    ours, peer = narrow()
    channel = Channel(ours.detach(), "host")
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    arguments = [(large(65, size), bytearray(large(66, size))), (1,), (large(67, size), "text" * text)]
    for number, args in enumerate(arguments):
        assert channel.begin(2, "m:f", None, args, {}, 3) == number + 1
    assert channel.cancel(1) is True
    assert channel.wants_write
    heard = b""
    while channel.wants_write:
        assert channel.step(0) is None
        heard += peer.recv(piece)
    peer.setblocking(False)
    try:
        while part := peer.recv(1 << 20):
            heard += part
    except BlockingIOError:
        pass
    first, *found = frames(heard)
    assert first[0] == naive.HELLO
    expected = []
    for number, args in enumerate(arguments):
        whole = hookless.dumps([2, "m:f", None, args, {}])
        expected += [(naive.CALL, number + 1, whole[32:]), (naive.CREDIT, number + 1, b"\x91\x03")]
    assert found == [*expected, (naive.CANCEL, 1, b"\x90")]
    channel.close()
    peer.close()


def test_an_answer_leaves_byte_for_byte() -> None:
    """The worker waits until it is gone, and takes a call meanwhile."""
    ours, peer = narrow()
    channel = Channel(ours.detach(), "worker")
    call = naive.array(
        [naive.integer(0), naive.text("m:f"), naive.NIL, naive.node(naive.TUPLE, []), naive.mapping([])]
    )
    peer.sendall(hello(HOST) + naive.frame(call, kind=naive.CALL, call_id=1))
    channel.hello(PATIENCE)
    assert channel.step(PATIENCE) == ("call", 1, (0, *CALL), 0)
    value = [large(65, 200_000), "between", large(66, 100_001)]
    answering = threading.Thread(target=channel.result, args=(1, value))
    answering.start()
    peer.sendall(naive.frame(call, kind=naive.CALL, call_id=2))
    heard = b""
    whole = hookless.dumps(value)
    hello_length = 32 + int.from_bytes(peer.recv(32, socket.MSG_PEEK)[16:24])
    while len(heard) < hello_length + len(whole):
        heard += peer.recv(1000)
    answering.join()
    assert frames(heard)[1:] == [(naive.RESULT, 1, whole[32:])]
    assert channel.step(PATIENCE) == ("call", 2, (0, *CALL), 0)
    channel.close()
    peer.close()


STREAM: list[tuple[bytes, Any]] = [
    (naive.frame(b"\xa1x", kind=naive.ITEM, call_id=1), ("item", 1, "x")),
    (naive.frame(b"\x93\x01\x02\xa1t", kind=naive.PROGRESS, call_id=1), ("progress", 1, (1, 2, "t"))),
    (hookless.dumps(large(67, 16_400)), ("item", 1, large(67, 16_400))),
    (naive.frame(b"\x90", kind=naive.CANCELLED, call_id=1), ("cancelled", 1, None)),
]


def renamed(frame: bytes, kind: int, call_id: int) -> bytes:
    """A frame of another kind, of a call."""
    return frame[:5] + bytes([kind, 0, 0]) + call_id.to_bytes(8) + frame[16:]


def test_frames_arrive_byte_for_byte() -> None:
    """An event comes with the last byte of its frame and not before; what is missing is told."""
    pair = Pair("host")
    pair.begin_session()
    assert pair.channel.begin(2, *CALL, 5) == 1
    assert pair.channel.cancel(1)
    for frame, event in STREAM:
        data = renamed(frame, frame[5] if frame[5] != naive.VALUE else naive.ITEM, 1)
        for position, byte in enumerate(data):
            assert pair.channel.pending == (position and (len(data) if position >= 32 else 32) - position)
            pair.peer.send(bytes([byte]))
            found = pair.channel.step(0)
            if position + 1 < len(data):
                assert found is None
            else:
                assert found is not None and found[:3] == event
    assert pair.channel.pending == 0
    pair.close()


@pytest.mark.parametrize("most", [1, 100, 1 << 20])
def test_no_more_bytes_are_moved_than_most(most: int) -> None:
    pair = Pair("host")
    pair.begin_session()
    pair.begin()
    data = renamed(hookless.dumps(large(67, 16_400)), naive.RESULT, 1)
    pair.peer.sendall(data)
    steps = 0
    while (found := pair.channel.step(0, most=most)) is None:
        steps += 1
        assert pair.channel.pending == (len(data) if steps * most >= 32 else 32) - steps * most
    assert found[:3] == ("result", 1, large(67, 16_400))
    assert steps == (len(data) - 1) // most
    pair.close()


def test_most_bounds_what_is_sent() -> None:
    ours, peer = narrow()
    channel = Channel(ours.detach(), "host")
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    channel.begin(0, "m:f", None, (large(65, 100_000),), {})
    sent = len(peer.recv(1 << 20))
    peer.setblocking(False)
    for _ in range(20):
        assert channel.step(0, most=10) is None
        assert len(peer.recv(1 << 20)) == 10
    assert sent + 200 < 100_000 and channel.wants_write
    channel.close()
    peer.close()


def test_a_stream_of_two_pipes() -> None:
    """Values larger than a pipe holds, both ways; the channel makes the pipes non-blocking by itself."""
    down, up = os.pipe(), os.pipe()
    host = Channel(up[0], "host", write_fd=down[1])
    worker = Channel(down[0], "worker", write_fd=up[1])
    value = [large(65, 300_000), "text", bytearray(large(66, 100_000))]

    def serve() -> None:
        worker.hello(PATIENCE)
        while (event := worker.step(PATIENCE)) is not None and event[0] == "call":
            worker.result(event[1], event[2][3][0])
        assert event == ("eof", 0, None, 0)

    serving = threading.Thread(target=serve)
    serving.start()
    host.hello(PATIENCE)
    assert not os.get_blocking(up[0]) and not os.get_blocking(down[1])
    for number in range(1, 4):
        assert host.begin(0, "m:f", None, (value,), {}) == number
    for number in range(1, 4):
        event = host.step(PATIENCE)
        assert event is not None and event[:3] == ("result", number, value)
    host.close()
    serving.join()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(down[1])
    worker.close()


def test_a_peer_that_is_gone_is_an_end_and_no_signal() -> None:
    """EPIPE, on a socket as on pipes: what is sent is lost, and the end of the stream is told."""
    pair = Pair("host")
    pair.begin_session()
    pair.peer.close()
    assert pair.begin() == 1
    assert pair.channel.begin(0, "m:f", None, (large(65, 1_000_000),), {}) == 2
    assert pair.step() == ("eof", 0, None, 0)
    assert not pair.channel.wants_write

    down, up = os.pipe(), os.pipe()
    host = Channel(up[0], "host", write_fd=down[1])
    os.write(up[1], hello(WORKER))
    host.hello(PATIENCE)
    os.close(down[0])
    assert host.begin(0, *CALL) == 1
    os.close(up[1])
    assert host.step(PATIENCE) == ("eof", 0, None, 0)
    for channel in (pair.channel, host):
        channel.close()


def test_flush() -> None:
    ours, peer = narrow()
    channel = Channel(ours.detach(), "host")
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    assert channel.flush(0) is True
    channel.begin(0, "m:f", None, (large(65, 100_000),), {})
    assert (channel.flush(0), channel.flush(0.01), channel.wants_write) == (False, False, True)
    while not channel.flush(0):
        peer.recv(10_000)
    assert not channel.wants_write
    channel.close()
    peer.close()


@pytest.mark.parametrize("end", ["sent", "closed", "stalled", "gone"])
def test_memory_is_held_until_it_is_gone(end: str) -> None:
    """A bytearray cannot be resized while a part of it is to be sent, and can be once nothing will be."""
    ours, peer = narrow()
    channel = Channel(ours.detach(), "host", stall=0.05 if end == "stalled" else PATIENCE)
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    first, second = bytearray(100_000), bytearray(100_000)
    for value in (first, second):
        channel.begin(0, "m:f", None, (value,), {})
    for value in (first, second):
        with pytest.raises(BufferError):
            value.append(1)
    if end == "sent":
        while channel.wants_write:
            channel.step(0)
            peer.recv(1 << 16)
    elif end == "closed":
        channel.close()
    elif end == "gone":
        peer.close()
        assert channel.step(PATIENCE) == ("eof", 0, None, 0)
    else:
        # The first call is open: nothing stalls before that is over.
        channel.cancel(1)
        assert channel.step(0.1) is None
        peer.sendall(naive.frame(b"\x90", kind=naive.CANCELLED, call_id=1))
        assert channel.step(PATIENCE) == ("cancelled", 1, None, 0)
        with pytest.raises(hookless.Stalled):
            channel.step(PATIENCE)
    for value in (first, second):
        value.append(1)
    channel.close()
    peer.close()
