"""Weighs, in a process that has done nothing else, what large values take on their way; says what is wrong.

    MALLOC_MMAP_THRESHOLD_=1048576 python weighing.py from_a_child bytearray

What the allocator keeps of earlier values would be used unweighed, and what it gives back meanwhile would
count as less than nothing: hence a process of its own, in which large blocks come straight from the kernel.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import large
from hookless import Worker, decode, dump, dumps, encode, load, loads
from same import assert_same

HERE = Path(__file__).parent
MIB = 1 << 20
SIZE = 512 * MIB
# Where another one has shown the same with more.
LESS = 64 * MIB
# What may be in use beside the value: a part that is gathered, a huge page at each end, the interpreter.
ROOM = 16 * MIB
# What C170 is about: so many small arrays.
MANY = 10_000


def weighing_worker(**options: Any) -> Worker:
    """Its child weighs itself, which no sandbox allows."""
    return Worker(paths=[str(HERE)], isolation="none", **options)


def most(kind: str, size: int) -> int:
    """What a receiver may have in use."""
    # An array.array takes its bytes over when they are all there (limits.md).
    return size + ROOM + (size + size // 16 if kind == "array.array" else 0)


def arrived(kind: str) -> str:
    """What a value comes as."""
    return "contiguous" if kind == "strided" else kind


def within(least: int, found: int, most: int) -> None:
    """So many bytes, and no fewer."""
    if not least <= found <= most:
        raise AssertionError(f"{found / MIB:.1f} MiB in use, not {least / MIB:.1f} to {most / MIB:.1f}")


def from_a_child(kind: str) -> None:
    """The child sends from the value's own memory; the host reads into that of the result."""
    size = SIZE if kind == "contiguous" else LESS
    with weighing_worker(memory=None) as worker:
        worker.call("large:hold", kind, size)
        worker.call("large:begin")
        weighed = large.Weighed()
        value = worker.call("large:send")
        ours, theirs = weighed.growth(), worker.call("large:growth")
    within(0, theirs, ROOM)
    within(size // 2, ours, most(kind, size))
    large.check(arrived(kind), size, value)


def to_a_child(kind: str) -> None:
    """The other way round: arguments."""
    value = large.make(kind, LESS)
    with weighing_worker(memory=None) as worker:
        # It imports NumPy, which is not weighed here.
        worker.call("large:begin")
        weighed = large.Weighed()
        worker.call("large:take", value)
        ours, theirs = weighed.growth(), worker.call("large:growth")
        within(0, ours, ROOM)
        within(LESS // 2, theirs, most(kind, LESS))
        worker.call("large:check_taken", arrived(kind), LESS)


def first_array(kind: str) -> None:
    """A child imports NumPy when the first array comes, which is read into NumPy's memory all the same."""
    value = large.make(kind, 2 * LESS)
    with Worker(paths=[str(HERE / "children")], isolation="none", memory=None) as fresh:
        name, nbytes, peak = fresh.call("jobs:array_and_peak", value)
    assert (name, nbytes) == ("numpy.ndarray", 2 * LESS)
    # Python and NumPy are some 50 MiB.
    within(2 * LESS, peak, 2 * LESS + 80 * MIB)


def dumps_and_loads(kind: str) -> None:
    """One frame beside the value, one value beside the frame."""
    value = large.make(kind, LESS)
    weighed = large.Weighed()
    frame = dumps(value)
    within(LESS // 2, weighed.growth(), LESS + ROOM)
    del value
    weighed = large.Weighed()
    found = loads(frame)
    within(LESS // 2, weighed.growth(), most(kind, LESS))
    large.check(arrived(kind), LESS, found)
    if kind == "contiguous":
        weighed = large.Weighed()
        view = loads(frame, copy=False)
        within(0, weighed.growth(), ROOM)
        assert np.shares_memory(view, np.frombuffer(frame, "u1"))
        large.check("contiguous", LESS, view)


def encode_and_decode(kind: str) -> None:
    """Buffers of the value's own; what cannot be lent as it lies is there once more."""
    value = large.make(kind, LESS)
    weighed = large.Weighed()
    parts = encode(value)
    copied = kind in ("strided", "padded")
    within(LESS // 2 if copied else 0, weighed.growth(), ROOM + (LESS if copied else 0))
    if copied:
        weighed = large.Weighed()
        found = decode(parts)
        within(LESS // 2, weighed.growth(), LESS + ROOM)
        large.check(arrived(kind), LESS, found)


def files(kind: str) -> None:
    """`dump` writes from the array's memory. `load` reads a file that is a bytes of its own by pieces."""
    value = large.make(kind, LESS)
    with tempfile.TemporaryFile() as file:
        weighed = large.Weighed()
        dump(value, file)
        within(0, weighed.growth(), ROOM)
        del value
        file.seek(0)
        weighed = large.Weighed()
        found = load(file)
        within(LESS // 2, weighed.growth(), LESS + ROOM)
    large.check(kind, LESS, found)


def many_small(kind: str) -> None:
    """C170: arrays of 8 KB or 20 KB: small ones are inline, and neither side needs 2.5 times the payload."""
    size = {"inline": 8_000, "entries": 20_000}[kind]
    payload = MANY * size
    lent = payload * 5 // 4 if kind == "inline" else ROOM
    arrays = [np.full(size // 8, number, "f8") for number in range(MANY)]
    with weighing_worker() as worker:
        worker.call("large:take", np.zeros(3))
        worker.call("large:begin")
        weighed = large.Weighed()
        worker.call("large:take", arrays)
        ours, theirs = weighed.growth(), worker.call("large:growth")
        # Inline ones are in the body once; those of the region are sent from their own memory.
        within(0, ours, lent)
        within(payload // 2, theirs, payload * 5 // 2)
        worker.call("large:begin")
        weighed = large.Weighed()
        found: Any = worker.call("large:send")
        ours, theirs = weighed.growth(), worker.call("large:growth")
        within(0, theirs, lent)
        within(payload // 2, ours, payload * 5 // 2)
    assert_same(found, arrays)


# What may be weighed, and of which kinds of value.
WAYS = {
    from_a_child: large.KINDS,
    to_a_child: large.KINDS,
    dumps_and_loads: large.KINDS,
    encode_and_decode: large.KINDS,
    first_array: ("contiguous",),
    files: ("contiguous",),
    many_small: ("inline", "entries"),
}


if __name__ == "__main__":
    _, wanted, kind = sys.argv
    next(way for way in WAYS if way.__name__ == wanted)(kind)
