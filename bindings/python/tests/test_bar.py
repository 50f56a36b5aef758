"""The line that tells how far a script is, and its logs: escaped, and never wider than the terminal."""

from __future__ import annotations

import io
import logging
import os
import pty
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from hookless import _screen
from hookless._bar import columns, line, width_of
from hookless._screen import Screen

HEAD = "| fit.py 1.0 s"


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (None, HEAD),
        ((0, None, ""), f"{HEAD}  0 done"),
        ((7, None, "rows"), f"{HEAD}  7 done  rows"),
        ((0, 4, ""), f"{HEAD}  [....................]   0% 0/4"),
        ((1, 4, "rows"), f"{HEAD}  [#####...............]  25% 1/4  rows"),
        ((4, 4, ""), f"{HEAD}  [####################] 100% 4/4"),
        ((5, 4, ""), f"{HEAD}  [####################] 100% 5/4"),
        ((0, 0, ""), f"{HEAD}  [####################] 100% 0/0"),
        ((1, 1000, ""), f"{HEAD}  [....................]   0% 1/1000"),
        ((999, 1000, ""), f"{HEAD}  [###################.]  99% 999/1000"),
        ((2**64 - 1, 2**64 - 1, ""), f"{HEAD}  [####################] 100% {2**64 - 1}/{2**64 - 1}"),
    ],
)
def test_what_is_shown(progress: tuple[int, int | None, str] | None, expected: str) -> None:
    """How much of how much."""
    assert line(HEAD, progress, 120) == expected


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\rb", "a\nb", "\u202eabc", "\ud800", "\x00", "\u200b"])
def test_texts_are_escaped(text: str) -> None:
    """Nothing that a script says drives the terminal."""
    shown = line(HEAD, (1, 2, text), 120)
    assert shown.isprintable() and "\\" in shown


@pytest.mark.parametrize("text", ["x" * 1024, "宽" * 341, "e\u0301" * 300, "\x1b" * 1024, "宽\x1b" * 200])
def test_it_is_as_wide_as_the_terminal(text: str) -> None:
    """In columns: wide characters take two. There is no width at which it fails."""
    for width in (0, 1, 2, 10, 14, 20, 54, 55, 60, 79, 200):
        for total in (None, 9):
            shown = line(HEAD, (1, total, text), width)
            assert columns(shown) <= width
            assert shown.endswith("…") or width == 0 or text not in shown


def test_columns() -> None:
    """As terminals count them."""
    assert [columns(one) for one in ("", "abc", "宽", "e\u0301", "é")] == [0, 3, 2, 1, 1]


def test_width(tmp_path: Path) -> None:
    """Of the terminal, less the last column; of others the usual."""
    master, slave = pty.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as terminal:
        termios.tcsetwinsize(slave, (24, 50))
        assert width_of(terminal) == 49
        termios.tcsetwinsize(slave, (0, 0))
        assert width_of(terminal) == 79
    with (tmp_path / "file").open("w") as file:
        assert width_of(file) == 79
    assert width_of(io.StringIO()) == 79


class Terminal(io.StringIO):
    """Text that is written to a terminal."""

    def isatty(self) -> bool:
        return True


def record(name: str, message: str) -> logging.LogRecord:
    """As a worker gives it to `on_log`: what counts is what the child sent."""
    made = logging.LogRecord("shown", 20, "", 0, "shown", (), None)
    made.remote = (20, name, message, 0.0, "", 0, "")
    return made


def test_logs_are_lines_of_their_own() -> None:
    """After what the script has printed so far, and marked as its words."""
    terminal = Terminal()
    with Screen("fit.py", terminal, terminal, raw=False) as screen:
        screen("stdout", b"half")
        screen.log(record("app", "one\n\x1b[2Jtwo"))
        screen("stdout", b" a line\n")
        screen.log(record("", "three"))
    assert terminal.getvalue() == ("  | half\n  | app: one\n  | \\x1b[2Jtwo\n  |  a line\n  | root: three\n")


def test_logs_leave_a_file_alone() -> None:
    """Output that does not go to a terminal is not broken up by what goes elsewhere."""
    out, err = io.StringIO(), io.StringIO()
    with Screen("fit.py", out, err, raw=False) as screen:
        screen("stdout", b"half")
        screen.log(record("app", "one"))
        screen("stdout", b" a line\n")
    assert (out.getvalue(), err.getvalue()) == ("  | half a line\n", "  | app: one\n")


def test_progress_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the script's lines, never inside one, and it is gone at the end."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_screen, "_PATIENCE", 0.0)
    with Screen("fit.py", terminal, terminal, raw=False) as screen:
        screen.progress(1, 4, "\x1brows")
        _until(terminal, "25% 1/4  \\x1brows")
        screen("stdout", b"half")
        held = terminal.getvalue()
        assert held.endswith("\r\x1b[K  | half")
        screen.progress(2, 4, "")
        time.sleep(0.35)  # several ticks, in which nothing may be drawn
        assert terminal.getvalue() == held
        screen("stdout", b" a line\n")
        _until(terminal, "50% 2/4")
        screen.log(record("app", "one"))
        assert terminal.getvalue().endswith("\r\x1b[K  | app: one\n")
        _until(terminal, "50% 2/4", after=len(terminal.getvalue()))
    assert terminal.getvalue().endswith("\r\x1b[K")


def _until(terminal: Any, text: str, after: int = 0) -> None:
    end = time.monotonic() + 20
    while text not in terminal.getvalue()[after:]:
        assert time.monotonic() < end
        time.sleep(0.01)
