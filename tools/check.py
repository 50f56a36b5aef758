"""`make test`: everything that one machine with one Python can check."""

from __future__ import annotations

import os
import shutil
import subprocess

from steps import Steps, cargo_tests, last_line, pytest_tests
from venvs import BINDING, Environment, check_compilers

NEEDS = ("test", "lint", "demo", "bench", "pandas", "peers", "peers-numpy")
TYPED = (
    "bindings/python/python",
    "bindings/python/tests",
    "examples",
    "benches/python",
    "tests/attacks",
    "tests/fuzz/python",
    "tools",
)


def check(steps: Steps) -> None:
    """Run every check in `.venv`; cheap ones first."""
    check_compilers()
    venv = Environment(".venv")
    venv.ensure(steps, NEEDS)
    module = (venv.python, "-m")
    config = BINDING / "pyproject.toml"

    steps.run("rustfmt", "cargo", "fmt", "--all", "--check")
    steps.run("ruff check", *module, "ruff", "check", ".")
    steps.run("ruff format", *module, "ruff", "format", "--check", ".")
    steps.run("dependencies", venv.python, "tools/check_deps.py", summary=last_line)
    # `--strict` stands here as well as in the configuration, so that nobody weakens it there unseen.
    mypy = (*module, "mypy", "--strict", "--config-file", config)
    for tree in TYPED:  # one by one, since two trees may each have a module of the same name
        steps.run(f"mypy {tree}", *mypy, tree, summary=last_line)
    # The installed package with all of its modules, `hookless._hookless` among them.
    stubtest = (*module, "mypy.stubtest", "--mypy-config-file", config, "hookless")
    steps.run("stubtest", *stubtest, summary=last_line)
    clippy = ("cargo", "clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings")
    steps.run("clippy", *clippy, env={"PYO3_PYTHON": venv.base})
    steps.run("cargo test", "cargo", "test", "--locked", summary=cargo_tests)
    get_bubblewrap()
    steps.run("tests of tools/", *module, "pytest", "-q", "-c", config, "tools", summary=pytest_tests)
    python_tests(steps, venv)


def get_bubblewrap() -> None:
    """Have root install the sandbox that launchers are tested with; without it those tests say why not."""
    if shutil.which("bwrap") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (("apt-get", "-qq", "update"), ("apt-get", "-qq", "-y", "install", "bubblewrap")):
            subprocess.run(command, check=False)


def python_tests(
    steps: Steps, venv: Environment, label: str = "pytest", *, numpy: bool = True, pandas: bool = True
) -> None:
    """Run the tests of the package. Unless told that one is absent on purpose, they fail for lack of it."""
    wanted = {"HOOKLESS_NO_NUMPY": numpy, "HOOKLESS_NO_PANDAS": pandas}
    env = {name: "1" for name, there in wanted.items() if not there}
    steps.run(label, venv.python, "-m", "pytest", "-q", env=env, cwd=BINDING, summary=pytest_tests)


if __name__ == "__main__":
    run = Steps("test")
    check(run)
    run.done()
