"""Output without end.

Wants: to fill the host's memory, or to have it never look at its clock
Against: `subprocess.run` with captured output
Since: 0.1
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import hookless
from harness import expose, failure, within

CHILD = "import os\nblock = b'x' * 65536\nwhile True: os.write(1, block)"


def victim(data: bytes) -> None:
    subprocess.run([sys.executable, "-c", CHILD], capture_output=True)


def child() -> None:
    """Fill both pipes, for ever."""
    block = b"\x1b[2J" * 16_384
    while True:
        os.write(1, block)
        os.write(2, block)


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / (1 << 20)


def peer() -> str:
    found = expose(__name__, seconds=60, memory=1 << 30)
    assert "MemoryError" in found.err, found.err
    return f"succeeds: MemoryError at 1 GiB after {within(found.seconds, 's', most=60)}"


def ours() -> str:
    before, began = resident(), time.monotonic()
    error = failure(f"{__name__}:child", deadline=3.0)
    assert isinstance(error, hookless.DeadlineExceeded)
    took = time.monotonic() - began
    assert took < 15
    return (
        "bounded: `DeadlineExceeded` on time; the last 64 KiB are kept, and "
        f"{within(resident() - before, 'MiB', most=64)} taken"
    )
