"""A process that outlives the child and holds its descriptors.

Wants: to keep the host waiting for a child that is gone
Against: `subprocess.run` with captured output
Since: 0.1
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time

import hookless
from harness import expose, failure, within

CHILD = "import os, time\nif os.fork() == 0: time.sleep(60)"


def victim(data: bytes) -> None:
    subprocess.run([sys.executable, "-c", CHILD], capture_output=True)


def child() -> None:
    """Fork behind Python's back: the fork keeps the channel and the output open, in a group of its own."""
    if ctypes.CDLL(None).fork() == 0:
        os.setsid()
        time.sleep(30)
        os._exit(0)
    os._exit(7)


def peer() -> str:
    assert expose(__name__, seconds=4).hung
    return "succeeds: it waits as long as the pipe is open"


def ours() -> str:
    began = time.monotonic()
    error = failure(f"{__name__}:child")
    assert isinstance(error, hookless.WorkerDied) and error.exit_status == 7
    took = within(time.monotonic() - began, "s", most=15)
    return (
        f"holds: `WorkerDied` with its status after {took}; the host watches the process, not only its "
        "channel"
    )
