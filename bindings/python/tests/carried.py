"""What every carrier is tried with: accepted frames, hostile bytes in place of one, limits met exactly."""

from __future__ import annotations

import pickle
import random
from typing import TYPE_CHECKING, Any

import hookless
import naive
from describing import describe, normal
from lacking import lacking_here
from test_vectors import Vector, check_accepted, vectors

if TYPE_CHECKING:
    from hookless import http, sse

__all__ = [
    "HOSTILE",
    "LARGE",
    "SHORT",
    "accepted",
    "check_results",
    "check_value",
    "limits_at",
    "refused",
]

LARGE = {"name": "large", "data": bytes(range(256)) * 300, "rest": [1.5, None, "\u00e9"]}
"""A value with a data region."""

SHORT = hookless.dumps(["short", 1])
"""A frame that can be cut at every byte."""


def plain(verdict: str) -> list[Vector]:
    """The vectors of frames under default limits."""
    limits = repr(hookless.Limits())
    found: list[Vector] = [one.values[0] for one in vectors(verdict, "decode")]
    return [one for one in found if repr(one.limits) == limits]


def accepted() -> list[Vector]:
    """The accept vectors that this host takes under default limits, as VALUE frames."""
    return [one for one in plain("accept") if not lacking_here(one.value) and one.frame[5] == 1]


def refused() -> list[Vector]:
    """The reject vectors under default limits, but large ones, cut ones, and those with more behind them."""
    return [
        one
        for one in plain("reject")
        if one.code not in ("truncated", "trailing_bytes") and len(one.frame) < 5000
    ]


def check_value(vector: Vector, value: Any) -> None:
    """The value is the vector's, and encodes to the bytes that it came from."""
    if vector.value is not None:
        assert describe(value) == normal(vector.value)
    check_accepted(vector, lambda: value)


def check_results(decoder: sse.Decoder | http.Decoder, data: bytes, known: list[Vector]) -> None:
    """The whole of a stream of events has each vector's value, as the result of call 1, 2 and so on."""
    found = decoder.feed(data)
    decoder.finish()
    assert [event.call_id for event in found] == list(range(1, len(known) + 1))
    for vector, event in zip(known, found, strict=True):
        check_value(vector, event.value)


class Gadget:
    """Unpickled, it would leave a mark."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, ("import builtins; builtins.unpickled = True",)


HOSTILE = [
    ("pickle", pickle.dumps(Gadget()), "bad_magic"),
    ("random", random.Random(5).randbytes(3000), "bad_magic"),
    ("empty", b"", "truncated"),
    ("torn", SHORT[:-1], "truncated"),
    ("trailing", SHORT + b"\x00", "trailing_bytes"),
    ("session", naive.frame(naive.integer(5), kind=naive.RESULT, call_id=1), "unknown_frame_kind"),
    ("marker", naive.frame(b"\xc1"), "bad_marker"),
    ("promise", naive.frame(b"\xc0", body_length=2**63), "body_limit"),
]
"""Bytes in place of a frame: name, the bytes, and the code of their refusal."""


def limits_at() -> tuple[bytes, hookless.Limits, hookless.Limits]:
    """A frame, the limits that it just meets, and those that it is one byte past."""
    frame = hookless.dumps("x" * 100)
    body = len(frame) - 32
    return frame, hookless.Limits(body=body), hookless.Limits(body=body - 1)
