"""The other end of a stream that somebody else serves: what `Child` is of a process of ours."""

from __future__ import annotations

import os
import signal
import socket
import stat
from collections.abc import Callable
from typing import Any

__all__ = ["ISOLATION", "Peer", "stream_of"]

# What a worker says of such an end.
ISOLATION = {
    "mode": "attached: who started the other end knows what holds it back; nothing is checked from here"
}


def stream_of(channel: int | socket.socket) -> socket.socket:
    """Take over a connected stream socket. Raises TypeError or ValueError for what is none, OSError."""
    if isinstance(channel, socket.socket):
        # A timeout of its own would make the descriptor one that does not wait.
        channel.setblocking(True)
        channel = channel.detach()
    if isinstance(channel, bool) or not isinstance(channel, int):
        raise TypeError(f"attach() takes a socket or its descriptor, not a {type(channel).__name__}")
    if not stat.S_ISSOCK(os.fstat(channel).st_mode):
        raise ValueError(f"descriptor {channel} is no socket")
    taken = socket.socket(fileno=channel)
    if taken.type != socket.SOCK_STREAM:
        taken.detach()
        raise ValueError(f"descriptor {channel} is no stream socket")
    os.set_inheritable(channel, False)
    return taken


class Peer:
    """The other end. There is no process to signal or to wait for: it ends when the stream does."""

    # As those of `Child`: no process, and no pipes of its output.
    pid = 0
    inner = 0
    life = -1
    is_launched = False
    outputs: tuple[int, ...] = ()

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def take_channel(self) -> int:
        """Return a descriptor of the channel, for the caller to own; another one stays here for `hang_up`."""
        return self._channel.dup().detach()

    def report(self) -> dict[str, Any]:
        """Return nothing: it reports to whoever started it."""
        return {}

    def hang_up(self) -> None:
        """End the stream, also for a thread that waits for an answer."""
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The other end was first.

    def signal(self, number: signal.Signals) -> None:
        """Do nothing."""

    def has_ended(self) -> bool:
        """Return False: only the stream tells."""
        return False

    def end(self, patience: float, drain: Callable[[], object]) -> int | None:
        """Let go of the stream."""
        self.forget()
        return None

    @property
    def is_held(self) -> bool:
        """Whether there is still something to close."""
        return self._channel.fileno() >= 0

    def forget(self) -> None:
        """Close what this process holds."""
        self._channel.close()

    def disown(self) -> None:
        """Leave the stream to the process that this one is a fork of."""
        self._channel.close()
