"""What a child has to say while its code runs: reports of progress and records of the log, from any thread.

Only the main thread writes to the channel. Others leave their entries here.
"""

from __future__ import annotations

from _thread import get_ident
from time import monotonic, time

from hookless.errors import ProtocolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

    from hookless._calls import Call
    from hookless._wire import Line, Report, Wire
else:
    from _collections import deque  # `collections` takes as long to load as this package

__all__ = ["PERIOD", "RECORDS", "Outbox"]

# Seconds between two reports of one call.
PERIOD = 0.05

# Records of the log that wait for the main thread; of more than these the number is kept.
RECORDS = 1000

_WARNING = 30


class Outbox:
    """Entries on their way to the channel: a call whose latest report is due, or a record and its call."""

    def __init__(self, channel: Wire, nudge: Callable[[], None]) -> None:
        """`nudge` makes the main thread call `post`, whatever it does; any thread calls it."""
        self.channel = channel
        self.main = get_ident()
        self._nudge = nudge
        self._entries: deque[Call | tuple[Call | None, Line]] = deque()
        self._dropped = 0
        self._posting = False

    def report(self, call: Call, report: Report) -> bool:
        """Take a report; return whether this thread has to `post` it."""
        call.reports.append(report)
        if call.due or monotonic() - call.reported < PERIOD:
            return False
        call.due = True
        self._entries.append(call)
        return self._is_mine()

    def record(self, call: Call | None, line: Line) -> bool:
        """Take a record of the log; return whether this thread has to `post` it."""
        if len(self._entries) >= RECORDS:
            self._dropped += 1
            return False
        self._entries.append((call, line))
        return self._is_mine()

    def _is_mine(self) -> bool:
        if get_ident() == self.main and not self._posting:
            return True
        self._nudge()
        return False

    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self._entries and not self._dropped

    def post(self) -> None:
        """Send all that is there now: threads that never pause shall not keep the main thread here.

        Main thread only; entered again, from a signal handler, it does nothing.
        """
        if self._posting:
            return
        self._posting = True
        try:
            for _ in range(len(self._entries) + bool(self._dropped)):
                if not self._post_one():
                    break
        finally:
            self._posting = False

    def _post_one(self) -> bool:
        """Send one entry; return whether the channel took it. One is busy below a signal handler."""
        if not self._entries:
            number, self._dropped = self._dropped, 0
            text = f"{number} records of the log were dropped: {RECORDS} were waiting to be sent"
            self._entries.append((None, (_WARNING, "hookless", text, time(), "", 0, "")))
        entry = self._entries.popleft()
        try:
            if isinstance(entry, tuple):
                call, line = entry
                # After its outcome a call has no number any more.
                self.channel.log(0 if call is None or call.over else call.id, *line)
            else:
                entry.due = False
                self.last_report(entry)
        except ProtocolError as error:
            if error.code != "busy":
                raise
            self._entries.appendleft(entry)
            self._nudge()
            return False
        return True

    def last_report(self, call: Call) -> None:
        """Send the latest report of a call that is open, if it has one that is not sent."""
        if call.reports and not call.over:
            report = call.reports[-1]
            call.reported = monotonic()
            self.channel.progress(call.id, *report)
            try:
                call.reports.remove(report)
            except ValueError:
                pass  # A thread has put another one in its place meanwhile.
