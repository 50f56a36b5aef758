"""`make long`: round trips of every kind, 10 000 examples in Rust and in Python, and 100 000 rounds of the
leak tests.
"""

from __future__ import annotations

import os

from check import NEEDS
from steps import Steps, cargo_tests, pytest_tests
from venvs import BINDING, Environment, check_compilers

EXAMPLES = os.environ.get("HOOKLESS_EXAMPLES", "10000")


def main() -> None:
    """Prepare `.venv` as `make test` does, and run what draws its values at random."""
    check_compilers()
    steps = Steps("long")
    venv = Environment(".venv")
    venv.ensure(steps, NEEDS)
    examples = {"HOOKLESS_EXAMPLES": EXAMPLES}
    cargo = ("cargo", "test", "--locked", "--release", "-p", "hookless-tests", "--test", "roundtrip")
    steps.run("round trips in Rust", *cargo, env=examples, summary=cargo_tests)
    # Each test takes minutes here, which is no hang.
    patient = ("-q", "-o", "faulthandler_timeout=3600")
    for name in ("test_roundtrip.py", "test_roundtrip_numpy.py"):
        command = (venv.python, "-m", "pytest", *patient, f"tests/{name}")
        steps.run(f"pytest {name}", *command, env=examples, cwd=BINDING, summary=pytest_tests)
    leaks = (venv.python, "-m", "pytest", *patient, "tests/test_leaks.py")
    steps.run(
        "pytest test_leaks.py",
        *leaks,
        env={"HOOKLESS_LEAK_ROUNDS": "100000"},
        cwd=BINDING,
        summary=pytest_tests,
    )
    steps.done()


if __name__ == "__main__":
    main()
