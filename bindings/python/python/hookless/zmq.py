"""Values over 0MQ sockets, each as one multipart message of one frame. It needs pyzmq.

`send` and `recv` are for sockets of `zmq`, `send_async` and `recv_async` for those of `zmq.asyncio`. The
`envelope` is what stands before the frame: the routing id of a ROUTER's peer, the topic of a PUB socket, a
delimiter. See CARRIERS.md for what bounds a peer, and what does not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hookless._framing import HEAD, frame_length
from hookless._hookless import Limits, decode, encode, loads
from hookless.errors import LimitExceeded, Truncated

try:
    import zmq
except ImportError as _error:
    raise ImportError("hookless.zmq needs pyzmq: pip install 'hookless[zmq]'") from _error

if TYPE_CHECKING:
    from collections.abc import Callable

    import zmq.asyncio
    from typing_extensions import Buffer

__all__ = [
    "Message",
    "bound",
    "recv",
    "recv_async",
    "recv_message",
    "recv_message_async",
    "send",
    "send_async",
]

# A frame is sent as one part and two more for each entry of its region; of entries there are so many (L8).
_MOST_PARTS = 1 + 2 * 65_536

# Between body and region.
_MOST_PADDING = 63


def bound(socket: zmq.Socket[Any], limits: Limits | None = None) -> None:
    """Have 0MQ refuse larger parts than a frame within `limits` can have: it then drops the connection.

    To be called before the socket is bound or connected. Without it 0MQ takes parts of any size into memory,
    before anybody can look at them.
    """
    socket.setsockopt(zmq.MAXMSGSIZE, _longest(limits or Limits()))


def send(
    socket: zmq.Socket[bytes],
    value: object,
    flags: int = 0,
    *,
    envelope: Sequence[bytes] = (),
    limits: Limits | None = None,
    default: Callable[[Any], object] | None = None,
    track: bool = False,
) -> zmq.MessageTracker | None:
    """Send a value as one message. `flags` are those of pyzmq, such as `zmq.NOBLOCK`.

    Large arrays are not copied (from `socket.copy_threshold` bytes on, 64 KiB by default): they must not
    change until 0MQ has sent them, for which the tracker that `track=True` returns can wait. Raises
    EncodeError before anything is sent, and what pyzmq raises.
    """
    _of_zmq(socket)
    return socket.send_multipart(_message(value, envelope, limits, default), flags, copy=False, track=track)


async def send_async(
    socket: zmq.asyncio.Socket,
    value: object,
    flags: int = 0,
    *,
    envelope: Sequence[bytes] = (),
    limits: Limits | None = None,
    default: Callable[[Any], object] | None = None,
    track: bool = False,
) -> zmq.MessageTracker | None:
    """Send a value as one message, as `send` does."""
    message = _message(value, envelope, limits, default)
    return await socket.send_multipart(message, flags, copy=False, track=track)


def recv(
    socket: zmq.Socket[bytes],
    flags: int = 0,
    *,
    type: Any = None,
    limits: Limits | None = None,
    copy: bool = True,
) -> Any:
    """Receive one message, and return its value; as a `type`, if given (`hookless.convert`).

    With `copy=False`, arrays of 16 384 bytes and more are read-only views of one copy of the message. Raises
    DecodeError (LimitExceeded, Truncated) for a message that is no frame; it is gone then as a whole, and
    the next one can be received. Raises what pyzmq raises.
    """
    return recv_message(socket, 0, flags, limits=limits).value(type=type, copy=copy)


async def recv_async(
    socket: zmq.asyncio.Socket,
    flags: int = 0,
    *,
    type: Any = None,
    limits: Limits | None = None,
    copy: bool = True,
) -> Any:
    """Receive one message, as `recv` does."""
    message = await recv_message_async(socket, 0, flags, limits=limits)
    return message.value(type=type, copy=copy)


class Message:
    """One message that has been received: its envelope, and a frame that is yet to be decoded."""

    def __init__(self, parts: Iterator[zmq.Frame], count: int, limits: Limits | None) -> None:
        self.envelope: list[bytes] = [part.bytes for _, part in zip(range(count), parts, strict=False)]
        """The first parts: who sent it, or what it is about. Fewer than asked for where there are no more."""
        self._limits = limits
        self._too_many = False
        self._frame = list(self._enough(parts, limits or Limits()))

    def value(self, *, type: Any = None, copy: bool = True) -> Any:
        """Decode the frame. Raises as `recv` does for a message that is no frame; so who sent it is known."""
        if self._too_many:
            message = f"a message of more than {_MOST_PARTS} parts"
            raise LimitExceeded(message, code="region_entry_limit")
        frame = self._frame
        if not frame:
            raise Truncated(f"a message without a frame after {len(self.envelope)} parts", code="truncated")
        if len(frame) == 1:
            return loads(frame[0].bytes, type=type, limits=self._limits, copy=copy)
        # Bytes are decoded as they are. For views all parts have to become one, which copies each once.
        pieces: list[Buffer] = [part.bytes if copy else part.buffer for part in frame]
        return decode(pieces, type=type, limits=self._limits, copy=copy)

    def _enough(self, parts: Iterator[zmq.Frame], limits: Limits) -> Iterator[zmq.Frame]:
        """Yield no more parts than decide the matter: what is too large or too long is refused by them."""
        most = _longest(limits)
        size, head = 0, b""
        for number, part in enumerate(parts):
            if number == _MOST_PARTS:
                self._too_many = True
                return
            yield part
            size += len(part)
            if len(head) < HEAD:
                head += part.buffer[: HEAD - len(head)].tobytes()
                if len(head) == HEAD:
                    most = min(most, frame_length(head))
            if size > most:
                return


def recv_message(
    socket: zmq.Socket[bytes], count: int, flags: int = 0, *, limits: Limits | None = None
) -> Message:
    """Receive one message, of which the first `count` parts are an envelope. `flags`, `limits`: as in `recv`.

    What is no frame is refused by `Message.value`, and not here. Raises what pyzmq raises.
    """
    _of_zmq(socket)
    try:
        return Message(_parts(socket, flags), count, limits)
    finally:
        # Whatever was not kept: the rest of the message must not be taken for the next one.
        while socket.getsockopt(zmq.RCVMORE):
            socket.recv(copy=False)


async def recv_message_async(
    socket: zmq.asyncio.Socket, count: int, flags: int = 0, *, limits: Limits | None = None
) -> Message:
    """Receive one message with an envelope, as `recv_message` does."""
    return Message(iter(await socket.recv_multipart(flags, copy=False)), count, limits)


def _longest(limits: Limits) -> int:
    """Bytes of the longest frame within limits."""
    return HEAD + limits.body + _MOST_PADDING + limits.region


def _of_zmq(socket: object) -> None:
    module = sys.modules.get("zmq.asyncio")
    if module is not None and isinstance(socket, module.Socket):
        raise TypeError("this is a socket of zmq.asyncio: use send_async and recv_async")


def _message(
    value: object,
    envelope: Sequence[bytes],
    limits: Limits | None,
    default: Callable[[Any], object] | None,
) -> list[Any]:
    return [*envelope, *encode(value, limits=limits, default=default)]


def _parts(socket: zmq.Socket[bytes], flags: int) -> Iterator[zmq.Frame]:
    """Receive the parts of one message, one at a time. 0MQ has all of them when it gives the first."""
    part = socket.recv(flags, copy=False)
    yield part
    while part.more:
        part = socket.recv(copy=False)
        yield part
