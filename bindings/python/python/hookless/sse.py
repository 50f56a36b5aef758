"""Server-sent events whose data are frames: `text/event-stream` out and in, without any I/O.

    >>> from hookless import sse
    >>> stream = b"".join(sse.encode(sse.Event("result", 7, {"answer": 42})))
    >>> decoder = sse.Decoder(calls=[7])
    >>> decoder.feed(stream)
    [Event(kind='result', call_id=7, value={'answer': 42})]

An event's name is its kind, its id the call's number, and its data one VALUE frame in base64, on as many
`data:` lines as it takes. Bytes of a call's output are events too. See CARRIERS.md.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hookless import encode as encode_value
from hookless._event_stream import EventStream
from hookless._framing import OneFrame
from hookless._hookless import Limits
from hookless._sse_lines import Lines, too_long
from hookless.errors import DecodeError, ProtocolError
from hookless.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

__all__ = ["LINE", "MEDIA_TYPE", "Decoder", "Event", "encode"]

MEDIA_TYPE = "text/event-stream"

LINE = 8192
"""Characters of base64 on one `data:` line, unless `encode` is told otherwise."""

_MOST_LINE = 65_536

# About so many bytes are handed out at a time.
_PIECE = 1 << 16

_NUMBER = re.compile(rb"[1-9][0-9]{0,19}")


def encode(
    event: Event,
    *,
    limits: Limits | None = None,
    default: Callable[[Any], object] | None = None,
    line: int = LINE,
) -> Iterator[bytes]:
    """Return the bytes of one event, in pieces of some 64 KiB that are made as they are asked for.

    `line` is how many characters of base64 stand on one line: a multiple of 4 up to 65 536. `limits`,
    `default`: as in `dumps`. Raises EncodeError before there is a piece. Large arrays are not copied, and
    must not change before the last piece is made.
    """
    if not 4 <= line <= _MOST_LINE or line % 4:
        raise ValueError(f"line={line}: a multiple of 4, up to {_MOST_LINE}")
    return _pieces(event, encode_value(event.value, limits=limits, default=default), line // 4 * 3)


def _pieces(event: Event, parts: list[Buffer], size: int) -> Iterator[bytes]:
    piece = bytearray(f"event: {event.kind}\nid: {event.call_id}\n".encode())
    for group in _groups(parts, size):
        piece += b"data: "
        piece += binascii.b2a_base64(group)  # which ends the line
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    piece += b"\n"
    yield bytes(piece)


def _groups(parts: list[Buffer], size: int) -> Iterator[memoryview | bytearray]:
    """Yield all bytes of the parts, `size` at a time; the last group may be shorter."""
    rest = bytearray()
    for part in parts:
        view = memoryview(part).cast("B")
        start = 0
        if rest:
            start = size - len(rest)
            rest += view[:start]
            if len(rest) < size:
                continue
            yield rest
            rest = bytearray()
        whole = start + (len(view) - start) // size * size
        for at in range(start, whole, size):
            yield view[at : at + size]
        rest += view[max(whole, start) :]
    if rest:
        yield rest


class Decoder(EventStream):
    """Takes the bytes of one event stream as they come, and gives whole events.

    calls: the numbers of the calls whose outcome is awaited; `open` adds one. Any other number is refused.
    limits: of each frame. line, event, total: bytes of a line, of the lines of one event, and of the stream;
    None is no bound for `total`, and for `event` what frames within `limits` can need.

    Comments and unknown fields are passed over, as in a browser; a kind that is none is refused.
    After an error a decoder is dead: it raises the same error again.
    """

    def __init__(
        self,
        *,
        calls: Iterable[int] = (),
        limits: Limits | None = None,
        line: int = _MOST_LINE + 16,
        event: int | None = None,
        total: int | None = None,
    ) -> None:
        super().__init__(calls)
        known = limits or Limits()
        self._limits = known
        self._lines = Lines(line, total)
        self._most = 2 * (known.body + known.region) + _MOST_LINE if event is None else event
        self._kind, self._id = b"", b""
        self._frame: OneFrame | None = None
        self._size, self._got = 0, 0
        self._value: Any = None
        self._padded = False

    def _events(self, chunk: bytes) -> Iterator[Event]:
        for line in self._lines.split(chunk):
            event = self._take(line)
            if event is not None:
                yield event

    def _end(self) -> None:
        if self._frame is not None:
            self._frame.finish()

    def _take(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        self._size += len(line) + 1
        if self._size > self._most:
            raise too_long("event", self._most)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data(value)
        elif name == b"event":
            self._kind = value
        elif name == b"id" and b"\0" not in value:
            # It stays for later events, until there is another.
            self._id = value
        elif name == b"":
            self._size -= len(line) + 1  # a comment is part of no event
        return None

    def _data(self, text: bytes) -> None:
        if self._frame is None:
            self._frame, self._got = OneFrame(self._limits), 0
        data = self._plain(text)
        while data:
            if not self._frame.wanted:
                message = f"bytes after the end of an event's frame: {len(data)} on one line"
                raise DecodeError(message, code="trailing_bytes", offset=self._got)
            part, data = data[: self._frame.wanted], data[self._frame.wanted :]
            frame = self._frame.take(part)
            self._got += len(part)
            if frame is not None:
                self._value = frame.value

    def _plain(self, text: bytes) -> bytes:
        """Decode one line of base64, which has one form: each line is whole, and the last may be padded."""
        try:
            data = binascii.a2b_base64(text, strict_mode=True)
        except ValueError:
            data = b""
        if self._padded or not data or binascii.b2a_base64(data, newline=False) != text:
            message = "a data line is no canonical base64 of whole bytes, or comes after a padded one"
            raise DecodeError(message, code="not_canonical", offset=self._got)
        self._padded = text.endswith(b"=")
        return data

    def _dispatch(self) -> Event | None:
        frame, kind = self._frame, self._kind
        self._frame, self._kind, self._size, self._padded = None, b"", 0, False
        if frame is None:
            return None  # The rules: without data there is no event.
        frame.finish()
        value, self._value = self._value, None
        if not _NUMBER.fullmatch(self._id):
            raise ProtocolError(f"an event of call {ascii(self._id[:60])[1:]}", code="unknown_call")
        return self._calls.take(kind.decode("latin-1"), int(self._id), value)
