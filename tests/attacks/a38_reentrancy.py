"""A finaliser that calls back into a decoder at work.

Wants: a reader whose buffer goes while it reads
Against: `msgpack.Unpacker` with an `object_hook` that feeds it
Since: 0.1
"""

from __future__ import annotations

import gc
from typing import Any

import msgpack

import hookless
from harness import expose, naive, quick

FRAME = naive.frame(naive.array([naive.array([naive.NIL] * 4)] * 20_000))


def victim(data: bytes) -> None:
    unpacker: Any = msgpack.Unpacker(object_hook=lambda pairs: unpacker.feed(b"\x01" * (1 << 20)) or pairs)
    unpacker.feed(b"\x82\xa1a\x81\xa1b\x01\xa1c" + b"\x92\x01\x02")
    print(next(unpacker))


def peer() -> str:
    found = expose(__name__)
    # Older versions read freed memory here.
    assert found.status == 1 and "cannot be called while unpacking" in found.err, found
    return "fails: it refuses to be fed while it reads"


class Finaliser:
    """In a cycle, so that the collector calls it, in the midst of whatever allocates."""

    decoder: hookless.Decoder
    seen: list[object]

    def __init__(self) -> None:
        self.self = self

    def __del__(self) -> None:
        for attempt in (
            lambda: Finaliser.decoder.feed(FRAME),
            lambda: Finaliser.decoder.finish(),
            lambda: hookless.loads(FRAME[:40]),
            lambda: len(hookless.loads(hookless.dumps({(1, 2): [3.5, "x" * 40_000]}))),
            lambda: [frame.kind for frame in hookless.Decoder().feed(hookless.dumps(ValueError("x")))],
        ):
            try:
                Finaliser.seen.append(attempt())
            except hookless.HooklessError as error:
                Finaliser.seen.append(error.code)  # type: ignore[attr-defined]


def ours() -> str:
    Finaliser.seen = []
    threshold = gc.get_threshold()
    try:
        with quick():
            for _ in range(20):
                Finaliser.decoder = hookless.Decoder()
                Finaliser()
                gc.set_threshold(50)
                (frame,) = Finaliser.decoder.feed(FRAME)
                gc.set_threshold(*threshold)
                assert frame.value == [[None] * 4] * 20_000
                gc.collect()
    finally:
        gc.set_threshold(*threshold)
    ran = [Finaliser.seen[at : at + 5] for at in range(0, len(Finaliser.seen), 5)]
    assert len(ran) == 20
    # In the midst of the first decode's own imports everything is busy but the decoder itself.
    importing = ["busy", None, "busy", "busy", "busy"]
    at_work = [one for one in ran if one[:2] == ["busy", "busy"]]
    assert at_work and all(one[2:] == ["truncated", 1, ["value"]] for one in at_work)
    others = [one for one in ran if one[0] == "busy" and one[:2] != ["busy", "busy"]]
    assert all(one == importing for one in others), others
    return "holds: the busy decoder is `busy` (ProtocolError), others work, and the frame arrives whole"
