"""The log of foreign code: what reaches the root logger goes to the host, too.

Loaded once foreign code has loaded `logging`, which takes as long as all the rest of a child's start.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hookless._safe import exact_text

if TYPE_CHECKING:
    from hookless._driver import Driver

__all__ = ["follow"]

# Characters of a text that are kept: as many as it may have bytes at the most, to which the channel cuts it.
_KEPT = 32_768

# One past the largest level and line (proto/session.md).
_LEVELS, _LINES = 1 << 16, 1 << 32


def follow(driver: Driver) -> None:
    """Put a handler at the root. Levels stay as they are, and so do handlers that are there."""
    root = logging.getLogger()
    if not isinstance(root.handlers, _Handlers):
        root.handlers = _Handlers([_ToHost(driver), *root.handlers])


class _Handlers(list[logging.Handler]):
    """Handlers of the root logger, among them ours, which is not counted.

    `logging.basicConfig` does nothing where there is a handler; so it does what the code asks for.
    """

    def __len__(self) -> int:
        return super().__len__() - sum(type(one) is _ToHost for one in self)


class _ToHost(logging.Handler):
    """Sends records, with their texts made here. It never writes to the log itself."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self._driver = driver

    def emit(self, record: logging.LogRecord) -> None:
        driver = self._driver
        if driver.is_fork:
            # The channel is not its own. Where a record goes that nobody has a handler for:
            last = logging.lastResort
            if last is not None and record.levelno >= last.level:
                last.handle(record)
            return
        try:
            line = (
                _number(record.levelno, _LEVELS),
                _text(record.name),
                _message(record)[:_KEPT],
                float(record.created),
                _text(record.pathname),
                _number(record.lineno, _LINES),
                _text(record.funcName),
            )
        except Exception:  # noqa: BLE001 (arguments that do not fit the message: Python's own handlers say so too)
            self.handleError(record)
            return
        driver.record(line)


def _message(record: logging.LogRecord) -> str:
    """Return the message with the traceback and the stack that belong to it, without level, name or time."""
    parts = [str(record.getMessage())]
    if record.exc_info and not record.exc_text:
        record.exc_text = logging.Formatter().formatException(record.exc_info)
    parts += [str(one) for one in (record.exc_text, record.stack_info) if one]
    return "\n".join(parts)


def _text(value: object) -> str:
    return (exact_text(value) or "")[:_KEPT]


def _number(value: Any, end: int) -> int:
    return min(max(int(value), 0), end - 1) if value is not None else 0
