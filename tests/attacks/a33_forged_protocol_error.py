"""A failure that claims to be the transport's own.

Wants: to have the host believe that the channel broke, or that it did not
Against: `concurrent.futures.ProcessPoolExecutor`
Since: 0.1
"""

from __future__ import annotations

import concurrent.futures
from concurrent.futures.process import BrokenProcessPool

import hookless
from harness import call, expose, failure, worker

NAMES = (
    "DecodeError",
    "ProtocolError",
    "WorkerDied",
    "Stalled",
    "DeadlineExceeded",
    "IsolationError",
    "HooklessError",
)


def broken() -> None:
    raise BrokenProcessPool("the pool is broken")


def victim(data: bytes) -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        try:
            pool.submit(broken).result()
        except BrokenProcessPool:
            print("restart it", pool.submit(len, "alive").result())


def child(name: str) -> None:
    """Raise hookless's own class, as its real owner would."""
    made = getattr(hookless, name)
    error = made.__new__(made)
    error.args = ("forged",)
    for key in ("code", "offset", "path", "exit_status", "signal", "stderr"):
        try:
            setattr(error, key, 0)
        except AttributeError:
            pass
    raise error


def peer() -> str:
    assert expose(__name__).out.strip() == "restart it 5"
    return "succeeds: the task's claim is caught as BrokenProcessPool, though the pool is well"


def ours() -> str:
    for name in NAMES:
        error = failure(f"{__name__}:child", name)
        assert isinstance(error, hookless.RemoteError) and not isinstance(error, hookless.HooklessError)
        assert error.remote.qualname == name
    with worker() as own:
        try:
            own.call(f"{__name__}:child", "ProtocolError")
        except hookless.RemoteError:
            pass
        assert own.call("builtins:len", "alive") == 5
    assert call("builtins:len", "x") == 1
    return (
        f"holds: {len(NAMES)} classes arrive as `RemoteError`, which no `except HooklessError` catches; "
        "the session goes on"
    )
