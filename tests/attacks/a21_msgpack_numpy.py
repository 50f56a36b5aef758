"""An array that says its elements are objects.

Wants: code in a decoder of arrays
Against: `msgpack-numpy`
Since: 0.1
"""

from __future__ import annotations

import msgpack
import msgpack_numpy

from gadgets import reduced
from harness import expose, inert, naive, refused

TAGGED = {b"nd": True, b"kind": b"O", b"type": "|O8", b"shape": [1], b"data": reduced()}
DATA = msgpack.packb(TAGGED)


def victim(data: bytes) -> None:
    msgpack.unpackb(data, object_hook=msgpack_numpy.decode)


def peer() -> str:
    assert expose(__name__, DATA).marked
    return "succeeds: any dict with the key `nd` is an array, and this kind is unpickled"


def ours() -> str:
    pairs = [
        (naive.binary(b"nd"), naive.TRUE),
        (naive.binary(b"kind"), naive.binary(b"O")),
        (naive.binary(b"type"), naive.text("|O8")),
        (naive.binary(b"shape"), naive.array([b"\1"])),
        (naive.binary(b"data"), naive.binary(reduced())),
    ]
    inert(naive.frame(naive.mapping(pairs)), TAGGED)
    node = [naive.dtype("O", "|", 8), b"\0", naive.array([b"\1"]), naive.binary(reduced())]
    told = refused(naive.frame(naive.node(naive.NDARRAY, node)), "bad_dtype", 36)
    return f"holds: the dict is a dict; object arrays are lists of values, and the dtype is {told}"
