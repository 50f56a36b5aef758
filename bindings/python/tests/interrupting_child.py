"""Sends a CANCEL at each step of the interpreter, in the driver and in foreign code: one outcome each.

    python interrupting_child.py call|fails|stream|closes|reports|logs|nested

A CANCEL that comes while the call's code is armed cancels it, whatever is masked at that step.

Python runs a signal's handler between two steps; here it is called at every one of them. A program of its
own: CPython 3.13 takes an exception that was raised from a trace function for one that is still being
handled, so that every later one has it for its context.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from types import FrameType
from typing import Any

import scripted
from hookless import _driver, _outbox, _runner, worker
from scripted import call, cancel, credit, stream

FILES = {_driver.__file__, _outbox.__file__, _runner.__file__, worker.__file__, __file__}


def cancelled_at(step: int, driver: _driver.Driver) -> tuple[bool, bool]:
    """Run, and have a CANCEL come at that step; return whether there was one, and whether code was armed."""
    seen, armed = 0, False

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal seen, armed
        if frame.f_code.co_filename not in FILES or frame.f_code in UNTRACED:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == step:
                sys.settrace(None)
                scripted.channel.now.append(cancel(1))
                armed = driver._armed is not None and driver._armed.id == 1
                if scripted.channel.listens:
                    handler: Any = signal.getsignal(signal.SIGURG)
                    handler(signal.SIGURG, frame)
        return trace

    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        driver.run()
    finally:
        sys.settrace(None)
    return seen >= step, armed


def returns() -> int:
    total = 0
    for number in range(3):
        total += number
    return total


def raises() -> None:
    try:
        raise ValueError("inner")
    finally:
        len("abc")


def items() -> Any:
    yield 1
    try:
        yield 2
    finally:
        len("abc")
    return "end"


def stays() -> Any:
    try:
        yield 1
        yield 2
    finally:
        len("abc")


def reports() -> int:
    for number in range(3):
        worker.progress(number, 3, "text")
    return 3


def logs() -> int:
    driver = worker._driver
    assert driver is not None
    for number in range(3):
        driver.record((30, "name", str(number), 0.0, "", 0, ""))
    return 3


def nested() -> int:
    """The handler runs already when the CANCEL comes."""
    scripted.bring(credit(1, 1))
    return 3


class Counted(deque[Any]):
    """The outbox's entries: how many there were."""

    seen = 0

    def append(self, entry: Any) -> None:
        self.seen += 1
        super().append(entry)


def other(number: int) -> int:
    return number + 1


PARTS: dict[str, tuple[list[Any], set[Any]]] = {
    "call": ([call(1, returns), call(2, other, 1)], {("result", 3), ("cancelled",)}),
    "fails": ([call(1, raises), call(2, other, 1)], {("error", ("ValueError", "inner")), ("cancelled",)}),
    "stream": (
        [[stream(1, items), credit(1, 5)], call(2, other, 1)],
        {("result", "end"), ("cancelled",)},
    ),
    "closes": ([[stream(1, stays), credit(1, 1)], call(2, other, 1), cancel(1)], {("cancelled",)}),
    "reports": ([call(1, reports), call(2, other, 1)], {("result", 3), ("cancelled",)}),
    "nested": ([call(1, nested), call(2, other, 1)], {("result", 3), ("cancelled",)}),
    "logs": ([call(1, logs), call(2, other, 1)], {("result", 3), ("cancelled",)}),
}

UNTRACED = {cancelled_at.__code__, Counted.append.__code__}


def main(part: str) -> None:
    events, allowed = PARTS[part]
    seen, step = set(), 0
    more = True
    while more:
        step += 1
        with scripted.driven(*events) as (channel, driver):
            entries = driver.outbox._entries = Counted()
            more, armed = cancelled_at(step, driver)
            ends = channel.ends()
        assert set(ends) == {1, 2}, f"step {step}: {ends}"
        assert ends[2] == ("result", 2), f"step {step}: {ends}"
        assert ends[1] in allowed and (ends[1] == ("cancelled",) or not armed), f"step {step}: {ends}"
        # What was said is sent, also if the code was interrupted while it said so.
        assert part != "logs" or len(channel.of("log")) == entries.seen, f"step {step}"
        assert driver._armed is None and not driver._masked and not driver.calls, f"step {step}"
        seen.add(ends[1])
    assert seen == allowed and step > 200, (seen, step)


if __name__ == "__main__":
    main(sys.argv[1])
