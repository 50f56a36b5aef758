"""What a child logs, as records of the host's own logging: inert, escaped, and of no effect but that."""

from __future__ import annotations

import logging

from hookless._post import Log
from hookless.display import escape, escape_line, sandboxed

__all__ = ["emit", "missed", "record_of"]

_NAME = "hookless.child"

# A library says nothing by itself: without a handler of the host's own, nothing is printed.
logging.getLogger("hookless").addHandler(logging.NullHandler())


def record_of(log: Log) -> logging.LogRecord:
    """Return a record of what a child logged.

    Its texts are escaped and its file is one that exists nowhere. `created` is the host's time. There are no
    arguments, so nothing is ever formatted with values of the child. `remote` has what the child sent, raw:
    level, logger, message, created, path, line and function.
    """
    level, logger, message, _, path, line, function = log
    name = f"{_NAME}.{escape_line(logger)}" if logger not in ("", "root") else _NAME
    record = logging.LogRecord(
        name, level, sandboxed(path), line, escape(message), (), None, escape_line(function)
    )
    record.remote = log
    return record


def emit(record: logging.LogRecord) -> None:
    """Give a record to the logger of its name, or to the nearest one above that the host has made.

    None is made here: a child could choose names without end.
    """
    logger = _nearest(record.name)
    # Not `isEnabledFor`, which keeps an answer for each level.
    if record.levelno > logger.manager.disable and record.levelno >= logger.getEffectiveLevel():
        logger.handle(record)


def missed(count: int) -> logging.LogRecord:
    """Return a record that says how many others were dropped."""
    text = f"{count} messages of the child were dropped: they came faster than they were taken"
    return logging.LogRecord(_NAME, logging.WARNING, "", 0, text, (), None)


def _nearest(name: str) -> logging.Logger:
    made = logging.Logger.manager.loggerDict
    while name != _NAME:
        found = made.get(name)
        if isinstance(found, logging.Logger):
            return found
        name = name.rpartition(".")[0]
    return logging.getLogger(_NAME)
