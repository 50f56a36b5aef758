"""The host's session against a scripted channel: who leads, whose mail it is, what ends it."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import hookless
from fakes import FakeChannel, Sent, echo, session
from hookless._hearing import Options
from hookless._post import LOGS
from hookless._session import Session
from hookless._stream import Stream

PLAIN = Options()
# Far above what anything here takes.
PATIENCE = 20.0
LOG = (20, "app", "text", 1.0, "path", 1, "function")


def ask(one: Session, value: object, options: Options = PLAIN) -> Any:
    request: Any = (0, "m:f", None, (value,), {})
    return one.call(request, options)[0]


def stream(one: Session, options: Options = PLAIN) -> Stream[Any]:
    request: Any = (2, "m:f", None, (), {})
    return Stream(None, one, request, options)


class Threads:
    """Runs functions, each in its own thread, and keeps what each returned or raised."""

    def __init__(self, *functions: Callable[[], object]) -> None:
        self.outcomes: list[Any] = [None] * len(functions)
        self.threads = [
            threading.Thread(target=self._run, args=(index, function))
            for index, function in enumerate(functions)
        ]
        for thread in self.threads:
            thread.start()

    def _run(self, index: int, function: Callable[[], object]) -> None:
        try:
            self.outcomes[index] = function()
        except BaseException as error:
            self.outcomes[index] = error

    def join(self) -> list[Any]:
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        return self.outcomes


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


class Slow:
    """A peer that answers when it is told to."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call":
            self.calls.append(sent[1])
        else:
            echo(channel, sent)


def whole(one: Session, channel: FakeChannel) -> None:
    """Nothing is left of the calls that are over."""
    assert ask(one, "more") == "more"
    assert not one.post.boxes and not one.post._owed and not one.post.arrived
    assert not one._turns._line and not one.output.outlets and not one.windows
    assert not channel.open and channel.held == 0


def test_calls_of_many_threads_are_all_sent_and_each_gets_its_own_answer() -> None:
    """C153, C156: in whatever order the answers come; one of them leads, and never two."""
    peer = Slow()
    one, channel, _ = session(peer)
    threads = Threads(*[lambda n=n: ask(one, n) for n in range(16)])
    until(lambda: len(peer.calls) == 16)
    asked = {sent[1]: sent[2][3] for sent in channel.sent}
    for call_id in reversed(peer.calls):
        channel.put("result", call_id, asked[call_id], 5)
    assert threads.join() == list(range(16))
    one2 = session()[0]
    numbers = Threads(*[lambda n=n: [ask(one2, n) for _ in range(200)] for n in range(8)])
    assert numbers.join() == [[n] * 200 for n in range(8)]
    channel.peer = echo
    whole(one, channel)


def test_a_failure_is_that_of_its_call() -> None:
    """C153: the others get their results."""
    peer = Slow()
    one, channel, _ = session(peer)
    threads = Threads(*[lambda n=n: ask(one, n) for n in range(3)])
    until(lambda: len(peer.calls) == 3)
    asked = {sent[1]: sent[2][3][0] for sent in channel.sent}
    failure = hookless.loads(hookless.dumps(ValueError("bad")))
    for call_id in peer.calls:
        if asked[call_id] == 1:
            channel.put("error", call_id, failure)
        else:
            channel.put("result", call_id, (asked[call_id],))
    found = threads.join()
    assert found[0] == 0 and found[2] == 2 and isinstance(found[1], ValueError)


def test_a_deadline_that_is_acknowledged_costs_that_call_only() -> None:
    peer = Slow()
    one, channel, child = session(peer)
    other = Threads(lambda: ask(one, "other"))
    until(lambda: peer.calls)
    with pytest.raises(hookless.DeadlineExceeded, match=r"0\.1 s; the call was cancelled"):
        ask(one, "late", Options(deadline=0.1))
    assert ("cancel", 2) in channel.sent and not child.ends
    channel.put("result", 1, ("other",))
    assert other.join() == ["other"]
    channel.peer = echo
    assert one.is_alive
    whole(one, channel)


