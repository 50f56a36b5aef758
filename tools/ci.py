"""`make ci`: `make test`, the Rust documentation, the Python tests under AddressSanitizer, those on each
supported Python and NumPy, and frames that each of these writes and all of them read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import asan
import check
from steps import ROOT, Steps, last_line, stop
from venvs import BINDING, TOOLS, Environment

ALLOW_MISSING = "HOOKLESS_CI_ALLOW_MISSING"


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

    @property
    def packages(self) -> dict[str, bool]:
        """Which of the packages that the tests ask for are there."""
        return {"numpy": self.numpy != "none", "pandas": self.numpy == "newest"}

    def run(self, steps: Steps, interpreter: str) -> Environment:
        """Prepare the leg's own environment, see that its NumPy is the one that it names, run the tests."""
        venv = Environment(self.venv, interpreter)
        venv.ensure(steps, self.needs)
        if self.numpy == "none":
            proof = "import importlib.util; assert importlib.util.find_spec('numpy') is None, 'NumPy is here'"
        else:
            right = f"v == {self.numpy!r}" if self.numpy != "newest" else "int(v.split('.')[0]) >= 2"
            proof = f"import numpy; v = numpy.__version__; assert {right}, v"
        steps.run(f"{self.title}: as named", venv.python, "-I", "-c", f"{proof}; import hookless")
        check.python_tests(steps, venv, f"{self.title}: pytest", **self.packages)
        return venv


# What frames one leg writes, all the others read.
EXCHANGE = BINDING / "tests" / "exchange.py"

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


def main() -> None:
    """Run it all; every leg either runs or has a line that says why not."""
    found = interpreters()
    steps = Steps("ci")
    check.check(steps)
    docs = ("cargo", "doc", "--locked", "--workspace", "--no-deps")
    env = {"RUSTDOCFLAGS": "-D warnings", "PYO3_PYTHON": sys.executable}
    steps.run("rustdoc", *docs, env=env)
    steps.run("system calls of decoding", Environment(".venv").python, "tools/syscalls.py", summary=last_line)
    steps.run("fuzz targets: smoke", sys.executable, "tools/fuzz.py", "--smoke", summary=last_line)
    asan.run(steps, Environment(".venv"))
    venvs = {}
    for leg in LEGS:
        if leg.numpy == "newest" and found.get(leg.python) == sys.executable:
            steps.remark(leg.title, "is the Python and the NumPy of `pytest` above")
            venvs[leg] = Environment(".venv")
        elif leg.python in found:
            venvs[leg] = leg.run(steps, found[leg.python])
        else:
            steps.remark(leg.title, f"NOT RUN: no python{leg.python} here, which {ALLOW_MISSING}=1 allows")
    exchange(steps, venvs)
    steps.done()


if __name__ == "__main__":
    main()
