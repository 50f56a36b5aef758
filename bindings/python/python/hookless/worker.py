"""What code that runs inside a worker's child may ask hookless for."""

from __future__ import annotations

__all__ = ["channel_fd"]

_channel: int | None = None


def channel_fd() -> int:
    """Return the descriptor of the channel to the host.

    Whoever writes to it breaks the session; it is there so that this can be tried. Raises RuntimeError
    outside a child.
    """
    if _channel is None:
        raise RuntimeError("channel_fd() is for code inside a hookless worker's child; this process is none")
    return _channel
