"""Ends of sessions under test: against a peer that writes its own bytes, or against each other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, Literal

import pytest

import hookless
import naive
from hookless import Limits
from hookless._hookless import Channel

Role = Literal["host", "worker"]

PATIENCE = 20.0
# What follows the verb of a CALL.
CALL: tuple[str, None, tuple[()], dict[str, Any]] = ("m:f", None, (), {})
# No limits are named.
WORKER = b"\x96\x01\x01\x18\x32\xa6worker\x90"
HOST = b"\x96\x01\x01\x18\x32\xa4host\x90"


def hello(body: bytes) -> bytes:
    return naive.frame(body, kind=naive.HELLO)


def refused(code: str, step: Callable[..., object], *arguments: object) -> str:
    """The text of the refusal that a step has to come to."""
    with pytest.raises((hookless.ProtocolError, hookless.LimitExceeded)) as caught:
        step(*arguments)
    error: Any = caught.value
    assert error.code == code
    return str(error)


class Pair:
    """One end under test, and the socket of its peer."""

    def __init__(self, role: Role, limits: Limits | None = None, stall: float = PATIENCE) -> None:
        self.role = role
        ours, self.peer = socket.socketpair()
        self.channel = Channel(ours.detach(), role, limits=limits, stall=stall)

    def step(self) -> object:
        return self.channel.step(PATIENCE)

    def begin(self) -> int:
        return self.channel.begin(0, "m:f", None, (), {})

    def say(self, kind: int, body: bytes, call_id: int = 0) -> None:
        self.peer.sendall(naive.frame(body, kind=kind, call_id=call_id))

    def close(self) -> None:
        self.channel.close()
        self.peer.close()

    def begin_session(self) -> None:
        """Let the end under test say HELLO and hear the peer's; what it said is taken from the socket."""
        self.peer.sendall(hello(WORKER if self.role == "host" else HOST))
        self.channel.hello(PATIENCE)
        assert self.heard()[0] == naive.HELLO

    def heard(self) -> tuple[int, int, bytes]:
        """Wait for the next frame: kind, call id, and body with all that follows."""
        head = self.taken(32)
        body, data = (int.from_bytes(head[at : at + 8]) for at in (16, 24))
        rest = self.taken(body + (-(32 + body) % 64 + data if data else 0))
        return head[5], int.from_bytes(head[8:16]), rest

    def taken(self, count: int) -> bytes:
        found = b""
        self.peer.settimeout(PATIENCE)
        while len(found) < count:
            part = self.peer.recv(count - len(found))
            assert part, "the stream ended"
            found += part
        return found


def joined(**settings: Any) -> tuple[Channel, Channel]:
    """A host and a worker that have greeted each other."""
    ours, theirs = socket.socketpair()
    host = Channel(ours.detach(), "host", **settings)
    worker = Channel(theirs.detach(), "worker", **settings)
    greeting = threading.Thread(target=worker.hello, args=(PATIENCE,))
    greeting.start()
    host.hello(PATIENCE)
    greeting.join()
    return host, worker
