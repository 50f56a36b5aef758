"""A raw pickle on the channel of results.

Wants: to have the host load what was never meant for it
Against: `multiprocessing.Pipe`
Since: 0.1
"""

from __future__ import annotations

import multiprocessing
import os

import hookless
import hookless.worker
from gadgets import reduced
from harness import expose, failure


def victim(data: bytes) -> None:
    ours, theirs = multiprocessing.Pipe()
    if os.fork() == 0:
        theirs.send_bytes(data)
        os._exit(0)
    ours.recv()


def child(data: bytes) -> None:
    """Write it beside the encoder."""
    os.write(hookless.worker.channel_fd(), data)


def peer() -> str:
    assert expose(__name__, reduced()).marked
    return "succeeds: `recv` runs it"


def ours() -> str:
    error = failure(f"{__name__}:child", reduced())
    assert type(error) is hookless.DecodeError
    assert (error.code, error.offset) == ("bad_magic", 0)
    return "holds: `bad_magic` at byte 0; the session is over, and the child is stopped"
