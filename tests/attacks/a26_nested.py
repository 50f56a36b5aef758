"""Ten million lists in each other.

Wants: to overflow the stack of whoever reads or shows it
Against: `json.loads`, `pickle.loads` and `repr`
Since: 0.1
"""

from __future__ import annotations

import json
import pickle

from harness import expose, naive, refused

LEVELS = 10_000_000
DEEP = pickle.EMPTY_LIST * 100_000 + pickle.APPEND * 99_999 + b"."


def victim(data: bytes) -> None:
    if data.startswith(b"["):
        json.loads(data)
    else:
        repr(pickle.loads(data))


def peer() -> str:
    for data in (b"[" * 100_000, DEEP):
        found = expose(__name__, data)
        # In the first case the error is of no kind that a reader of JSON promises.
        assert "RecursionError" in found.err or found.status < 0, found
    return "succeeds: both end in RecursionError or a crash, which no `except ValueError` catches"


def ours() -> str:
    heads = [b"\x91", b"\x81\xc0", b"\x92\xd4\x01\x01", b"\x92\xd4\x01\x03", naive.record([("x", b"")])]
    for head in heads[1:]:
        for data in (naive.frame(head * 100_000), naive.frame(head * 100_000 + b"\xc0")):
            refused(data, "depth_limit")
    return (
        f"holds: {refused(naive.frame(heads[0] * LEVELS), 'depth_limit', 32 + 128)}; maps, tuples, "
        "frozensets and records likewise"
    )
