"""Tuples of small ints that all have one hash.

Wants: the same, past a filter for large ints
Against: `pickle.loads`
Since: 0.1
"""

from __future__ import annotations

import itertools
import pickle
import time

from harness import expose, naive, refused, within

# hash(-1) is -2, as that of -2 is.
KEYS = list(itertools.product((-1, -2), repeat=13))


def pickled() -> bytes:
    """A dict's pickle, without making the dict."""
    one, two = pickle.BININT + b"\xff\xff\xff\xff", pickle.BININT + b"\xfe\xff\xff\xff"
    keys = [b"(" + b"".join(one if part == -1 else two for part in key) + pickle.TUPLE for key in KEYS]
    return (
        pickle.PROTO
        + b"\x02"
        + pickle.EMPTY_DICT
        + b"("
        + b"".join(key + b"N" for key in keys)
        + pickle.SETITEMS
        + b"."
    )


def victim(data: bytes) -> None:
    began = time.perf_counter()
    pickle.loads(data)
    print(time.perf_counter() - began)


def peer() -> str:
    # Each is compared with all before it.
    assert len({hash(key) for key in KEYS}) == 1
    took = float(expose(__name__, pickled(), seconds=60).out)
    return f"succeeds: {len(KEYS)} keys take {within(took, 's', most=60)}"


def ours() -> str:
    encoded = [naive.node(naive.TUPLE, [naive.integer(part) for part in key]) for key in KEYS]
    told = refused(naive.frame(naive.mapping([(key, naive.NIL) for key in encoded])), "key_collision")
    refused(naive.frame(naive.members(naive.FROZENSET, encoded)), "key_collision")
    return f"holds: {told}; as a frozenset too"
