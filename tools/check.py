"""`make test`: everything that one machine with one Python can check."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial

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
    "tests/soak",
    "tools",
)

# The tests of the package in parts, by the first letter of their files' names. Much of their time goes by
# while they wait for a child to be late or stalled: more run together than there are processors.
PARTS = ("[a-c]", "[d-g]", "[h-q]", "[r-s]", "[t-z]")
AT_ONCE = 4


def check(steps: Steps) -> None:
    """Run every check in `.venv`; cheap ones first."""
    venv = static(steps)
    rust_tests(steps)
    rust_hosts(steps, venv)
    parts = [partial(python_tests, steps, venv, f"pytest test_{part}*", part=part) for part in PARTS]
    steps.together([*parts, partial(tests_of_tools, steps, venv)], AT_ONCE)


def static(steps: Steps) -> Environment:
    """Prepare `.venv`, and check what needs no run of hookless."""
    check_compilers()
    get_bubblewrap()
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
    return venv


def rust_tests(steps: Steps) -> None:
    """Run the tests of the crates that need no Python."""
    steps.run("cargo test", "cargo", "test", "--locked", summary=cargo_tests)


def rust_hosts(steps: Steps, venv: Environment) -> None:
    """Run the tests of Rust hosts of Python children, which `cargo test` alone leaves out, and says so."""
    command = ("cargo", "test", "--locked", "--test", "tokio_python", "--", "--ignored")
    env = {"HOOKLESS_PYTHON": str(venv.python)}
    steps.run("Rust hosts of Python children", *command, env=env, summary=cargo_tests)


def tests_of_tools(steps: Steps, venv: Environment) -> None:
    """Run the tests of this folder."""
    command = (venv.python, "-m", "pytest", "-q", "-c", BINDING / "pyproject.toml", "tools")
    steps.run("tests of tools/", *command, summary=pytest_tests)


def get_bubblewrap() -> None:
    """Have root install the sandbox that launchers are tested with; without it those tests say why not."""
    if shutil.which("bwrap") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (("apt-get", "-qq", "update"), ("apt-get", "-qq", "-y", "install", "bubblewrap")):
            subprocess.run(command, check=False)


def python_tests(
    steps: Steps,
    venv: Environment,
    label: str = "pytest",
    *,
    numpy: bool = True,
    pandas: bool = True,
    part: str = "",
) -> None:
    """Run the tests of the package, or a part. Without a package they fail, unless told that it is absent."""
    wanted = {"HOOKLESS_NO_NUMPY": numpy, "HOOKLESS_NO_PANDAS": pandas}
    env = {name: "1" for name, there in wanted.items() if not there}
    only = [f"--ignore-glob=tests/test_[!{part[1:]}*.py"] if part else []
    steps.run(label, venv.python, "-m", "pytest", "-q", *only, env=env, cwd=BINDING, summary=pytest_tests)


if __name__ == "__main__":
    run = Steps("test")
    check(run)
    run.done()
