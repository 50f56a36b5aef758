"""Large values go from memory to memory: neither side of a call has a second copy at any time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import large
from hookless import Worker, decode, dump, dumps, encode, load, loads

MIB = 1 << 20
SIZE = 512 * MIB
# Where another test has shown the same with more.
LESS = 64 * MIB
# What may be in use beside the value: a part that is gathered, a huge page at each end, the interpreter.
ROOM = 16 * MIB

pytestmark = pytest.mark.skipif(
    large.available() < 6 * SIZE, reason=f"{6 * SIZE >> 30} GiB of memory are not available"
)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    # It weighs itself, which no sandbox allows.
    with Worker(paths=[str(Path(__file__).parent)], isolation="none", memory=None) as worker:
        yield worker


def most(kind: str, size: int) -> int:
    """What a receiver may have in use."""
    # An array.array takes its bytes over when they are all there (limits.md).
    return size + ROOM + (size + size // 16 if kind == "array.array" else 0)


def arrived(kind: str) -> str:
    """What a value comes as."""
    return "contiguous" if kind == "strided" else kind


@pytest.mark.parametrize("kind", large.KINDS)
def test_from_a_child(worker: Worker, kind: str) -> None:
    """The child sends from the value's own memory; the host reads into that of the result."""
    size = LESS if kind == "array.array" else SIZE
    worker.call("large:hold", kind, size)
    for _ in range(3):
        worker.call("large:begin")
        weighed = large.Weighed()
        value = worker.call("large:send")
        ours, theirs = weighed.growth(), worker.call("large:growth")
        if ours > 0:
            break
        # Memory of an earlier test was given back meanwhile: nothing was weighed.
        value = None
    worker.call("large:take", None)
    assert theirs <= ROOM
    assert size // 2 < ours <= most(kind, size)
    large.check(arrived(kind), size, value)


@pytest.mark.parametrize("kind", large.KINDS)
def test_to_a_child(worker: Worker, kind: str) -> None:
    """The other way round: arguments."""
    value = large.make(kind, LESS)
    worker.call("large:begin")
    weighed = large.Weighed()
    worker.call("large:take", value)
    ours, theirs = weighed.growth(), worker.call("large:growth")
    del value
    assert ours <= ROOM
    assert LESS // 2 < theirs <= most(kind, LESS)
    worker.call("large:check_taken", arrived(kind), LESS)


def test_the_first_array_that_a_child_is_sent() -> None:
    """A child imports NumPy when the first array comes, which is read into NumPy's memory all the same."""
    value = large.make("contiguous", 2 * LESS)
    with Worker(paths=[str(Path(__file__).parent / "children")], isolation="none", memory=None) as fresh:
        kind, nbytes, peak = fresh.call("jobs:array_and_peak", value)
    assert (kind, nbytes) == ("numpy.ndarray", 2 * LESS)
    # Python and NumPy are some 50 MiB.
    assert peak <= 2 * LESS + 80 * MIB


@pytest.mark.parametrize("kind", large.KINDS)
def test_dumps_and_loads(kind: str) -> None:
    """One frame beside the value, one value beside the frame."""
    value = large.make(kind, LESS)
    weighed = large.Weighed()
    frame = dumps(value)
    assert weighed.growth() <= LESS + ROOM
    del value
    weighed = large.Weighed()
    found = loads(frame)
    assert weighed.growth() <= most(kind, LESS)
    large.check(arrived(kind), LESS, found)
    if kind == "contiguous":
        weighed = large.Weighed()
        view = loads(frame, copy=False)
        assert weighed.growth() <= ROOM
        assert np.shares_memory(view, np.frombuffer(frame, "u1"))
        large.check("contiguous", LESS, view)


@pytest.mark.parametrize("kind", large.KINDS)
def test_encode_and_decode(kind: str) -> None:
    """Buffers of the value's own; what cannot be lent as it lies is there once more."""
    value = large.make(kind, LESS)
    weighed = large.Weighed()
    parts = encode(value)
    copied = kind in ("strided", "padded")
    assert weighed.growth() <= ROOM + (LESS if copied else 0)
    if copied:
        weighed = large.Weighed()
        found = decode(parts)
        assert weighed.growth() <= LESS + ROOM
        large.check(arrived(kind), LESS, found)


def test_files(tmp_path: Path) -> None:
    """`dump` writes from the array's memory. `load` reads a file that is a bytes of its own by pieces."""
    value = large.make("contiguous", LESS)
    with open(tmp_path / "frame", "wb") as file:
        weighed = large.Weighed()
        dump(value, file)
        assert weighed.growth() <= ROOM
    del value
    with open(tmp_path / "frame", "rb") as file:
        weighed = large.Weighed()
        found = load(file)
        assert weighed.growth() <= LESS + ROOM
    large.check("contiguous", LESS, found)
