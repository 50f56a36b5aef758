"""The frames of a traceback: positions as Python tells them, texts cut between characters, source lines."""

from __future__ import annotations

import itertools
import linecache
import subprocess
import sys
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

import pytest

from hookless import TraceFrame
from hookless._frames import frames_of
from hookless._hookless import trace_frame
from test_cases_exceptions import CORPUS
from test_exceptions import caught


def entries(traceback: TracebackType | None) -> list[TracebackType]:
    found = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def told(traceback: TracebackType, text: int = 65_536) -> tuple[TraceFrame, bool]:
    return trace_frame(traceback, {}, lambda file, scope: linecache.getlines(file), text)


@pytest.mark.parametrize("name", [name for name in sorted(CORPUS) if name != "interrupts_when_shown"])
def test_positions_are_those_that_python_tells(name: str) -> None:
    """Of every frame of the corpus, by `co_positions`, which goes through the whole table."""
    error = caught(CORPUS[name])
    # Not asked of the error, which may answer with a failure.
    trace: TracebackType = vars(BaseException)["__traceback__"].__get__(error)
    for one in entries(trace):
        code: CodeType = one.tb_frame.f_code
        expected = next(itertools.islice(code.co_positions(), one.tb_lasti // 2, None))
        frame, whole = told(one)
        assert (frame.line, frame.end_line, frame.column, frame.end_column) == expected
        assert (frame.file, frame.function) == (code.co_filename, code.co_name) and whole
        line = linecache.getline(code.co_filename, frame.line or 0).rstrip("\r\n")[:512]
        assert frame.source == (line or None)


def raised(file: str, function: str, source: str = "raise KeyError", line: int = 1) -> TracebackType:
    """A traceback entry of code that says such things of itself."""
    code = compile("\n" * (line - 1) + source, file, "exec").replace(co_name=function)
    error = caught(lambda: exec(code))
    return entries(error.__traceback__)[-1]


@pytest.mark.parametrize("text", ["a", "\u00e9", "\u6f22", "\U0001f600", "\ud800", "a\u6f22\U0001f600\udfff"])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 5, 11, 12, 13, 64])
def test_texts_are_cut_between_characters(text: str, most: int) -> None:
    """At most so many bytes, each surrogate as three; and it is said when something is lost."""
    whole = text * 12
    frame, complete = told(raised("file", whole), most)
    size = [len(whole[:count].encode("utf-8", "surrogatepass")) for count in range(len(whole) + 1)]
    fits = max(count for count, bytes_ in enumerate(size) if bytes_ <= most)
    assert frame.function == whole[:fits]
    assert complete == (fits == len(whole) and most >= 4)


@pytest.mark.parametrize(
    ("lines", "source"),
    [
        (["first\n", "second\r\n"], "second"),
        (["first\n", "s" * 513 + "\n"], "s" * 512),
        (["first\n", "\u6f22" * 513], "\u6f22" * 512),
        (["first\n", "s" * 512 + "\n"], "s" * 512),
        (["first\n", "\n"], None),
        (["first\n"], None),
        ([], None),
        (["first\n", 5], None),
    ],
)
def test_source_lines(lines: list[Any], source: str | None) -> None:
    """Without their end, at most 512 characters; none where there is no such line."""
    asked = []

    def read(file: str, scope: dict[str, Any]) -> list[str]:
        asked.append(file)
        return lines

    known: dict[str, list[str]] = {}
    entry = raised("shown.py", "f", line=2)
    for _ in range(2):
        assert trace_frame(entry, known, read, 65_536)[0].source == source
    assert asked == ["shown.py"] and known == {"shown.py": lines}


def test_a_file_is_read_again_for_a_later_traceback(tmp_path: Path) -> None:
    """It may have changed: the text is that of the file as it is now."""
    path = tmp_path / "changing.py"
    for text in ("raise KeyError  # one", "raise KeyError  # and another"):
        path.write_text(text)
        entry = raised(str(path), "<module>", text)
        frames, depth, whole = frames_of(entry, 10, 65_536)
        assert [frame.source for frame in frames] == [text] and (depth, whole) == (1, True)


BARE = """
import itertools
from hookless._hookless import trace_frame
try:
    1 / 0
except ZeroDivisionError as error:
    entry = error.__traceback__
frame, _ = trace_frame(entry, {}, lambda file, scope: [], 100)
code = entry.tb_frame.f_code
expected = next(itertools.islice(code.co_positions(), entry.tb_lasti // 2, None))
print((frame.line, frame.end_line, frame.column, frame.end_column) == expected, expected)
"""


def test_code_without_positions() -> None:
    """Compiled without columns: None, as Python tells it."""
    command = [sys.executable, "-X", "no_debug_ranges", "-c", BARE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("True (5,") and done.stdout.strip().endswith("None, None)")
