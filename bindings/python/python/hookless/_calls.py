"""The calls that a child has open, and what its parts are to each other."""

from __future__ import annotations

from _contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import Future, Task
    from collections import deque
    from typing import Any

    from hookless._wire import Report, Request
    from hookless.errors import DecodeError
else:
    from _collections import deque  # `collections` takes as long to load as this package

__all__ = ["CURRENT", "SCRIPT", "STREAM", "Call"]

# Verbs of a CALL (S4); the other one is a function.
SCRIPT, STREAM = 1, 2


class Call:
    """One that the host has made and that has no outcome yet."""

    __slots__ = (
        "cancelled",
        "credit",
        "denials",
        "due",
        "error",
        "id",
        "more",
        "over",
        "queued",
        "reported",
        "reports",
        "request",
        "source",
        "task",
        "value",
        "waiter",
    )

    def __init__(self, number: int, request: Request | DecodeError) -> None:
        self.id = number
        # Or why this child cannot hold it (S18). None once it has begun: arguments are let go with the
        # function that took them.
        self.request: Request | DecodeError | None = request
        # The iterator of a stream that has begun; the task of one that is asynchronous, or of a coroutine,
        # and the future that waits for credit there.
        self.source: Any = None
        self.task: Task[Any] | None = None
        self.waiter: Future[None] | None = None
        # What its code has returned or raised last.
        self.value: Any = None
        self.error: BaseException | None = None
        # Items that the host takes.
        self.credit = 0
        # Whether the driver will come to it by itself.
        self.queued = True
        # Whether a CANCEL has come, and whether the outcome is on its way.
        self.cancelled = False
        self.over = False
        self.denials: list[str] = []
        # Whether there were more than are kept.
        self.more = False
        # The latest report that is not sent, when one was, and whether the outbox knows that one is due.
        self.reports: deque[Report] = deque(maxlen=1)
        self.reported = float("-inf")
        self.due = False


# The call for which code runs, in threads and tasks that inherit the context too.
CURRENT: ContextVar[Call] = ContextVar("hookless.call")
