"""Foreign code in a worker's child, and what may interrupt it.

A CANCEL reaches plain code by a signal. Python runs `heed` between two steps of whatever the main thread
does, so it may raise only where `foreign` says so: nothing else of the child is ever interrupted by it.
"""

from __future__ import annotations

from _thread import get_ident, start_new_thread
from sys import _getframe
from time import sleep

from hookless._attributes import DENIALS
from hookless._calls import CURRENT, Call
from hookless._outbox import Outbox
from hookless.errors import DecodeError, ProtocolError, Stalled
from hookless.worker import Cancelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable
    from signal import SIGURG, pthread_kill, signal
    from types import FrameType
    from typing import Any

    from hookless._tasks import Tasks
    from hookless._wire import Line, Report, Wire
else:
    from _collections import deque  # `collections` takes as long to load as this package
    from _signal import SIGURG, pthread_kill, signal  # `signal` loads `enum`

__all__ = ["Runner"]

# Times that one signal is followed while others come.
_TURNS = 8

# Seconds until an import is looked at again that a CANCEL would have broken off.
_LATER = 0.005


def _nothing() -> None: ...


class Runner:
    """The part of the driver below which foreign code runs.

    Other threads of foreign code use `report`, `record` and `deny` only; all else is the main thread's.
    """

    def __init__(self, channel: Wire, hears: bool) -> None:
        self.channel = channel
        self._hears = hears
        self.outbox = Outbox(channel, self._nudge)
        self.tasks: Tasks | None = None
        # Whether the loop of the tasks runs, and whether the channel is waited for.
        self.in_loop = False
        self.waiting = False
        self.calls: dict[int, Call] = {}
        # What has come and is not followed yet; those cancelled by it that have been told so already.
        self.events: deque[Any] = deque()
        self.excused: dict[int, None] = {}
        # Whether the stream has ended, by what the channel was broken; whether this is a fork of the child.
        self.ended = False
        self.broken: BaseException | None = None
        # Called once when it has ended.
        self.at_end: Callable[[], object] = _nothing
        self.is_fork = False
        # The call whose code `heed` may interrupt, and the one whose code runs.
        self._armed: Call | None = None
        # Whether it still has to be told when nobody wants its result any more.
        self._owed = False
        # Whether a thread waits to send the signal once more.
        self._later = False
        self._running: Call | None = None
        # While set, an armed call is not interrupted all the same: our own code runs within the foreign one.
        self._masked = False
        # Whether a signal has come that was not followed, and whether any comes when a frame does.
        self._noticed = False
        self._listening = False

    def collect(self) -> None:
        """Take what has come, for `follow`; of the call that is armed, note that it is cancelled."""
        events, armed = self.events, self._armed
        while not self.ended:
            # Once it is taken, no call: foreign code may be at the recursion limit, and nothing gets lost.
            events += (self.channel.step(0),)
            event = events[-1]
            if event is None:
                del events[-1]
                break
            if event[0] == "eof":
                self.end()
            elif event[0] == "cancel" and armed is not None and event[1] == armed.id:
                armed.cancelled = True

    def unlisten(self) -> None:
        """Have no signals sent: what comes is waited for."""
        if self._listening:
            self._listening = False
            self.channel.listen(False)

    def foreign(self, call: Call, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> bool:
        """Run code of a call; return whether it returned. What it returned or raised is in the call.

        `heed` raises once, and disarms. Should it do so when the code has ended already, but before the
        `finally` has, the outer `except` still takes it.
        """
        call.value = call.error = None
        self._running = call
        token = CURRENT.set(call)
        try:
            try:
                self._arm(call)
                call.value = function(*arguments, **named)
            finally:
                self._armed = None
        except BaseException as error:  # noqa: BLE001 (SystemExit and its like are outcomes of a call too)
            call.value, call.error = None, error
        finally:
            self._running = None
            CURRENT.reset(token)
        return call.error is None

    def _arm(self, call: Call) -> None:
        self._owed = not (call.cancelled or self.ended)
        self._armed = call
        if not self._listening and not self.ended:
            self._listening = self._hears
            if self._hears:
                self.channel.listen(True)
            # What came before has sent no signal.
            self._noticed = True
        if self._noticed:
            self._look()

    def heed_signals(self) -> None:
        """Follow SIGURG from now on. Code that takes the signal loses its own cancellation, nothing else."""
        signal(SIGURG, self.heed)

    def heed(self, _number: int, _frame: object) -> None:
        """Handle SIGURG: something has come, or another thread has left an entry."""
        self._noticed = True
        if self._armed is not None and not self._masked:
            self._look()
        elif self.in_loop and self.tasks is not None and self.tasks.is_host_gone():
            self.at_end()

    def _look(self) -> None:
        """Follow a signal while code of a call runs; raise Cancelled there when nobody wants its result."""
        call = self._armed
        assert call is not None
        # Not for ever, where threads that never pause nudge all the time: the next nudge comes here again.
        for _ in range(_TURNS):
            self._masked = True
            self._noticed = False
            try:
                if not self.ended:
                    self.outbox.post()
                self.collect()
                self._excuse()
            except BaseException as error:
                if isinstance(error, ProtocolError) and error.code == "busy":
                    self._noticed = True
                    return
                # What another handler of foreign code raised in here is for foreign code.
                if not self.is_end(error):
                    raise
            finally:
                self._masked = False
            # Signals that came meanwhile, down to the line before, were only noticed.
            if not self._noticed or self.ended:
                break
        if self._owed and (call.cancelled or self.ended):
            if _imports():
                # Broken off, it would leave modules that cannot be loaded again, for all later calls. So the
                # code is told when it is done; until then this is looked at again and again.
                self._look_later()
                return
            self._owed = False
            self._armed = None
            raise Cancelled("the host is gone" if self.ended else "the host has cancelled this call")

    def _look_later(self) -> None:
        """Have the signal come once more. Where no thread is to be had, the host's patience ends the call."""
        if not self._later:
            self._later = True
            try:
                start_new_thread(self._signal_later, ())
            except RuntimeError:
                self._later = False

    def _signal_later(self) -> None:
        sleep(_LATER)
        self._later = False
        pthread_kill(self.outbox.main, SIGURG)

    def _excuse(self) -> None:
        """Acknowledge that calls are cancelled which only wait for the code that runs now.

        That may go on for longer than the host is patient, and is not to be stopped for their sake.
        """
        for kind, number, _, _ in list(self.events):
            if kind == "cancel" and number not in self.excused and self._only_waits(number):
                # In one step, as foreign code may be at the recursion limit: it is sent and noted, or not.
                self.excused.update(zip((number,), map(self.channel.cancelled, (number,)), strict=True))

    def _only_waits(self, number: int) -> bool:
        """Whether a call has not begun, or is a stream that stands between two items."""
        call = self.calls.get(number)
        if call is None:
            # Unless its outcome is sent, its CALL came as lately.
            return any(kind == "call" and one == number for kind, one, _, _ in self.events)
        return call is not self._running and (call.request is not None or call.source is not None)

    def post(self) -> None:
        """Send what threads and signal handlers have left to be sent."""
        # Most of the time, and several times for each call.
        if not self._noticed and self.outbox.is_empty():
            return
        masked, self._masked = self._masked, True
        try:
            if not self.ended:
                self.outbox.post()
        except BaseException as error:
            if not self.is_end(error):
                raise
        finally:
            self._masked = masked
        if self._noticed and self._armed is not None and not masked:
            self._look()

    def is_end(self, error: BaseException) -> bool:
        """Whether an error is the end of the session (S9), which `run` raises, or foreign code's own."""
        if not isinstance(error, (DecodeError, ProtocolError, Stalled, ConnectionError)):
            return False
        self.broken = error
        self.end()
        return True

    def end(self) -> None:
        """Note that the stream has ended: nobody waits for anything any more."""
        if not self.ended:
            self.ended = True
            self.at_end()

    # What foreign code says, in any thread.

    def current(self) -> Call | None:
        """Return the call that this code runs for, unless its outcome is sent."""
        call = None if self.is_fork else CURRENT.get(None) or self._running
        return None if call is None or call.over else call

    def report(self, report: Report) -> None:
        """Take a report of progress."""
        call = self.current()
        if call is not None and self.outbox.report(call, report):
            self.post()

    def record(self, line: Line) -> None:
        """Take a record of the log."""
        if self.outbox.record(self.current(), line):
            self.post()

    def deny(self, text: str) -> None:
        """Take a denial."""
        call = self.current()
        if call is None:
            return
        if len(call.denials) < DENIALS:
            call.denials.append(text)
        else:
            call.more = True

    def _nudge(self) -> None:
        """Have the main thread post, whatever it does; called after an entry has been left."""
        if self.in_loop and self.tasks is not None:
            self.tasks.nudge()
        elif self.waiting:
            self.channel.wake()
        elif get_ident() != self.outbox.main:
            pthread_kill(self.outbox.main, SIGURG)


def _imports() -> bool:
    """Whether this thread is in the midst of an import that runs code."""
    frame: FrameType | None = _getframe()
    while frame is not None and frame.f_code is not Runner.foreign.__code__:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
