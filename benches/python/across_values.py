"""What crosses between two processes, and the loops of the children that send it."""

from __future__ import annotations

import base64
import os
import pickle
import socket
import struct
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import hookless

KIB, MIB = 1 << 10, 1 << 20

# Bytes of float64 arrays, by name; "8 B" is a bytes object.
SIZES = {
    "8 B": 8,
    "1 KiB": KIB,
    # From here on an array is in the data region.
    "16 KiB": 16 * KIB,
    "64 KiB": 64 * KIB,
    "256 KiB": 256 * KIB,
    "1 MiB": MIB,
    "4 MiB": 4 * MIB,
    "16 MiB": 16 * MIB,
    "64 MiB": 64 * MIB,
    "512 MiB": 512 * MIB,
}
RECORDS = ("W1", "W2")
NAMES = (*SIZES, *RECORDS)

Array = np.ndarray[Any, Any]


@cache
def value(name: str) -> Any:
    """Return the value of that name; made once in each process."""
    if name in RECORDS:
        from workloads import REGISTRY

        return REGISTRY[name].build()
    if SIZES[name] < KIB:
        return bytes(range(SIZES[name]))
    return np.arange(SIZES[name] // 8, dtype=np.float64)


def forget(name: str) -> None:
    """Let the values go that are not of that name: half a gigabyte each, in each process."""
    value.cache_clear()
    raw.cache_clear()
    value(name)


@cache
def raw(name: str) -> memoryview:
    """Return what a transport without a codec carries: an array's bytes, or the frame of anything else."""
    found = value(name)
    if isinstance(found, np.ndarray):
        return memoryview(found.data).cast("B")
    return memoryview(found if isinstance(found, bytes) else hookless.dumps(found))


def give(name: str) -> Any:
    """Return the value: what a hookless child is asked for."""
    return value(name)


def serve_connection(connection: Connection, values: Callable[[str], Any] = value) -> None:
    """Answer on a multiprocessing connection, by its own pickle."""
    while (name := connection.recv()) is not None:
        connection.send(values(name))


def serve_frames(connection: Connection) -> None:
    """Answer on a multiprocessing connection, by frames, and not by its pickle."""
    while (name := hookless.loads(connection.recv_bytes(MIB))) is not None:
        connection.send_bytes(hookless.dumps(value(name)))


_LENGTH = struct.Struct(">Q")
_TRIP = struct.Struct("B")


def ask(descriptor: int, name: str) -> None:
    """Ask a child for a value, in one byte."""
    os.write(descriptor, _TRIP.pack(NAMES.index(name)))


def asked(descriptor: int) -> str | None:
    """Wait for what the host asks for; none at its end."""
    byte = os.read(descriptor, 1)
    return NAMES[byte[0]] if byte else None


def write_all(descriptor: int, data: memoryview | bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(descriptor, view) :]


def read_into(descriptor: int, view: memoryview) -> None:
    """Fill the view. Raises EOFError at the end of the stream."""
    while len(view):
        count = os.readv(descriptor, [view])
        if not count:
            raise EOFError
        view = view[count:]


def read_exactly(descriptor: int) -> bytearray:
    """Read what `write_counted` wrote."""
    head = bytearray(_LENGTH.size)
    read_into(descriptor, memoryview(head))
    data = bytearray(_LENGTH.unpack(head)[0])
    read_into(descriptor, memoryview(data))
    return data


def write_counted(descriptor: int, data: bytes) -> None:
    """Write a length and so many bytes."""
    os.writev(descriptor, [_LENGTH.pack(len(data)), b""])
    write_all(descriptor, data)


def _serve_raw(asks: int, out: int) -> None:
    while (name := asked(asks)) is not None:
        write_all(out, raw(name))


def _serve_pickle(asks: int, out: int) -> None:
    while (name := asked(asks)) is not None:
        write_counted(out, pickle.dumps(value(name), 5))


def _serve_lines(asks: int, out: int) -> None:
    """Base85 of pickle in lines of server-sent events, of 64 KiB at most."""
    while (name := asked(asks)) is not None:
        text = base64.b85encode(pickle.dumps(value(name), 5))
        step = 60_000
        lines = [b"data: " + text[at : at + step] for at in range(0, len(text), step)]
        write_all(out, b"\n".join(lines) + b"\n\n")


def _serve_zmq(address: str) -> None:
    import zmq

    socket_: Any = zmq.Context.instance().socket(zmq.PAIR)
    socket_.connect(address)
    while name := socket_.recv().decode():
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value(name), 5, buffer_callback=buffers.append)
        socket_.send_multipart([head, *(buffer.raw() for buffer in buffers)], copy=False)


SERVE = {"raw": _serve_raw, "pickle": _serve_pickle, "lines": _serve_lines}

# A few MiB in flight, as hookless has them.
BUFFER = 4 * MIB


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two ends with large buffers."""
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    return ends


if __name__ == "__main__":
    if sys.argv[1] == "zmq":
        _serve_zmq(sys.argv[2])
    else:
        SERVE[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
