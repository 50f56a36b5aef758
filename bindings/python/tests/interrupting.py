"""Interrupts a call, a stream, and a close, at each step of the interpreter: the session stays whole.

    python interrupting.py call|stream|close|worker|items

A program of its own: CPython 3.13 takes an exception that was raised from a trace function for one that is
still being handled, so that every later one has it for its context.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import hookless
from fakes import FakeChannel, Sent, echo, session
from hookless import _core, _hearing, _output, _post, _session, _stream, _turns, _window
from hookless._hearing import Options
from hookless._session import Session
from hookless._stream import Stream

FILES = {one.__file__ for one in (_core, _hearing, _output, _post, _session, _stream, _turns, _window)}


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


REQUEST: Any = (0, "m:f", None, ("asked",), {})
HEARD: list[Any] = []
OPTIONS = Options(
    deadline=5.0,
    on_output=lambda *parts: HEARD.append(parts),
    on_progress=lambda *parts: HEARD.append(parts),
    on_log=HEARD.append,
)


def peer(channel: FakeChannel, sent: Sent) -> None:
    """Tell something beside each answer; yield three items to a stream."""
    if sent[0] == "call":
        channel.put("output", 0, b"said")
        channel.put("progress", sent[1], (1, None, "text"))
        channel.put("log", sent[1], (20, "name", "text", 1.0, "path", 1, "function"))
        if sent[2][0] == 2:
            for number in range(3):
                channel.put("item", sent[1], number, 100)
    echo(channel, sent)


def ask(one: Session) -> object:
    return one.call(REQUEST, OPTIONS)


MADE: list[Stream[object]] = []


def read(one: Session) -> object:
    MADE.append(Stream(None, one, (2, *REQUEST[1:]), OPTIONS))
    return list(MADE[-1])


def at_each_step_of(use: Callable[[Session], object], *, closes: bool = False) -> None:
    """Nothing is left of it afterwards, and the next one is answered."""
    step = 0
    while True:
        step += 1
        one, channel, child = session(peer)
        more = stopped_at(step, partial(use, one))
        # CPython 3.11 keeps a frame that was interrupted at its very beginning, and all that it holds.
        for stream in MADE:
            stream.close()
        MADE.clear()
        assert not one._turns._line and not one.output.outlets and not one.windows, f"step {step}"
        if closes:
            one.close()
            assert not child.is_held, f"step {step}"
        else:
            assert ask(one) == ("asked",) and read(one) == [0, 1, 2], f"step {step}"
            post = one.post
            assert not post.arrived and not post.boxes and not post._owed and not channel.open, f"step {step}"
            assert channel.held == 0 and not channel.events, f"step {step}"
        if not more:
            break
    assert step > 100


def of_the_items_of_a_stream() -> None:
    """Each step of the second one: the stream is over, or no item is missing or comes twice."""
    step = 0
    while True:
        step += 1
        one = session(peer)[0]
        stream: Stream[int] = Stream(None, one, (2, *REQUEST[1:]), OPTIONS)
        assert next(stream) == 0
        more = stopped_at(step, partial(next, stream))
        rest = list(stream)
        # Where it was interrupted before it began, or when it was done, it goes on.
        assert rest in ([], [2], [1, 2]) and not one._turns._line and not stream._readers, f"step {step}"
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
    assert outcomes == {3}


PARTS: dict[str, Callable[[], None]] = {
    "call": partial(at_each_step_of, ask),
    "stream": partial(at_each_step_of, read),
    "items": of_the_items_of_a_stream,
    "close": partial(at_each_step_of, Session.close, closes=True),
    "worker": of_a_real_call,
}


if __name__ == "__main__":
    PARTS[sys.argv[1]]()
