"""Descriptors and out-of-band bytes beside the frames.

Wants: open files pushed into the host, its loop spinning, or code of the kernel that is seldom run
Against: a socket read by `socket.recv_fds`
Since: 0.1
"""

from __future__ import annotations

import os
import socket
import time

import hookless
import hookless.worker
from harness import call, expose, failure, naive, strict_worker, worker


def victim(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    for _ in range(200):
        socket.send_fds(theirs, [b"x"], [theirs.fileno()] * 4)
        socket.recv_fds(ours, 100, 10)
    print(len(os.listdir("/proc/self/fd")))


def own_channel() -> socket.socket:
    return socket.socket(fileno=os.dup(hookless.worker.channel_fd()))


def push(frame: bytes) -> None:
    """An answer of one's own, with descriptors beside each of its bytes."""
    with own_channel() as channel:
        for byte in frame:
            socket.send_fds(channel, [bytes([byte])], [0, 1, 2])
    time.sleep(30)


def out_of_band(seconds: float) -> None:
    """One byte that is ready for ever, and never read."""
    with own_channel() as channel:
        channel.send(b"x", socket.MSG_OOB)
    time.sleep(seconds)


def peer() -> str:
    assert int(expose(__name__).out) > 800
    return "succeeds: 800 descriptors are open in the host"


def ours() -> str:
    forged = naive.frame(naive.text("answer"), kind=naive.RESULT, call_id=1)
    with worker() as own:
        before = len(os.listdir("/proc/self/fd"))
        # The child may answer as it likes. What it sends beside the answer is not taken.
        assert own.options(deadline=30).call(f"{__name__}:push", forged) == "answer"
        assert len(os.listdir("/proc/self/fd")) == before
    began = time.process_time()
    call(f"{__name__}:out_of_band", 2.0)
    assert time.process_time() - began < 1.0, "the host was spinning"
    with strict_worker() as strict:
        try:
            strict.call(f"{__name__}:out_of_band", 0.0)
        except hookless.RemoteError as error:
            assert isinstance(error, PermissionError)
        else:
            raise AssertionError("the byte was sent")
    assert isinstance(failure(f"{__name__}:push", b"x"), hookless.HooklessError)
    return (
        "holds: the kernel drops the descriptors; the host does not spin; a strict child gets EPERM for "
        "out-of-band bytes"
    )
