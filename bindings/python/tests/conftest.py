"""What is collected: NumPy is needed, unless HOOKLESS_NO_NUMPY=1 says that it is absent on purpose."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hookless

HERE = Path(__file__).parent
NUMPY_INSTALLED = importlib.util.find_spec("numpy") is not None
NUMPY_UNWANTED = os.environ.get("HOOKLESS_NO_NUMPY") == "1"

# Programs and modules that tests run or import; they hold no tests of their own.
collect_ignore = ["children", "typing"]

if NUMPY_UNWANTED:
    if NUMPY_INSTALLED:
        raise pytest.UsageError(
            "HOOKLESS_NO_NUMPY=1 promises an environment without NumPy, but it is installed"
        )
    # Read from the files, not kept as a list: what imports NumPy at its top cannot be collected here.
    collect_ignore += [
        path.name
        for path in sorted(HERE.glob("test_*.py"))
        if re.search(r"^import numpy", path.read_text(), re.MULTILINE)
    ]
elif NUMPY_INSTALLED:
    # The choice is made once per process, at the first decode, and must not depend on which file runs first.
    hookless.use_numpy()
else:
    raise pytest.UsageError("the tests need NumPy; set HOOKLESS_NO_NUMPY=1 if it is absent on purpose")


@pytest.fixture(scope="session")
def children() -> str:
    """The folder of modules that a worker's child may import."""
    return str(HERE / "children")


class Keeper:
    """Starts a worker when one is wanted, and another when that one is over."""

    def __init__(self, children: str) -> None:
        self.children, self.worker = children, self.start(children)

    @staticmethod
    def start(children: str) -> hookless.Worker:
        return hookless.Worker(paths=[children], isolation="none")

    def alive(self) -> hookless.Worker:
        try:
            self.worker.call("jobs:pid")
        except hookless.HooklessError:
            self.worker.close()
            self.worker = self.start(self.children)
        return self.worker


@pytest.fixture(scope="module")
def keeper(children: str) -> Iterator[Keeper]:
    """One child for a file of tests."""
    keeper = Keeper(children)
    yield keeper
    keeper.worker.close()


@pytest.fixture
def shared(keeper: Keeper) -> hookless.Worker:
    """A worker for tests that leave it as they found it; one that a failed test broke is replaced."""
    return keeper.alive()
