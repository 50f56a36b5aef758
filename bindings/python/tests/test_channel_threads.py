"""`Channel`: one thread steps, others send, wake it and close; signals and finalisers come in between."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import pytest

import hookless
import naive
from channels import CALL, HOST, PATIENCE, WORKER, Pair, hello, joined
from hookless import Limits
from hookless._hookless import Channel
from hookless.failure import describe


def apart(step: Callable[[], Any]) -> Future[Any]:
    """Run it in a thread of its own."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(step)
    pool.shutdown(wait=False)
    return future


def is_busy(step: Callable[[], object]) -> bool:
    try:
        step()
    except hookless.ProtocolError as error:
        return error.code == "busy"
    return False


def wait_until_inside(channel: Channel) -> None:
    """Wait until another thread is in `step`."""
    while not is_busy(lambda: channel.step(0)):
        pass


def test_what_others_send_goes_while_one_waits() -> None:
    pair = Pair("host")
    pair.begin_session()
    waiting = apart(pair.step)
    wait_until_inside(pair.channel)
    assert pair.begin() == 1
    assert pair.heard()[:2] == (naive.CALL, 1)
    assert pair.channel.cancel(1)
    assert pair.heard()[:2] == (naive.CANCEL, 1)
    assert not waiting.done()
    pair.say(naive.CANCELLED, b"\x90", 1)
    assert waiting.result(PATIENCE) == ("cancelled", 1, None, 0)
    pair.close()


def test_wake() -> None:
    host, worker = joined()
    for channel in (host, worker):
        # The next one is told, once.
        channel.wake()
        channel.wake()
        assert channel.step(PATIENCE) == ("woken", 0, None, 0)
        assert channel.step(0) is None
        waiting = apart(partial(channel.step, PATIENCE))
        wait_until_inside(channel)
        channel.wake()
        assert waiting.result(PATIENCE) == ("woken", 0, None, 0)
    host.begin(0, *CALL)
    worker.wake()
    found = [worker.step(PATIENCE), worker.step(PATIENCE)]
    assert [event and event[0] for event in found] == ["call", "woken"]


@pytest.mark.parametrize("step", ["step", "hello"])
def test_close_ends_a_step_of_another_thread(step: str) -> None:
    pair = Pair("host")
    if step == "step":
        pair.begin_session()
    waiting = apart(lambda: getattr(pair.channel, step)(PATIENCE))
    wait_until_inside(pair.channel)
    pair.channel.close()
    with pytest.raises(hookless.ProtocolError, match="the channel is closed"):
        waiting.result(PATIENCE)
    if step == "hello":
        pair.heard()
    assert pair.peer.recv(1) == b""
    pair.close()


def test_one_thread_steps_at_a_time() -> None:
    host, _worker = joined()
    waiting = apart(lambda: host.step(PATIENCE))
    wait_until_inside(host)
    assert is_busy(lambda: host.step(PATIENCE)) and is_busy(lambda: host.flush(0))
    host.wake()
    waiting.result(PATIENCE)
    assert host.step(0) is None


def test_ids_leave_in_their_order_whoever_begins() -> None:
    """S5, under threads that begin at once, with frames of all sizes, while one steps."""
    threads, each = 8, 40
    ours, peer = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    channel = Channel(ours.detach(), "host")
    peer.sendall(hello(WORKER))
    channel.hello(PATIENCE)
    stepping = apart(lambda: channel.step(PATIENCE))

    def begin(number: int) -> list[int]:
        return [
            channel.begin(0, "m:f", None, (bytes((number * 5077 + turn * 911) % 40_000),), {})
            for turn in range(each)
        ]

    beginning = [apart(partial(begin, number)) for number in range(threads)]
    heard = bytearray()
    peer.settimeout(PATIENCE)
    found: list[int] = []
    while len(found) < threads * each:
        heard += peer.recv(1 << 16)
        while len(heard) >= 32:
            body, data = (int.from_bytes(heard[at : at + 8]) for at in (16, 24))
            end = 32 + body + (-(32 + body) % 64 + data if data else 0)
            if len(heard) < end:
                break
            assert heard[:4] == b"HKLS"
            if heard[5] == naive.CALL:
                found.append(int.from_bytes(heard[8:16]))
            del heard[:end]
    ids = [number for one in beginning for number in one.result(PATIENCE)]
    assert found == sorted(ids) == list(range(1, threads * each + 1))
    peer.close()
    assert stepping.result(PATIENCE) == ("eof", 0, None, 0)
    channel.close()


