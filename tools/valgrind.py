"""`make valgrind`: a core of the Python tests under valgrind's memcheck, with the extension as it is shipped.

A run takes many minutes, so it is no part of `make ci`. Python's objects are on malloc, so that memcheck sees
each of them. First it is shown that planted errors are found.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from asan import FOLDER
from steps import Steps, environment, pytest_tests, stop
from venvs import BINDING, TOOLS, Environment

# What touches memory most: the frames themselves, views, streams, text, and code that calls back.
CORE = ("test_decoder.py", "test_views.py", "test_dumps_loads.py", "test_keys.py", "test_reentry_numpy.py")
COMMAND = (
    "valgrind",
    "--quiet",
    "--error-exitcode=99",
    "--undef-value-errors=no",  # NumPy and CPython read bytes that they have not set, and do not use them
    "--num-callers=30",
)
ENV = {"PYTHONMALLOC": "malloc", "HOOKLESS_EXAMPLES": "5"}


def planted(steps: Steps, venv: Environment) -> None:
    """Errors of memory in a library of its own are found."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    library = FOLDER / "planted-plain.so"
    flags = ("--crate-type=cdylib", "-Cpanic=abort", "-o", library)
    steps.run("valgrind: build a planted error", "rustc", *flags, TOOLS / "planted.rs")
    for name in ("read_past", "read_freed"):
        script = f"import ctypes; ctypes.CDLL({str(library)!r}).{name}()"
        command: list[str | Path] = [*COMMAND, venv.python, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(ENV))
        if done.returncode != 99 or "Invalid read of size 1" not in done.stderr:
            stop(f"valgrind: the planted {name} was not found:\n{done.stderr[-2000:]}")
        steps.remark(f"valgrind: planted {name}", "found: Invalid read of size 1")


def main() -> None:
    """Prepare `.venv` as `make test` does, and run in it."""
    if shutil.which("valgrind") is None:
        stop("no valgrind. Debian, Ubuntu: apt-get install valgrind")
    steps = Steps("valgrind")
    venv = Environment(".venv", sys.executable)
    venv.ensure(steps, ("test", "lint", "demo", "bench", "pandas"))
    planted(steps, venv)
    tests = [f"tests/{name}" for name in CORE]
    options = ("-q", "-x", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=1500")
    command: list[str | Path] = [*COMMAND, venv.python, "-m", "pytest", *options, *tests]
    steps.run("valgrind: pytest", *command, env=ENV, cwd=BINDING, summary=pytest_tests)
    steps.done()


if __name__ == "__main__":
    main()
