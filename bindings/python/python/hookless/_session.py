"""The host's side of one child for threads: any of them may call, and one of those that wait leads."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

from hookless._core import ASKED, BROKEN, NUDGE, PATIENCE, Call, Core, is_harmless, left, told
from hookless._hearing import Options
from hookless._post import Box, Event
from hookless._turns import Place, Turns
from hookless._verdict import Verdict
from hookless.errors import DeadlineExceeded, HooklessError

if TYPE_CHECKING:
    from hookless._request import Request
    from hookless._start import Started

__all__ = ["Session", "ThreadCall"]


class ThreadCall(Call):
    """One call, and where its owner waits."""

    def __init__(self, options: Options, session: Session) -> None:
        self.place = Place()
        super().__init__(options, session.post, self.place.wake)

    def wait_in(self, place: Place) -> None:
        """Wait in another place: its owner may be another thread now."""
        self.place = place
        self.wake_by(place.wake)


class Session(Core):
    """One child. Of the threads that wait, one leads: it moves the bytes for all of them."""

    def __init__(self, started: Started, *, grace: float, room: int) -> None:
        self._turns = Turns()
        # Calls that were cancelled at their deadline.
        self._late_ids: set[int] = set()
        # Seconds in which nobody took what came, and since when that is so again. Replaced as a whole.
        self._unheard: tuple[float, float | None] = (0.0, time.monotonic())
        super().__init__(started, grace=grace, room=room)

    def now(self) -> float:
        """Return the time on a clock that stands still while nobody takes what comes.

        Calls that are left are waited for by whoever waits next, which may be much later; and a child that
        cannot get rid of its frames until then cannot end a call before.
        """
        unheard, since = self._unheard
        return (time.monotonic() if since is None else since) - unheard

    def collect(self, seconds: float | None, most: int | None = None) -> bool:
        """Take an event and sort it: see `Core.collect`."""
        unheard, since = self._unheard
        if since is not None:
            self._unheard = (unheard + time.monotonic() - since, None)
        try:
            return super().collect(seconds, most)
        finally:
            self._unheard = (self._unheard[0], time.monotonic())

    # Calls. Each is begun and left by its owner; to leave one that has not ended is to cancel it.

    def new_call(self, options: Options) -> ThreadCall:
        """Return a call that has not begun; whoever begins it has to leave it."""
        return ThreadCall(options, self)

    def call(self, request: Request, options: Options) -> Any:
        """Make one call: returns its result, or raises what `options` say, or a HooklessError.

        What a function of the options raises is raised when the call is over, in place of its own outcome.
        """
        began = time.monotonic()
        call = self.new_call(options)
        # Twice: an interrupt may come in the midst of the first.
        try:
            try:
                self.begin(call, request, 0)
                event = self.next_event(call, began)
            finally:
                self.leave(call)
        finally:
            self.leave(call)
        # The call is over: a builder of the program's own may use the worker.
        return call.hearing.outcome(event)

    def begin(self, call: ThreadCall, request: Request, credit: int) -> None:
        """Send a call, or as much of it as can be sent without waiting."""
        if self._turns.is_mine():
            raise _inside("used")
        self.check()
        try:
            self.send(call, request, credit)
        except BROKEN as error:
            if is_harmless(error):
                raise
            was_doomed = self.doomed is not None
            self.doom(told(error), 0.0, 0.0)
            verdict = self._finish(call)
            if was_doomed:
                raise verdict.after() from None
            raise

    def next_event(self, call: ThreadCall, began: float) -> Event:
        """Return the oldest event of a call, which stays in its box, and meanwhile call the call's functions.

        Raises DeadlineExceeded, after which the call is over, or the error that ended the session.
        """
        deadline = call.options.deadline
        until = None if deadline is None else began + deadline
        box = call.box
        assert box is not None
        try:
            while True:
                in_time = self._wait(call, until)
                is_there = bool(box.events)
                # What came before the event.
                call.hearing.hear()
                if is_there:
                    return box.events[0]
                if box.abandoned is not None:
                    raise left()
                if not in_time:
                    self._late(call, box, f"no answer within {deadline:g} s")
        except IndexError:
            raise left() from None
        except HooklessError as error:
            call.hearing.hear()
            if call.hearing.error is None:
                raise
            raise call.hearing.error from error

    def leave(self, call: ThreadCall) -> None:
        """Leave a call, and cancel it if it has not ended; more than once is fine. Never waits."""
        if call.is_left:
            return
        if self.drop(call):
            self._cancel(call.begun[0])
        # Another thread may be reading what is left here.
        call.place.wake()
        call.is_left = True

    def grant(self, call: ThreadCall, items: int) -> None:
        """Let a stream send so many more items."""
        try:
            self.channel.credit(call.begun[0], items)
        except BROKEN as error:
            self.doom(told(error), 0.0, 0.0)

    def _cancel(self, call_id: int) -> None:
        try:
            self.channel.cancel(call_id)
            if not self._turns.is_free():
                # So that who leads counts the seconds of grace.
                self.channel.wake()
        except BROKEN:
            pass  # The session is over, or about to be.

    def _late(self, call: ThreadCall, box: Box, text: str) -> None:
        """Cancel a call whose deadline is over, and raise DeadlineExceeded."""
        self._late_ids.add(call.begun[0])
        self._cancel(call.begun[0])
        until = time.monotonic() + self.grace
        try:
            while not box.has_end():
                if not self._wait(call, until):
                    self.doom(f"{text}, and the cancelled call did not end", 0.0, min(ASKED, self.grace))
                    self._finish(call)
                    raise DeadlineExceeded(f"{text}; {self.how_ended}")
                call.hearing.hear()
                while box.events and not box.has_end():
                    self.take(call)
        except DeadlineExceeded:
            raise
        except HooklessError as error:
            raise DeadlineExceeded(f"{text}; then {self.how_ended}") from error
        raise DeadlineExceeded(f"{text}; the call was cancelled")

    # Waiting: whoever is first in line leads.

    def _wait(self, call: ThreadCall, until: float | None) -> bool:
        """Wait until there is something for a call; return whether it came in time."""
        self.check_ours()
        if self._turns.is_mine():
            raise _inside("used")
        place = call.place
        # Nothing returns from inside: where it left the `try`, an interrupt would lose the turn.
        try:
            try:
                self._turns.enter(place)
                came = self._wait_in_line(call, place, until)
            finally:
                self._turns.leave(place)
        finally:
            self._turns.leave(place)
        return came

    def _wait_in_line(self, call: ThreadCall, place: Place, until: float | None) -> bool:
        box = call.box
        assert box is not None
        while not box.events and box.abandoned is None:
            seconds = None if until is None else until - time.monotonic()
            if seconds is not None and seconds <= 0:
                return False
            if call.hearing.is_wanted():
                return True
            if self.verdict is not None:
                raise self.verdict.during()
            if self._turns.is_first(place):
                self._lead(seconds)
            else:
                self._turns.pause(place, seconds)
        return True

    def _lead(self, seconds: float | None) -> None:
        """Move bytes until one event has come and is sorted. To be called by who leads."""
        if self.doomed is not None:
            self._end()
            return
        grace = self.grace_left()
        if grace is not None:
            seconds = max(grace, 0.0) if seconds is None else min(max(grace, 0.0), seconds)
        self._late_ids &= self.post.boxes.keys()
        nudges = grace is not None or bool(self._late_ids)
        if nudges:
            seconds = NUDGE if seconds is None else min(NUDGE, seconds)
        try:
            came = self.collect(seconds)
        except BROKEN as error:
            self.doom(told(error), 0.0, 0.0)
            self._end()
            raise
        if not came and grace is not None and grace <= 0:
            self.doom_for_grace()
        elif not came and nudges:
            self.child.nudge()

    # The end.

    def _finish(self, call: ThreadCall) -> Verdict:
        """Wait until a doomed session has ended; return how it did."""
        place = call.place
        try:
            try:
                self._turns.enter(place)
                while (verdict := self.verdict) is None:
                    if self._turns.is_first(place):
                        self._end()
                    else:
                        self._turns.pause(place, None)
            finally:
                self._turns.leave(place)
        finally:
            self._turns.leave(place)
        return verdict

    def _end(self) -> None:
        """End the child, and tell. To be called by who leads; a second time is fine after an interrupt."""
        cause, patience, asked = self.doomed or ("", PATIENCE, ASKED)
        self.channel.close()
        self.child.hang_up()
        status = self.child.end(patience, lambda: self.child.drain(self.output.keep), asked)
        self.conclude(cause, status)

    def close(self) -> None:
        """End the session, and the child within bounded time. A call that is open in another thread fails."""
        if not self.is_ours:
            self.disown()
            return
        if self._turns.is_mine():
            raise _inside("closed")
        if not self.is_open:
            return
        place = Place()
        try:
            try:
                self._close(place)
            finally:
                self._turns.leave(place)
        finally:
            self._turns.leave(place)

    def _close(self, place: Place) -> None:
        is_idle = self._turns.is_free()
        self.is_closing = True
        if not is_idle:
            self.doom("", 0.0, 0.0)
            self.child.signal(signal.SIGKILL)
        self._turns.enter(place)
        while not self._turns.is_first(place):
            self._turns.pause(place, None)
        if self.verdict is None and self.doomed is None:
            self._say_goodbye()
        if self.is_open:
            self._end()

    def _say_goodbye(self) -> None:
        """Cancel what is open, have the child finish, and take what it says until then."""
        until = time.monotonic() + PATIENCE
        is_asked = False
        try:
            for call_id in list(self.post.boxes):
                self.channel.cancel(call_id)
            while self.doomed is None and (seconds := until - time.monotonic()) > 0:
                if not is_asked and not self.channel.open_calls:
                    self.channel.shutdown()
                    is_asked = True
                self.collect(seconds)
        except BROKEN:
            pass  # Nothing more is to be heard of it.


def _inside(what: str) -> HooklessError:
    return HooklessError(
        f"a worker cannot be {what} from a signal handler, or a finaliser, that came while this thread waits "
        "for that worker"
    )
