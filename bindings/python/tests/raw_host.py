"""A child and the host's end of its channel, without a session in between: tests see each event."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from hookless import Limits, RemoteError
from hookless._bounds import default_memory, processes
from hookless._hookless import Channel
from hookless._launch import Child, launch

Event: TypeAlias = tuple[str, int, Any]

CHILDREN = str(Path(__file__).parent / "children")

# Seconds after which a test has failed: far more than anything here takes.
PATIENCE = 60.0


class Host:
    def __init__(self, child: Child, channel: Channel) -> None:
        self.child, self.channel = child, channel
        self.output = [b"", b""]
        # All events, in their order.
        self.events: list[Event] = []

    def call(self, name: str, *args: Any, verb: int = 0, credit: int = 0) -> int:
        return self.channel.begin(verb, f"talking:{name}", None, args, {}, credit)

    def stream(self, name: str, *args: Any, credit: int = 0) -> int:
        return self.call(name, *args, verb=2, credit=credit)

    def next(self) -> Event:
        """The next event; output of the child is kept aside."""
        end = time.monotonic() + PATIENCE
        while True:
            event = self.channel.step(0.5, life=self.child.life, outputs=self.child.outputs)
            if event is None:
                assert time.monotonic() < end, "nothing came"
                # As hosts do: the signal of a frame may have come too early to interrupt anything.
                self.child.nudge()
                continue
            kind, number, value, cost = event
            self.channel.release(cost)
            if kind == "output":
                self.output[number] += value
                if not value:
                    self.child.outputs = ()
                continue
            if isinstance(value, RemoteError):
                value = (value.remote.type_name, value.remote.message)
            self.events.append((kind, number, value))
            return kind, number, value

    def until(self, kind: str, number: int) -> Any:
        """Take events until that one; return its value."""
        while True:
            event = self.next()
            if event[:2] == (kind, number):
                return event[2]
            over = event[0] in ("result", "error", "cancelled") and event[1] == number
            assert not over and event[0] != "eof", event

    def end(self, number: int) -> tuple[Any, ...]:
        """The terminal frame of a call."""
        while True:
            kind, found, value = self.next()
            if found == number and kind in ("result", "error", "cancelled"):
                return (kind,) if kind == "cancelled" else (kind, value)
            assert kind != "eof", self.output

    def of(self, kind: str, number: int) -> list[Any]:
        return [value for one, found, value in self.events if (one, found) == (kind, number)]


@contextlib.contextmanager
def hosted(isolation: str = "none", own: Limits | None = None, stall: float = 30.0) -> Iterator[Host]:
    """Start a child; this end decodes within `own`."""
    sizes = {
        "memory": default_memory(),
        "cpu_seconds": None,
        "file_size": 64 << 20,
        "open_files": 256,
        "processes": processes(64),
    }
    child = launch(
        {
            "isolation": isolation,
            "paths": [CHILDREN],
            "limits": {name: getattr(Limits(), name) for name in Limits.TABLE},
            "stall": stall,
            "rlimits": sizes,
        }
    )
    channel = Channel(child.take_channel(), "host", limits=own, stall=stall)
    try:
        channel.hello(PATIENCE)
        yield Host(child, channel)
    finally:
        channel.close()
        child.hang_up()
        child.end(2.0, lambda: None)
