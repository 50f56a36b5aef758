"""The session of an event loop against a scripted channel."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest

import hookless
from fakes import FakeChannel, FakeChild, LoopChannel, Peer, Sent, echo, started
from hookless import aio
from hookless._aio import LoopSession
from hookless._background import in_thread
from hookless._hearing import Options
from test_session import LOG, PATIENCE, PLAIN, Slow
from test_stream import Generator


def begin(
    peer: Peer = echo, grace: float = 20.0, room: int = 1 << 29, stall: float = PATIENCE
) -> tuple[LoopSession, LoopChannel, FakeChild]:
    made, channel, child = started(peer, LoopChannel)
    assert isinstance(channel, LoopChannel)
    return LoopSession(made, grace=grace, room=room, stall=stall), channel, child


def begin_and_leave(one: LoopSession) -> None:
    """A call that is cancelled as soon as it is sent."""
    call = one.new_call(PLAIN)
    one.send_now(call, (0, "m:f", None, (), {}), 0)
    one.leave(call)


async def ask(one: LoopSession, value: object, options: Options = PLAIN) -> Any:
    return (await one.call((0, "m:f", None, (value,), {}), options))[0]


def stream(one: LoopSession, options: Options = PLAIN) -> aio.Stream[Any]:
    nobody: Any = None
    return aio.Stream(nobody, one, (2, "m:f", None, (), {}), options)


def run(main: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await main
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        assert not tasks, tasks

    asyncio.run(bounded())


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.001)


async def whole(one: LoopSession, channel: FakeChannel) -> None:
    """Nothing is left of the calls that are over; then it is closed."""
    channel.peer = echo
    assert await ask(one, "more") == "more"
    assert not one.post.boxes and not one.post._owed and not one.post.arrived
    assert not one.waiting and not one.output.outlets and not one.windows
    assert not channel.open and channel.held == 0
    await one.close()
    assert channel.closed and not one._readers


def test_many_calls_at_once_and_each_gets_its_own_answer() -> None:
    """C153, C156: in whatever order the answers come; a failure is that of its call."""

    async def main() -> None:
        peer = Slow()
        one, channel, _ = begin(peer)
        tasks = [asyncio.create_task(ask(one, n)) for n in range(100)]
        await until(lambda: len(peer.calls) == 100)
        asked = {sent[1]: sent[2][3] for sent in channel.sent}
        failure = hookless.loads(hookless.dumps(ValueError("bad")))
        for call_id in reversed(peer.calls):
            if asked[call_id] == (7,):
                channel.put("error", call_id, failure, 3)
            else:
                channel.put("result", call_id, asked[call_id], 5)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found.pop(7), ValueError)
        assert found == [n for n in range(100) if n != 7]
        assert max(channel.most_at_once) == 1 << 20
        await whole(one, channel)

    run(main())


def test_streams_beside_calls() -> None:
    async def main() -> None:
        one, channel, _ = begin(Generator(100))

        async def read() -> tuple[list[int], int]:
            made = stream(one)
            with pytest.raises(hookless.HooklessError, match="have been read"):
                made.value  # noqa: B018 (it raises)
            found = [item async for item in made]
            assert [item async for item in made] == []
            return found, made.value

        calls = [ask(one, n) for n in range(20)]
        found = await asyncio.gather(read(), read(), *calls)
        assert found[:2] == [(list(range(100)), 100)] * 2 and list(found[2:]) == list(range(20))
        assert channel.most <= 2 * 16 * 100 + 20 * 10 + 20
        await whole(one, channel)

    run(main())


def test_cancelling_a_task_cancels_its_call_at_once() -> None:
    """CANCEL is sent, the task does not wait for its acknowledgement, and nobody else notices."""

    async def main() -> None:
        sent: list[int] = []

        def peer(channel: FakeChannel, what: Sent) -> None:
            if what[0] == "cancel":
                sent.append(what[1])

        one, channel, child = begin(peer)
        other = asyncio.create_task(ask(one, "other"))
        task = asyncio.create_task(ask(one, "cancelled"))
        await until(lambda: len(channel.open) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sent == [2]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await ask(one, "too slow")
        assert sent == [2, 3] and one.is_alive and not child.ends
        channel.put("item", 2, "late", 100)
        for call_id in (2, 3):
            channel.put("cancelled", call_id)
        channel.put("result", 1, ("other",))
        assert await other == "other"
        await whole(one, channel)

    run(main())


def test_a_cancelled_call_that_does_not_end_is_stopped_in_the_background() -> None:
    """Past its grace, though nobody waits; who does then is told why."""

    async def main() -> None:
        one, channel, child = begin(lambda channel, sent: None, grace=0.1)
        child.status = None
        other = asyncio.create_task(ask(one, "other"))
        task = asyncio.create_task(ask(one, "cancelled"))
        await until(lambda: len(channel.open) == 2)
        task.cancel()
        with pytest.raises(hookless.WorkerDied, match=r"did not end within 0\.1 s"):
            await other
        assert child.ends == [(0.0, 0.1)] and not one.is_alive
        with pytest.raises(hookless.WorkerDied, match="since an earlier call"):
            await ask(one, "again")
        await one.close()

    run(main())


def test_turns_that_are_always_slow_do_not_put_off_the_end_for_ever() -> None:
    """As a child makes them that floods its host; a cancelled call is late all the same."""

    async def main() -> None:
        one, _, child = begin(lambda channel, sent: None, grace=0.1)
        turn = one._turn

        def slow() -> None:
            time.sleep(0.05)
            turn()

        one._turn = slow  # type: ignore[method-assign]
        begin_and_leave(one)
        await until(lambda: child.ends)
        assert child.ends == [(0.0, 0.1)]
        await one.close()

    run(main())


def test_a_loop_that_was_held_up_past_the_grace_reads_before_it_judges() -> None:
    """More has come meanwhile than is taken in one turn; what did not come in time is late all the same."""

    async def main() -> None:
        one, channel, child = begin(echo, grace=0.1)

        def obey(channel: FakeChannel, sent: Sent) -> None:
            if sent[0] == "cancel":
                channel.put("cancelled", sent[1])

        channel.peer = obey
        for _ in range(250):
            begin_and_leave(one)
        assert len(channel.events) == 250
        time.sleep(0.3)
        await until(lambda: not channel.events)
        await asyncio.sleep(0.2)
        assert one.doomed is None
        channel.peer = lambda channel, sent: None
        begin_and_leave(one)
        time.sleep(0.3)
        await until(lambda: child.ends)
        assert child.ends == [(0.0, 0.1)]
        await one.close()

    run(main())


def test_deadlines() -> None:
    """As in threads: the call only, if the child acknowledges; each wait of a stream (C164)."""

    async def main() -> None:
        one, channel, child = begin(Slow())
        with pytest.raises(hookless.DeadlineExceeded, match=r"0\.05 s; the call was cancelled"):
            await ask(one, "late", Options(deadline=0.05))
        made = stream(one, Options(deadline=0.5))
        for number in range(3):
            await asyncio.sleep(0.3)
            channel.put("item", 2, number, 10)
            assert await anext(made) == number
        with pytest.raises(hookless.DeadlineExceeded, match="cancelled"):
            await anext(made)
        assert [item async for item in made] == [] and not child.ends
        await whole(one, channel)
        two, channel, child = begin(lambda channel, sent: None, grace=0.0)
        with pytest.raises(hookless.DeadlineExceeded, match="child was stopped"):
            await ask(two, "late", Options(deadline=0.05))
        assert child.ends == [(0.0, 0.0)]
        await two.close()

    run(main())


@pytest.mark.parametrize("how", ["close", "aclose", "with", "forgotten", "cancelled"])
def test_a_stream_that_is_left_is_cancelled(how: str) -> None:
    async def main() -> None:
        one, channel, _ = begin(Slow())
        made = stream(one)
        channel.put("item", 1, 0, 100)
        channel.put("item", 1, 1, 100)
        assert await anext(made) == 0
        if how == "close":
            made.close()
        elif how == "aclose":
            await made.aclose()
        elif how == "with":
            async with made:
                pass
        elif how == "cancelled":
            assert await anext(made) == 1
            task = asyncio.create_task(anext(made))
            await until(lambda: one.waiting)
            with pytest.raises(hookless.HooklessError, match="one task at a time"):
                await anext(made)
            task.cancel()
            await asyncio.wait([task])
        if how != "forgotten":
            assert [item async for item in made] == []
        del made
        gc.collect()
        await until(lambda: ("cancel", 1) in channel.sent)
        await whole(one, channel)

    run(main())


def test_what_is_heard_beside_the_answer() -> None:
    """By the task that waits; what a function raises comes out when the call is over."""
    heard: list[Any] = []

    def peer(channel: FakeChannel, sent: Sent) -> None:
        channel.put("output", 0, b"one")
        channel.put("log", sent[1], LOG)
        channel.put("progress", sent[1], (1, None, "a"))
        echo(channel, sent)

    def broken(*_: object) -> None:
        raise LookupError("mine")

    async def main() -> None:
        one, channel, child = begin(peer)
        child.printed.append((1, b"two"))
        options = Options(
            on_output=lambda *parts: heard.append(parts),
            on_progress=lambda *parts: heard.append(parts),
            on_log=lambda record: heard.append(record.getMessage()),
        )
        assert await ask(one, 5, options) == 5
        assert sorted(map(str, heard)) == sorted(
            map(str, [("stdout", b"one"), "text", (1, None, "a"), ("stderr", b"two")])
        )
        with pytest.raises(LookupError, match="mine"):
            await ask(one, 5, Options(on_progress=broken))
        await whole(one, channel)

    run(main())


def test_a_large_frame_is_received_by_a_thread() -> None:
    """With the reader taken off meanwhile; the loop goes on, and what it sends is sent."""

    async def main() -> None:
        peer = Slow()
        one, channel, _ = begin(peer)
        task = asyncio.create_task(ask(one, "large"))
        await until(lambda: peer.calls)
        channel.pending = (1 << 20) + 1
        channel.put("progress", 1, (0, None, ""))
        await until(lambda: channel.helped)
        assert not one._readers
        channel.peer = echo
        other = asyncio.create_task(ask(one, "other"))
        assert await other == "other"
        await until(lambda: channel.helped >= 2)
        assert not task.done()
        channel.pending = 0
        channel.put("result", 1, ("large",))
        assert await task == "large"
        await until(lambda: one._readers)
        await whole(one, channel)

    run(main())


def test_at_a_mebibyte_no_thread_is_asked() -> None:
    async def main() -> None:
        one, channel, _ = begin(Slow())
        task = asyncio.create_task(ask(one, "large"))
        await until(lambda: channel.open)
        channel.pending = 1 << 20
        channel.put("progress", 1, (0, None, ""))
        channel.put("result", 1, ("large",))
        assert await task == "large" and channel.helped == 0
        channel.pending = 0
        await whole(one, channel)

    run(main())


def test_what_is_left_to_be_sent_is_sent_when_there_is_room() -> None:
    """The loop watches for that no longer than needed."""

    async def main() -> None:
        one, channel, _ = begin(Slow())
        channel.wants_write = True
        task = asyncio.create_task(ask(one, 1))
        await until(lambda: len(channel.most_at_once) > 5)
        channel.wants_write = False
        await until(lambda: not one._writes)
        count = len(channel.most_at_once)
        await asyncio.sleep(0.05)
        assert len(channel.most_at_once) == count
        channel.put("result", 1, (1,))
        assert await task == 1
        await whole(one, channel)

    run(main())


@pytest.mark.parametrize("way", ["in", "out"])
def test_a_frame_that_stands_still_is_looked_at(way: str) -> None:
    """Though nothing wakes the loop: neither bytes, nor room for some."""

    async def main() -> None:
        one, channel, child = begin(Slow(), stall=0.1)
        task = asyncio.create_task(ask(one, 1))
        await until(lambda: channel.open)
        channel.pending, channel.wants_write = (5, False) if way == "in" else (0, True)
        channel.put("progress", 1, (0, None, ""))
        await until(lambda: one._looks)
        channel.fail(hookless.Stalled("stands still"))
        with pytest.raises(hookless.Stalled):
            await task
        assert child.ends == [(0.0, 0.0)]
        await one.close()

    run(main())


@pytest.mark.parametrize("kind", ["eof", "broken", "helper"])
def test_the_end_of_a_session_ends_all_calls(kind: str) -> None:
    """Who comes first is told what broke it, the others that it is over; a helper is no hindrance."""

    async def main() -> None:
        peer = Slow()
        one, channel, child = begin(peer)
        child.status = 3
        tasks = [asyncio.create_task(ask(one, n)) for n in range(3)]
        await until(lambda: len(peer.calls) == 3)
        if kind == "helper":
            channel.pending = 1 << 30
            channel.put("progress", 1, (0, None, ""))
            await until(lambda: channel.helped)
        if kind == "eof":
            channel.put("eof")
        else:
            channel.events.append(hookless.DecodeError("broken", code="bad_marker"))
            channel.put("woken")
        found = await asyncio.gather(*tasks, return_exceptions=True)
        names = sorted(type(error).__name__ for error in found)
        assert names == ["WorkerDied" if kind == "eof" else "DecodeError", "WorkerDied", "WorkerDied"]
        assert child.ends == [(2.0, 1.0) if kind == "eof" else (0.0, 0.0)]
        with pytest.raises(hookless.WorkerDied):
            await ask(one, 1)
        await one.close()

    run(main())


def test_close_while_a_task_waits_and_while_none_does() -> None:
    async def main() -> None:
        peer = Slow()
        one, channel, child = begin(peer)
        task = asyncio.create_task(ask(one, 1))
        await until(lambda: one.waiting)
        await asyncio.gather(one.close(), one.close())
        with pytest.raises(hookless.HooklessError, match="closed while this call was open"):
            await task
        assert child.ends == [(0.0, 0.0)]
        two, channel, child = begin(Slow())
        left = stream(two)
        await two.close()
        assert channel.sent[-2:] == [("cancel", 1), ("shutdown",)] and child.ends == [(2.0, 1.0)]
        with pytest.raises(hookless.HooklessError, match="closed"):
            await anext(left)
        with pytest.raises(hookless.HooklessError, match="closed"):
            await ask(two, 1)

    run(main())


def test_a_child_that_does_not_finish_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr("hookless._aio.PATIENCE", 0.05)
        one, _, child = begin(lambda channel, sent: None)
        await one.close()
        assert child.ends == [(0.0, 1.0)]

    run(main())


def test_another_loop_and_a_worker_that_was_not_started() -> None:
    """Both are told."""

    async def main() -> None:
        one, channel, _ = begin()

        def elsewhere() -> object:
            return asyncio.run(ask(one, 1))

        with pytest.raises(hookless.HooklessError, match="another event loop"):
            await in_thread(elsewhere)
        worker = aio.Worker(isolation="none")
        assert repr(worker) == "<hookless.aio.Worker, not started>" and not worker.is_alive
        with pytest.raises(hookless.HooklessError, match="async with"):
            await worker.call("m:f")
        with pytest.raises(hookless.HooklessError, match="async with"):
            worker.stream("m:f")
        await worker.close()
        await whole(one, channel)

    run(main())


def test_what_a_thread_finds_for_nobody_is_undone() -> None:
    """A start that is cancelled leaves no child behind."""

    async def main() -> None:
        go, undone = threading.Event(), threading.Event()
        found: list[int] = []

        def work() -> int:
            assert go.wait(PATIENCE)
            return 5

        def undo(result: int) -> None:
            found.append(result)
            undone.set()

        future = in_thread(work, undo)
        future.cancel()
        go.set()
        await asyncio.get_running_loop().run_in_executor(None, undone.wait, PATIENCE)
        assert found == [5]
        with pytest.raises(ZeroDivisionError):
            await in_thread(lambda: 1 // 0)

    run(main())


def test_a_fork_that_waits_leaves_the_child_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream of bytes is shared with the process that may use it."""

    async def main() -> None:
        one, channel, child = begin(Slow())
        left = stream(one)
        with monkeypatch.context() as patch:
            patch.setattr(one, "_process", 1)
            with pytest.raises(hookless.HooklessError, match="forked"):
                await anext(left)
        assert not child.ends and one.doomed is None
        await whole(one, channel)

    run(main())
