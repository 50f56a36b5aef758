"""A value whose methods are calls to the child.

Wants: to answer `__reduce__`, `__array__` and the like when the host uses what it got
Against: a proxy object of the host that asks its peer, and `pickle` to copy it
Since: 0.1
"""

from __future__ import annotations

import os
import pickle
from typing import Any

import hookless
from gadgets import SHELL, Reduced
from harness import expose, failure, inert, naive


class Proxy:
    """Every attribute is asked of the peer, which answers as it likes."""

    def __init__(self, answers: dict[str, object]) -> None:
        self.__dict__["answers"] = answers

    def __getattr__(self, name: str) -> object:
        return self.__dict__["answers"].get(name)

    def __reduce_ex__(self, protocol: object) -> Any:
        return self.__dict__["answers"]["__reduce_ex__"]


def victim(data: bytes) -> None:
    # The host keeps what it got, as obtain() does: by copying it through pickle.
    pickle.loads(pickle.dumps(Proxy({"__reduce_ex__": (os.system, (SHELL,))})))


def child() -> object:
    """Return such a thing."""
    return Reduced(os.system, (SHELL,))


NAMES = (
    "__array__",
    "__reduce_ex__",
    "__getattr__",
    "__class__",
    "__iter__",
    "__len__",
    "__eq__",
    "__hash__",
    "__del__",
)


def peer() -> str:
    assert expose(__name__).marked
    return "succeeds: the host's own copy of it runs what the peer answers"


def ours() -> str:
    error = failure(f"{__name__}:child")
    assert isinstance(error, hookless.RemoteError) and error.remote.qualname == "EncodeError"
    fields = [(name, naive.text("planted")) for name in NAMES]
    record = inert(
        naive.frame(naive.record(fields, module="builtins", qualname="object")),
        hookless.Record("builtins", "object", dict.fromkeys(NAMES, "planted")),
    )
    assert type(record) is hookless.Record and len(record) == len(NAMES) and record["__len__"] == "planted"
    assert record == record and list(record) == list(NAMES) and not hasattr(record, "__array__")
    return (
        f"holds: such an object is an EncodeError in the child; fields of these {len(NAMES)} names are "
        "items of a mapping, and no attribute"
    )
