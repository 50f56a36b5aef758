"""C170: large values go from memory to memory; neither side of a call has a second copy at any time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np  # for what an environment without NumPy does not collect
import pytest

import large
import weighing

assert np.ndarray is not None

pytestmark = pytest.mark.skipif(
    large.available() < 6 * weighing.SIZE, reason=f"{6 * weighing.SIZE >> 30} GiB of memory are not available"
)


@pytest.mark.parametrize(
    ("way", "kind"), [(way.__name__, kind) for way, kinds in weighing.WAYS.items() for kind in kinds]
)
def test_c170_weighed(way: str, kind: str) -> None:
    """In a process of its own, with the docstring of each way in `weighing.py`."""
    command = [sys.executable, str(Path(weighing.__file__)), way, kind]
    # Large blocks come from the kernel and go back to it at once: what the allocator keeps is not weighed.
    env = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(weighing.MIB)}
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
