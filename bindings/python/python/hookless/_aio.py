"""The host's side of one child for an event loop: nothing here waits, and what takes long has a thread."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from hookless._background import in_thread
from hookless._core import ASKED, BROKEN, NUDGE, PATIENCE, Call, Core, is_harmless, left, told
from hookless._verdict import Verdict
from hookless.errors import DeadlineExceeded, HooklessError

if TYPE_CHECKING:
    from hookless._hearing import Options
    from hookless._post import Box, Event
    from hookless._request import Request
    from hookless._start import Started

__all__ = ["LoopCall", "LoopSession"]

# Bytes that are moved in one turn of the loop; a frame of which more is missing is received by a thread.
_TURN = 1 << 20
# Events that are taken in one turn.
_EVENTS = 64
# How often a cancelled call that is late is given more time since the loop was late itself.
_MOST_LOOKS = 8


class LoopCall(Call):
    """One call, and the future that its owner waits for."""

    def __init__(self, options: Options, session: LoopSession) -> None:
        self._session = session
        self._waiter: asyncio.Future[None] | None = None
        super().__init__(options, session.post, self._wake)

    @property
    def is_awaited(self) -> bool:
        """Whether its owner waits."""
        return self._waiter is not None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def pause(self, until: float | None) -> None:
        """Wait until something comes, for no longer than until that time."""
        loop, waiting = self._session.loop, self._session.waiting
        self._waiter = loop.create_future()
        waiting.add(self)
        timer = None
        if until is not None:
            timer = loop.call_later(max(until - time.monotonic(), 0.0), self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            waiting.discard(self)
            if timer is not None:
                timer.cancel()


class LoopSession(Core):
    """One child, and the loop that moves its bytes. All of it is to be used inside that loop."""

    def __init__(self, started: Started, *, grace: float, room: int, stall: float) -> None:
        super().__init__(started, grace=grace, room=room)
        self._stall = stall
        self.loop = asyncio.get_running_loop()
        # Calls whose owners wait.
        self.waiting: set[LoopCall] = set()
        self._readers: set[int] = set()
        self._writes = False
        self._is_due = self._looks = False
        # While a thread receives a large frame.
        self._helper: asyncio.Future[None] | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._ended = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._is_asked = False
        # Once a thread ends the child, whatever becomes of the loop.
        self._is_handed_over = False
        # What broke the session: told to the first who asks, and to the others that it was.
        self._error: BaseException | None = None
        self._channel_fd = self.channel.fileno()
        self._listen()

    # Calls.

    def new_call(self, options: Options) -> LoopCall:
        """Return a call that has not begun; whoever begins it has to leave it."""
        return LoopCall(options, self)

    async def call(self, request: Request, options: Options) -> Any:
        """Make one call: returns its result, or raises what `options` say, or a HooklessError."""
        began = time.monotonic()
        call = self.new_call(options)
        try:
            await self.begin(call, request)
            event = await self.next_event(call, began)
        finally:
            self.leave(call)
        return call.hearing.outcome(event)

    async def begin(self, call: LoopCall, request: Request) -> None:
        """Send a call, or as much of it as can be sent without waiting."""
        try:
            self.send_now(call, request, 0)
        except BROKEN:
            if self.doomed is not None:
                await self._ended.wait()
            raise

    def send_now(self, call: LoopCall, request: Request, credit: int) -> None:
        """As `begin`, for who cannot wait for the end of a session that this ends."""
        self.check()
        if asyncio.get_running_loop() is not self.loop:
            raise HooklessError("this worker belongs to another event loop")
        if self.doomed is not None:
            # It is ending just now.
            raise Verdict(self.doomed[0], None, b"", self.is_closing).after()
        try:
            self.send(call, request, credit)
        except BROKEN as error:
            if not is_harmless(error):
                self.doom(told(error), 0.0, 0.0)
            raise
        self._due()

    async def next_event(self, call: LoopCall, began: float) -> Event:
        """Return the oldest event of a call, which stays in its box: see `Session.next_event`."""
        deadline = call.options.deadline
        until = None if deadline is None else began + deadline
        box = call.box
        assert box is not None
        try:
            while True:
                in_time = await self._wait(call, box, until)
                is_there = bool(box.events)
                # What came before the event.
                call.hearing.hear()
                if is_there and box.events:
                    return box.events[0]
                if box.abandoned is not None:
                    raise left()
                if not in_time:
                    await self._late(call, box, f"no answer within {deadline:g} s")
        except HooklessError as error:
            call.hearing.hear()
            if call.hearing.error is None:
                raise
            raise call.hearing.error from error

    def leave(self, call: LoopCall) -> None:
        """Leave a call, and cancel it if it has not ended: it is watched until it does. Never waits."""
        if call.is_left:
            return
        call.is_left = True
        if self.drop(call):
            self._cancel(call.begun[0])
            self._watch_at(time.monotonic() + self.grace)
        call.wake()

    def grant(self, call: LoopCall, items: int) -> None:
        """Let a stream send so many more items."""
        try:
            self.channel.credit(call.begun[0], items)
        except BROKEN as error:
            self.doom(told(error), 0.0, 0.0)
        self._due()

    def _cancel(self, call_id: int) -> None:
        try:
            self.channel.cancel(call_id)
        except BROKEN:
            return  # The session is over, or about to be.
        self._due()
        self.loop.call_later(NUDGE, self._nudge, call_id)

    def _nudge(self, call_id: int) -> None:
        box = self.post.boxes.get(call_id)
        if self.doomed is None and box is not None and not box.has_end():
            self.child.nudge()
            self.loop.call_later(NUDGE, self._nudge, call_id)

    def _watch_at(self, due: float, looks: int = 0) -> None:
        self.loop.call_later(due - time.monotonic(), self._watch, due, looks)

    def _watch(self, due: float, looks: int) -> None:
        """Look whether all cancelled calls have ended that had to by now.

        A loop that was held up has read nothing meanwhile: what waits to be read has as long again to be. But
        a child may be what holds it up, so there is an end to it.
        """
        if self.doomed is not None:
            return
        self._turn()
        grace = self.grace_left()
        if grace is None or grace > 0:
            return
        late = time.monotonic() - due
        if late > self.grace / 4 and looks < _MOST_LOOKS:
            self._watch_at(due + 2 * late, looks + 1)
        else:
            self.doom_for_grace()

    async def _wait(self, call: LoopCall, box: Box, until: float | None) -> bool:
        self.check_ours()
        while not box.events and box.abandoned is None:
            if until is not None and time.monotonic() >= until:
                return False
            if call.hearing.is_wanted():
                return True
            if self.verdict is not None:
                error, self._error = self._error, None
                raise error or self.verdict.during()
            await call.pause(until)
        return True

    async def _late(self, call: LoopCall, box: Box, text: str) -> None:
        """Cancel a call whose deadline is over, and raise DeadlineExceeded."""
        self._cancel(call.begun[0])
        until = time.monotonic() + self.grace
        try:
            while not box.has_end():
                if not await self._wait(call, box, until):
                    self.doom(f"{text}, and the cancelled call did not end", 0.0, min(ASKED, self.grace))
                    await self._ended.wait()
                    raise DeadlineExceeded(f"{text}; {self.how_ended}")
                call.hearing.hear()
                while box.events and not box.has_end():
                    self.take(call)
        except DeadlineExceeded:
            raise
        except HooklessError as error:
            raise DeadlineExceeded(f"{text}; then {self.how_ended}") from error
        raise DeadlineExceeded(f"{text}; the call was cancelled")

    # Bytes.

    def _listen(self) -> None:
        """Be called when something can be read."""
        for descriptor in (self._channel_fd, self.child.life, *self.child.outputs):
            if descriptor >= 0 and descriptor not in self._readers:
                self.loop.add_reader(descriptor, self._turn)
                self._readers.add(descriptor)

    def _ignore(self) -> None:
        for descriptor in self._readers:
            self.loop.remove_reader(descriptor)
        self._readers.clear()
        if self._writes:
            self.loop.remove_writer(self._channel_fd)
            self._writes = False

    def _due(self) -> None:
        """Have a turn soon: what was begun may have brought something, or left something to be sent."""
        if not self._is_due and self.doomed is None:
            self._is_due = True
            self.loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Move what can be moved without waiting, in bounds."""
        self._is_due = False
        if self.doomed is not None or self._helper is not None:
            return
        try:
            moved = 0
            for _ in range(_EVENTS):
                self.post.collect(self._step(_TURN - moved), 0.0)
                if not self.post.arrived:
                    break
                moved += self.post.arrived[-1][3]
                self.sort()
                if moved >= _TURN or self.doomed is not None:
                    self._due()
                    break
            else:
                self._due()
            self._after()
        except BROKEN as error:
            self.doom(told(error), 0.0, 0.0, error)

    def _step(self, most: int | None, *, yields: bool = False) -> Callable[[float | None], Event | None]:
        child = self.child
        how: dict[str, Any] = {"yields": True} if yields else {"most": most}
        return partial(self.channel.step, life=child.life, outputs=child.outputs, **how)

    def _after(self) -> None:
        """See to what a turn has left to be done."""
        if self.doomed is not None:
            return
        if self.is_closing and not self._is_asked and not self.channel.open_calls:
            self.channel.shutdown()
            self._is_asked = True
        if self.channel.pending > _TURN:
            self._help()
            return
        if not self._looks and (self.channel.pending or self.channel.wants_write):
            # Nothing wakes the loop when a frame stands still; the channel knows since when it does.
            self._looks = True
            self.loop.call_later(self._stall / 4, self._look)
        if self.channel.wants_write is not self._writes:
            self._writes = not self._writes
            if self._writes:
                self.loop.add_writer(self._channel_fd, self._turn)
            else:
                self.loop.remove_writer(self._channel_fd)

    def _look(self) -> None:
        self._looks = False
        self._turn()

    def _help(self) -> None:
        """Have a thread receive, until the next event."""
        self._ignore()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="hookless")
        step = self._step(None, yields=True)
        self._helper = self.loop.run_in_executor(self._pool, self.post.collect, step, None)
        self._helper.add_done_callback(self._helped)

    def _helped(self, helper: asyncio.Future[None]) -> None:
        self._helper = None
        error = None if helper.cancelled() else helper.exception()
        if self.doomed is not None:
            return
        if isinstance(error, BROKEN):
            self.doom(told(error), 0.0, 0.0, error)
            return
        self.sort()
        if self.doomed is None:
            self._listen()
            self._turn()

    def end_output(self, index: int) -> None:
        """Note that a pipe of the child has ended."""
        descriptor = self.child.outputs[index]
        if descriptor in self._readers:
            self.loop.remove_reader(descriptor)
            self._readers.discard(descriptor)
        super().end_output(index)

    # The end.

    def doom(self, cause: str, patience: float, asked: float, error: BaseException | None = None) -> None:
        """Begin to end the session; the first cause stands."""
        super().doom(cause, patience, asked)
        if self._ending is None:
            self._error = error
            self._ignore()
            self._ending = self.loop.create_task(self._end())

    async def _end(self) -> None:
        cause, patience, asked = self.doomed or ("", PATIENCE, ASKED)
        if self._helper is not None:
            # It meets the end of the stream.
            await asyncio.wait([self._helper])
        # From now on another thread keeps the output: owners are woken when all is over.
        for outlet in list(self.output.outlets):
            outlet.wake = None
        pool, child, channel = self._pool, self.child, self.channel

        def work() -> int | None:
            channel.close()
            if pool is not None:
                pool.shutdown()
            return child.end(patience, lambda: child.drain(self.output.keep), asked)

        self._is_handed_over = True
        status = await in_thread(work)
        self.conclude(cause, status)
        self._ended.set()

    async def close(self) -> None:
        """End the session and the child within bounded time; calls that are open fail."""
        if not self.is_ours:
            self.disown()
            return
        if not self.is_open:
            # The thread that has ended the child may be done before the loop knows of it.
            if self._ending is not None and asyncio.get_running_loop() is self.loop:
                await self._ended.wait()
            return
        if asyncio.get_running_loop() is not self.loop:
            if not self.loop.is_closed():
                raise HooklessError("this worker belongs to another event loop")
            self.is_closing = True
            await in_thread(self.abandon)
            return
        self.is_closing = True
        if self.doomed is None:
            self._say_goodbye()
        await self._ended.wait()

    def _say_goodbye(self) -> None:
        """Have the child finish; it is killed if somebody waits for a call."""
        if self.waiting:
            self.child.signal(signal.SIGKILL)
            self.doom("", 0.0, 0.0)
            return
        try:
            for call_id in list(self.post.boxes):
                self.channel.cancel(call_id)
            self._after()
        except BROKEN as error:
            self.doom(told(error), 0.0, 0.0)
            return
        self._due()
        self.loop.call_later(PATIENCE, self.doom, "", 0.0, ASKED)

    def abandon(self) -> None:
        """End the child at once, for a worker that was never closed; from whatever thread."""
        if not self.is_ours:
            self.disown()
        elif self.doomed is None or (self.loop.is_closed() and not self._is_handed_over):
            # In the second case the loop ended before it could end what was doomed.
            self.doomed = ("it was not closed", 0.0, 0.0)
            if not self.loop.is_closed():
                self._ignore()
            self.child.hang_up()
            self.channel.close()
            self.child.end(0.0, lambda: None)
            if self._pool is not None:
                self._pool.shutdown(wait=False)
