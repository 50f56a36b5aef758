"""How far the frame goes that is being read, so that nothing past it is asked of a file or a stream."""

from __future__ import annotations

from hookless._hookless import Decoder
from hookless.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hookless._hookless import Frame, Limits

__all__ = ["HEAD", "OneFrame", "frame_length"]

HEAD = 32
"""Bytes of a frame's head (proto/frame.md)."""

# The kind of frame that a file or a stream holds.
_VALUE = 1


def frame_length(head: bytes | bytearray) -> int:
    """Return how many bytes the frame has whose head this is."""
    body, data = int.from_bytes(head[16:24]), int.from_bytes(head[24:HEAD])
    return HEAD + body + (-(HEAD + body) % 64 if data else 0) + data


class OneFrame:
    """One VALUE frame in the making: a reader asks for at most `wanted` bytes and hands them to `take`."""

    def __init__(self, limits: Limits | None) -> None:
        self._decoder = Decoder(limits=limits)
        self._head = bytearray()
        self.wanted = HEAD
        """Bytes up to where the next decision is; 0 when the frame is complete."""

    def take(self, chunk: bytes) -> Frame | None:
        """Take the next bytes, `wanted` of them at most; return the frame when it is complete.

        Raises DecodeError.
        """
        found = self._decoder.feed(chunk)
        self.wanted -= len(chunk)
        if len(self._head) < HEAD:
            self._head += chunk
            if self.wanted == 0:
                # The decoder has checked the head, its lengths against the limits among it.
                if self._head[5] != _VALUE:
                    message = "a file or a stream holds VALUE frames; this one belongs to a session"
                    raise DecodeError(message, code="unknown_frame_kind", offset=5)
                self.wanted = frame_length(self._head) - HEAD
        return found[0] if found else None

    def finish(self) -> None:
        """Say that no more bytes come. Raises Truncated inside a frame."""
        self._decoder.finish()
