"""Runs the steps of a check: one line for each, with its time; the first failure ends the run by name."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent

# No step comes near this; it turns a hang into a failure that has a name.
TIMEOUT_SECONDS = 1800

# What a user's shell may carry that would make the checks look at other code or other environments.
FOREIGN = {
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "HOOKLESS_NO_NUMPY",
    "HOOKLESS_NO_PANDAS",
}

Summary = Callable[[str], str]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every step: the caller's, without what is foreign, and with cargo on PATH."""
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    cargo_bin = Path(env.get("CARGO_HOME") or Path.home() / ".cargo") / "bin"
    env["PATH"] = os.pathsep.join((env.get("PATH", os.defpath), str(cargo_bin)))
    env["PYTHONNOUSERSITE"] = "1"
    return env | dict(extra or {})


class Steps:
    """A run of steps. The output of each is kept in `target/logs/NAME/`, and shown when it fails."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.started = time.monotonic()
        self.logs = ROOT / "target" / "logs" / name
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.count = 0

    def run(
        self,
        step: str,
        *command: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
        summary: Summary | None = None,
    ) -> None:
        """Run one command. `summary` makes the end of the line from what the command printed."""
        self.count += 1
        argv = [str(part) for part in command]
        log = self.logs / f"{self.count:02}-{re.sub(r'[^a-z0-9.]+', '-', step.lower()).strip('-')}.log"
        print(f"{step:<46} ", end="", flush=True)
        started = time.monotonic()
        with log.open("wb") as output:
            status = _wait(argv, output.fileno(), environment(env), cwd)
        took = time.monotonic() - started
        text = log.read_text("utf-8", "replace")
        if status != 0:
            print(f"FAILED {took:6.1f} s\n")
            print(text.rstrip() or "(it printed nothing)")
            setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in (env or {}).items())
            where = f"cd {shlex.quote(str(cwd))} && " if cwd != ROOT else ""
            print(f"\n{self.name}: step `{step}` failed ({_reason(status)}). Once more, alone:")
            print(f"  {where}{setting}{' ' if setting else ''}{shlex.join(argv)}")
            sys.exit(1)
        print(f"ok     {took:6.1f} s  {summary(text) if summary else ''}".rstrip(), flush=True)

    def remark(self, step: str, text: str) -> None:
        """Print the line of something that did not run, and why."""
        print(f"{step:<46} {text}", flush=True)

    def done(self) -> None:
        """Print the closing line."""
        print(f"{self.name}: all {self.count} steps passed in {time.monotonic() - self.started:.0f} s")


def stop(message: str) -> NoReturn:
    """End the program with a message for the person who has to act on it."""
    print(message, file=sys.stderr)
    sys.exit(2)


def cargo_tests(text: str) -> str:
    """The sum over all test programs of a `cargo test`."""
    found = re.findall(r"^test result: ok\. (\d+) passed; \d+ failed; (\d+) ignored", text, re.MULTILINE)
    passed, ignored = (sum(int(counts[column]) for counts in found) for column in (0, 1))
    return f"{passed} passed, {ignored} ignored"


def pytest_tests(text: str) -> str:
    """Pytest's last line, and below it why each skipped test was skipped: no skip is silent."""
    lines = text.rstrip().splitlines()
    skips = [line for line in lines if line.startswith("SKIPPED ")]
    return "\n    ".join([lines[-1].strip("= ") if lines else "", *skips])


def last_line(text: str) -> str:
    """The last line that a command printed."""
    lines = text.rstrip().splitlines()
    return lines[-1] if lines else ""


def _wait(command: list[str], output: int, env: dict[str, str], cwd: Path) -> int | str:
    """Run a command; take down its whole process group when it hangs or when the user has seen enough."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    try:
        process = subprocess.Popen(command, env=env, cwd=cwd, start_new_session=True, **streams)
    except OSError as error:
        return f"it did not start: {error}"
    try:
        return process.wait(TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"it hung: no end after {TIMEOUT_SECONDS} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _reason(status: int | str) -> str:
    if isinstance(status, str):
        return status
    return f"exit status {status}" if status > 0 else f"killed by {signal.Signals(-status).name}"
