"""Pickles that do something where they are loaded, and frames that carry the same bytes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable

from harness import MARKER, inert, naive, refused

__all__ = ["SHELL", "carried", "code", "reduced"]

# What the gadgets run: harmless, and it shows.
SHELL = f"touch {MARKER}"
CODE = f"open({MARKER!r}, 'w').close()"


class Reduced:
    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


def reduced(function: Callable[..., object] = os.system, *arguments: object, protocol: int = 4) -> bytes:
    """A pickle that calls a function; os.system, unless told otherwise."""
    return pickle.dumps(Reduced(function, arguments or (SHELL,)), protocol)


def code(text: str = CODE) -> bytes:
    """A pickle that executes Python."""
    return reduced(exec, text)


def carried(*pickles: bytes) -> str:
    """What hookless makes of such bytes, as a message and as a value. The outcome's text."""
    told = ""
    for data in pickles:
        told = refused(data, "bad_magic", 0)
        inert(naive.frame(naive.array([naive.binary(data)])), [data])
    return f"holds: {told}; inside a frame it is bytes"
