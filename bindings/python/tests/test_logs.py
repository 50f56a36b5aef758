"""What a child logs, in the host: escaped, inert, and without a trace in the host's own logging."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from hookless._logs import emit, missed, record_of
from hookless._post import Log

LOG: Log = (logging.WARNING, "app.db", "slow", 1.5, "/home/app/db.py", 7, "query")


class Keep(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def heard() -> Iterator[list[logging.LogRecord]]:
    keep, logger = Keep(), logging.getLogger("hookless.child")
    logger.addHandler(keep)
    yield keep.records
    logger.removeHandler(keep)


def test_a_record() -> None:
    record = record_of(LOG)
    assert (record.name, record.levelno, record.lineno) == ("hookless.child.app.db", logging.WARNING, 7)
    assert (record.getMessage(), record.funcName) == ("slow", "query")
    assert record.pathname == "<sandbox>/home/app/db.py" and record.filename == "db.py"
    assert record.__dict__["remote"] == LOG
    assert abs(record.created - 1.5) > 1e6 and record.exc_info is None and record.stack_info is None


@pytest.mark.parametrize("message", ["%s %d %(name)s", "%", "{0.__class__}", "100 %s" * 3])
def test_a_message_is_never_formatted(message: str) -> None:
    """Whatever looks like a format is text, for every handler."""
    record = record_of((20, "a", message, 0.0, "", 0, ""))
    assert record.args == () and record.getMessage() == message
    assert message in logging.Formatter("%(name)s %(message)s %(pathname)s").format(record)


def test_texts_are_escaped() -> None:
    """Terminal sequences, bidirectional marks and line ends that would pass for the host's own lines."""
    evil = "\x1b[31m\u202e\nERROR:root:forged\r\x00"
    record = record_of((20, evil, evil, 0.0, evil, 0, evil))
    for text in (record.name, record.msg, record.pathname, record.filename, record.funcName or ""):
        assert "\x1b" not in text and "\u202e" not in text and "\r" not in text
    assert "\n" not in record.name + record.pathname + (record.funcName or "")
    assert record.msg == "\\x1b[31m\\u202e\n  | ERROR:root:forged\\r\\x00"
    assert record.__dict__["remote"][2] == evil


@pytest.mark.parametrize("created", [float("nan"), float("inf"), -1e308, 1e308])
def test_a_time_that_is_none_is_no_matter(created: float) -> None:
    """Handlers format the host's own time."""
    record = record_of((20, "a", "text", created, "p", 1, "f"))
    assert logging.Formatter("%(asctime)s %(message)s").format(record).endswith("text")


@pytest.mark.parametrize("level", [0, 1, 49, 65_535])
def test_levels_are_kept(level: int) -> None:
    record = record_of((level, "a", "text", 0.0, "p", 1, "f"))
    assert record.levelno == level and record.levelname in ("NOTSET", f"Level {level}")


def test_no_logger_is_made(heard: list[logging.LogRecord]) -> None:
    """A child could choose names without end; nor do its levels leave anything."""
    logger = logging.getLogger("hookless.child")
    before = set(logging.Logger.manager.loggerDict)
    logger.setLevel(10)
    try:
        for number in range(100):
            emit(record_of((number, f"made.up.{number}", "text", 0.0, "p", 1, "f")))
        assert not logger._cache  # type: ignore[attr-defined]
    finally:
        logger.setLevel(logging.NOTSET)
    assert len(heard) == 90 and set(logging.Logger.manager.loggerDict) == before


def test_the_hosts_own_loggers_are_asked(heard: list[logging.LogRecord]) -> None:
    """By name, the nearest one above; their levels hold."""
    own = logging.getLogger("hookless.child.chosen")
    keep = Keep()
    own.addHandler(keep)
    own.setLevel(logging.ERROR)
    try:
        for name in ("chosen", "chosen.below", "chosenlike", ""):
            for level in (logging.WARNING, logging.ERROR):
                emit(record_of((level, name, "text", 0.0, "p", 1, "f")))
        assert [(one.name[15:], one.levelno) for one in keep.records] == [
            ("chosen", 40),
            ("chosen.below", 40),
        ]
        assert [one.name[15:] for one in heard] == ["chosen", "chosen.below"] + ["chosenlike"] * 2 + [""] * 2
        logging.disable(logging.ERROR)
        emit(record_of((logging.ERROR, "chosen", "text", 0.0, "p", 1, "f")))
        assert len(keep.records) == 2
    finally:
        logging.disable(logging.NOTSET)
        own.removeHandler(keep)
        own.setLevel(logging.NOTSET)


def test_names_of_no_logger() -> None:
    assert {record_of((20, name, "", 0.0, "", 0, "")).name for name in ("", "root")} == {"hookless.child"}


def test_nothing_is_printed_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    """Python prints warnings of which nobody has thought; these are not the host's."""
    handlers = logging.root.handlers[:]
    logging.root.handlers.clear()
    try:
        emit(record_of(LOG))
        emit(missed(5))
    finally:
        logging.root.handlers[:] = handlers
    assert capfd.readouterr() == ("", "")
    assert missed(5).getMessage().startswith("5 messages")
