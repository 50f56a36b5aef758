"""`Channel`: how long it waits. Times are lower bounds here, or so long that only an endless wait passes."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

import hookless
import naive
from channels import CALL, HOST, PATIENCE, WORKER, Pair, hello, joined
from hookless._hookless import Channel

ANSWER = naive.frame(naive.text("x" * 100), kind=naive.RESULT, call_id=1)


def test_step_ends_with_its_time() -> None:
    host, _worker = joined()
    assert host.step(0) is None
    began = time.monotonic()
    assert host.step(0.1) is None
    assert time.monotonic() - began >= 0.1
    # The past is now.
    assert host.step(-1.0) is None
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            host.step(wrong)


def test_a_peer_that_is_never_silent_puts_no_end_off() -> None:
    """A frame whose bytes come one by one for as long as anybody waits."""
    pair = Pair("host")
    pair.begin_session()
    pair.begin()
    pair.peer.sendall(naive.frame(b"", kind=naive.RESULT, call_id=1, body_length=200_000_000))
    over = threading.Event()

    def dribble() -> None:
        while not over.is_set():
            try:
                pair.peer.sendall(b"\xc0")
            except OSError:
                return

    talking = threading.Thread(target=dribble)
    talking.start()
    try:
        assert pair.channel.step(0.2) is None
        assert pair.channel.step(0) is None
        assert 0 < pair.channel.pending < 200_000_000
    finally:
        over.set()
        # It may wait for room.
        pair.channel.close()
        talking.join(PATIENCE)
    assert not talking.is_alive()
    pair.close()


@pytest.mark.parametrize("begun", [1, 32, 60])
def test_a_frame_that_does_not_go_on_stalls(begun: int) -> None:
    pair = Pair("host", stall=0.2)
    pair.begin_session()
    pair.begin()
    # Between frames there is nothing that could.
    assert pair.channel.step(0.3) is None
    pair.peer.sendall(ANSWER[:begun])
    assert pair.channel.step(0.01) is None
    with pytest.raises(hookless.Stalled):
        pair.step()
    with pytest.raises(hookless.ProtocolError, match="closed"):
        pair.step()
    pair.close()


def test_what_has_come_meanwhile_is_no_stall() -> None:
    """Nobody asked for a while: first what is there is taken."""
    pair = Pair("host", stall=0.1)
    pair.begin_session()
    pair.begin()
    pair.peer.sendall(ANSWER[:40])
    assert pair.channel.step(0) is None
    pair.peer.sendall(ANSWER[40:])
    time.sleep(0.2)
    event = pair.channel.step(PATIENCE)
    assert event is not None and event[:3] == ("result", 1, "x" * 100)
    # Nor is it where a call begins in between, and finds nothing new.
    pair.begin()
    pair.peer.sendall(ANSWER[:8] + (2).to_bytes(8) + ANSWER[16:40])
    assert pair.channel.step(0) is None
    assert pair.begin() == 3
    time.sleep(0.2)
    pair.peer.sendall(ANSWER[40:])
    event = pair.channel.step(PATIENCE)
    assert event is not None and event[:2] == ("result", 2)
    pair.close()


def full_host(stall: float) -> tuple[Channel, socket.socket]:
    ours, peer = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    channel = Channel(ours.detach(), "host", stall=stall)
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    return channel, peer


def test_a_call_that_is_not_taken_stalls() -> None:
    channel, peer = full_host(0.2)
    channel.begin(0, "m:f", None, (bytes(100_000),), {})
    with pytest.raises(hookless.Stalled):
        channel.step(PATIENCE)
    assert not channel.wants_write
    channel.close()
    peer.close()


def test_a_worker_at_work_need_not_read() -> None:
    """A second call waits for as long as the first is open; then its time runs."""
    channel, peer = full_host(0.2)
    channel.begin(0, *CALL)
    channel.begin(0, "m:f", None, (bytes(100_000),), {})
    assert channel.step(0.5) is None
    peer.sendall(naive.frame(b"\xc0", kind=naive.RESULT, call_id=1))
    event = channel.step(PATIENCE)
    assert event is not None and event[:2] == ("result", 1)
    with pytest.raises(hookless.Stalled):
        channel.step(PATIENCE)
    channel.close()
    peer.close()


def test_hello_has_a_deadline_and_can_go_on_after_it() -> None:
    pair = Pair("worker")
    with pytest.raises(hookless.DeadlineExceeded):
        pair.channel.hello(0.05)
    pair.peer.sendall(hello(HOST))
    pair.channel.hello(PATIENCE)
    with pytest.raises(hookless.ProtocolError):
        pair.channel.hello(PATIENCE)
    assert pair.heard()[0] == naive.HELLO
    pair.peer.settimeout(0)
    with pytest.raises(BlockingIOError):
        pair.peer.recv(1)
    pair.close()


def test_output_and_life_are_looked_at() -> None:
    """What a pipe holds comes as it is; its end once, if the caller remembers; life's end is the stream's."""
    host, _worker = joined()
    reading, writing = os.pipe()
    other, end = os.pipe()
    life, alive = os.pipe()
    os.write(writing, b"said")
    outputs = [-1, reading]
    assert host.step(0, outputs=outputs) == ("output", 1, b"said", 0)
    assert host.step(0, outputs=outputs, life=life) is None
    os.write(writing, b"more")
    assert host.step(PATIENCE, outputs=outputs, life=life) == ("output", 1, b"more", 0)
    os.close(writing)
    assert host.step(PATIENCE, outputs=outputs, life=life) == ("output", 1, b"", 0)
    assert host.step(0, outputs=[other], life=life) is None
    os.close(alive)
    assert host.step(PATIENCE, outputs=[other], life=life) == ("eof", 0, None, 0)
    for descriptor in (reading, other, end, life):
        os.close(descriptor)
