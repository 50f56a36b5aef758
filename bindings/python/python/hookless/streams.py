"""Values over asyncio streams: one frame after the other, with no line and no limit on one.

    reader, writer = await asyncio.open_connection("127.0.0.1", 5000)
    values = FrameReader(reader)
    await FrameWriter(writer).write({"rows": [1, 2.5]})
    async with asyncio.timeout(10):
        answer = await values.read()

Deadlines are the caller's, by `asyncio.timeout`. See CARRIERS.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from hookless import encode, loads
from hookless._framing import OneFrame
from hookless.errors import HooklessError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from hookless import Frame, Limits

__all__ = ["FrameReader", "FrameWriter"]

# At most so much is asked of a stream, or handed to one, at once.
_CHUNK = 1 << 18


class FrameReader:
    """Reads values from a StreamReader, and not a byte past each. One task at a time.

    A read that is cancelled, by a deadline for instance, loses nothing: the next one goes on in the midst of
    the frame. After a DecodeError the place in the stream is lost, and each read raises that error again.
    """

    def __init__(self, reader: asyncio.StreamReader, *, limits: Limits | None = None) -> None:
        self._reader, self._limits = reader, limits
        self._incoming = OneFrame(limits)
        self._busy = False
        self._dead: HooklessError | None = None

    async def read(self, *, type: Any = None) -> Any:
        """Return the next value; as a `type`, if given (`hookless.convert`).

        Raises DecodeError, Truncated where the stream has ended, and ProtocolError while another task reads.
        """
        if type is None:
            return await self._read()
        from hookless._typed.conversion import conversion

        convert = conversion(type)
        return convert(await self._read())

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Yield the values up to the end of the stream. Raises Truncated inside a frame."""
        while (frame := await self._frame()) is not None:
            yield frame.value

    async def _read(self) -> Any:
        frame = await self._frame()
        # A stream that ends before a first byte is called what `loads` calls it.
        return loads(b"") if frame is None else frame.value

    async def _frame(self) -> Frame | None:
        """Read one frame; None where the stream ends before its first byte."""
        if self._dead is not None:
            raise self._dead
        if self._busy:
            raise ProtocolError("another task reads from this stream", code="busy")
        self._busy = True
        try:
            return await self._whole()
        except HooklessError as error:
            self._dead = error
            raise
        finally:
            self._busy = False

    async def _whole(self) -> Frame | None:
        incoming = self._incoming
        while chunk := await self._reader.read(min(incoming.wanted, _CHUNK)):
            frame = incoming.take(chunk)
            if frame is not None:
                self._incoming = OneFrame(self._limits)
                return frame
        incoming.finish()
        return None


class FrameWriter:
    """Writes values to a StreamWriter, each as one frame. Any number of tasks: each waits for its turn.

    A write that is cancelled or fails before its frame is gone leaves a torn one: the connection is aborted
    then, and each later write raises ProtocolError.
    """

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        *,
        limits: Limits | None = None,
        default: Callable[[Any], object] | None = None,
    ) -> None:
        self._writer, self._limits, self._default = writer, limits, default
        self._turn = asyncio.Lock()
        self._torn = False

    async def write(self, value: object) -> None:
        """Write a value, and wait while the peer does not take it.

        Arrays in it must not change before this returns. Raises EncodeError before anything is written,
        ConnectionError when the peer is gone, and ProtocolError after a frame that was cut short.
        """
        parts = encode(value, limits=self._limits, default=self._default)
        async with self._turn:
            if self._torn:
                raise ProtocolError("an earlier frame on this stream was cut short", code="unexpected_frame")
            self._torn = True
            try:
                await self._send(parts)
                self._torn = False
            finally:
                if self._torn:
                    self._writer.transport.abort()

    async def _send(self, parts: list[Buffer]) -> None:
        for part in parts:
            view = memoryview(part).cast("B")
            for start in range(0, len(view), _CHUNK):
                # A copy, since a transport may keep what it is given after `drain` has returned.
                self._writer.write(bytes(view[start : start + _CHUNK]))
                await self._writer.drain()
