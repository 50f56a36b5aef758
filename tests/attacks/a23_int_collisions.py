"""Ints that all have one hash.

Wants: to keep the host busy with a table that degrades
Against: `pickle.loads`, `json.loads` with keys made ints again
Since: 0.1
"""

from __future__ import annotations

import json
import pickle
import time

from harness import expose, naive, refused, within

# What hash() of an int is taken modulo of.
MODULUS = 2**61 - 1
COUNT = 12_000
KEYS = [number * MODULUS for number in range(1, COUNT + 1)]


def victim(data: bytes) -> None:
    began = time.perf_counter()
    if data.startswith(b"{"):
        {int(key): value for key, value in json.loads(data).items()}
    else:
        pickle.loads(data)
    print(time.perf_counter() - began)


def pickled(keys: list[int]) -> bytes:
    """A dict's pickle, without making the dict."""
    pairs = [pickle.dumps(key, 2)[2:-1] + pickle.NONE for key in keys]
    return pickle.PROTO + b"\x02" + pickle.EMPTY_DICT + b"(" + b"".join(pairs) + pickle.SETITEMS + b"."


def peer() -> str:
    # Each is compared with all before it.
    assert len({hash(key) for key in KEYS}) == 1
    text = json.dumps([str(key) for key in KEYS])[1:-1].replace('", ', '": 0, ')
    told = []
    for data in (pickled(KEYS), b"{" + text.encode() + b": 0}"):
        took = float(expose(__name__, data, seconds=60).out)
        told.append(f"{len(data) // 1000} kB take {within(took, 's', most=60)}")
    return f"succeeds: {' and '.join(told)}, and twice the bytes take four times as long"


def ours() -> str:
    pairs = [(naive.integer(key), naive.NIL) for key in KEYS]
    frame = naive.frame(naive.mapping(pairs))
    told = refused(frame, "key_collision")
    assert int(told.split()[-1]) * 50 < len(frame)
    refused(naive.frame(naive.members(naive.SET, [key for key, _ in pairs])), "key_collision")
    return f"holds: {told}, in the first fiftieth of the frame; as a set too"
