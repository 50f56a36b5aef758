"""NumPy with its BLAS threads, and pandas, inside a strict worker."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from hookless import Worker

NO_PANDAS = os.environ.get("HOOKLESS_NO_PANDAS") == "1"


def test_blas(children: str) -> None:
    """It starts a thread for each processor, well within the default memory."""
    with Worker(paths=[children]) as worker:
        error, _ = worker.call("number_work:blas", 700)
        assert error < 1e-9
        pid = worker.call("os:getpid")
        started = len(os.listdir(f"/proc/{pid}/task"))
        assert started >= min(2, os.cpu_count() or 1)
        peak = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmPeak" in line]
        assert int(peak[0].split()[1]) < 2 << 20


def test_arrays(confined: Worker) -> None:
    array = np.random.default_rng(1).random((1000, 500))
    assert np.array_equal(confined.call("number_jobs:double", array), array * 2)


def test_files_of_arrays(confined: Worker) -> None:
    assert confined.call("number_work:saved", "array.npy") == np.arange(0, 100_000, 1000.0).sum()


@pytest.mark.skipif(NO_PANDAS, reason="HOOKLESS_NO_PANDAS=1 says that it is absent on purpose")
def test_pandas(confined: Worker) -> None:
    """With CSV files, groups and time zones."""
    assert importlib.util.find_spec("pandas"), "set HOOKLESS_NO_PANDAS=1 if it is absent on purpose"
    found = confined.call("number_work:frame", 1000)
    assert found["rows"] == 1000 and found["zone"] == "Europe/Berlin"
    assert found["means"].shape == (7,)
