"""Which processes and descriptors there are, so that tests can see that none is left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

# Far above what anything here takes.
PATIENCE = 30.0


def parent(pid: int) -> int:
    """The parent of a process; 0 if it is gone."""
    try:
        # The name of the program, in parentheses, may hold anything.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def children_of(pid: int) -> set[int]:
    """Children of a process, those that wait to be reaped among them."""
    return {int(name) for name in os.listdir("/proc") if name.isdecimal() and parent(int(name)) == pid}


def is_gone(pid: int) -> bool:
    """Neither running nor a zombie."""
    return not os.path.exists(f"/proc/{pid}")


def has_ended(pid: int) -> bool:
    """Gone, or a zombie: for a process that is not ours to reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def holds() -> tuple[int, set[int]]:
    """How many descriptors this process has, and its children."""
    return len(os.listdir("/proc/self/fd")), children_of(os.getpid())


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something to become true; fail if it does not."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
