"""Frames in binary files: one after the other, each read to its last byte and no further."""

from __future__ import annotations

import io

from hookless._hookless import Decoder, encode, loads
from hookless.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar, overload

    from hookless._hookless import Limits, _Adapter

    _T = TypeVar("_T")

    class _Readable(Protocol):
        def read(self, size: int, /) -> bytes | None: ...

    class _Writable(Protocol):
        def write(self, data: memoryview, /) -> object: ...


__all__ = ["dump", "load"]

# The head of a frame (proto/frame.md), and the kind of frame that a file holds.
_HEAD = 32
_VALUE = 1

# At most so much is asked of a file at once, whatever length a head announces.
_CHUNK = 1 << 20


def dump(
    value: object,
    file: _Writable,
    *,
    limits: Limits | None = None,
    default: Callable[[Any], object] | None = None,
) -> None:
    """Write a value as one frame to a binary file. Large arrays are not copied. `default` is as in `dumps`.

    Raises EncodeError before anything is written.
    """
    for part in encode(value, limits=limits, default=default):
        view = memoryview(part).cast("B")
        while view:
            written = file.write(view)
            if isinstance(written, int):
                view = view[written:]
            elif isinstance(file, io.RawIOBase):
                raise BlockingIOError("the file is non-blocking and full; hookless.dump needs one that waits")
            else:
                break  # A writer that does not count has taken it all.


if TYPE_CHECKING:

    @overload
    def load(file: _Readable, *, type: type[_T] | _Adapter[_T], limits: Limits | None = None) -> _T: ...
    @overload
    def load(file: _Readable, *, type: Any = None, limits: Limits | None = None) -> Any: ...


def load(file: _Readable, *, type: Any = None, limits: Limits | None = None) -> Any:
    """Read exactly one frame from a binary file, and return its value; as a `type`, if given (`convert`).

    Nothing is read past the frame's end. Raises DecodeError; Truncated where the file ends too soon.
    """
    if type is None:
        return _load(file, limits)
    from hookless._typed.conversion import conversion

    convert = conversion(type)
    return convert(_load(file, limits))


def _load(file: _Readable, limits: Limits | None) -> Any:
    decoder = Decoder(limits=limits)
    head = bytearray()
    for chunk in _chunks(file, _HEAD):
        decoder.feed(chunk)
        head += chunk
    if len(head) == _HEAD:
        # The decoder has checked the head, its lengths against the limits among it.
        if head[5] != _VALUE:
            message = "a file holds VALUE frames; this one belongs to a session"
            raise DecodeError(message, code="unknown_frame_kind", offset=5)
        body, data = int.from_bytes(head[16:24]), int.from_bytes(head[24:32])
        padding = -(_HEAD + body) % 64 if data else 0
        for chunk in _chunks(file, body + padding + data):
            for frame in decoder.feed(chunk):
                return frame.value
    decoder.finish()
    # The file ended before a first byte, which `loads` calls by its name as well.
    return loads(b"")


def _chunks(file: _Readable, count: int) -> Iterator[bytes]:
    """Yield the next `count` bytes as they come; fewer where the file ends."""
    while count > 0:
        chunk = file.read(min(count, _CHUNK))
        if chunk is None:
            raise BlockingIOError("the file is non-blocking and empty; hookless.load needs one that waits")
        if not chunk:
            return
        count -= len(chunk)
        yield chunk
