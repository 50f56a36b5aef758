"""What the sessions of threads and of event loops have in common: sending, sorting, and why it is over."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from hookless._hearing import Hearing, Options
from hookless._post import ENDS, Box, Post
from hookless._verdict import Verdict
from hookless.errors import EncodeError, HooklessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookless._request import Request
    from hookless._start import Started
    from hookless._window import Window

__all__ = ["ASKED", "BROKEN", "NUDGE", "PATIENCE", "Call", "Core", "is_harmless", "told"]

# Seconds that a child has to end by itself once its channel has ended; and once SIGTERM asked it to.
PATIENCE, ASKED = 2.0, 1.0

# Seconds after which a child that has not ended a cancelled call is nudged, again and again.
NUDGE = 0.1

# What a channel raises that can go no further.
BROKEN = (HooklessError, OSError)


class Call:
    """One call, as its owner sees it."""

    def __init__(self, options: Options, post: Post, wake: Callable[[], object]) -> None:
        self.options = options
        # Its id, once it has been begun.
        self.begun: list[int] = []
        # Once there is nothing more to do for it.
        self.is_left = False
        self.box: Box | None = None
        self.hearing = Hearing(options, post.loose)
        self.wake_by(wake)

    def wake_by(self, wake: Callable[[], object]) -> None:
        """Have this called when something comes."""
        self.wake = wake
        if self.box is not None:
            self.box.wake = wake
        if self.hearing.outlet is not None:
            self.hearing.outlet.wake = wake


class Core:
    """A child that has said HELLO, and the calls of this process to it."""

    def __init__(self, started: Started, *, grace: float, room: int) -> None:
        """Take a child. `room` is what items of streams may cost that wait."""
        self.child, self.output = started.child, started.output
        self.channel = started.channel
        self.post = Post(self.channel.release, self.output, self.now)
        # Once it is over.
        self.verdict: Verdict | None = None
        self.windows: list[Window] = []
        self.room = room
        self.grace = grace
        self.is_closing = False
        # Once it cannot go on: why, and how many seconds the child has to end by itself, and when asked.
        self.doomed: tuple[str, float, float] | None = None
        self._process = os.getpid()

    @property
    def is_ours(self) -> bool:
        """Whether this process started the child, and is not a fork of the one that did."""
        return os.getpid() == self._process

    @property
    def is_open(self) -> bool:
        """Whether there is still something to close."""
        return self.child.is_held

    @property
    def how_ended(self) -> str:
        """What becomes of a child that is not waited for any longer."""
        return "the channel was closed" if self.is_attached else "the worker's child was stopped"

    @property
    def is_attached(self) -> bool:
        """Whether somebody else started the child, and may stop it."""
        return self.child.pid == 0

    @property
    def is_alive(self) -> bool:
        """Whether calls can be made, as far as is known."""
        return not self.is_closing and self.doomed is None and self.is_ours and not self.child.has_ended()

    def check(self) -> None:
        """Raise HooklessError if no call can be made."""
        self.check_ours()
        if self.verdict is not None:
            raise self.verdict.after()
        if self.is_closing:
            raise HooklessError("the worker is closed")

    def check_ours(self) -> None:
        """Raise HooklessError in a fork: it shares the stream and the child with who may use them."""
        if not self.is_ours:
            raise HooklessError(
                "this worker belongs to the process that was forked from: make one in this process"
            )

    def send(self, call: Call, request: Request, credit: int) -> None:
        """Send a call, or as much of it as can be sent without waiting. Raises what the channel does."""
        if call.hearing.outlet is not None:
            self.output.outlets.append(call.hearing.outlet)
        self.post.begin(call.begun, self.channel.begin, (*request, credit))
        call.box = call.hearing.box = self.post.box(call.begun[0])
        call.wake_by(call.wake)

    def drop(self, call: Call) -> bool:
        """Leave a call; return whether it has not ended, so that CANCEL is due. More than once is fine."""
        if call.hearing.outlet is not None:
            try:
                self.output.outlets.remove(call.hearing.outlet)
            except ValueError:
                pass
        if not call.begun:
            return False
        if call.box is None:
            call.box = self.post.box(call.begun[0])
        return self.post.abandon(call.begun[0], call.box)

    def take(self, call: Call) -> None:
        """Remove the oldest event of a call, which is handed to the program."""
        assert call.box is not None
        try:
            self.post.take(call.box)
        except IndexError:
            raise left() from None

    def collect(self, seconds: float | None, most: int | None = None) -> bool:
        """Take an event and sort it; return whether one came within that time. Raises what the channel does.

        At the stream's end the session is doomed.
        """
        child = self.child
        # An interrupt may have kept the one before from sorting: nothing else need ever come.
        if not self.post.arrived:
            self.post.collect(
                partial(self.channel.step, life=child.life, outputs=child.outputs, most=most), seconds
            )
        return self.sort()

    def sort(self) -> bool:
        """Sort what has arrived; return whether something has."""
        post = self.post
        came = bool(post.arrived)
        if came and post.arrived[-1][0] in ENDS:
            # What it printed before its answer belongs to the call.
            self.child.drain(self.output.keep)
        elif came and post.arrived[-1][0] == "output" and not post.arrived[-1][2]:
            self.end_output(post.arrived[-1][1])
        if post.sort() == "eof":
            self.doom("", PATIENCE, ASKED)
        return came

    def now(self) -> float:
        """Return the time on the clock by which cancelled calls have their seconds of grace."""
        return time.monotonic()

    def end_output(self, index: int) -> None:
        """Note that a pipe of the child has ended."""
        self.child.end_output(index)

    def grace_left(self) -> float | None:
        """Return for how many seconds cancelled calls may still be waited for; None if there are none."""
        since = self.post.owed_since()
        return None if since is None else since + self.grace - self.post.now()

    def doom_for_grace(self) -> None:
        """Doom the session for a cancelled call that does not end."""
        text = f"a call that was cancelled did not end within {self.grace:g} s"
        self.doom(text, 0.0, min(ASKED, self.grace))

    def conclude(self, cause: str, status: int | None) -> None:
        """Say how the session has ended, and wake all who wait for anything of it."""
        self.post.arrived.clear()
        self.verdict = Verdict(cause, status, self.output.errors, self.is_closing, self.is_attached)
        self.post.wake_all()

    def disown(self) -> None:
        """Leave the child to the process that this one is a fork of."""
        self.channel.close()
        self.child.disown()

    def doom(self, cause: str, patience: float, asked: float) -> None:
        """Have the session ended; the first cause stands."""
        if self.doomed is None:
            self.doomed = (cause, patience, asked)
        self.child.hang_up()


def left() -> HooklessError:
    """Return the error of who reads a stream that another one closes."""
    return HooklessError("this stream was closed while it was being read")


def is_harmless(error: BaseException) -> bool:
    """Whether a call that could not be begun leaves the session as it was."""
    return isinstance(error, EncodeError) or getattr(error, "code", "") in ("open_call_limit", "busy")


def told(error: BaseException) -> str:
    """Return an error as a cause."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")
