"""`make ci`: `make test`, the Rust documentation, the Python tests under AddressSanitizer, those on each
supported Python and NumPy, and frames that each of these writes and all of them read.

What keeps every processor busy goes first, and alone: most builds and the Rust tests. The tests in Python,
which wait for much of their time, then run several at a time. What a step has built and no later one needs is
removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import asan
import check
import fuzz
from steps import ROOT, Steps, last_line, stop
from venvs import BINDING, TOOLS, Environment

ALLOW_MISSING = "HOOKLESS_CI_ALLOW_MISSING"

# Jobs that run beside each other: more than there are processors, since each waits for much of its time for a
# child that is late or stalled.
AT_ONCE = 3

# Free disk, in units of 10^9 bytes, with which a run from a fresh clone ends well: see `check_disk`.
WANTED_GB = 6


@dataclass(frozen=True)
class Leg:
    """One cell of the matrix: a version of Python, and a pin of NumPy, "newest" or "none"."""

    python: str
    numpy: str

    @property
    def title(self) -> str:
        """What its lines in the report begin with."""
        return f"{self.python}, NumPy {self.numpy}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What its environment holds beside hookless."""
        if self.numpy == "none":
            return ("test", "peers")
        if self.numpy == "newest":
            return ("test", "plot", "numpy", "pandas", "peers", "peers-numpy")
        # The last ml_dtypes for NumPy 1.
        return ("test", "plot", "peers", "peers-numpy", "ml_dtypes==0.5.4", f"numpy=={self.numpy}")

    @property
    def venv(self) -> str:
        """The name of its environment."""
        return f".venv-{self.python}-numpy-{self.numpy}"

    def environment(self, interpreter: str) -> Environment:
        """Its own environment."""
        return Environment(self.venv, interpreter)

    def run(self, steps: Steps, interpreter: str) -> None:
        """Prepare its environment, see that its NumPy is the one that it names, run the tests."""
        venv = self.environment(interpreter)
        venv.ensure(steps, self.needs)
        if self.numpy == "none":
            proof = "import importlib.util; assert importlib.util.find_spec('numpy') is None, 'NumPy is here'"
        else:
            right = f"v == {self.numpy!r}" if self.numpy != "newest" else "int(v.split('.')[0]) >= 2"
            proof = f"import numpy; v = numpy.__version__; assert {right}, v"
        steps.run(f"{self.title}: as named", venv.python, "-I", "-c", f"{proof}; import hookless")
        numpy, pandas = self.numpy != "none", self.numpy == "newest"
        check.python_tests(steps, venv, f"{self.title}: pytest", numpy=numpy, pandas=pandas)


# What frames one leg writes, all the others read.
EXCHANGE = BINDING / "tests" / "exchange.py"

# What is published can be packed, and builds from what was packed.
PACKED = ("hookless", "hookless-sandbox", "hookless-tokio")
PACKAGE = (
    "cargo",
    "package",
    "--locked",
    "--offline",
    "--allow-dirty",
    *(word for name in PACKED for word in ("-p", name)),
)

LEGS = (Leg("3.11", "2.0.2"), Leg("3.12", "none"), Leg("3.12", "1.26.4"), Leg("3.13", "newest"))


def interpreters() -> dict[str, str]:
    """Where the Pythons of the matrix are. A missing one ends the run here, unless that is allowed."""
    found = {}
    for version in sorted({leg.python for leg in LEGS}):
        search = subprocess.run([TOOLS / "python.sh", "--find", version], capture_output=True, text=True)
        if search.returncode == 0:
            found[version] = search.stdout.strip()
        elif os.environ.get(ALLOW_MISSING) != "1":
            stop(
                f"ci: no python{version} on PATH nor under pyenv: install it (pyenv install {version})\n"
                f"or set {ALLOW_MISSING}=1 to go without the Pythons that this machine lacks"
            )
    return found


