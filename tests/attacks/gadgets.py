"""Pickles that do something where they are loaded, and frames that carry the same bytes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable

from harness import MARKER, inert, naive, refused

__all__ = ["SHELL", "carried", "code", "reduced", "short", "through_builtins"]

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


def short(text: str) -> bytes:
    """The opcode that pushes a short text."""
    return pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode()


def through_builtins(module: str, name: str) -> bytes:
    """A pickle that executes Python: the dotted name is `__getitem__` of the builtins, which gives exec."""
    found = short(module) + short(name) + pickle.STACK_GLOBAL
    called = found + short("exec") + pickle.TUPLE1 + pickle.REDUCE
    return pickle.PROTO + b"\x04" + called + short(CODE) + pickle.TUPLE1 + pickle.REDUCE + b"."


def carried(*pickles: bytes) -> str:
    """What hookless makes of such bytes, as a message and as a value. The outcome's text."""
    told = ""
    for data in pickles:
        told = refused(data, "bad_magic", 0)
        inert(naive.frame(naive.array([naive.binary(data)])), [data])
    return f"holds: {told}; inside a frame it is bytes"
