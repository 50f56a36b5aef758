"""The typed surface: files of `typing/` under mypy --strict, against the stubs that are shipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hookless

FOLDER = Path(__file__).parent / "typing"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.py")))
def test_mypy_strict(name: str, tmp_path: Path) -> None:
    """Types are as asserted, and each marked mistake is found."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    """The marker is shipped beside the stub of the extension."""
    assert hookless.__file__ is not None
    folder = Path(hookless.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_hookless.pyi").exists()
