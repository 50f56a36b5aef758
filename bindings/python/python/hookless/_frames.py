"""The frames of a traceback as plain data: what was where, and the source line, read while it can be read."""

from __future__ import annotations

import itertools
import os
import stat

from hookless._hookless import TraceFrame
from hookless._safe import Broken, attempt, cap, exact_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

__all__ = ["frames_of", "shortened"]

# The frames of the child's own loop: they say nothing about the code that failed.
_OWN = __file__.removesuffix("_frames.py") + "_child.py"

# Characters of a source line; generated code can have very long ones. Bytes of a file that is read for one.
_SOURCE = 512
_FILE = 16 << 20


def frames_of(traceback: TracebackType | None, most: int, text: int) -> tuple[list[TraceFrame], int, bool]:
    """Return the frames, outermost first, their number, and whether their texts are whole.

    Of more than `most` frames the first and the last are kept, of each text `text` bytes.
    """
    found: list[TracebackType] = []
    while traceback is not None:
        if found or traceback.tb_frame.f_code.co_filename != _OWN:
            found.append(traceback)
        traceback = traceback.tb_next
    depth = len(found)
    if depth > most:
        del found[most // 2 : depth - (most - most // 2)]
    reader = _Reader(text)
    frames = [attempt(reader.read, one) for one in found]
    return [TraceFrame("?") if isinstance(one, Broken) else one for one in frames], depth, reader.whole


def shortened(frame: TraceFrame, text: int) -> TraceFrame:
    """Return a frame with at most so many bytes of each text; the same one if it has no more."""
    file, function, source = frame.file, frame.function, frame.source
    short = cap(file, text), cap(function, text), None if source is None else cap(source, text)
    if short == (file, function, source):
        return frame
    positions = (frame.line, frame.end_line, frame.column, frame.end_column)
    return TraceFrame(short[0], *positions, short[1], short[2])


class _Reader:
    """Reads the frames of one traceback. Each file is looked at once for it, since files change."""

    def __init__(self, text: int) -> None:
        self.text = text
        self.whole = True
        self.lines: dict[str, list[str]] = {}

    def read(self, traceback: TracebackType) -> TraceFrame:
        frame = traceback.tb_frame
        code = frame.f_code
        file, function = exact_text(code.co_filename) or "?", exact_text(code.co_name) or "?"
        positions = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None), (None,) * 4)
        line, end_line, column, end_column = map(_number, positions)
        if line is None:
            line = _number(traceback.tb_lineno)
        source = self.source(file, line, frame.f_globals)
        return TraceFrame(
            self.short(file),
            line,
            end_line,
            column,
            end_column,
            self.short(function),
            source and self.short(source),
        )

    def short(self, text: str) -> str:
        kept = cap(text, self.text)
        self.whole = self.whole and kept == text
        return kept

    def source(self, file: str, line: int | None, scope: dict[str, Any]) -> str | None:
        if line is None:
            return None
        lines = self.lines.get(file)
        if lines is None:
            found = attempt(_lines, file, scope)
            lines = self.lines[file] = found if type(found) is list else []
        if not 0 < line <= len(lines):
            return None
        text = exact_text(lines[line - 1])
        return text.rstrip("\r\n")[:_SOURCE] or None if text else None


def _number(value: object) -> int | None:
    """Return what the wire can hold of a position (X8)."""
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _lines(file: str, scope: dict[str, Any]) -> list[str]:
    """Return the lines of a source file; none if there is no such file."""
    import linecache

    if file not in linecache.cache and not _is_readable(file):
        return []
    linecache.checkcache(file)
    return linecache.getlines(file, scope)


def _is_readable(file: str) -> bool:
    """Whether a name, if there is a file of that name, is that of an ordinary file of ordinary size.

    A name is only what the code says of itself: reading a pipe waits, and reading /dev/zero has no end.
    """
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        # There is none: the text may still come from the module's loader.
        return True
    return stat.S_ISREG(found.st_mode) and found.st_size <= _FILE