def test_other_threads_of_a_worker_log_while_it_waits() -> None:
    host, worker = joined()
    waiting = apart(lambda: worker.step(PATIENCE))
    wait_until_inside(worker)
    record = (20, "app", "text", 1.0, "a.py", 1, "f")

    def log() -> None:
        for _ in range(50):
            worker.log(0, *record)

    logging = [apart(log) for _ in range(4)]
    for _ in range(200):
        assert host.step(PATIENCE) == ("log", 0, record, 0)
    for one in logging:
        one.result(PATIENCE)
    host.begin(0, *CALL)
    assert waiting.result(PATIENCE) == ("call", 1, (0, *CALL), 0)


@contextmanager
def in_the_midst(act: Callable[[], object]) -> Iterator[None]:
    """Act once while a failure is being built: that enters Python, where collectors and handlers may come."""
    acted: list[object] = []

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if not acted and frame.f_globals.get("__name__") == "hookless.remote":
            acted.append(None)
            act()

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
    assert acted


def test_a_finaliser_in_the_midst_of_a_build() -> None:
    """It may send, but not step; the build goes on as if nothing had been."""
    host, worker = joined()
    for _ in range(2):
        host.begin(0, *CALL)
        worker.step(PATIENCE)
    told: list[object] = []

    def finalise() -> None:
        told.extend([is_busy(lambda: host.step(0)), is_busy(lambda: host.hello(0))])
        told.extend([host.cancel(2), host.begin(0, *CALL), host.open_calls])

    worker.fail(1, describe(ValueError("no"), Limits()))
    with in_the_midst(finalise):
        event = host.step(PATIENCE)
    assert told == [True, True, True, 3, 3]
    assert event is not None and event[:2] == ("error", 1) and str(event[2]) == "no"
    assert [event and event[:2] for event in (worker.step(PATIENCE), worker.step(PATIENCE))] == [
        ("cancel", 2),
        ("call", 3),
    ]


def test_close_in_the_midst_of_a_build() -> None:
    host, worker = joined()
    host.begin(0, *CALL)
    worker.step(PATIENCE)
    worker.fail(1, describe(ValueError("no"), Limits()))
    with in_the_midst(host.close), pytest.raises(hookless.ProtocolError):
        host.step(PATIENCE)
    assert host.closed
    assert worker.step(PATIENCE) == ("eof", 0, None, 0)


def test_others_run_while_a_large_body_is_built() -> None:
    """A thread that wants to run does so at most looks for signals, of which there are 64 in this body."""
    host, worker = joined()
    value = [0] * (1 << 22)

    def turns(yields: bool) -> int:
        number = host.begin(0, *CALL)
        worker.step(PATIENCE)
        sending = apart(lambda: worker.result(number, value))
        while not 0 < host.pending < 1 << 16:
            assert host.step(PATIENCE, most=1 << 15) is None
        # What is left lies in the socket.
        sending.result(PATIENCE)
        count, over = 0, threading.Event()

        def run() -> None:
            nonlocal count
            while not over.wait(0.0001):
                count += 1

        other = threading.Thread(target=run)
        other.start()
        before = count
        event = host.step(PATIENCE, yields=yields)
        came = count - before
        over.set()
        other.join()
        assert event is not None and event[1] == number
        host.release(event[3])
        return came

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        # The system may stop either thread in any one of these.
        assert sorted(turns(True) for _ in range(7))[3] >= 16
    finally:
        sys.setswitchinterval(interval)


