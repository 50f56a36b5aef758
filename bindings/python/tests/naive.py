"""A naive encoder of the wire, written from proto/*.md alone.

It shares no code with hookless and checks nothing, so that tests can send what an honest encoder never does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

NIL, FALSE, TRUE = b"\xc0", b"\xc2", b"\xc3"
TUPLE, SET, FROZENSET, NDARRAY, EXCEPTION = 1, 2, 3, 16, 24
RECORD, NAMED, MEMBER = 20, 21, 22
VALUE, HELLO, CALL, RESULT, ERROR, ITEM, CANCEL, CANCELLED, CREDIT, PROGRESS, LOG, SHUTDOWN = range(1, 13)


def frame(
    body: bytes,
    data: bytes = b"",
    *,
    kind: int = VALUE,
    call_id: int = 0,
    magic: bytes = b"HKLS",
    version: int = 1,
    flags: int = 0,
    body_length: int | None = None,
    data_length: int | None = None,
) -> bytes:
    """A frame with any head; lengths are the true ones unless given."""
    body_length = len(body) if body_length is None else body_length
    data_length = len(data) if data_length is None else data_length
    head = magic + struct.pack(">BBHQQQ", version, kind, flags, call_id, body_length, data_length)
    padding = bytes(-(len(head) + len(body)) % 64) if data else b""
    return head + body + padding + data


def integer(number: int) -> bytes:
    """The shortest form of an int of any size."""
    if 0 <= number < 128 or -32 <= number < 0:
        return struct.pack(">b", number)
    if number >= 0:
        for marker, size in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
            if number < 1 << (8 * size):
                return bytes([marker]) + number.to_bytes(size)
    else:
        for marker, size in ((0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)):
            if number >= -(1 << (8 * size - 1)):
                return bytes([marker]) + number.to_bytes(size, signed=True)
    magnitude = abs(number)
    return ext(2, bytes([number < 0]) + magnitude.to_bytes((magnitude.bit_length() + 7) // 8))


def floating(number: float) -> bytes:
    return b"\xcb" + struct.pack(">d", number)


def complexes(number: complex) -> bytes:
    return ext(3, struct.pack(">dd", number.real, number.imag))


def text(value: str) -> bytes:
    data = value.encode()
    if len(data) < 32:
        return bytes([0xA0 | len(data)]) + data
    return _length(len(data), 0xD9, 0xDA, 0xDB) + data


def binary(data: bytes) -> bytes:
    return _length(len(data), 0xC4, 0xC5, 0xC6) + data


def ext(code: int, payload: bytes) -> bytes:
    fixed = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}.get(len(payload))
    head = bytes([fixed]) if fixed else _length(len(payload), 0xC7, 0xC8, 0xC9)
    return head + struct.pack(">B", code) + payload


def array_head(count: int) -> bytes:
    return bytes([0x90 | count]) if count < 16 else _length(count, None, 0xDC, 0xDD)


def map_head(count: int) -> bytes:
    return bytes([0x80 | count]) if count < 16 else _length(count, None, 0xDE, 0xDF)


def array(items: Sequence[bytes]) -> bytes:
    return array_head(len(items)) + b"".join(items)


def mapping(pairs: Sequence[tuple[bytes, bytes]]) -> bytes:
    return map_head(len(pairs)) + b"".join(key + value for key, value in pairs)


def node(kind: int, elements: Sequence[bytes]) -> bytes:
    return array_head(len(elements) + 1) + ext(1, bytes([kind])) + b"".join(elements)


def members(kind: int, encoded: Iterable[bytes]) -> bytes:
    """A set or frozenset node, its members in the order that V15 asks for."""
    return node(kind, sorted(encoded))


def scalar(code: int, payload: bytes) -> bytes:
    return ext(code, payload)


def dtype(letter: str, order: str, itemsize: int) -> bytes:
    if letter in "SUV":
        return ext(8, letter.encode() + order.encode() + bytes(2) + itemsize.to_bytes(4))
    return ext(8, letter.encode() + order.encode() + itemsize.to_bytes(2))


def ndarray(kind: bytes, shape: Sequence[int], data: bytes, *, order: int = 0) -> bytes:
    """An array node; the caller passes data of 16 384 bytes or more as the frame's region and b"" here."""
    inline = binary(data) if data or 0 in shape else NIL
    return node(NDARRAY, [kind, integer(order), array([integer(size) for size in shape]), inline])


def record(
    fields: Sequence[tuple[str, bytes]], *, kind: int = RECORD, module: str = "m", qualname: str = "Q"
) -> bytes:
    """A record or named record (R1)."""
    flat = [part for name, value in fields for part in (text(name), value)]
    return node(kind, [text(module), text(qualname), *flat])


def member(name: str | None, value: bytes, *, module: str = "m", qualname: str = "E") -> bytes:
    """An enum member (R1)."""
    return node(MEMBER, [text(module), text(qualname), NIL if name is None else text(name), value])


def entry(
    module: str = "builtins",
    qualname: str = "ValueError",
    *,
    bases: Sequence[str] = (),
    message: str = "",
    frames: Sequence[bytes] = (),
    cause: int | None = None,
    context: int | None = None,
    group: Sequence[int] = (),
    args: Sequence[bytes] = (),
    fields: Sequence[tuple[bytes, bytes]] = (),
) -> bytes:
    """One entry of an exception node (X2)."""
    return array(
        [
            text(module),
            text(qualname),
            array([text(base) for base in bases]),
            text(message),
            array([]),
            array([]),
            array([]),
            array(list(frames)),
            FALSE,
            NIL if cause is None else integer(cause),
            NIL if context is None else integer(context),
            array([integer(index) for index in group]),
            array(list(args)),
            mapping(list(fields)),
        ]
    )


def exception(*entries: bytes) -> bytes:
    return node(EXCEPTION, entries)


def trace_frame(file: str, line: int, function: str, source: str | None = None) -> bytes:
    numbers = [integer(line), NIL, NIL, NIL]
    return array([text(file), *numbers, text(function), NIL if source is None else text(source)])


def _length(count: int, one: int | None, two: int, four: int) -> bytes:
    if one is not None and count < 1 << 8:
        return bytes([one, count])
    if count < 1 << 16:
        return bytes([two]) + count.to_bytes(2)
    return bytes([four]) + count.to_bytes(4)
