"""An interrupt at each step of the interpreter inside a call and a close (see interrupting.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interrupting import PARTS

PROGRAM = Path(__file__).parent / "interrupting.py"


@pytest.mark.parametrize("part", PARTS)
def test_an_interrupt_at_each_step(part: str) -> None:
    """The line is empty afterwards, and the next call is answered; a worker that is over says so."""
    command = [sys.executable, str(PROGRAM), part]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
