"""What a person sees while a script runs: its output as it comes, escaped, and that something goes on."""

from __future__ import annotations

import codecs
import os
import sys
import threading
import time
from types import TracebackType
from typing import BinaryIO, TextIO

from hookless import _bar
from hookless.display import MARK, escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging

__all__ = ["Screen", "is_lively"]

_FACES = "|/-\\"
_TICK = 0.1

# Nothing is drawn for what is done at once.
_PATIENCE = 0.4

# Clears the line that the cursor is on.
_CLEAR = "\r\x1b[K"


def is_lively(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants to be drawn on."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class _Lines:
    """One stream of a script, written to one of ours: whole or partial lines, escaped and marked."""

    def __init__(self, to: TextIO) -> None:
        self.to = to
        self.inside = False
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._after_return = False

    def write(self, data: bytes, *, final: bool = False) -> None:
        text = self._decode(data, final)
        if not text:
            return
        if self._after_return and text.startswith("\n"):
            text = text[1:]
        self._after_return = text.endswith("\r")
        # A lone \r, as progress bars write it, would overwrite the mark: it ends a line as \n does.
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            self._put(line, "\n")
        if rest:
            self._put(rest, "")
        self.to.flush()

    def _put(self, line: str, end: str) -> None:
        shown = "\t".join(map(escape_line, line.split("\t")))
        mark = "" if self.inside else MARK
        self.to.write(f"{mark}{shown}{end}")
        self.inside = not end

    def end(self) -> None:
        """End the line that is open."""
        if self.inside:
            self.to.write("\n")
            self.to.flush()
            self.inside = False


class Screen:
    """Shows a script's output and logs, and between their lines, on a terminal, how far it is.

    `what` is running; `out` and `err` take its two streams. `raw` passes bytes on as they are.
    """

    def __init__(self, what: str, out: TextIO, err: TextIO, *, raw: bool) -> None:
        self._what, self._raw = escape_line(what, most=40), raw
        self._streams = {"stdout": _Lines(out), "stderr": _Lines(err)}
        self._lock = threading.Lock()
        self._drawn = False
        self._progress: tuple[int, int | None, str] | None = None
        self._began = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True) if is_lively(sys.stderr) else None

    def __call__(self, stream: str, data: bytes) -> None:
        """Take what the script printed: a listener for `Worker.options`."""
        with self._lock:
            self._erase()
            lines = self._streams[stream]
            if self._raw:
                _binary(lines.to).write(data)
                lines.to.flush()
                lines.inside = not data.endswith(b"\n")
                return
            self._make_way(lines)
            lines.write(data)

    def progress(self, done: int, total: int | None, text: str) -> None:
        """Take how far the script is: a listener too. It is drawn in its time; the latest counts."""
        self._progress = (done, total, text)

    def log(self, record: logging.LogRecord) -> None:
        """Take what the script logs: a listener too. It is shown on standard error, as the script's word."""
        _, name, message, *_ = record.remote  # type: ignore[attr-defined]
        with self._lock:
            self._erase()
            self._make_way(None)
            err = self._streams["stderr"]
            # Marked and escaped with --raw as well: these are our words for the script's.
            for one in f"{name or 'root'}: {message}".split("\n"):
                err.to.write(f"{MARK}{escape_line(one)}\n")
            err.to.flush()

    def _make_way(self, lines: _Lines | None) -> None:
        """End the lines that something else would be written into."""
        to = (lines or self._streams["stderr"]).to
        for other in self._streams.values():
            if other is not lines and (other.to is to or other.to.isatty()):
                other.end()

    def __enter__(self) -> Screen:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._erase()
            for lines in self._streams.values():
                if not self._raw:
                    lines.write(b"", final=True)
                # What the host says next begins on a line of its own.
                lines.end()

    def _spin(self) -> None:
        turn = 0
        while not self._done.wait(_TICK):
            with self._lock:
                seconds = time.monotonic() - self._began
                # A line that the script has not ended is not drawn over.
                inside = any(lines.inside and lines.to.isatty() for lines in self._streams.values())
                if seconds < _PATIENCE or inside:
                    continue
                head = f"{_FACES[turn % 4]} {self._what} {seconds:.1f} s"
                sys.stderr.write(f"{_CLEAR}{_bar.line(head, self._progress, _bar.width_of(sys.stderr))}")
                sys.stderr.flush()
                self._drawn, turn = True, turn + 1

    def _erase(self) -> None:
        if self._drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._drawn = False


def _binary(stream: TextIO) -> BinaryIO:
    stream.flush()
    return stream.buffer