@pytest.mark.parametrize("leads", [False, True])
def test_a_deadline_without_an_acknowledgement_stops_the_child(leads: bool) -> None:
    """Past the grace; the others are told why."""
    calls: list[int] = []
    one, channel, child = session(lambda channel, sent: calls.append(1), grace=0.1)
    child.status = None
    first: list[Threads] = []
    if not leads:
        first.append(Threads(lambda: ask(one, "other")))
        until(lambda: calls)
    with pytest.raises(hookless.DeadlineExceeded, match="child was stopped"):
        ask(one, "late", Options(deadline=0.2))
    for other in first:
        (error,) = other.join()
        assert isinstance(error, hookless.WorkerDied)
        assert "no answer within 0.2 s" in str(error) and error.exit_status is None
    assert child.ends == [(0.0, 0.1)] and channel.closed and not one.is_alive
    with pytest.raises(hookless.WorkerDied, match="over since an earlier call"):
        ask(one, "again")


def test_without_grace_the_child_is_killed_at_once() -> None:
    one, _, child = session(lambda channel, sent: None, grace=0.0)
    with pytest.raises(hookless.DeadlineExceeded, match="child was stopped"):
        ask(one, "late", Options(deadline=0.05))
    assert child.ends == [(0.0, 0.0)]


@pytest.mark.parametrize("terminal", ["result", "error"])
def test_an_answer_that_comes_after_the_deadline_is_dropped(terminal: str) -> None:
    """The worker goes on: whatever ends the call is its end."""

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "cancel":
            channel.put("item", sent[1], 5, 100)
            channel.put(terminal, sent[1], ("late",), 100)

    one, channel, _ = session(peer)
    with pytest.raises(hookless.DeadlineExceeded, match="cancelled"):
        ask(one, "late", Options(deadline=0.05))
    channel.peer = echo
    whole(one, channel)


class Stop(BaseException):
    pass


def interrupt(channel: FakeChannel) -> None:
    """Have the step that comes raise what a signal handler would."""
    channel.events.append(Stop())


def test_an_interrupted_call_is_cancelled_and_the_worker_goes_on() -> None:
    """Its late frames are dropped and given back."""

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call":
            interrupt(channel)
        else:
            channel.put("log", sent[1], LOG)
            channel.put("progress", sent[1], (1, 2, ""))
            channel.put("item", sent[1], 1, 50)
            channel.put("cancelled", sent[1])

    one, channel, _ = session(peer)
    with pytest.raises(Stop):
        ask(one, "interrupted")
    assert channel.sent[-1] == ("cancel", 1)
    channel.peer = echo
    whole(one, channel)


def test_an_interrupted_call_that_does_not_end_is_waited_for_by_the_next() -> None:
    """For the grace, counted from its CANCEL; then the child is stopped, and that is said."""

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent == ("call", 1, (0, "m:f", None, ("interrupted",), {}), 0):
            interrupt(channel)

    one, _, child = session(peer, grace=0.2)
    child.status = None
    with pytest.raises(Stop):
        ask(one, "interrupted")
    assert child.is_held
    with pytest.raises(hookless.WorkerDied, match=r"cancelled did not end within 0\.2 s"):
        ask(one, "next")
    assert child.ends == [(0.0, 0.2)]


def test_an_acknowledgement_that_came_meanwhile_is_seen_first() -> None:
    """However long ago the grace was over."""

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call" and sent[1] == 1:
            interrupt(channel)
        else:
            echo(channel, sent)

    one, channel, _ = session(peer, grace=0.0)
    with pytest.raises(Stop):
        ask(one, "interrupted")
    time.sleep(0.01)
    whole(one, channel)


def test_the_end_of_the_child_ends_all_calls() -> None:
    """Each has an error of its own, with what the child said last; what came before it counts."""
    peer = Slow()
    one, channel, child = session(peer)
    child.status = 3
    child.printed.append((1, b"last words"))
    threads = Threads(*[lambda n=n: ask(one, n) for n in range(4)])
    until(lambda: len(peer.calls) == 4)
    channel.put("result", peer.calls[0], ("in time",))
    channel.put("eof")
    found = threads.join()
    died = [error for error in found if isinstance(error, hookless.WorkerDied)]
    assert len(died) == 3 and len({id(error) for error in died}) == 3 and "in time" in found
    assert all(error.exit_status == 3 and error.stderr == b"last words" for error in died)
    with pytest.raises(hookless.WorkerDied, match="since an earlier call: its child ended"):
        ask(one, "again")


