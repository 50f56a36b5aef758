"""Past an allowlist of modules.

Wants: code in a host whose unpickler allows only `collections`
Against: the restricted `pickle.Unpickler` of the library reference, by module
Since: 0.1
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from gadgets import carried, through_builtins
from harness import expose, inert, naive
from hookless import Record

# `collections.__builtins__` is a dict; a dotted name reaches its method, which returns exec.
NAME = "__builtins__.__getitem__"
PICKLE = through_builtins("collections", NAME)


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
