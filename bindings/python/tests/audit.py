"""Watches the interpreter's audit events: whether something is opened, imported, compiled or started."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["watched"]

FORBIDDEN = (
    "import",
    "open",
    "exec",
    "compile",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "glob.",
    "pickle.",
    "marshal.",
    "ctypes.",
    "code.",
    "cpython.run_",
    "builtins.input",
    "webbrowser.",
)
_events: list[str] | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _events is not None and event.startswith(FORBIDDEN):
        _events.append(f"{event}{arguments!r:.200}")


# A hook cannot be removed again, so there is one, which mostly sleeps.
sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collects forbidden events of the block, and fails at its end if there was one or a module appeared."""
    global _events
    modules = set(sys.modules)
    events: list[str] = []
    _events = events
    try:
        yield events
    finally:
        _events = None
    assert events == []
    assert set(sys.modules) == modules
