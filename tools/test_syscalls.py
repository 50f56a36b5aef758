"""What the trace of system calls lets pass, and what not."""

from __future__ import annotations

import pytest

from syscalls import calls, judge

ZONES = ["/usr/share/zoneinfo"]
HONEST = """\
7 mmap(NULL, 262144, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000
7 newfstatat(AT_FDCWD, "/usr/share/zoneinfo/Europe/Paris", {st_mode=S_IFREG|0644, ...}, 0) = 0
7 openat(AT_FDCWD, "/usr/share/zoneinfo/Europe/Paris", O_RDONLY|O_CLOEXEC) = 3
7 read(3, "TZif2", 4096)              = 5
8 futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
7 close(3)                            = 0
8 <... futex resumed>)                = 0
""".splitlines()


def test_honest_calls_pass() -> None:
    """Memory, locks and one zone's file."""
    bad, names = judge(HONEST, ZONES)
    assert bad == []
    assert names == {"mmap": 1, "newfstatat": 1, "openat": 1, "read": 1, "close": 1, "futex": 1}


@pytest.mark.parametrize(
    "line",
    [
        'openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3',
        'openat(AT_FDCWD, "/usr/share/zoneinfo/../../../etc/passwd", O_RDONLY) = 3',
        'openat(AT_FDCWD, "/usr/share/zoneinfo/UTC", O_RDWR) = 3',
        'newfstatat(AT_FDCWD, "/etc/passwd", {}, 0) = 0',
        'execve("/bin/sh", ["sh"], 0x7f) = 0',
        "socket(AF_INET, SOCK_STREAM, 0) = 3",
        "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4, 0) = 0x7f0000000000",
        'read(3, "secret", 4096) = 6',
        "clone3({flags=CLONE_VM}, 88) = 9",
        "what is this",
    ],
)
def test_all_else_does_not(line: str) -> None:
    """Also the descriptor of a zone once it has been closed."""
    assert len(judge([*HONEST, f"7 {line}"], ZONES)[0]) == 1


def test_interrupted_calls_are_put_together() -> None:
    """By their process."""
    assert list(calls(HONEST))[-1] == ("futex", "0x7f, FUTEX_WAIT_PRIVATE, 2, NULL", "0")
