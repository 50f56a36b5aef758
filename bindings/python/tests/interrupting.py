"""Interrupts a call, and a close, at each step of the interpreter: the worker's turn is not lost.

    python interrupting.py call|close|worker

A program of its own: CPython 3.13 takes an exception that was raised from a trace function for one that is
still being handled, so that every later one has it for its context.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import hookless
from hookless import _session, _turns
from hookless._output import Output

FILES = {_session.__file__, _turns.__file__}


class Stopped(BaseException):
    """As KeyboardInterrupt, but nobody else raises it."""


def stopped_at(step: int, use: Callable[[], object]) -> bool:
    """Do something, and raise at that step of hookless's own code; return whether there was such a step."""
    seen = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == step:
                sys.settrace(None)
                raise Stopped
        return trace

    before = sys.gettrace()
    # CPython 3.12 sends such events only if a frame has asked for them before.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        use()
    except Stopped:
        return True
    finally:
        sys.settrace(before)
    return seen >= step


class Session(_session.Session):
    """One without a child: what is asked comes back."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self.over = ""
        self.output = Output()
        self._turns = _turns.Turns()
        self._closing = False
        self.ended = 0

    def _exchange(self, request: Any, *_: object) -> Any:
        return None, request

    def _end(self, *_: object) -> None:
        self.ended += 1

    @property
    def is_open(self) -> bool:
        return True


def ask(session: Session) -> object:
    return session.call((0, "m:f", None, (), {}), deadline=5.0)


def at_each_step_of(use: Callable[[Session], object]) -> None:
    """The line is empty afterwards, and the next one has its turn."""
    step = 0
    while True:
        step += 1
        session = Session()
        more = stopped_at(step, partial(use, session))
        assert not session._turns._line, f"step {step}"
        assert ask(session) == (0, "m:f", None, (), {})
        if not more:
            break
    assert step > 100


def of_a_real_call() -> None:
    """Every fortieth step: the worker goes on, or is over, within its deadline, and can be closed."""
    outcomes: set[object] = set()
    step = 1
    while True:
        with hookless.Worker(isolation="none") as worker:
            more = stopped_at(step, partial(worker.call, "builtins:len", "xy"))
            try:
                outcomes.add(worker.options(deadline=20).call("builtins:len", "xyz"))
            except hookless.WorkerDied:
                outcomes.add("over")
        if not more:
            break
        step += 40
    assert outcomes <= {3, "over"} and 3 in outcomes


PARTS: dict[str, Callable[[], None]] = {
    "call": partial(at_each_step_of, ask),
    "close": partial(at_each_step_of, Session.close),
    "worker": of_a_real_call,
}


if __name__ == "__main__":
    PARTS[sys.argv[1]]()
