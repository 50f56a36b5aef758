"""`make asan`: the Python tests with the extension under AddressSanitizer, Python's objects on malloc.

The runtime is that of the C compiler (`libasan`), loaded before Python. First it is shown that planted errors
are found: `tools/planted.rs`, a library of its own and part of no package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from steps import ROOT, Steps, environment, pytest_tests, stop
from venvs import BINDING, TOOLS, Environment

TARGET = "x86_64-unknown-linux-gnu"
FOLDER = ROOT / "target" / "asan"
NEEDS = ("test", "lint", "demo", "bench", "pandas")

# What does not run here, with the reason. All others do.
NOT_HERE = {
    "test_sandbox_*.py": "a strict child bounds its address space, of which the sanitizer reserves terabytes",
    "test_worker*.py": "the same",
    "test_typed_worker.py": "the same",
    "test_aio.py": "the same",
    "test_aio_session.py": "the same",
    "test_attach.py": "the same",
    "test_child_session.py": "the same",
    "test_executor*.py": "the same",
    "test_faults*.py": "the same",
    "test_launcher.py": "the same",
    "test_rogue_children.py": "the same",
    "test_cli_run.py": "the same",
    "test_attacks.py": "the same, for the victims, whose outcomes are compared with a log",
    "test_host_memory.py": "fills memory by MALLOC_PERTURB_, which the sanitizer's allocator does not know",
    "test_cases*.py": "the same, for those that start a worker; their frames are in the vectors",
    "test_interop_socket.py": "builds and starts another program",
    "test_rust_child.py": "the same",
    "test_cli_inspect.py": "shows text of thousands of frames; the reader below it is in test_vectors.py",
    "test_typing.py": "runs type checkers, and no code of the extension",
    "test_import*.py": "measures what a fresh process loads",
    "test_limits.py": "measures memory, which the sanitizer multiplies",
    "test_budgets.py": "measures memory, which the sanitizer multiplies",
    "test_hostile.py": "measures memory, which the sanitizer multiplies",
    "test_standard_charges.py": "measures memory, which the sanitizer multiplies",
    "test_starving.py": "refuses allocations and forks after each crash: minutes here",
    "test_collisions.py": "counts probes of large tables, for minutes here; test_keys.py walks the same code",
    "test_tables.py": "the same",
    "test_review.py": "builds values by the million, for minutes here",
    "test_hooks.py": "a profile hook at every call takes minutes here; test_vectors.py has its frames",
    "test_leaks.py": "measures memory, which the sanitizer multiplies",
    "test_large_numpy.py": "measures memory, which the sanitizer multiplies",
    "test_gigabytes_numpy.py": "measures memory, which the sanitizer multiplies",
    "test_standard_import.py": "measures what a fresh process loads",
    "test_pools.py": "starts pools of processes; what they decode is in test_vectors.py",
    "test_event_carriers.py": "starts a web server for each case; test_sse.py has the same bytes",
}


def of_compiler(library: str) -> Path:
    """A library that comes with the C compiler."""
    find = ["cc", f"-print-file-name={library}"]
    found = Path(
        subprocess.run(find, capture_output=True, text=True, check=True, env=environment()).stdout.strip()
    )
    if not found.is_absolute():
        stop(f"the C compiler has no {library}. Debian, Ubuntu: apt-get install g++ (it brings it)")
    return found.resolve()


def build(steps: Steps, venv: Environment) -> Path:
    """A copy of the package with the extension under the sanitizer; gives the folder that holds it."""
    env = {
        # The sanitizers of rustc are not stable; nothing else of the nightly compiler is used.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": "-Zsanitizer=address",
        "CARGO_TARGET_DIR": str(FOLDER),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "PYO3_PYTHON": str(venv.base),
    }
    steps.run(
        "asan: build", "cargo", "build", "--locked", "-p", "hookless-python", "--target", TARGET, env=env
    )
    package = FOLDER / "package" / "hookless"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        BINDING / "python" / "hookless", package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    show = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    suffix = subprocess.run(
        [venv.python, "-c", show], capture_output=True, text=True, check=True
    ).stdout.strip()
    shutil.copy(FOLDER / TARGET / "debug" / "lib_hookless.so", package / f"_hookless{suffix}")
    return package.parent


def surroundings(package: Path) -> dict[str, str]:
    """What a process needs to run under the sanitizer."""
    return {
        # The second, or the sanitizer ends the process at the first C++ exception of some other extension.
        "LD_PRELOAD": f"{of_compiler('libasan.so')} {of_compiler('libstdc++.so.6')}",
        "PYTHONMALLOC": "malloc",
        # References are counted by test_leaks.py; CPython itself leaves objects behind at its end.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=0:exitcode=99",
        "PYTHONPATH": str(package),
        "HOOKLESS_UNDER": "asan",
    }


def planted(steps: Steps, venv: Environment, env: dict[str, str]) -> None:
    """An error of memory in a library of its own, built in the same way, is found."""
    source = TOOLS / "planted.rs"
    library = FOLDER / "planted.so"
    flags = ("-Zsanitizer=address", "--crate-type=cdylib", "--target", TARGET, "-Cpanic=abort", "-o", library)
    steps.run("asan: build a planted error", "rustc", *flags, source, env={"RUSTC_BOOTSTRAP": "1"})
    for name, told in (("read_past", "heap-buffer-overflow"), ("read_freed", "heap-use-after-free")):
        script = f"import ctypes; ctypes.CDLL({str(library)!r}).{name}()"
        done = subprocess.run(
            [venv.python, "-c", script], capture_output=True, text=True, env=environment(env)
        )
        if done.returncode == 0 or told not in done.stderr:
            stop(f"asan: the planted {name} was not found:\n{done.stderr[-2000:]}")
        steps.remark(f"asan: planted {name}", f"found: {told}")


def run(steps: Steps, venv: Environment) -> None:
    """Build, show that an error is found, run the tests."""
    package = build(steps, venv)
    env = surroundings(package)
    planted(steps, venv, env)
    proof = f"import hookless; assert hookless.__file__.startswith({str(package)!r}), hookless.__file__"
    steps.run("asan: its own build", venv.python, "-c", proof, env=env)
    ignored = [f"--ignore-glob=tests/{name}" for name in NOT_HERE]
    # Each vector whole, and not cut: that takes an hour here, and test_roundtrip.py feeds pieces. And
    # nothing at its deepest: stack frames of this build are several times as large as the product's.
    options = (
        "-k",
        "not cut_at_every_offset and not in_chunks and not at_its_deepest and not small_stack",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-o",
        "faulthandler_timeout=600",
        *ignored,
    )
    command: list[str | Path] = [venv.python, "-m", "pytest", *options]
    env |= {"HOOKLESS_EXAMPLES": os.environ.get("HOOKLESS_EXAMPLES", "20")}
    steps.run("asan: pytest", *command, env=env, cwd=BINDING, summary=pytest_tests)


def main() -> None:
    """Prepare `.venv` as `make test` does, and run in it."""
    steps = Steps("asan")
    venv = Environment(".venv", sys.executable)
    venv.ensure(steps, NEEDS)
    run(steps, venv)
    steps.done()


if __name__ == "__main__":
    main()
