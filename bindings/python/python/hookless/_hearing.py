"""What the owner of a call hears beside its answer: output, progress, messages; by functions of the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hookless._builders import Builder, raise_remote
from hookless._output import Listener, Outlet
from hookless._post import Box, Event, LogQueue
from hookless.errors import HooklessError

if TYPE_CHECKING:
    import logging

    from hookless._typed.conversion import Conversion

__all__ = ["Hearing", "LogListener", "Options", "ProgressListener"]

ProgressListener: TypeAlias = Callable[[int, int | None, str], object]
LogListener: TypeAlias = Callable[["logging.LogRecord"], object]


@dataclass(frozen=True, slots=True)
class Options:
    """How calls are made, and what becomes of them; checked by who makes it."""

    deadline: float | None = None
    on_output: Listener | None = None
    on_progress: ProgressListener | None = None
    on_log: LogListener | None = None
    errors: str | dict[str, Builder] = "builtin"
    convert: Conversion | None = None

    def converted(self, value: Any) -> Any:
        """Return a result or an item as the type that was asked for; DecodeError if it does not fit."""
        return value if self.convert is None else self.convert(value)

    def result(self, event: Event) -> Any:
        """Return the result that ended a call, or raise its failure."""
        kind, _, value, _ = event
        if kind == "error":
            raise_remote(value, self.errors)
        if kind == "cancelled":
            # Whoever leaves a call does not ask for its result; so it was not its owner who cancelled it.
            raise HooklessError("the worker was closed while this call was open")
        return value


class Hearing:
    """The functions that one call calls. Only its owner may call this: they are its own.

    When one raises, nothing is given to any of them any more, and the error comes out when the call is over.
    """

    def __init__(self, options: Options, loose: LogQueue) -> None:
        self._options, self._loose = options, loose
        self.outlet = None if options.on_output is None else Outlet()
        # As soon as the call has one.
        self.box: Box | None = None
        self.error: Exception | None = None

    def is_wanted(self) -> bool:
        """Whether there is something to hear."""
        box = self.box
        if box is not None and (box.progress or (box.logs is not None and box.logs.waiting)):
            return True
        return bool(self._loose.waiting) or (self.outlet is not None and len(self.outlet) > 0)

    def hear(self) -> None:
        """Give the functions what has come for them. What comes while they run may never end."""
        if not self.is_wanted():
            return
        try:
            self._hear()
        except Exception as error:  # noqa: BLE001 (raised again when the call is over)
            self.error = self.error or error

    def outcome(self, event: Event, *, convert: bool = True) -> Any:
        """Return the result that ended the call; raise its failure, or what one of the functions raised."""
        if self.error is not None:
            raise self.error from (event[2] if event[0] == "error" else None)
        result = self._options.result(event)
        return self._options.converted(result) if convert else result

    def _hear(self) -> None:
        self._hear_output()
        self._hear_logs(self._loose, None)
        if self.box is None:
            return
        if self.box.logs is not None:
            self._hear_logs(self.box.logs, self._options.on_log)
        tell = self._options.on_progress
        if self.box.progress:
            progress = self.box.progress.popleft()
            if tell is not None and self.error is None:
                tell(*progress)

    def _hear_output(self) -> None:
        if self.outlet is None:
            return
        tell = self._options.on_output
        for _ in range(len(self.outlet)):
            index, data = self.outlet.take()
            if tell is not None and self.error is None:
                try:
                    tell("stderr" if index else "stdout", data)
                except Exception as error:  # noqa: BLE001 (raised again when the call is over)
                    self.error = error

    def _hear_logs(self, logs: LogQueue, tell: LogListener | None) -> None:
        if not logs.waiting:
            return
        from hookless._logs import emit, missed, record_of

        tell = tell or emit
        for _ in range(len(logs.waiting)):
            try:
                log = logs.take()
            except IndexError:  # The loose ones are taken by whoever comes.
                break
            if self.error is None:
                tell(record_of(log))
        if (count := logs.missed()) and self.error is None:
            tell(missed(count))
