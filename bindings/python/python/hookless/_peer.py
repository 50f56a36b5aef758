"""The other end of a stream that somebody else serves: what `Child` is of a process of ours."""

from __future__ import annotations

import os
import signal
import socket
import stat
from collections.abc import Callable

from hookless._hookless import Channel, Limits
from hookless.errors import HooklessError

__all__ = ["ISOLATION", "Peer"]

# What a worker says of such an end.
ISOLATION = {
    "mode": "attached: who started the other end knows what holds it back; nothing is checked from here"
}


class Peer:
    """The other end. There is no process to signal or to wait for: it ends when the stream does."""

    # As those of `Child`: no process, and no pipes of its output.
    pid = 0
    inner = 0
    life = -1
    outputs: tuple[int, ...] = ()

    def __init__(self, channel: int | socket.socket, write_fd: int | None = None) -> None:
        """Take over a stream: a connected stream socket, or what is read from and what is written to.

        Raises TypeError, ValueError or OSError for what is none, and leaves it to the caller then.
        """
        # None for two pipes.
        self._stream: socket.socket | None = None
        self._pipes = (-1, -1)
        if write_fd is None:
            self._stream = _stream_of(channel)
        else:
            self._pipes = (_pipe(channel), _pipe(write_fd))
        self._channel: Channel | None = None
        self.is_held = True

    def make_channel(self, limits: Limits | None, stall: float) -> Channel:
        """Return the host's end of a session; one handle of a socket stays here, for `hang_up`."""
        if self._stream is None:
            reading, writing = self._pipes
            made = Channel(reading, "host", limits=limits, stall=stall, write_fd=writing)
        else:
            made = Channel(self._stream.dup().detach(), "host", limits=limits, stall=stall)
        self._channel = made
        return made

    def hang_up(self) -> None:
        """End the stream, or at least have who waits for an answer look up."""
        try:
            if self._stream is not None:
                self._stream.shutdown(socket.SHUT_RDWR)
            elif self._channel is not None:
                self._channel.wake()
        except (OSError, HooklessError):
            pass  # It is over already.

    def signal(self, number: signal.Signals) -> None:
        """Do nothing."""

    def drain(self, take: Callable[[int, bytes], object]) -> None:
        """Do nothing."""

    def end_output(self, index: int) -> None:
        """Do nothing."""

    def has_ended(self) -> bool:
        """Return False: only the stream tells."""
        return False

    def nudge(self) -> None:
        """Do nothing: there is no process to send a signal to."""

    def end(self, patience: float, drain: Callable[[], object], asked: float | None = None) -> int | None:
        """Let go of the stream."""
        self.forget()
        return None

    def forget(self) -> None:
        """Close what this process holds beside the channel."""
        self.is_held = False
        if self._stream is not None:
            self._stream.close()

    def disown(self) -> None:
        """Leave the stream to the process that this one is a fork of."""
        self.forget()


def _stream_of(channel: int | socket.socket) -> socket.socket:
    number = _number(channel.fileno() if isinstance(channel, socket.socket) else channel)
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        raise ValueError(f"descriptor {number} is no socket; with two pipes, give write_fd= as well")
    taken = socket.socket(fileno=number)
    if taken.type != socket.SOCK_STREAM:
        taken.detach()
        raise ValueError(f"descriptor {number} is no stream socket")
    if isinstance(channel, socket.socket):
        channel.detach()
    # What another socket object of Python set, a timeout for one, would make waiting fail.
    taken.setblocking(True)
    os.set_inheritable(number, False)
    return taken


def _pipe(descriptor: int | socket.socket) -> int:
    number = _number(descriptor)
    mode = os.fstat(number).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)):
        raise ValueError(f"descriptor {number} is neither a pipe nor a socket")
    os.set_inheritable(number, False)
    return number


def _number(descriptor: object) -> int:
    if isinstance(descriptor, bool) or not isinstance(descriptor, int):
        kind = type(descriptor).__name__
        raise TypeError(f"attach() takes a stream socket or the number of a descriptor, not a {kind}")
    return descriptor
