"""Memory that runs out: each allocation of CPython refused in turn (see starving.py)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "starving.py"

if importlib.util.find_spec("_testcapi") is None:
    pytest.skip("this CPython comes without _testcapi, which refuses allocations", allow_module_level=True)


ENTRIES = ["loads", "views", "feed", "dumps", "encode", "typed"]
if sys.version_info < (3, 12):
    # Later ones crash by themselves: see starving.py.
    ENTRIES.append("structured")


@pytest.mark.parametrize("entry", ENTRIES)
def test_each_allocation_refused(entry: str) -> None:
    """The right outcome or `out_of_memory`; no other error, half-built value, panic or crash."""
    command = [sys.executable, str(PROGRAM), entry]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env={**os.environ}, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    words = done.stdout.split()
    assert words[0] == f"{entry}:"
    assert int(words[3]) > (200 if sys.version_info < (3, 12) else 4), done.stdout
