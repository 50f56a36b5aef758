"""Arrays to and from a child."""

from __future__ import annotations

import numpy as np
import pytest

from hookless import EnumValue, Record, Worker
from same import assert_same


def test_large_arrays_both_ways(shared: Worker) -> None:
    """64 MiB there and 64 MiB back, equal in every bit, writable on both sides."""
    array = np.random.default_rng(1).random(8 << 20)
    result = shared.call("number_jobs:double", array)
    assert_same(result, array * 2)
    assert result.flags.writeable and result.flags.owndata | (result.base is not None)


def test_arrays_arrive_as_arrays_in_the_child(shared: Worker) -> None:
    """With dtype, shape and bytes, and writable."""
    for array in (
        np.arange(6, dtype=">i2").reshape(2, 3),
        np.asfortranarray(np.ones((50, 100))),
        np.array("x"),
    ):
        name, dtype, shape, writeable, data = shared.call("number_jobs:describe", array)
        assert (name, writeable) == ("ndarray", True)
        assert (dtype, tuple(shape), data) == (array.dtype.str, array.shape, array.tobytes())


def test_arrays_in_records_are_arrays_in_a_child_that_has_yet_to_import_numpy(children: str) -> None:
    """The child looks into records for arrays too."""
    record = Record("m", "Q", {"a": np.zeros(2)})
    for value in (record, Record("m", "R", {"r": EnumValue("m", "E", None, record)})):
        with Worker(paths=[children], isolation="none") as worker:
            assert worker.call("jobs:array_type", value) == "numpy.ndarray"


def test_many_arrays_in_one_message(shared: Worker) -> None:
    """More region entries than one writev takes."""
    arrays = [np.full(2048, i, "f8") for i in range(3000)]
    assert_same(shared.call("jobs:same", arrays), arrays)


@pytest.mark.parametrize("count", [0, 2047, 2048, 10**6])
def test_results_inline_and_in_the_region(shared: Worker, count: int) -> None:
    """On both sides of the threshold."""
    assert_same(shared.call("number_jobs:ramp", count), np.arange(count, dtype="f8"))


def test_every_kind_of_array_both_ways(shared: Worker) -> None:
    """Masked arrays, objects, records and their scalars, large parts read straight into their memory."""
    value = shared.call("number_jobs:every_kind")
    masked, objects, records, scalar, longdouble = value
    assert masked.fill_value == 5 and masked.count() == 20_000 - 2858
    assert objects[0].tolist() == list(range(20_000)) and objects[1:].tolist() == [{"x": [1]}, None]
    assert (records.b[0], scalar["a"], str(longdouble)) == (2.5, 0, "1.1")
    assert_same(shared.call("number_jobs:echo", value), value)
