"""C150, C169, and arrays of more than 4 GiB: past every number of 31 and 32 bits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import large
from hookless import EncodeError, Limits, RemoteError, Worker, dumps, loads

GIB = 1 << 30

long = pytest.mark.skipif(not large.LONG, reason="a minute and many GiB of memory: make long runs it")


def needs(size: int) -> pytest.MarkDecorator:
    """Not on a machine with less memory than that."""
    short = large.LONG and large.available() < size
    return pytest.mark.skipif(short, reason=f"{size >> 30} GiB of memory are not available")


@pytest.fixture
def roomy() -> Iterator[Worker]:
    with Worker(paths=[str(Path(__file__).parent)], memory=16 * GIB) as worker:
        yield worker


@long
@needs(13 * GIB)
@pytest.mark.parametrize("kind", ["contiguous", *large.OCTETS])
def test_five_gibibytes_both_ways(roomy: Worker, kind: str) -> None:
    """Sent to a sandboxed child and sent by it, lent and gathered; every bit is looked at."""
    size = 5 * GIB
    value = large.make(kind, size)
    roomy.call("large:take", value)
    roomy.call("large:check_taken", kind, size)
    del value
    roomy.call("large:hold", kind, size)
    value = roomy.call("large:send")
    roomy.call("large:take", None)
    large.check(kind, size, value)


@long
@needs(13 * GIB)
def test_five_gibibytes_in_one_frame() -> None:
    """The same without a worker: as a frame in memory, and as buffers of its own."""
    value = large.make("octets", 5 * GIB)
    frame = dumps(value)
    del value
    view = loads(frame, copy=False)
    large.check("octets", 5 * GIB, view)
    with pytest.raises(ValueError, match="region_limit"):
        loads(frame, limits=Limits(region=5 * GIB - 1))


@long
@needs(9 * GIB)
@pytest.mark.parametrize("kind", ["bytes", "octets"])
def test_c150_three_gigabytes_in_one_message(roomy: Worker, kind: str) -> None:
    """Past 2^31, and what is in one write is less."""
    roomy.call("large:hold", kind, 3_000_000_000)
    value = roomy.call("large:send")
    roomy.call("large:take", None)
    large.check(kind, 3_000_000_000, value)


@long
@needs(12 * GIB)
def test_c169_many_small_parts_where_the_limits_allow_them() -> None:
    """300 000 arrays of 10 KB: 3 GB of body."""
    limits = Limits(body=4 * GIB, memory=8 * GIB)
    one = np.arange(1250.0)
    with Worker(paths=[str(Path(__file__).parent)], memory=16 * GIB, limits=limits) as worker:
        worker.call("large:take", [one] * 300_000)
        assert worker.call("large:count") == 300_000
        found = worker.call("large:send")
    assert len(found) == 300_000 and {array.tobytes() for array in found} == {one.tobytes()}


def test_c169_many_small_parts_as_one_error(shared: Worker) -> None:
    """The same with default limits: one error, which names the limit, before anything is sent."""
    with pytest.raises(EncodeError, match=r"body_limit.*268435456") as caught:
        shared.call("jobs:same", [np.arange(1250.0)] * 300_000)
    assert caught.value.code == "body_limit"
    with pytest.raises(RemoteError, match="body_limit") as remote:
        shared.call("number_jobs:many", 300_000, 1250)
    assert remote.value.remote.type_name.endswith("EncodeError")
    assert shared.call("jobs:same", 1) == 1


def test_l8_many_large_parts_as_one_error(shared: Worker) -> None:
    """Entries of the region are counted: the last that is allowed, and one more."""
    one = np.arange(2048.0)
    with pytest.raises(EncodeError) as caught:
        shared.call("jobs:same", [one] * 65_537)
    assert caught.value.code == "region_entry_limit"
    assert dumps([one[::-1]] * 1000) == dumps([one[::-1].copy()] * 1000)
