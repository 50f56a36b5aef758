"""What is collected: all but what HOOKLESS_NO_NUMPY=1 and HOOKLESS_TEST_NO_LANDLOCK=1 say cannot run."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import hookless

HERE = Path(__file__).parent
NUMPY_INSTALLED = importlib.util.find_spec("numpy") is not None
NUMPY_UNWANTED = os.environ.get("HOOKLESS_NO_NUMPY") == "1"

# On a machine without Landlock the tests of strict workers fail, unless this says that it is known.
LANDLOCK_UNWANTED = os.environ.get("HOOKLESS_TEST_NO_LANDLOCK") == "1"

# A shell that starts programs in the background has them ignore Ctrl-C, which tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
    if importlib.util.find_spec("ml_dtypes") is None:
        raise pytest.UsageError("the tests that use NumPy need ml_dtypes as well")
    # Types of ml_dtypes arrive as such only where it is loaded.
    importlib.import_module("ml_dtypes")
    # The choice is made once per process, at the first decode, and must not depend on which file runs first.
    hookless.use_numpy()
else:
    raise pytest.UsageError("the tests need NumPy; set HOOKLESS_NO_NUMPY=1 if it is absent on purpose")


if LANDLOCK_UNWANTED:
    collect_ignore += [path.name for path in sorted(HERE.glob("test_sandbox_*.py"))]


@pytest.fixture
def no_collector() -> Iterator[None]:
    """No garbage collection: Hypothesis hangs code into it, where the exception of a signal would be lost."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def children() -> str:
    """The folder of modules that a worker's child may import."""
    return str(HERE / "children")


class Keeper:
    """Starts a worker when one is wanted, and another when that one is over."""

    def __init__(self, children: str, isolation: str) -> None:
        self.children, self.isolation = children, isolation
        self.worker = self.start()

    def start(self) -> hookless.Worker:
        return hookless.Worker(paths=[self.children], isolation=self.isolation)

    def alive(self) -> hookless.Worker:
        try:
            self.worker.call("jobs:pid")
        except hookless.HooklessError:
            self.worker.close()
            self.worker = self.start()
        return self.worker


@pytest.fixture(scope="module")
def unconfined_keeper(children: str) -> Iterator[Keeper]:
    """One child for a file of tests, that may do all that its user may do."""
    keeper = Keeper(children, "none")
    yield keeper
    keeper.worker.close()


@pytest.fixture
def unconfined(unconfined_keeper: Keeper) -> hookless.Worker:
    """A worker without barriers, for tests that ask its own /proc."""
    return unconfined_keeper.alive()


@pytest.fixture(scope="module")
def confined_keeper(children: str) -> Iterator[Keeper]:
    """One sandboxed child for a file of tests."""
    keeper = Keeper(children, "strict")
    yield keeper
    keeper.worker.close()


@pytest.fixture
def confined(confined_keeper: Keeper) -> hookless.Worker:
    """A strict worker for tests that leave it as they found it; one that a failed test broke is replaced."""
    return confined_keeper.alive()


@pytest.fixture(params=["none"] if LANDLOCK_UNWANTED else ["none", "strict"])
def shared(request: pytest.FixtureRequest) -> hookless.Worker:
    """As `unconfined` and as `confined`: what a worker does does not depend on its isolation."""
    name = "unconfined_keeper" if request.param == "none" else "confined_keeper"
    keeper: Keeper = request.getfixturevalue(name)
    return keeper.alive()
