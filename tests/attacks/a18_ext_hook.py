"""An ext type that names a module and a function.

Wants: import and call by a decode hook
Against: `msgpack` with an `ext_hook` like that of a known checkpoint store
Since: 0.1
"""

from __future__ import annotations

import importlib

import msgpack

from gadgets import CODE
from harness import expose, inert, naive, refused

TRIPLE = naive.array([naive.text("builtins"), naive.text("exec"), naive.array([naive.text(CODE)])])
MESSAGE = naive.ext(0, TRIPLE)


def hook(code: int, data: bytes) -> object:
    module, name, arguments = msgpack.unpackb(data)
    return getattr(importlib.import_module(module), name)(*arguments)


def victim(data: bytes) -> None:
    msgpack.unpackb(data, ext_hook=hook)


def peer() -> str:
    assert expose(__name__, MESSAGE).marked
    return "succeeds: the function is imported and called"


def ours() -> str:
    told = refused(naive.frame(MESSAGE), "unknown_ext", 32)
    assert refused(MESSAGE, "bad_magic", 0)
    inert(naive.frame(TRIPLE), ["builtins", "exec", [CODE]])
    return f"holds: {told}; the decoder takes no hook, and the triple is a list of texts"
