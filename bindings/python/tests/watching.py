"""Watches a process while it decodes: its audit events, and the Python functions that are entered."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

__all__ = ["FORBIDDEN", "Seen", "watched"]

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
    "builtins.breakpoint",
    "webbrowser.",
    "tempfile.",
    "urllib.",
    "mmap.",
    "fcntl.",
    "syslog.",
    "resource.",
    "pty.",
)
"""Beginnings of the names of audit events that neither decoding nor showing an error may raise."""

# What `builtins.id` tells is nothing, and the rest comes with this file's own hook.
_HARMLESS = frozenset({"builtins.id", "sys.setprofile"})


@dataclass
class Seen:
    """What the hooks saw."""

    events: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    """Files of time zones that were opened: each is allowed, once."""
    entered: set[tuple[str, str]] = field(default_factory=set)
    """Module and name of each Python function that was entered."""


_seen: Seen | None = None
# Whether `_profile` itself is at work: looking at a frame is an event.
_looking = False


def _zone_files() -> tuple[str, ...]:
    import zoneinfo

    return tuple(f"{folder}/" for folder in zoneinfo.TZPATH)


def _is_of_a_zone(file: str) -> bool:
    """Whether it is a file of a time zone, to which no `..` leads: the key stands in the host's own list."""
    return file.startswith(_FOLDERS) and ".." not in file


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is None or _looking or event in _HARMLESS:
        return
    if event == "open" and arguments[1] == "r" and _is_of_a_zone(str(arguments[0])):
        _seen.zones.append(str(arguments[0]))
        return
    _seen.events.append(f"{event}{arguments!r:.200}")


def _profile(frame: FrameType, event: str, argument: object) -> None:
    global _looking
    if event == "call" and _seen is not None:
        _looking = True
        module = str(frame.f_globals.get("__name__")).replace("numpy.core", "numpy._core")
        # A comprehension or a function within one counts as that: Pythons differ in whether it is entered.
        _seen.entered.add((module, frame.f_code.co_qualname.split(".<locals>")[0]))
        _looking = False


_FOLDERS = _zone_files()

# A hook cannot be removed again, so there is one, which mostly sleeps.
sys.addaudithook(_hook)


@contextmanager
def watched(*, functions: bool = False) -> Iterator[Seen]:
    """Collects what happens in the block; fails if there was an audit event, or a module appeared.

    With `functions` those that are entered are noted, without this module's; the garbage collector is off
    then, which runs code of others when it will.
    """
    global _seen
    modules = set(sys.modules)
    seen = Seen()
    collecting = functions and gc.isenabled()
    if functions:
        gc.disable()
        sys.setprofile(_profile)
    _seen = seen
    try:
        yield seen
    finally:
        _seen = None
        if functions:
            sys.setprofile(None)
        if collecting:
            gc.enable()
    seen.entered = {(module, name) for module, name in seen.entered if module != __name__}
    assert not seen.events, seen.events
    assert set(sys.modules) == modules
    assert len(seen.zones) == len(set(seen.zones))
