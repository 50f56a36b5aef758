"""A channel and a child that are scripted: the host's side of a session without a process."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from hookless._output import Output
from hookless._session import Session
from hookless._start import Started

# What was sent: "call", id, request and credit; "cancel" and id; "credit", id and items; or "shutdown".
Sent = tuple[Any, ...]
Peer = Callable[["FakeChannel", Sent], object]


class FakeChannel:
    """As `hookless._hookless.Channel` of a host. `peer` is told of all that is sent, and may `put` events."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.sent: list[Sent] = []
        self.events: deque[Any] = deque()
        self.open: set[int] = set()
        self.cancelled: set[int] = set()
        # What has come and was not given back, now and at most.
        self.held = self.most = 0
        self.closed = False
        self.last = 0
        self.changed = threading.Condition(threading.RLock())
        self.leads = threading.Lock()

    def put(self, kind: str, call_id: int = 0, value: Any = None, cost: int = 0) -> None:
        with self.changed:
            if kind in ("result", "error", "cancelled"):
                self.open.discard(call_id)
            self.held += cost
            self.most = max(self.most, self.held)
            self.events.append((kind, call_id, value, cost))
            self.changed.notify_all()

    def fail(self, error: Exception) -> None:
        """Have a step raise."""
        with self.changed:
            self.events.append(error)
            self.changed.notify_all()

    def _tell(self, *sent: Any) -> None:
        self.sent.append(sent)
        self.peer(self, sent)

    def begin(self, verb: int, *parts: Any) -> int:
        with self.changed:
            self.last += 1
            self.open.add(self.last)
            self._tell("call", self.last, (verb, *parts[:-1]), parts[-1])
            return self.last

    def cancel(self, call_id: int) -> bool:
        with self.changed:
            if call_id not in self.open or call_id in self.cancelled:
                return False
            self.cancelled.add(call_id)
            self._tell("cancel", call_id)
            return True

    def credit(self, call_id: int, items: int) -> bool:
        with self.changed:
            if call_id not in self.open:
                return False
            self._tell("credit", call_id, items)
            return True

    def shutdown(self) -> None:
        assert not self.open
        self._tell("shutdown")

    def release(self, cost: int) -> None:
        self.held -= cost
        assert self.held >= 0

    def step(
        self,
        seconds: float | None,
        *,
        life: int = -1,
        outputs: Any = (),
        most: Any = None,
        yields: bool = False,
    ) -> Any:
        assert self.leads.acquire(blocking=False), "two threads step at once"
        try:
            with self.changed:
                self.changed.wait_for(lambda: self.events, seconds)
                found = self.events.popleft() if self.events else None
        finally:
            self.leads.release()
        if isinstance(found, BaseException):
            raise found
        return found

    def wake(self) -> None:
        self.put("woken")

    def close(self) -> None:
        self.closed = True

    @property
    def open_calls(self) -> int:
        return len(self.open)


class LoopChannel(FakeChannel):
    """One that a loop can watch: readable while there is an event."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.ours, self.theirs = socket.socketpair()
        self.pending, self.wants_write = 0, False
        # Steps of another thread, and the most that steps of the loop might move.
        self.helped = 0
        self.most_at_once: list[int] = []

    def put(self, kind: str, call_id: int = 0, value: Any = None, cost: int = 0) -> None:
        with self.changed:
            super().put(kind, call_id, value, cost)
            if not self.closed:
                self.theirs.send(b"x")

    def step(self, seconds: float | None, *, yields: bool = False, most: Any = None, **more: Any) -> Any:
        if yields:
            self.helped += 1
        else:
            assert seconds == 0 and threading.current_thread() is threading.main_thread()
            self.most_at_once.append(most)
        found = super().step(seconds, **more)
        if found is not None:
            self.ours.recv(1)
        return found

    def fileno(self) -> int:
        return self.ours.fileno()

    def close(self) -> None:
        with self.changed:
            super().close()
            self.ours.close()
            self.theirs.close()


class FakeChild:
    """As `hookless._launch.Child`."""

    pid, life, is_held = 1, -1, True

    def __init__(self, channel: FakeChannel) -> None:
        self.channel = channel
        self.outputs: tuple[int, ...] = ()
        # What its pipes hold, and how it ended: seconds of patience and after SIGTERM.
        self.printed: list[tuple[int, bytes]] = []
        self.ends: list[tuple[float, float]] = []
        self.status: int | None = 0
        self.nudges = 0

    def drain(self, take: Callable[[int, bytes], object]) -> None:
        while self.printed:
            take(*self.printed.pop(0))

    def end_output(self, index: int) -> None: ...

    def has_ended(self) -> bool:
        return not self.is_held

    def hang_up(self) -> None:
        self.channel.put("eof")

    def signal(self, number: int) -> None: ...

    def nudge(self) -> None:
        self.nudges += 1

    def end(self, patience: float, drain: Callable[[], object], asked: float) -> int | None:
        self.ends.append((patience, asked))
        drain()
        self.is_held = False
        return self.status


def echo(channel: FakeChannel, sent: Sent) -> None:
    """Answer each call with its arguments by place, and acknowledge what is cancelled."""
    if sent[0] == "call":
        channel.put("result", sent[1], sent[2][3], 10)
    elif sent[0] == "cancel":
        channel.put("cancelled", sent[1])
    elif sent[0] == "shutdown":
        channel.put("eof")


def started(peer: Peer, kind: type[FakeChannel] = FakeChannel) -> tuple[Any, FakeChannel, FakeChild]:
    channel = kind(peer)
    child = FakeChild(channel)
    made: Any = Started
    return made(child, channel, Output(), {}, []), channel, child


def session(
    peer: Peer = echo, grace: float = 20.0, room: int = 1 << 29
) -> tuple[Session, FakeChannel, FakeChild]:
    made, channel, child = started(peer)
    return Session(made, grace=grace, room=room), channel, child
