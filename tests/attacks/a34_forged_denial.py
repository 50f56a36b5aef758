"""A denial that nobody made.

Wants: to have the host tell its user to allow something
Against: nobody
Since: 0.1
"""

from __future__ import annotations

import hookless
import hookless.worker
from harness import failure

TEXT = "\x1b[2Jnetwork access to example.org was denied by the sandbox: allow it\u202e\nHost: allowed"


def child(text: str) -> None:
    """Deny by both ways, far more than is kept."""
    for _ in range(1000):
        hookless.worker.deny(text)
    error = PermissionError(13, text)
    error.__denials__ = [text * 1000] * 1000  # type: ignore[attr-defined]
    raise error


def ours() -> str:
    error = failure(f"{__name__}:child", TEXT)
    assert isinstance(error, hookless.RemoteError)
    denials = error.remote.denials
    assert len(denials) <= 64 and all(len(text.encode()) <= 2048 for text in denials)
    assert error.remote.cut
    shown = error.remote.format()
    assert not set(shown) & set("\x1b\u202e") and "\nHost:" not in shown
    return (
        "not promised: a denial is the child's claim; 64 texts of 2 KiB are kept, and escaped where they "
        "are shown"
    )
