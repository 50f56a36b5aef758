"""Ints of 32 bits whose probes all run into one chain.

Wants: the same, past a filter for equal hashes
Against: `msgpack.unpackb`
Since: 0.1
"""

from __future__ import annotations

import functools
import time

import msgpack
import numpy

from harness import expose, naive, refused, within

# A dict of 21 846 to 43 690 keys has 2^16 slots, which it gets when the first half is in.
BITS = 16
FILL, COUNT = 25_000, 18_000
CANDIDATES = 24_000_000


@functools.cache
def crafted() -> list[int]:
    """Keys that fill a chain of slots, and keys whose every probe falls into it and then goes to its end.

    CPython goes from slot i to 5i + p + 1, where p is the hash shifted right by five each time: 0 at last.
    """
    mask = (1 << BITS) - 1
    chain = [0]
    while len(chain) < FILL:
        chain.append((5 * chain[-1] + 1) & mask)
    taken = numpy.zeros(1 << BITS, bool)
    taken[chain] = True
    keys = numpy.random.default_rng(1).integers(1 << BITS, 1 << 32, CANDIDATES, dtype=numpy.uint64)
    place, perturb = keys & mask, keys
    for _ in range(8):
        inside = taken[place]
        keys, place, perturb = keys[inside], place[inside], perturb[inside] >> 5
        place = (5 * place + perturb + 1) & mask
    found = numpy.unique(keys)[:COUNT]
    assert len(found) == COUNT, f"{len(found)} keys"
    return chain + [int(key) for key in found]


def victim(data: bytes) -> None:
    began = time.perf_counter()
    msgpack.unpackb(data, strict_map_key=False)
    print(time.perf_counter() - began)


def passed() -> int:
    """Count slots of the chain that the keys at its end pass; those that they fill themselves come on top."""
    mask = (1 << BITS) - 1
    position = numpy.full(1 << BITS, FILL)
    position[crafted()[:FILL]] = numpy.arange(FILL)
    total = 0
    for key in crafted()[FILL:]:
        place = key & mask
        for shift in range(5, 40, 5):
            place = (5 * place + (key >> shift) + 1) & mask
        total += FILL - int(position[place])
    return total


def peer() -> str:
    assert passed() > 10**8
    body = naive.mapping([(naive.integer(key), naive.NIL) for key in crafted()])
    took = float(expose(__name__, body, seconds=60).out)
    return (
        f"succeeds: {len(body) // 1000} kB take {within(took, 's', most=60)}; no two of the hashes are equal"
    )


def ours() -> str:
    body = naive.mapping([(naive.integer(key), naive.NIL) for key in crafted()])
    return f"holds: {refused(naive.frame(body), 'key_collision')}; the probes are counted, not the hashes"
