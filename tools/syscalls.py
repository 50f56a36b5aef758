"""What decoding asks of the kernel: memory, and the files of time zones. A step of `make ci`.

Runs the whole corpus (bindings/python/tests/hooked.py) under strace, after a control that does what is
forbidden and has to be found out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zoneinfo
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from steps import ROOT, stop

PROGRAM = ROOT / "bindings" / "python" / "tests" / "hooked.py"
BEGIN, END = "decoding begins", "decoding has ended"

# Memory, and waiting for a lock. What `mmap` maps must be no file.
MEMORY = frozenset(
    {"brk", "mmap", "munmap", "mremap", "madvise", "mprotect", "futex", "futex_wait", "futex_wake"}
)

# What may be done to a zone's file: looked at by its name, or by the descriptor that `openat` has given.
BY_NAME = frozenset({"stat", "lstat", "newfstatat", "statx"})
BY_DESCRIPTOR = frozenset(
    {"fstat", "newfstatat", "statx", "read", "pread64", "lseek", "ioctl", "fcntl", "close"}
)

CONTROL = f"""
import os, socket
os.write(2, b"{BEGIN}")
one, two = socket.socketpair()
open("/dev/null").close()
os.write(2, b"{END}")
"""
CAUGHT = ("socketpair", "openat")


def find_strace() -> str:
    """Where strace is; root gets it installed, anybody else is told what to do."""
    found = shutil.which("strace")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (("apt-get", "-q", "update"), ("apt-get", "-qy", "install", "strace")):
            subprocess.run(command, check=False)
        found = shutil.which("strace")
    if found is None:
        stop("syscalls: NOT RUN, for there is no strace. Debian, Ubuntu: sudo apt-get install strace")
    return found


def trace(strace: str, *program: str) -> tuple[str, str]:
    """The trace of a program between its two marks, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace")
        command = [strace, "-f", "-qq", "-s", "4096", "-o", str(file), sys.executable, *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if "ptrace" in done.stderr and "not permitted" in done.stderr:
            stop(f"syscalls: NOT RUN, for no process may be traced here:\n{done.stderr}")
        if done.returncode != 0:
            sys.exit(f"syscalls: the program failed:\n{done.stderr}")
        text = file.read_text("utf-8", "replace")
    begin, end = (text.index(f'write(2, "{mark}') for mark in (BEGIN, END))
    # Whole lines: from the end of the first mark's to the beginning of the second's.
    return text[text.index("\n", begin) + 1 : text.rindex("\n", begin, end) + 1], done.stdout


def calls(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Name, arguments and result of each call; one that another thread's call interrupts is put together."""
    pending: dict[str, str] = {}
    for line in lines:
        process, _, rest = line.partition(" ")
        rest = rest.strip()
        if rest.endswith("<unfinished ...>"):
            pending[process] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        if resumed:
            rest = pending.pop(process, "") + resumed[1]
        found = re.match(r"(\w+)\((.*)\)\s+= (.*)$", rest)
        yield (found[1], found[2], found[3]) if found else ("?", rest, "")


def judge(lines: Iterable[str], folders: Iterable[str]) -> tuple[list[str], Counter[str]]:
    """Calls that are not allowed, and how often each name came."""
    bad, names = list[str](), Counter[str]()
    zones: set[str] = set()
    roots = tuple(f'"{folder}/' for folder in folders)

    def is_zone(text: str) -> bool:
        path = re.search(r'"[^"]*"', text)
        return path is not None and path[0].startswith(roots) and ".." not in path[0]

    for name, arguments, result in calls(lines):
        names[name] += 1
        descriptor = arguments.partition(",")[0]
        if name in MEMORY:
            good = name != "mmap" or "MAP_ANONYMOUS" in arguments
        elif name == "openat":
            good = is_zone(arguments) and "O_RDONLY" in arguments
            if good:
                zones.add(result.split()[0])
        elif name in BY_DESCRIPTOR and descriptor in zones:
            good = True
            if name == "close":
                zones.discard(descriptor)
        else:
            good = name in BY_NAME and is_zone(arguments)
        if not good:
            bad.append(f"{name}({arguments}) = {result}")
    return bad, names


def main() -> None:
    """See that the trace catches what it must, then that decoding does none of it."""
    strace = find_strace()
    control, _ = trace(strace, "-c", CONTROL)
    caught = {one.partition("(")[0] for one in judge(control.splitlines(), zoneinfo.TZPATH)[0]}
    if not caught.issuperset(CAUGHT):
        sys.exit(f"syscalls: of {CAUGHT} the trace shows only {sorted(caught)}:\n{control}")
    text, printed = trace(strace, str(PROGRAM), "traced")
    bad, names = judge(text.splitlines(), zoneinfo.TZPATH)
    if bad:
        shown = "\n".join(bad[:20])
        sys.exit(f"syscalls: decoding asked the kernel for more than memory and zones:\n{shown}")
    told = ", ".join(f"{count} {name}" for name, count in sorted(names.items()))
    print(f"{printed.strip()}: {told}")


if __name__ == "__main__":
    main()
