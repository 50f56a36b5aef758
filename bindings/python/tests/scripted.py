"""A channel without a host, for tests of the child's driver: events come when a test says so."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any, TypeAlias

from hookless import Failure, Limits, ProtocolError, dumps, worker
from hookless._driver import Driver

Event: TypeAlias = tuple[str, int, Any, int]

EOF: Event = ("eof", 0, None, 0)
SHUTDOWN: Event = ("shutdown", 0, None, 0)


def call(number: int, function: Any, /, *args: Any, _verb: int = 0, **kwargs: Any) -> Event:
    """A CALL of a function of a test's module."""
    name = f"{function.__module__}:{function.__qualname__}"
    return ("call", number, (_verb, name, None, args, kwargs), 0)


def stream(number: int, function: Any, /, *args: Any, **kwargs: Any) -> Event:
    return call(number, function, *args, _verb=2, **kwargs)


def script(number: int, source: str, **inputs: Any) -> Event:
    return ("call", number, (1, "<script>", source, (), inputs), 0)


def credit(number: int, items: int) -> Event:
    return ("credit", number, items, 0)


def cancel(number: int) -> Event:
    return ("cancel", number, None, 0)


class Channel:
    """What the driver uses of a channel. Each wait brings one of `later`; a number of them come at once."""

    def __init__(self, *later: Event | list[Event]) -> None:
        self.later = deque([*later, EOF])
        self.now: deque[Event] = deque()
        self.sent: list[tuple[Any, ...]] = []
        self.closed = False
        self.waits = 0
        self.busy = False
        self.signals = True
        self.listens = False
        # Readable while something is there.
        self._told, self._tells = socket.socketpair()
        self._told.setblocking(False)

    def close(self) -> None:
        self._told.close()
        self._tells.close()

    def fileno(self) -> int:
        return self._told.fileno()

    def bring(self, *events: Event) -> None:
        """As if the host had just sent them."""
        self.now.extend(events)
        self._tells.send(b"x")
        if self.listens and self.signals:
            signal.raise_signal(signal.SIGURG)

    def step(self, seconds: float | None) -> Event | None:
        if self.busy:
            error = ProtocolError("busy")
            error.code = "busy"
            raise error
        if seconds is None and not self.now:
            self.waits += 1
            found = self.later.popleft()
            self.now.extend(found if isinstance(found, list) else [found])
        if self.now:
            return self.now.popleft()
        with contextlib.suppress(BlockingIOError):
            self._told.recv(1 << 16)
        return None

    def _send(self, *frame: Any) -> None:
        if self.busy:
            error = ProtocolError("busy")
            error.code = "busy"
            raise error
        self.sent.append(frame)

    def item(self, number: int, value: object) -> None:
        dumps(value)
        self._send("item", number, value)

    def result(self, number: int, value: object) -> None:
        dumps(value)
        self._send("result", number, value)

    def fail(self, number: int, failure: Failure) -> None:
        dumps(failure)
        self._send("error", number, failure)

    def cancelled(self, number: int) -> None:
        self._send("cancelled", number)

    def progress(self, number: int, done: int, total: int | None, text: str) -> None:
        self._send("progress", number, done, total, text)

    def log(self, number: int, *line: Any) -> None:
        self._send("log", number, *line)

    def listen(self, on: bool) -> None:
        self.listens = on

    def wake(self) -> None:
        self.now.append(("woken", 0, None, 0))

    # What a test asks.

    def ends(self) -> dict[int, tuple[Any, ...]]:
        """The terminal frame of each call; more than one fails."""
        found: dict[int, tuple[Any, ...]] = {}
        for kind, number, *rest in self.sent:
            if kind in ("result", "error", "cancelled"):
                assert number not in found, f"two outcomes of call {number}"
                shown = [(one.qualname, one.message) if isinstance(one, Failure) else one for one in rest]
                found[number] = (kind, *shown)
            else:
                assert number not in found, f"{kind} after the outcome of call {number}"
        return found

    def of(self, kind: str, number: int | None = None) -> list[tuple[Any, ...]]:
        return [frame for frame in self.sent if frame[0] == kind and number in (None, frame[1])]

    def items(self, number: int) -> list[Any]:
        return [frame[2] for frame in self.of("item", number)]


# The channel of the test that runs: foreign code brings events by it.
channel: Channel


@contextlib.contextmanager
def driven(*later: Event | list[Event]) -> Iterator[tuple[Channel, Driver]]:
    """A driver in this process, as if it were a child's."""
    global channel
    channel = Channel(*later)
    driver = Driver(channel, Limits())
    before = signal.getsignal(signal.SIGURG)
    worker._driver = driver
    driver.heed_signals()
    try:
        yield channel, driver
    finally:
        worker._driver = None
        signal.signal(signal.SIGURG, before)
        if driver.tasks is not None:
            driver.tasks.close()
        channel.close()


def run(*later: Event | list[Event]) -> Channel:
    """Run a driver to the end of its stream."""
    with driven(*later) as (found, driver):
        driver.run()
        assert not driver.calls or driver.ended
    return found


def bring(*events: Event) -> None:
    channel.bring(*events)


assert os.name == "posix" and sys.implementation.name == "cpython"
