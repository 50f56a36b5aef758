"""Half a message, and then silence, an end, or a byte now and then.

Wants: to hang a host that waits for the rest
Against: `multiprocessing.Pipe`, `poll` before `recv`
Since: 0.1
"""

from __future__ import annotations

import multiprocessing
import os
import time

import hookless
import hookless.worker
from harness import expose, failure, naive

ANSWER = naive.frame(naive.binary(bytes(1000)), kind=naive.RESULT, call_id=1)


def victim(data: bytes) -> None:
    ours, theirs = multiprocessing.Pipe()
    os.write(theirs.fileno(), b"\x00\x00\x01\x00half")
    if ours.poll(1.0):
        ours.recv_bytes()


def silent(data: bytes) -> None:
    """Half a frame, and nothing more."""
    os.write(hookless.worker.channel_fd(), data[:100])
    time.sleep(60)


def gone(data: bytes) -> None:
    """Half a frame, and the end."""
    os.write(hookless.worker.channel_fd(), data[:100])
    os._exit(0)


def drip(data: bytes) -> None:
    """A byte now and then: it never stalls."""
    for byte in data:
        os.write(hookless.worker.channel_fd(), bytes([byte]))
        time.sleep(0.05)


def peer() -> str:
    assert expose(__name__, seconds=4).hung
    return "succeeds: `poll` says that something is there, and `recv` waits for ever"


def ours() -> str:
    began = time.monotonic()
    told = {
        "silence": failure(f"{__name__}:silent", ANSWER, stall=1.0),
        "an end": failure(f"{__name__}:gone", ANSWER),
        "drops": failure(f"{__name__}:drip", ANSWER, deadline=2.0, stall=1.0),
    }
    assert time.monotonic() - began < 30
    names = {name: type(error).__name__ for name, error in told.items()}
    assert names == {"silence": "Stalled", "an end": "WorkerDied", "drops": "DeadlineExceeded"}, names
    for end in range(1, len(ANSWER)):
        decoder = hookless.Decoder()
        assert decoder.feed(ANSWER[:end]) == []
        try:
            decoder.finish()
        except hookless.Truncated as error:
            assert error.offset == end
    return "holds: " + ", ".join(f"{name}: `{kind}`" for name, kind in names.items())
