"""The frames of a traceback as plain data: what was where, and the source line, read while it can be read."""

from __future__ import annotations

import itertools
import os
import stat

from hookless._safe import attempt, exact_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, TypeAlias

    from hookless._hookless import TraceFrame

    _Positions: TypeAlias = tuple[int | None, int | None, int | None, int | None]

__all__ = ["RawFrame", "frames_of"]

# The frames of the child's own loop: they say nothing about the code that failed.
_OWN = __file__.removesuffix("_frames.py") + "_child.py"

# Characters of a source line; generated code can have very long ones. Bytes of a file that is read for one.
_SOURCE = 512
_FILE = 16 << 20


class RawFrame:
    """One frame. _Positions are None where the compiler left none."""

    __slots__ = ("file", "function", "positions", "source")

    def __init__(self, file: str, function: str, positions: _Positions, source: str | None) -> None:
        self.file, self.function, self.positions, self.source = file, function, positions, source

    @classmethod
    def of(cls, frame: TraceFrame) -> RawFrame:
        """Return a frame that came from another process."""
        positions = (frame.line, frame.end_line, frame.column, frame.end_column)
        return cls(frame.file, frame.function, positions, frame.source)


def frames_of(traceback: TracebackType | None, most: int) -> tuple[list[RawFrame], int]:
    """Return the frames, outermost first, and their number; of more than `most` the first and the last."""
    found: list[TracebackType] = []
    while traceback is not None:
        if found or traceback.tb_frame.f_code.co_filename != _OWN:
            found.append(traceback)
        traceback = traceback.tb_next
    depth = len(found)
    if depth > most:
        del found[most // 2 : depth - (most - most // 2)]
    fresh: set[str] = set()
    frames = [attempt(_read, one, fresh) for one in found]
    return [
        one if isinstance(one, RawFrame) else RawFrame("?", "?", (None,) * 4, None) for one in frames
    ], depth


def _read(traceback: TracebackType, fresh: set[str]) -> RawFrame:
    frame = traceback.tb_frame
    code = frame.f_code
    file, function = exact_text(code.co_filename) or "?", exact_text(code.co_name) or "?"
    positions = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = map(_number, positions)
    if line is None:
        line = _number(traceback.tb_lineno)
    source = attempt(_source, file, line, frame.f_globals, fresh)
    return RawFrame(file, function, (line, end_line, column, end_column), exact_text(source))


def _number(value: object) -> int | None:
    """Return what the wire can hold of a position (X8)."""
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _source(file: str, line: int | None, scope: dict[str, Any], fresh: set[str]) -> str | None:
    import linecache

    if line is None:
        return None
    if file not in linecache.cache and not _is_readable(file):
        return None
    if file not in fresh:
        # Once for each file and traceback: the file may have changed since an earlier failure.
        linecache.checkcache(file)
        fresh.add(file)
    return linecache.getline(file, line, scope).rstrip("\r\n")[:_SOURCE] or None


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
