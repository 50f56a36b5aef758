"""The lines of an event stream, as the WHATWG rules for `text/event-stream` split them into fields."""

from __future__ import annotations

from collections.abc import Iterator

from hookless.errors import LimitExceeded

__all__ = ["Lines", "too_long"]

_BOM = b"\xef\xbb\xbf"

# Bytes that are split into lines at a time: of many short lines few exist at once.
_SLICE = 1 << 14


def too_long(what: str, limit: int) -> LimitExceeded:
    """The error of a bound that this carrier has of its own."""
    return LimitExceeded(f"past `{what}` of the event stream, which is {limit} bytes", code="text_limit")


class Lines:
    """Bytes in, lines out. A line ends with CR, LF or CRLF; a byte order mark before the first is dropped."""

    def __init__(self, line: int, total: int | None) -> None:
        self._line, self._total = line, total
        self._rest = bytearray()
        self._first, self._after_cr = True, False
        self._received = 0

    def split(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that these bytes complete. Raises LimitExceeded."""
        for start in range(0, len(chunk), _SLICE):
            part = chunk[start : start + _SLICE]
            self._received += len(part)
            if self._total is not None and self._received > self._total:
                raise too_long("total", self._total)
            after_cr, self._after_cr = self._after_cr, part.endswith(b"\r")
            if after_cr and part.startswith(b"\n"):
                part = part[1:]  # the second half of a CRLF
            for piece in part.splitlines(keepends=True):
                yield from self._take(piece)

    def _take(self, piece: bytes) -> Iterator[bytes]:
        content = piece.rstrip(b"\r\n")
        if len(self._rest) + len(content) > self._line:
            raise too_long("line", self._line)
        self._rest += content
        if len(content) < len(piece):
            line = bytes(self._rest)
            self._rest.clear()
            if self._first:
                self._first, line = False, line.removeprefix(_BOM)
            yield line
