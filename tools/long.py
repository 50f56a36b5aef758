"""`make long`: round trips of every kind, 10 000 examples each, in Rust and in Python; a million bent frames;
100 000 rounds of the leak tests; and arrays of more than 4 GiB, where there is memory for them.
"""

from __future__ import annotations

import os

from check import NEEDS
from steps import Steps, cargo_tests, pytest_tests
from venvs import BINDING, Environment, check_compilers

EXAMPLES = os.environ.get("HOOKLESS_EXAMPLES", "10000")
FRAMES = os.environ.get("HOOKLESS_FRAMES", "1000000")
ROUNDS = os.environ.get("HOOKLESS_LEAK_ROUNDS", "100000")

# Each takes from the environment how much it does.
SUITES = (
    "test_roundtrip.py",
    "test_roundtrip_numpy.py",
    "test_host_memory_numpy.py",
    "test_hooks.py",
    "test_leaks.py",
    "test_gigabytes_numpy.py",
)


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
    for name in SUITES:
        command = (venv.python, "-m", "pytest", *patient, f"tests/{name}")
        env = examples | {"HOOKLESS_FRAMES": FRAMES, "HOOKLESS_LEAK_ROUNDS": ROUNDS, "HOOKLESS_LONG": "1"}
        steps.run(f"pytest {name}", *command, env=env, cwd=BINDING, summary=pytest_tests)
    steps.done()


if __name__ == "__main__":
    main()