class Raised(Exception):
    pass


def test_a_signal_leaves_the_channel_whole() -> None:
    """What its handler raises comes out of `step`, and the bytes of the frame under way stay."""
    pair = Pair("host")
    pair.begin_session()
    pair.begin()
    answer = naive.frame(naive.text("x" * 100), kind=naive.RESULT, call_id=1)
    pair.peer.sendall(answer[:50])

    def handle(number: int, frame: object) -> None:
        assert is_busy(lambda: pair.channel.step(0))
        raise Raised

    before = signal.signal(signal.SIGALRM, handle)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Raised):
                pair.step()
    finally:
        signal.signal(signal.SIGALRM, before)
    pair.peer.sendall(answer[50:])
    event = pair.channel.step(PATIENCE)
    assert event is not None and event[:3] == ("result", 1, "x" * 100)
    pair.close()


def test_a_signal_leaves_what_is_being_sent_whole() -> None:
    """An answer of which a part is gone goes on with the next thing that is sent."""
    ours, peer = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    channel = Channel(ours.detach(), "worker")
    call = naive.array(
        [naive.integer(0), naive.text("m:f"), naive.NIL, naive.node(naive.TUPLE, []), naive.mapping([])]
    )
    peer.sendall(hello(HOST) + b"".join(naive.frame(call, kind=naive.CALL, call_id=one) for one in (1, 2)))
    channel.hello(PATIENCE)
    for _ in range(2):
        channel.step(PATIENCE)

    def handle(number: int, frame: object) -> None:
        raise Raised

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Raised):
            channel.result(1, bytes(100_000))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert channel.wants_write
    answering = apart(lambda: channel.result(2, "second"))
    greeting = 32 + int.from_bytes(peer.recv(32, socket.MSG_PEEK)[16:24])
    first = naive.RESULT.to_bytes() + bytes(2) + (1).to_bytes(8)
    expected = [hookless.dumps(value) for value in (bytes(100_000), "second")]
    heard = b""
    while len(heard) < greeting + sum(map(len, expected)):
        heard += peer.recv(1 << 16)
    heard = heard[greeting:]
    assert heard[5:16] == first and heard[16 : len(expected[0])] == expected[0][16:]
    assert heard[len(expected[0]) + 16 :] == expected[1][16:]
    answering.result(PATIENCE)
    channel.close()
    peer.close()


LISTENER = """
import os, signal, socket, sys
sys.path[:0] = sys.argv[1:2]
from hookless._hookless import Channel, lockdown
ours, peer = socket.socketpair()
channel = Channel(ours.detach(), "worker")
channel.listen_setup()
if sys.argv[2] == "strict":
    none = dict.fromkeys(["memory", "cpu_seconds", "file_size", "open_files", "processes"])
    lockdown("strict", readable=["/"], required=[], writable=[], **none)
heard = []
signal.signal(signal.SIGURG, lambda number, frame: heard.append(number))
def say():
    peer.send(b"x")
    for _ in range(1000):
        pass
    return len(heard)
told = [say()]
channel.listen(True)
told.append(say())
channel.listen(False)
told.append(say())
print(told)
try:
    channel.listen_setup()
    print("again")
except PermissionError:
    print("forbidden")
"""


@pytest.mark.parametrize("isolation", ["none", "strict"])
def test_bytes_raise_a_signal_while_it_listens(isolation: str) -> None:
    if isolation == "strict" and os.environ.get("HOOKLESS_TEST_NO_LANDLOCK") == "1":
        isolation = "none"
    package = os.path.dirname(os.path.dirname(hookless.__file__))
    done = subprocess.run(
        [sys.executable, "-c", LISTENER, package, isolation], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[0, 1, 1]", "forbidden" if isolation == "strict" else "again"]
