"""The frames of a traceback as plain data: what was where, and the source line, read while it can be read."""

from __future__ import annotations

import os
import stat

from hookless._hookless import TraceFrame, trace_frame
from hookless._safe import Broken, attempt, cap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

__all__ = ["frames_of", "shortened"]

# The frames of the child's own loop: they say nothing about the code that failed.
_OWN = {
    __file__.removesuffix("_frames.py") + name
    for name in ("_driver.py", "_invoke.py", "_runner.py", "_tasks.py")
}

# Bytes of a file that is read for its lines.
_FILE = 16 << 20


def frames_of(traceback: TracebackType | None, most: int, text: int) -> tuple[list[TraceFrame], int, bool]:
    """Return the frames, outermost first, their number, and whether their texts are whole.

    Of more than `most` frames the first and the last are kept, of each text `text` bytes.
    """
    found: list[TracebackType] = []
    while traceback is not None:
        if found or traceback.tb_frame.f_code.co_filename not in _OWN:
            found.append(traceback)
        traceback = traceback.tb_next
    depth = len(found)
    if depth > most:
        del found[most // 2 : depth - (most - most // 2)]
    lines: dict[str, list[str]] = {}
    read = [attempt(trace_frame, one, lines, _read_lines, text) for one in found]
    frames = [TraceFrame("?") if isinstance(one, Broken) else one[0] for one in read]
    return frames, depth, all(isinstance(one, Broken) or one[1] for one in read)


def shortened(frame: TraceFrame, text: int) -> TraceFrame:
    """Return a frame with at most so many bytes of each text; the same one if it has no more."""
    file, function, source = frame.file, frame.function, frame.source
    short = cap(file, text), cap(function, text), None if source is None else cap(source, text)
    if short == (file, function, source):
        return frame
    positions = (frame.line, frame.end_line, frame.column, frame.end_column)
    return TraceFrame(short[0], *positions, short[1], short[2])


def _read_lines(file: str, scope: dict[str, Any]) -> list[str]:
    found = attempt(_lines, file, scope)
    return found if type(found) is list else []


def _lines(file: str, scope: dict[str, Any]) -> list[str]:
    """Return the lines of a source file; none if there is no such file."""
    import linecache

    if file not in linecache.cache and (_is_pseudo(file, vars(linecache)) or not _is_readable(file)):
        return []
    linecache.checkcache(file)
    return linecache.getlines(file, scope)


def _is_pseudo(file: str, module: dict[str, Any]) -> bool:
    """Whether a name is one like `<string>`: linecache has no lines of it but those that it holds.

    Where a program has put a function of its own in linecache's place, as doctest does, that is asked.
    """
    if type(file) is not str or file[:1] != "<" or file[-1:] != ">" or file.startswith("<frozen "):
        return False
    asked, reader = module["getlines"], module["updatecache"]
    return getattr(asked, "__globals__", 0) is module and getattr(reader, "__globals__", 0) is module


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
