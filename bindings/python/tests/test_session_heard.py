"""What is heard while functions of the host run, while nobody listens, and from within."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import hookless
from fakes import FakeChannel, Sent, echo, session
from hookless._hearing import Hearing, Options
from hookless._output import Outlet
from hookless._post import Box, LogQueue
from hookless._session import Session
from hookless._stream import Stream

# Far above what anything here takes.
PATIENCE = 20.0
LOG = (20, "app", "text", 1.0, "path", 1, "function")


def ask(one: Session, value: object, options: Options | None = None) -> Any:
    request: Any = (0, "m:f", None, (value,), {})
    return one.call(request, options or Options())[0]


def stream(one: Session) -> Stream[Any]:
    request: Any = (2, "m:f", None, (), {})
    return Stream(None, one, request, Options())


def test_what_comes_while_a_function_runs_is_not_waited_for() -> None:
    """Another thread may bring it as fast as it is told; a deadline is looked at in between."""
    box, outlet, heard = Box(), Outlet(), []
    box.logs = logs = LogQueue()

    def again(what: str) -> None:
        heard.append(what)
        box.progress.append((1, None, ""))
        logs.put(LOG)
        outlet.put(0, b"x")

    options = Options(
        on_progress=lambda *_: again("progress"),
        on_log=lambda _: again("log"),
        on_output=lambda *_: again("output"),
    )
    hearing = Hearing(options, LogQueue())
    hearing.box, hearing.outlet = box, outlet
    box.progress.append((1, None, ""))
    for _ in range(2):
        logs.put(LOG)
        outlet.put(0, b"x")
    hearing.hear()
    # The output first, which brought two more messages; those, and the latest progress.
    assert heard == ["output"] * 2 + ["log"] * 4 + ["progress"]
    assert hearing.is_wanted()


def test_close_while_a_function_of_a_call_runs() -> None:
    """Nobody waits then, so the child is asked to finish; the call has no result, and says why."""
    busy, go = threading.Event(), threading.Event()
    outcome: list[Any] = []

    def slow(*_: object) -> None:
        busy.set()
        assert go.wait(PATIENCE)

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call":
            channel.put("progress", sent[1], (1, None, ""))
        else:
            echo(channel, sent)

    def owner() -> None:
        try:
            outcome.append(ask(one, 1, Options(on_progress=slow)))
        except BaseException as error:
            outcome.append(error)

    one, channel, _ = session(peer)
    thread = threading.Thread(target=owner)
    thread.start()
    assert busy.wait(PATIENCE)
    one.close()
    assert channel.sent[-2:] == [("cancel", 1), ("shutdown",)]
    go.set()
    thread.join(PATIENCE)
    (error,) = outcome
    assert type(error) is hookless.HooklessError and "closed while this call was open" in str(error)


def test_an_event_that_an_interrupt_kept_from_its_box_is_not_waited_for() -> None:
    """Nothing else need ever come."""
    one, channel, _ = session(lambda channel, sent: None)
    call = one.new_call(Options(deadline=PATIENCE))
    one.begin(call, (0, "m:f", None, (1,), {}), 0)
    channel.put("result", 1, "there")
    # As a thread leaves it that is interrupted between the two.
    one.post.collect(channel.step, 0.0)
    assert one.post.arrived and not channel.events
    assert one.next_event(call, time.monotonic())[2] == "there"
    one.leave(call)
    assert channel.held == 0


class _Interrupt(Exception):
    pass


def test_a_stream_cannot_be_read_from_within() -> None:
    """By a signal handler, that is, which comes while this very thread leads: it would wait for itself."""
    one, channel, _ = session(lambda channel, sent: None)
    inner = stream(one)
    errors: list[str] = []

    def handler(*_: object, **__: object) -> Any:
        channel.step = step  # type: ignore[method-assign]
        with pytest.raises(hookless.HooklessError, match="cannot be used from a signal handler") as caught:
            next(inner)
        errors.append(str(caught.value))
        raise _Interrupt

    step, channel.step = channel.step, handler  # type: ignore[method-assign]
    with pytest.raises(_Interrupt):
        ask(one, 1)
    assert errors


def test_grace_does_not_run_while_nobody_listens() -> None:
    """A child that cannot get rid of its frames meanwhile has its time when somebody does."""

    def late(channel: FakeChannel, sent: Sent) -> None:
        channel.put("cancelled", 1)
        echo(channel, sent)

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call" and sent[1] > 1:
            # The next call is there: now its frames flow again, and then it acknowledges.
            threading.Timer(0.05, late, (channel, sent)).start()

    one, channel, child = session(peer, grace=1.0)
    stream(one).close()
    assert channel.sent[-1] == ("cancel", 1)
    one._unheard = (one._unheard[0], one.now() - 3600.0)  # An hour passes.
    assert ask(one, "next") == "next"
    assert not child.ends


def test_grace_runs_while_somebody_leads() -> None:
    """For a call that is left meanwhile not from when that began."""
    one, _, child = session(lambda channel, sent: None, grace=0.3)
    child.status = None
    outcome: list[Any] = []

    def lead() -> None:
        try:
            outcome.append(ask(one, "long"))
        except BaseException as error:
            outcome.append(error)

    left = stream(one)
    thread = threading.Thread(target=lead)
    thread.start()
    end = time.monotonic() + PATIENCE
    while one._unheard[1] is not None:
        assert time.monotonic() < end
        time.sleep(0.001)
    time.sleep(0.4)
    before = one.now()
    left.close()
    box = one.post.boxes[1]
    assert box.abandoned is not None and box.abandoned >= before
    thread.join(PATIENCE)
    (error,) = outcome
    assert isinstance(error, hookless.WorkerDied) and "cancelled did not end" in str(error)
    assert one.now() >= box.abandoned + 0.3


def test_a_fork_that_reads_a_stream_leaves_the_child_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream of bytes is shared: whatever a fork does to it is done to the one that may use it."""
    one, channel, child = session(lambda channel, sent: None)
    left, waiting = stream(one), one.new_call(Options())
    one.begin(waiting, (0, "m:f", None, (1,), {}), 0)
    channel.put("item", 1, "for the other process")
    sent = list(channel.sent)
    monkeypatch.setattr(one, "_process", 1)
    with pytest.raises(hookless.HooklessError, match="forked"):
        one.next_event(waiting, time.monotonic())
    with pytest.raises(hookless.HooklessError, match="forked"):
        next(left)
    assert not child.ends and one.doomed is None and len(channel.events) == 1
    assert [one for one in channel.sent if one not in sent] == [("cancel", 1)]  # Refused by a real channel.
