"""Why a worker is over, as the errors that its calls raise."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from hookless.errors import HooklessError, WorkerDied

__all__ = ["Verdict", "died"]

_CLOSED = "the worker is closed"


@dataclass(frozen=True)
class Verdict:
    """How a session ended."""

    # Empty if its child ended, or closed its channel, by itself.
    cause: str
    # The child's status as `Child.end` returns it.
    status: int | None
    stderr: bytes
    is_closed: bool

    def during(self) -> HooklessError:
        """Return the error of a call that was open then."""
        if self.is_closed:
            return HooklessError("the worker was closed while this call was open")
        if self.cause:
            return WorkerDied(f"the worker's child was stopped: {self.cause}", stderr=self.stderr)
        return died("the worker's child", self.status, self.stderr)

    def after(self) -> HooklessError:
        """Return the error of a call that comes too late."""
        if self.is_closed:
            return HooklessError(_CLOSED)
        return WorkerDied(f"this worker is over since an earlier call: {self.cause or 'its child ended'}")


def died(who: str, status: int | None, stderr: bytes) -> WorkerDied:
    """Return the error that tells how a child ended; with no status it was stopped."""
    if status is None:
        return WorkerDied(f"{who} closed its channel without an answer and was stopped", stderr=stderr)
    if status >= 0:
        return WorkerDied(f"{who} exited with status {status}", exit_status=status, stderr=stderr)
    return WorkerDied(f"{who} was killed by {_signal_name(-status)}", signal=-status, stderr=stderr)


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:  # One of the real-time signals.
        return f"signal {number}"