def exchange(steps: Steps, venvs: dict[Leg, Environment]) -> None:
    """Let each leg write frames, and then each leg read those of all."""
    folder = ROOT / "target" / "exchange"
    shutil.rmtree(folder, ignore_errors=True)
    for leg, venv in venvs.items():
        command = (venv.python, EXCHANGE, "write", folder / leg.venv)
        steps.run(f"{leg.title}: writes frames", *command, summary=last_line)
    for leg, venv in venvs.items():
        steps.run(f"{leg.title}: reads all", venv.python, EXCHANGE, "read", folder, summary=last_line)


def check_disk(free: int) -> None:
    """End the run before it begins, where it would run out of disk in its midst. `free` is in bytes.

    What an earlier run has built counts as free: it is built over, or need not be built again.
    """
    if free < WANTED_GB * 10**9:
        stop(
            f"ci: {free / 10**9:.1f} GB of disk are free at {ROOT}, and a run takes up to {WANTED_GB} GB:\n"
            "builds of four kinds, and an environment for each Python. Free some, or begin with `make clean`"
        )


def size_of(folder: Path) -> int:
    """Bytes on disk."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*") if not file.is_dir())


def remove(steps: Steps, what: str, folder: Path) -> None:
    """Remove what a step has built, once it has passed and nothing else needs it."""
    size = size_of(folder)
    shutil.rmtree(folder)
    steps.remark(f"{what}: build removed", f"{size / 10**6:.0f} MB")


def jobs(steps: Steps, main: Environment, legs: dict[Leg, str]) -> list[Callable[[], None]]:
    """What runs beside each other, the longest first; the legs with their interpreters."""

    def sanitized() -> None:
        asan.run(steps, main)
        remove(steps, "asan", asan.FOLDER)

    def python() -> None:
        check.tests_of_tools(steps, main)
        check.python_tests(steps, main)

    def fuzzed() -> None:
        syscalls = (main.python, "tools/syscalls.py")
        steps.run("system calls of decoding", *syscalls, summary=last_line)
        steps.run("fuzz targets: smoke", sys.executable, "tools/fuzz.py", "--smoke", summary=last_line)
        remove(steps, "fuzz targets", fuzz.built())

    each = [partial(leg.run, steps, interpreter) for leg, interpreter in legs.items()]
    return [sanitized, python, *each, fuzzed]


def main() -> None:
    """Run it all; every leg either runs or has a line that says why not."""
    found = interpreters()
    check_disk(shutil.disk_usage(ROOT).free + size_of(ROOT / "target"))
    # Each is built once: what would only make a second build quick takes as much disk as the first.
    os.environ["CARGO_INCREMENTAL"] = "0"
    steps = Steps("ci")
    venv = check.static(steps)
    check.rust_tests(steps)
    check.rust_hosts(steps, venv)
    # Also what other platforms would build, which no step before has asked for.
    steps.run("fetch", "cargo", "fetch", "--locked")
    steps.run("packages", *PACKAGE, summary=last_line)
    docs = ("cargo", "doc", "--locked", "--workspace", "--no-deps")
    env = {"RUSTDOCFLAGS": "-D warnings", "PYO3_PYTHON": sys.executable}
    steps.run("rustdoc", *docs, env=env)
    own = [leg for leg in LEGS if leg.numpy == "newest" and found.get(leg.python) == sys.executable]
    legs = {leg: found[leg.python] for leg in LEGS if leg not in own and leg.python in found}
    for leg in own:
        steps.remark(leg.title, "is the Python and the NumPy of `pytest` below")
    for leg in LEGS:
        if leg not in own and leg not in legs:
            steps.remark(leg.title, f"NOT RUN: no python{leg.python} here, which {ALLOW_MISSING}=1 allows")
    steps.together(jobs(steps, venv, legs), AT_ONCE)
    venvs = {leg: leg.environment(interpreter) for leg, interpreter in legs.items()}
    exchange(steps, dict.fromkeys(own, venv) | venvs)
    steps.done()


if __name__ == "__main__":
    main()
