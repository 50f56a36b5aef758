"""Shows frames of exceptions in every way Python shows one, under hooks that see what the showing does.

Run as a program it lets one error go uncaught: `tripwire.py FRAME-IN-HEX`; what the hooks saw goes to stderr.
"""

from __future__ import annotations

import io
import linecache
import logging
import os
import sys
import traceback
from types import FrameType, ModuleType
from typing import Any

import hookless
from watching import FORBIDDEN

SPRUNG: list[str] = []
"""What went off."""

EVENTS: list[str] = []
"""Audit events that must not come."""

ENTERED: set[str] = set()
"""Files of the Python functions that were entered."""

_OWN = os.path.abspath(__file__)
_on = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _on or not event.startswith(FORBIDDEN):
        return
    # Python shows the source of this program's own frames: it reads this file, and parses its lines. What it
    # cannot parse, such as a `raise`, it calls <unknown>, and 3.13 looks for a file of that name.
    if event == "open" and (os.path.abspath(str(arguments[0])) == _OWN or arguments[0] == "<unknown>"):
        return
    if event == "compile":
        text = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0])
        if all(line.strip() in _SOURCE for line in text.strip("()\n").splitlines()):
            return
    EVENTS.append(f"{event}{arguments!r:.300}")


def _profile(frame: FrameType, event: str, argument: object) -> None:
    # A named tuple's constructor, as 3.13's traceback uses one, is a lambda of no file.
    code = frame.f_code
    if event == "call" and (code.co_filename, code.co_name) != ("<string>", "<lambda>"):
        ENTERED.add(code.co_filename)


class Trap(Exception):
    """Bears the names that frames claim; nothing of it may ever be entered."""

    def __new__(cls, *arguments: object) -> Any:
        SPRUNG.append("new")

    def __init__(self, *arguments: object) -> None:
        SPRUNG.append("init")

    def __init_subclass__(cls, **arguments: object) -> None:
        SPRUNG.append("init_subclass")

    def __setstate__(self, state: Any) -> None:
        SPRUNG.append("setstate")

    def __reduce__(self) -> Any:
        SPRUNG.append("reduce")

    def __setattr__(self, name: str, value: object) -> None:
        SPRUNG.append("setattr")

    def __getattr__(self, name: str) -> object:
        SPRUNG.append(f"getattr {name}")
        raise AttributeError(name)


def preload() -> None:
    """Put the traps where the frames say that their classes are."""
    for module, names in (("app", ("Quota", "Sub")), ("hard", ("TwoArguments", "BadText", "Liar", "Own"))):
        made = ModuleType(module)
        for name in names:
            setattr(made, name, Trap)
        sys.modules[module] = made


class Host:
    """A program's own object. CPython's suggestions look for names on the `self` of a frame."""

    secret = 1

    def __getattr__(self, name: str) -> object:
        SPRUNG.append(f"host {name}")
        raise AttributeError(name)

    @property
    def print_itt(self) -> object:
        SPRUNG.append("host property")
        return None

    def decode(self, frame: bytes) -> Any:
        return hookless.loads(frame, limits=LIMITS)

    def throw(self, error: Exception) -> None:
        raise error

    def formatted(self, error: Exception) -> str:
        try:
            self.throw(error)
        except Exception:
            return traceback.format_exc()
        return ""

    def logged(self, error: Exception) -> str:
        try:
            self.throw(error)
        except Exception:
            LOGGER.exception("it failed")
        text = STREAM.getvalue()
        STREAM.seek(0)
        STREAM.truncate()
        return text

    def hooked(self, error: Exception) -> str:
        """As the interpreter shows what nobody caught."""
        stream, sys.stderr = sys.stderr, io.StringIO()
        try:
            self.throw(error)
        except Exception as caught:
            sys.__excepthook__(type(caught), caught, caught.__traceback__)
            return sys.stderr.getvalue()
        finally:
            sys.stderr = stream
        return ""


LIMITS = hookless.Limits()
STREAM = io.StringIO()
LOGGER = logging.getLogger("tripwire")
LOGGER.propagate = False
LOGGER.addHandler(logging.StreamHandler(STREAM))

with open(_OWN) as _file:
    _SOURCE = _file.read()


def warm() -> None:
    """Show an exception of this program's own once, so that what that imports and reads is there."""
    host = Host()
    for error in (KeyError("own"), ExceptionGroup("own", [KeyError("own")]), SyntaxError("own")):
        for show in (host.formatted, host.logged, host.hooked):
            show(error)
    linecache.getlines(_OWN)
    hookless.loads(hookless.dumps(KeyError("own")))


def watch(on: bool) -> None:
    """Switch the hooks on or off."""
    global _on
    _on = on
    sys.setprofile(_profile if on else None)


def show(frame: bytes) -> tuple[Any, list[str]]:
    """Decode, raise and show; return the error and the texts. Any trap is left in the lists above."""
    host = Host()
    watch(True)
    try:
        error = host.decode(frame)
        texts = [host.formatted(error), host.logged(error), host.hooked(error), str(error), repr(error)]
        texts.append(error.remote.format())
    finally:
        watch(False)
    return error, texts


# A hook cannot be removed again; it sleeps until `watch`.
sys.addaudithook(_hook)

if __name__ == "__main__":
    preload()
    warm()
    ERROR = hookless.loads(bytes.fromhex(sys.stdin.read()))

    def report(kind: Any, error: Any, trace: Any) -> None:
        watch(True)
        sys.__excepthook__(kind, error, trace)
        watch(False)
        print("SAW", EVENTS, SPRUNG, file=sys.stdout, flush=True)

    if sys.argv[1:] == ["hook"]:
        sys.excepthook = report
    else:
        # The interpreter's own: what is seen is written before it ends.
        import atexit

        @atexit.register
        def last() -> None:
            watch(False)
            print("SAW", EVENTS, SPRUNG, flush=True)

        watch(True)
    Host().throw(ERROR)
