"""How much a child may use up unless it is told otherwise."""

from __future__ import annotations

import os

__all__ = ["default_memory", "processes"]


def default_memory() -> int:
    """Return the address space of a child in bytes: 4 GiB, and room for a BLAS thread on each processor."""
    return (4 << 30) + (os.cpu_count() or 1) * (128 << 20)


def processes(threads: int | None) -> int | None:
    """Return the limit of the user's processes that leaves a child so many threads; None for no limit.

    The kernel has one count for all processes and threads of a user, and none for root.
    """
    user = os.getuid()
    if threads is None or user == 0:
        return None
    return threads + sum(_threads(pid, user) for pid in os.listdir("/proc") if pid.isdecimal())


def _threads(pid: str, user: int) -> int:
    try:
        if os.stat(f"/proc/{pid}").st_uid == user:
            return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        pass  # It has just ended.
    return 0
