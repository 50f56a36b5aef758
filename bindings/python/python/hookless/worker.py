"""What code that runs inside a worker's child may ask hookless for."""

from __future__ import annotations

from hookless._attributes import DENIAL_BYTES, DENIALS
from hookless._safe import cap

__all__ = ["channel_fd", "deny"]

_channel: int | None = None

# Of the call that is open; `_child` empties it before each one. `_more` says that some are not kept.
_denials: list[str] = []
_more = False


def channel_fd() -> int:
    """Return the descriptor of the channel to the host.

    Whoever writes to it breaks the session; it is there so that this can be tried. Raises RuntimeError
    outside a child.
    """
    if _channel is None:
        raise RuntimeError("channel_fd() is for code inside a hookless worker's child; this process is none")
    return _channel


def deny(text: str) -> None:
    """Record what was denied to the code of this call, for the host to read in `RemoteError.denials`.

    A sandbox inside the child calls it; an exception may carry such texts in its own `__denials__` as well. A
    call that succeeds loses them. 64 texts of 2048 bytes are kept.

    Raises TypeError for what is no str, RuntimeError outside a child.
    """
    global _more
    if _channel is None:
        raise RuntimeError("deny() is for code inside a hookless worker's child; this process is none")
    if type(text) is not str:
        raise TypeError(f"deny() takes a str, not {type(text).__name__}")
    if len(_denials) < DENIALS:
        _denials.append(cap(text, DENIAL_BYTES))
    else:
        _more = True


def _begin_call() -> None:
    """Forget what an earlier call was denied."""
    global _more
    _denials.clear()
    _more = False
