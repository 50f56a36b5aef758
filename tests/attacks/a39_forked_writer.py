"""A fork of the child that answers too.

Wants: two writers on one channel, whose bytes run into each other
Against: `multiprocessing.Pipe`
Since: 0.1
"""

from __future__ import annotations

import multiprocessing
import os
import time

from harness import expose, worker


def victim(data: bytes) -> None:
    ours, theirs = multiprocessing.Pipe()
    if os.fork() == 0:
        answer = "of the fork" if os.fork() == 0 else "honest"
        time.sleep(0.0 if answer == "of the fork" else 0.3)
        theirs.send(answer)
        os._exit(0)
    print(ours.recv())


def child() -> str:
    """Fork, and let both return."""
    if os.fork() == 0:
        return "of the fork"
    time.sleep(0.3)
    return "honest"


def peer() -> str:
    assert expose(__name__).out.strip() == "of the fork"
    return "succeeds: the fork's answer comes first and is believed"


def ours() -> str:
    with worker() as own:
        for _ in range(3):
            assert own.options(deadline=30).call(f"{__name__}:child") == "honest"
    return (
        "holds: after `os.fork` the fork has no channel; a strict child cannot fork. A fork by other "
        "means is the child's own word"
    )
