"""What is told of calls over carriers without a session: `hookless.sse` and `hookless.http`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hookless.errors import DecodeError, ProtocolError, Truncated
from hookless.remote import RemoteError

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    _Kind: TypeAlias = Literal["result", "exception", "stdout", "stderr", "cancelled"]

__all__ = ["Event", "OpenCalls"]

_KINDS = ("result", "exception", "stdout", "stderr", "cancelled")
_OUTPUT = frozenset(("stdout", "stderr"))

_MAX_ID = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Event:
    """One event of one call. Raises ValueError for a kind or a number that there is not.

    What is sent as `exception` is an exception, and arrives as a RemoteError; `stdout` and `stderr` are
    bytes, and `cancelled` is None.
    """

    kind: _Kind
    """What it tells: result, exception, stdout, stderr or cancelled. All but output end their call."""
    call_id: int
    """The call's number, from 1 to 2**64 - 1, as the host has chosen it."""
    value: Any = None
    """The result, the exception or the output."""

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"{self.kind!r} is no kind of event: {', '.join(_KINDS)}")
        if type(self.call_id) is not int or not 1 <= self.call_id <= _MAX_ID:
            raise ValueError(f"{self.call_id!r} is no number of a call: 1 to 2**64 - 1")
        if self.kind in _OUTPUT and type(self.value) is not bytes:
            raise ValueError(f"{self.kind} is bytes, not {type(self.value).__name__}")
        if self.kind == "exception" and not isinstance(self.value, BaseException):
            raise ValueError(f"an exception is sent as such, not as {type(self.value).__name__}")
        if self.kind == "cancelled" and self.value is not None:
            raise ValueError("cancelled has no value")


class OpenCalls:
    """The calls of a host that wait for their outcome: each event is judged by them, as a session would."""

    def __init__(self, calls: Iterable[int]) -> None:
        self._calls = set(calls)

    def open(self, call_id: int) -> None:
        """Say that a call has been made. Raises ValueError for one that is open."""
        if call_id in self._calls:
            raise ValueError(f"call {call_id} is open already")
        self._calls.add(call_id)

    def take(self, kind: object, call_id: object, value: object) -> Event:
        """Return the event that a peer tells of; an outcome closes its call.

        Raises ProtocolError for what is not allowed now, DecodeError for a value of the wrong type.
        """
        if type(kind) is not str or kind not in _KINDS:
            raise ProtocolError(f"{_shown(kind)} is no kind of event", code="unexpected_frame")
        if type(call_id) is not int or call_id not in self._calls:
            raise ProtocolError(f"{kind} of call {_shown(call_id)}, which is not open", code="unknown_call")
        fits = {"exception": isinstance(value, RemoteError), "cancelled": value is None}
        if not fits.get(kind, kind == "result" or type(value) is bytes):
            raise DecodeError(
                f"{kind} with a value of type {type(value).__name__}", code="bad_type", offset=32
            )
        if kind not in _OUTPUT:
            self._calls.remove(call_id)
        return Event(cast("_Kind", kind), call_id, value)

    def finish(self) -> None:
        """Say that the stream has ended. Raises Truncated while calls are open."""
        if self._calls:
            some = ", ".join(map(str, sorted(self._calls)[:5]))
            message = f"the stream ended, and {len(self._calls)} calls have no outcome: {some}"
            raise Truncated(message, code="truncated")


def _shown(claim: object) -> str:
    """A peer's claim, no longer than an error should be."""
    text = ascii(claim) if type(claim) in (str, int, bytes) else type(claim).__name__
    return text if len(text) <= 60 else f"{text[:60]}…"
