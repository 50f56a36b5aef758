"""`Stream` against a scripted channel: items as they come, credit, and every way to leave one."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest

import hookless
from fakes import FakeChannel, Sent, echo, session
from hookless._hearing import Options
from hookless._post import Log
from hookless._stream import Stream
from hookless._window import Window
from test_session import PATIENCE, PLAIN, Slow, Stop, Threads, ask, interrupt, stream, until, whole


class Generator:
    """A peer that yields numbers while it has credit, and returns their count; other calls are echoed."""

    def __init__(self, count: int, cost: int = 100) -> None:
        self.count, self.cost = count, cost
        self.next: dict[int, int] = {}
        self.credit: dict[int, int] = {}
        self.most = 0

    def __call__(self, channel: FakeChannel, sent: Sent) -> None:
        if sent[0] == "call" and sent[2][0] == 2:
            self.next[sent[1]], self.credit[sent[1]] = 0, sent[3]
        elif sent[0] == "credit":
            self.credit[sent[1]] += sent[2]
        else:
            echo(channel, sent)
            return
        self.most = max(self.most, self.credit[sent[1]])
        while self.next[sent[1]] < self.count and self.credit[sent[1]]:
            channel.put("item", sent[1], self.next[sent[1]], self.cost)
            self.next[sent[1]] += 1
            self.credit[sent[1]] -= 1
        if self.next[sent[1]] == self.count and sent[1] in channel.open:
            channel.put("result", sent[1], self.count, 10)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 16, 17, 100])
def test_items_come_in_order_and_then_the_value(count: int) -> None:
    one, channel, _ = session(Generator(count))
    made = stream(one)
    with pytest.raises(hookless.HooklessError, match="have been read"):
        made.value  # noqa: B018 (it raises)
    assert list(made) == list(range(count))
    assert made.value == count and list(made) == []
    assert repr(made) == "<hookless.Stream, over>"
    whole(one, channel)


def test_c163_an_item_is_there_before_the_next_is_made() -> None:
    """Items come one by one: the first is read while the child has not made the second."""
    peer = Slow()
    one, channel, _ = session(peer)
    made = stream(one)
    for number in range(5):
        channel.put("item", 1, number, 7)
        assert next(made) == number and channel.held == 0
    channel.put("result", 1, "value")
    assert list(made) == [] and made.value == "value"
    channel.peer = echo
    whole(one, channel)


def test_credit_grows_from_two_to_sixteen_and_is_given_in_batches() -> None:
    """No frame for each item; never more than sixteen on their way or waiting."""
    peer = Generator(1000)
    one, channel, _ = session(peer)
    for number in stream(one):
        waiting = len(one.post.boxes[1].events)
        assert waiting + peer.credit[1] <= 16
        assert number >= 0
    grants = [sent[2] for sent in channel.sent if sent[0] == "credit"]
    assert channel.sent[0][3] == 2 and grants[0] == 15 and set(grants[1:]) == {8}
    assert channel.most <= 16 * 100 + 10


def test_large_items_have_a_smaller_window() -> None:
    """Half of what a session may hold, whatever they cost; one at a time at least."""
    for cost, most in [(1 << 26, 8), (1 << 28, 2), (1 << 30, 2)]:
        one, channel, _ = session(Generator(100, cost), room=1 << 29)
        assert len(list(stream(one))) == 100
        assert channel.most <= most * cost + 10
    one, channel, _ = session(Generator(100, 1 << 29), room=1 << 29)
    assert len(list(stream(one))) == 100 and {sent[2] for sent in channel.sent if sent[0] == "credit"} == {1}


def test_windows_of_several_streams_share_the_room() -> None:
    """What one has been granted the other may not hold too."""
    windows: list[Window] = []
    windows += [Window(windows, 1000), Window(windows, 1000)]
    assert windows[0].taken(100) == 4
    windows.pop()
    assert windows[0].taken(100) == 6
    # The first has all of it: another one has an item at a time, until that has given up half.
    windows.append(Window(windows, 1000))
    assert windows[1].taken(100) == 1 and windows[1].taken(100) == 1
    for _ in range(6):
        assert windows[0].taken(100) == 0
    assert windows[1].taken(100) == 5 and sum(one._open for one in windows) == 9


def test_calls_between_the_items() -> None:
    """The stream waits meanwhile; several may be open."""
    one, channel, _ = session(Generator(50))
    first, second = stream(one), stream(one)
    # Many that are begun at once have one item each on its way.
    assert [sent[3] for sent in channel.sent] == [2, 1]
    for number, (left, right) in enumerate(zip(first, second, strict=True)):
        assert left == right == number and ask(one, number) == number
    whole(one, channel)


LEAVING: dict[str, Any] = {
    "close": lambda made: made.close(),
    "with": lambda made: made.__exit__(None, None, None),
    "forgotten": lambda made: None,
}


@pytest.mark.parametrize("how", LEAVING)
def test_a_stream_that_is_left_is_cancelled_and_does_not_block(how: str) -> None:
    """CANCEL is sent at once; what comes late is dropped and given back, and the next call is answered."""
    peer = Slow()
    one, channel, _ = session(peer)
    made = stream(one)
    channel.put("item", 1, 0, 100)
    channel.put("item", 1, 1, 100)
    assert next(made) == 0
    LEAVING[how](made)
    alive = weakref.ref(made)
    if how != "forgotten":
        assert list(made) == []
        made.close()
    del made
    assert alive() is None
    assert [sent for sent in channel.sent if sent[0] == "cancel"] == [("cancel", 1)]
    channel.peer = echo
    whole(one, channel)


def test_a_stream_that_ended_by_itself_is_not_cancelled() -> None:
    """The end was on its way already."""
    one, channel, _ = session(Generator(3))
    assert next(stream(one)) == 0
    whole(one, channel)
    with stream(one) as made:
        assert list(made) == [0, 1, 2]
    whole(one, channel)


def test_a_stream_in_a_cycle_is_cancelled_by_the_collector() -> None:
    one, channel, _ = session(Slow())
    holder: dict[str, Any] = {"stream": stream(one)}
    holder["holder"] = holder
    del holder
    gc.collect()
    assert channel.sent[-1] == ("cancel", 1)
    channel.peer = echo
    whole(one, channel)


def test_c164_the_deadline_is_for_each_wait() -> None:
    """Slow items are no matter as long as each is in time; a late one ends the stream."""
    peer = Slow()
    one, channel, child = session(peer)
    made = stream(one, Options(deadline=1.0))
    for number in range(3):
        time.sleep(0.5)
        channel.put("item", 1, number, 100)
        assert next(made) == number
    began = time.monotonic()
    with pytest.raises(hookless.DeadlineExceeded, match="within 1 s; the call was cancelled"):
        next(made)
    assert 1.0 <= time.monotonic() - began < PATIENCE and not child.ends
    assert list(made) == []
    channel.peer = echo
    whole(one, channel)


def test_a_failure_in_the_middle_keeps_the_earlier_items() -> None:
    one, channel, _ = session(Slow())
    made = stream(one)
    channel.put("item", 1, 0, 100)
    channel.put("error", 1, hookless.loads(hookless.dumps(ValueError("bad"))), 50)
    assert next(made) == 0
    with pytest.raises(ValueError, match="bad"):
        next(made)
    assert list(made) == []
    channel.peer = echo
    whole(one, channel)


def test_each_item_is_converted() -> None:
    """One that does not fit is an error of its own: the stream goes on."""
    one, channel, _ = session(Slow())

    def convert(value: Any) -> Any:
        if value == 1:
            raise hookless.DecodeError("no", code="type_mismatch")
        return str(value)

    made = stream(one, Options(convert=convert))  # type: ignore[arg-type]
    for number in range(3):
        channel.put("item", 1, number, 100)
    channel.put("result", 1, 5)
    assert next(made) == "0"
    with pytest.raises(hookless.DecodeError):
        next(made)
    assert list(made) == ["2"] and made.value == 5


def test_an_interrupt_ends_the_stream() -> None:
    one, channel, _ = session(Slow())
    made = stream(one)
    interrupt(channel)
    with pytest.raises(Stop):
        next(made)
    assert list(made) == [] and channel.sent[-1] == ("cancel", 1)
    channel.peer = echo
    whole(one, channel)


def test_one_thread_at_a_time_reads() -> None:
    """Another one is refused, and may close it: who reads is told."""
    peer = Slow()
    one, channel, _ = session(peer)
    made: Stream[Any] = stream(one)
    reader = Threads(lambda: next(made))
    until(lambda: not one._turns.is_free())
    with pytest.raises(hookless.HooklessError, match="one thread at a time"):
        next(made)
    made.close()
    (error,) = reader.join()
    assert "closed while it was being read" in str(error)
    channel.peer = echo
    whole(one, channel)


def test_what_is_heard_while_a_stream_is_read() -> None:
    """In the thread that reads it, before the item that came after it."""
    heard: list[Any] = []
    log: Log = (20, "app", "text", 1.0, "path", 1, "function")
    one, channel, _ = session(Slow())
    options = Options(
        on_output=lambda *parts: heard.append((threading.get_ident(), *parts)),
        on_log=lambda record: heard.append(record.getMessage()),
    )
    made = stream(one, options)
    channel.put("output", 0, b"said")
    channel.put("log", 1, log)
    channel.put("item", 1, 0, 100)
    assert heard == [] and next(made) == 0
    assert heard == [(threading.get_ident(), "stdout", b"said"), "text"]
    made.close()
    channel.peer = echo
    assert ask(one, 1, PLAIN) == 1
