"""What a child's parts hand to each other, and what they use of the channel. Only type checkers load it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from hookless._hookless import Failure

__all__ = ["Event", "Line", "Report", "Request", "Wire"]

# Done, total, text; and level, logger, message, created, path, line, function (proto/session.md).
Report: TypeAlias = tuple[int, int | None, str]
Line: TypeAlias = tuple[int, str, str, float, str, int, str]
# Verb, name, source, arguments by place and by name (S4).
Request: TypeAlias = tuple[int, str, str | None, tuple[Any, ...], dict[str, Any]]

# Kind, number of the call, value, cost. Of a CALL the value is a Request, or the DecodeError of S18.
Event: TypeAlias = tuple[str, int, Any, int]


class Wire(Protocol):
    """What the driver uses of `_hookless.Channel`."""

    def fileno(self) -> int: ...
    def step(self, seconds: float | None, /) -> Event | None: ...
    def item(self, call_id: int, value: object) -> None: ...
    def result(self, call_id: int, value: object) -> None: ...
    def fail(self, call_id: int, failure: Failure) -> None: ...
    def cancelled(self, call_id: int) -> None: ...
    def progress(self, call_id: int, done: int, total: int | None, text: str) -> None: ...
    def log(
        self,
        call_id: int,
        level: int,
        logger: str,
        message: str,
        created: float,
        path: str,
        line: int,
        function: str,
    ) -> None: ...
    def listen(self, on: bool) -> None: ...
    def wake(self) -> None: ...
