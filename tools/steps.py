"""Runs the steps of a check: one line for each, with its time; the first failure ends the run by name."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent

# No step comes near this; it turns a hang into a failure that has a name.
TIMEOUT_SECONDS = 1800

# What is ended because another step failed has so long to end by itself.
GRACE_SECONDS = 5

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
        # Held for what jobs that run together share: the count, the running commands, and each line printed.
        self._lock = threading.RLock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._together = False
        self._over = False

    def run(
        self,
        step: str,
        *command: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
        summary: Summary | None = None,
    ) -> None:
        """Run one command. `summary` makes the end of the line from what the command printed.

        In a job of `together` a line is printed when the step begins, and the whole of it when it has ended.
        """
        with self._lock:
            self._end_if_over()
            self.count += 1
            argv = [str(part) for part in command]
            slug = re.sub(r"[^a-z0-9.]+", "-", step.lower()).strip("-")
            log = self.logs / f"{self.count:02}-{slug}.log"
            begun = f"{step:<46} "
            print(
                f"{begun}begun" if self._together else begun, end="\n" if self._together else "", flush=True
            )
        started = time.monotonic()
        with log.open("wb") as output:
            status = self._wait(argv, output.fileno(), environment(env), cwd)
        took = time.monotonic() - started
        text = log.read_text("utf-8", "replace")
        with self._lock:
            self._end_if_over()
            if self._together:
                print(begun, end="")
            if status == 0:
                print(f"ok     {took:6.1f} s  {summary(text) if summary else ''}".rstrip(), flush=True)
                return
            print(f"FAILED {took:6.1f} s\n")
            print(text.rstrip() or "(it printed nothing)")
            setting = " ".join(f"{name}={shlex.quote(value)}" for name, value in (env or {}).items())
            where = f"cd {shlex.quote(str(cwd))} && " if cwd != ROOT else ""
            print(f"\n{self.name}: step `{step}` failed ({_reason(status)}). Once more, alone:")
            print(f"  {where}{setting}{' ' if setting else ''}{shlex.join(argv)}", flush=True)
            self._end_all()
            sys.exit(1)

    def together(self, jobs: Sequence[Callable[[], None]], at_once: int) -> None:
        """Run jobs, each a run of steps of its own, so many at once, those that are named first begun first.

        The first that fails ends the others, whose steps then print nothing more, and the program.
        """
        self._together = True
        with ThreadPoolExecutor(at_once) as pool:
            ended = [pool.submit(job) for job in jobs]
            try:
                wait(ended, return_when=FIRST_EXCEPTION)
            finally:
                # Nothing is left of them unless one has failed, or the user has seen enough.
                for one in ended:
                    one.cancel()
                if not all(one.done() and not one.cancelled() and one.exception() is None for one in ended):
                    self._end_all()
        self._together = False
        failures = [one.exception() for one in ended if not one.cancelled()]
        # The one that failed of itself, and not those that it ended.
        for failure in sorted(filter(None, failures), key=lambda failure: isinstance(failure, _Ended)):
            raise failure

    def _wait(self, command: list[str], output: int, env: dict[str, str], cwd: Path) -> int | str:
        """Run a command; take down its whole process group when it hangs or when the user has seen enough."""
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        with self._lock:
            self._end_if_over()
            try:
                process = subprocess.Popen(command, env=env, cwd=cwd, start_new_session=True, **streams)
            except OSError as error:
                return f"it did not start: {error}"
            self._running.add(process)
        try:
            return process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"it hung: no end after {TIMEOUT_SECONDS} s"
        finally:
            with self._lock:
                self._running.discard(process)
                if process.poll() is None:
                    _signal_group(process, signal.SIGKILL)
                    process.wait()

    def _end_if_over(self) -> None:
        if self._over:
            raise _Ended

    def _end_all(self) -> None:
        """Take down all that runs; no further step begins.

        As the user's Ctrl-C would: programs of tools/ then take down what they have begun. Then by force.
        """

        def send(number: signal.Signals) -> None:
            with self._lock:
                for process in self._running:
                    if process.poll() is None:
                        _signal_group(process, number)

        self._over = True
        send(signal.SIGINT)
        force = threading.Timer(GRACE_SECONDS, send, (signal.SIGKILL,))
        force.daemon = True
        force.start()

    def remark(self, step: str, text: str) -> None:
        """Print the line of something that did not run, and why."""
        with self._lock:
            self._end_if_over()
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


class _Ended(BaseException):
    """What a job raises whose run has failed elsewhere."""


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a process that has not been waited for, and its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _reason(status: int | str) -> str:
    if isinstance(status, str):
        return status
    return f"exit status {status}" if status > 0 else f"killed by {signal.Signals(-status).name}"
