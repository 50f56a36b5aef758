"""An exception that names a class of the host.

Wants: a class of the attacker's choice built in the host, by its name
Against: descriptors of (module, name, message) that are looked up among loaded modules
Since: 0.1
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import hookless
from harness import MARKER, arrives, expose, failure, naive


class Connection(Exception):
    """A class of the host that does something when it is made."""

    def __new__(cls, *_: object) -> Connection:
        Path(MARKER).touch()
        return super().__new__(cls)


NAMES = [(__name__, "Connection", ""), ("os", "system", f"touch {MARKER}"), ("builtins", "SystemExit", "3")]


def victim(data: bytes) -> None:
    module, name, message = json.loads(data)
    made: Any = getattr(sys.modules[module], name)
    # Two known hosts: one makes the class without arguments, one calls whatever has that name.
    error: Any = made.__new__(made) if callable(getattr(made, "mro", None)) else made(message)
    if isinstance(error, BaseException):
        error.args = (message,)
        raise error
    print("it went on")


def child(module: str, name: str, message: str) -> None:
    """Raise what claims to be of that class."""
    raise type(name, (Exception,), {"__module__": module})(message)


def peer() -> str:
    found = [expose(__name__, json.dumps(one).encode()) for one in NAMES]
    assert found[0].marked and found[1].marked
    assert (found[2].status, found[2].err) == (0, "")
    return "succeeds: runs `__new__`, runs os.system, ends the host, with status 0, by SystemExit"


def ours() -> str:
    for module, name, message in NAMES:
        error = failure(f"{__name__}:child", module, name, message)
        assert type(error) is hookless.RemoteError
        # An honest encoder marks what only claims to be a builtin.
        claimed = f"({module})" if module == "builtins" else module
        assert (error.remote.module, error.remote.qualname, error.remote.message) == (claimed, name, message)
        frame = naive.frame(naive.exception(naive.entry(module, name, message=message)))
        assert {type(one) for one in arrives(frame)} <= {hookless.RemoteError, hookless.RemoteExit}
    assert not Path(MARKER).exists()
    return "holds: each is a `RemoteError` with the names as text; nothing of the name is looked up"
