"""Runs every attack of tests/attacks, and holds its README.md to what came of them."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ATTACKS = Path(__file__).resolve().parents[3] / "tests" / "attacks"

# What cannot run where a package, or Landlock, is known to be absent: told by the attack's own text.
NEEDS = {
    "HOOKLESS_NO_NUMPY": r"^import (numpy|joblib|msgpack_numpy|pandas)\b",
    "HOOKLESS_NO_PANDAS": r"^import pandas\b",
    "HOOKLESS_TEST_NO_LANDLOCK": r"\bstrict_worker\(",
}


def load() -> ModuleType:
    """The runner, which is a program of another folder."""
    spec = importlib.util.spec_from_file_location("attacks_run", ATTACKS / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(ATTACKS))
    spec.loader.exec_module(module)
    return module


RUN = load()
ROWS = [line for line in RUN.README.read_text().splitlines() if re.match(r"\| \d", line)]


def can_run(path: Path) -> bool:
    text = path.read_text()
    return not any(
        os.environ.get(name) == "1" and re.search(found, text, re.MULTILINE) for name, found in NEEDS.items()
    )


@pytest.mark.parametrize("path", [path for path in RUN.files() if can_run(path)], ids=lambda path: path.stem)
def test_attack(path: Path) -> None:
    """Its outcomes, there and here, are those of the log."""
    masked = RUN.harness.masked
    assert masked(RUN.run(path).row()) in list(map(masked, ROWS))


def test_the_log_lists_the_attacks() -> None:
    """Each file has one row, in order, with its own title; numbers have no gap."""
    numbers = [int(row[2:4]) for row in ROWS]
    assert numbers == list(range(1, len(RUN.files()) + 1))
    assert numbers == [int(path.name[1:3]) for path in RUN.files()]
    for path, row in zip(RUN.files(), ROWS, strict=True):
        title = re.search(r'"""(.*)\.\n', path.read_text())
        assert title is not None and row.split(" | ")[1].startswith(title[1].replace("|", "\\|")), path.name