def test_a_broken_rule_is_told_to_who_leads_and_the_others_that_it_was() -> None:
    peer = Slow()
    one, channel, _ = session(peer)
    threads = Threads(*[lambda n=n: ask(one, n) for n in range(3)])
    until(lambda: len(peer.calls) == 3)
    channel.fail(hookless.DecodeError("broken", code="bad_marker", offset=5))
    found = threads.join()
    assert sorted(type(error).__name__ for error in found) == ["DecodeError", "WorkerDied", "WorkerDied"]
    assert all("bad_marker" in str(error) for error in found)


HARMLESS: list[Exception] = [
    hookless.EncodeError("no"),
    hookless.LimitExceeded("1024 are open", code="open_call_limit"),
    hookless.ProtocolError("inside", code="busy"),
]
FATAL: list[Exception] = [
    hookless.ProtocolError("early", code="unexpected_frame"),
    hookless.DecodeError("early", code="bad_magic"),
    hookless.LimitExceeded("early", code="undelivered_limit"),
    hookless.Stalled("early"),
    OSError("bad descriptor"),
]


@pytest.mark.parametrize("error", HARMLESS + FATAL, ids=repr)
def test_what_begin_raises(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """EncodeError and too many calls leave the session as it was; anything else ends it."""
    one, channel, child = session()

    def refuse(*_: object) -> int:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(channel, "begin", refuse)
        with pytest.raises(type(error)) as caught:
            ask(one, 1)
    assert caught.value is error
    if error in HARMLESS:
        whole(one, channel)
    else:
        assert not one.is_alive and child.ends == [(0.0, 0.0)]
        with pytest.raises(hookless.WorkerDied, match="over since an earlier call"):
            ask(one, 1)


def hear(log: list[Any], **more: Any) -> Options:
    return Options(
        on_output=lambda *parts: log.append(parts),
        on_progress=lambda *parts: log.append(parts),
        on_log=lambda record: log.append(record.getMessage()),
        **more,
    )


def test_what_is_heard_beside_the_answer() -> None:
    """All of it before the call returns, by the thread that made it; what is printed last too."""
    heard: list[Any] = []

    def peer(channel: FakeChannel, sent: Sent) -> None:
        channel.put("output", 0, b"one")
        channel.put("log", sent[1], LOG)
        channel.put("progress", sent[1], (1, None, "a"))
        child.printed.append((1, b"two"))
        echo(channel, sent)

    one, channel, child = session(peer)
    assert ask(one, 5, hear(heard)) == 5
    assert heard == [("stdout", b"one"), "text", (1, None, "a"), ("stderr", b"two")]
    assert one.output.both == b"onetwo" and one.output.errors == b"two"
    whole(one, channel)


@pytest.mark.parametrize("which", ["on_output", "on_progress", "on_log"])
def test_what_a_function_raises_comes_out_when_the_call_is_over(which: str) -> None:
    """In place of its outcome, and nothing more is given to any."""
    heard: list[Any] = []

    def broken(*_: object) -> None:
        heard.append(which)
        raise LookupError("mine")

    def peer(channel: FakeChannel, sent: Sent) -> None:
        for _ in range(3):
            channel.put("output", 0, b"one")
            channel.put("log", sent[1], LOG)
            channel.put("progress", sent[1], (1, None, "a"))
        echo(channel, sent)

    one, channel, _ = session(peer)
    options: Any = {which: broken}
    with pytest.raises(LookupError, match="mine"):
        ask(one, 5, Options(**options))
    assert heard == [which]
    whole(one, channel)


def test_a_function_may_use_the_worker() -> None:
    """It runs while its thread does not wait for anything."""
    found: list[Any] = []

    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent[1] == 1:
            channel.put("progress", 1, (1, None, "a"))
        echo(channel, sent)

    one, channel, _ = session(peer)
    options = Options(on_progress=lambda *_: found.append(ask(one, "inner")))
    assert ask(one, "outer", options) == "outer" and found == ["inner"]
    whole(one, channel)


def test_while_its_owner_is_busy_the_latest_progress_and_a_bounded_number_of_logs_are_kept() -> None:
    """1000, and then a count of the others."""
    heard: list[Any] = []
    busy, go = threading.Event(), threading.Event()

    def slow(done: int, total: int | None, text: str) -> None:
        heard.append(done)
        busy.set()
        assert go.wait(PATIENCE)

    peer = Slow()
    one, channel, _ = session(peer)
    options = Options(on_progress=slow, on_log=lambda record: heard.append(record.getMessage()))
    owner = Threads(lambda: ask(one, "slow", options))
    until(lambda: peer.calls)
    channel.put("progress", 1, (1, None, ""))
    assert busy.wait(PATIENCE)
    # Another thread leads now.
    for number in range(2, 5):
        channel.put("progress", 1, (number, None, ""))
    for _ in range(LOGS + 7):
        channel.put("log", 1, LOG)
    channel.put("result", 1, ("done",))
    channel.peer = echo
    assert ask(one, "other") == "other"
    go.set()
    assert owner.join() == ["done"]
    assert heard[:2] == [1, 4] and heard[2:-1] == ["text"] * LOGS
    assert heard[-1].startswith("7 messages of the child were dropped")


def test_messages_of_no_call_go_to_the_hosts_logger(caplog: pytest.LogCaptureFixture) -> None:
    """Also those of a call that nobody waits for; never to a function of another call."""
    heard: list[Any] = []

    def peer(channel: FakeChannel, sent: Sent) -> None:
        channel.put("log", 0, LOG)
        echo(channel, sent)

    one, channel, _ = session(peer)
    with caplog.at_level(logging.INFO, "hookless.child"):
        assert ask(one, 5, hear(heard)) == 5
    assert heard == [] and [record.name for record in caplog.records] == ["hookless.child.app"]
    whole(one, channel)


def test_close_while_another_thread_waits() -> None:
    """That call fails, and says why; so does every later one."""
    peer = Slow()
    one, _, child = session(peer)
    other = Threads(lambda: ask(one, 1))
    until(lambda: not one._turns.is_free())
    one.close()
    (error,) = other.join()
    assert type(error) is hookless.HooklessError and "closed while this call was open" in str(error)
    assert len(child.ends) == 1
    one.close()
    assert len(child.ends) == 1
    with pytest.raises(hookless.HooklessError, match="closed"):
        ask(one, 1)


def test_close_asks_the_child_to_finish_and_hears_it_out() -> None:
    def peer(channel: FakeChannel, sent: Sent) -> None:
        if sent == ("shutdown",):
            channel.put("output", 0, b"last")
        echo(channel, sent)

    one, channel, child = session(peer)
    assert ask(one, 1) == 1
    one.close()
    assert channel.sent[-1] == ("shutdown",) and one.output.both == b"last"
    assert child.ends == [(2.0, 1.0)] and channel.closed


def test_close_cancels_streams_that_nobody_reads() -> None:
    """SHUTDOWN comes after their end; the iterator says that the worker is closed."""
    one, channel, _ = session(Slow())
    left = stream(one)
    one.close()
    assert channel.sent[-2:] == [("cancel", 1), ("shutdown",)]
    with pytest.raises(hookless.HooklessError):
        next(left)
    assert list(left) == []


def test_a_dropped_session_is_that_of_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork may neither use it nor end the child."""
    one, channel, child = session()
    monkeypatch.setattr(one, "_process", 1)
    disowned: list[bool] = []
    monkeypatch.setattr(child, "disown", lambda: disowned.append(True), raising=False)
    with pytest.raises(hookless.HooklessError, match="forked"):
        ask(one, 1)
    one.close()
    assert disowned == [True] and not child.ends and channel.sent == []
    gc.collect()
