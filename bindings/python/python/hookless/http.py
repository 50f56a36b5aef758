"""Events as frames, one after the other: the body of an HTTP response, or of any stream, without any I/O.

    >>> from hookless import http
    >>> body = b"".join(http.encode(http.Event("stdout", 7, b"hello")))
    >>> http.Decoder(calls=[7]).feed(body)
    [Event(kind='stdout', call_id=7, value=b'hello')]

Each event is one VALUE frame of a tuple: its kind, the call's number, and the value. It is the binary form of
`hookless.sse`, for those who need no browser. See CARRIERS.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hookless import Decoder as FrameDecoder
from hookless import encode as encode_value
from hookless._event_stream import EventStream
from hookless._hookless import Limits
from hookless.errors import DecodeError, LimitExceeded
from hookless.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

__all__ = ["MEDIA_TYPE", "Decoder", "Event", "encode", "is_frames"]

MEDIA_TYPE = "application/x-hookless"


def is_frames(content_type: str | None) -> bool:
    """Whether a Content-Type says that a body is frames; its parameters are passed over."""
    return (content_type or "").partition(";")[0].strip().lower() == MEDIA_TYPE


def encode(
    event: Event, *, limits: Limits | None = None, default: Callable[[Any], object] | None = None
) -> list[Buffer]:
    """Return the buffers of one event, as `hookless.encode` does: large arrays are not copied.

    Raises EncodeError; the tuple around the value counts as a level of `Limits.depth`.
    """
    return encode_value((event.kind, event.call_id, event.value), limits=limits, default=default)


class Decoder(EventStream):
    """Takes the bytes of one body as they come, and gives whole events.

    calls, limits, total: as in `hookless.sse.Decoder`, and likewise dead after an error.
    """

    def __init__(
        self, *, calls: Iterable[int] = (), limits: Limits | None = None, total: int | None = None
    ) -> None:
        super().__init__(calls)
        self._frames = FrameDecoder(limits=limits)
        self._total, self._received = total, 0

    def _events(self, chunk: bytes) -> Iterator[Event]:
        self._received += len(chunk)
        if self._total is not None and self._received > self._total:
            raise LimitExceeded(f"past `total` of the body, which is {self._total} bytes", code="text_limit")
        for frame in self._frames.feed(chunk):
            if frame.kind != "value":
                message = f"a body holds VALUE frames, not {frame.kind}"
                raise DecodeError(message, code="unknown_frame_kind", offset=5)
            yield self._event(frame.value)

    def _end(self) -> None:
        self._frames.finish()

    def _event(self, value: Any) -> Event:
        if type(value) is not tuple or len(value) != 3:
            raise DecodeError("an event is a tuple of three: kind, call, value", code="bad_type", offset=32)
        return self._calls.take(*value)
