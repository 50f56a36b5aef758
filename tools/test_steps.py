"""How the steps of a check are run, one by one and two at a time."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import steps
from steps import Steps

Job = Callable[[], None]

# Touches the first file, and ends once the second is there.
MEET = """
import pathlib, sys, time
a, b = map(pathlib.Path, sys.argv[1:])
a.touch()
while not b.exists():
    time.sleep(0.01)
"""
# Fails once the first is there.
FAILS = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
sys.exit("broken")
"""
# Touches the first file, and never ends; but Ctrl-C leaves the second.
ENDLESS = """
import pathlib, sys, time
a, b = map(pathlib.Path, sys.argv[1:])
try:
    a.touch()
    time.sleep(600)
finally:
    b.touch()
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    """Steps whose logs are elsewhere than those of the run that these tests are a step of."""
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    return Steps("try")


def python(run: Steps, step: str, code: str, *arguments: Path) -> Job:
    """A job of one step."""
    return lambda: run.run(step, sys.executable, "-c", code, *arguments, cwd=run.logs)


def test_a_step_is_one_line(run: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    """Its name, how it went, its time, its summary."""
    run.run("one", sys.executable, "-c", "print('seen')", cwd=run.logs, summary=steps.last_line)
    run.done()
    first, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"one +ok +\d+\.\d s  seen", first)
    assert last.startswith("try: all 1 steps passed in ")


def test_two_jobs_run_at_once(run: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each waits for the other: one after the other they would never end. A third follows."""
    a, b = tmp_path / "a", tmp_path / "b"
    jobs = [python(run, "a", MEET, a, b), python(run, "b", MEET, b, a), python(run, "c", "")]
    run.together(jobs, 2)
    run.done()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[:2] for line in lines[:-1]) == [
        [name, end] for name in "abc" for end in ("begun", "ok")
    ]
    assert lines[-1].startswith("try: all 3 steps passed in ")
    assert len({log.name for log in run.logs.iterdir()}) == 3


def test_no_more_jobs_than_allowed(run: Steps, capsys: pytest.CaptureFixture[str]) -> None:
    """One at once is one after the other, in their order."""
    run.together([python(run, name, "") for name in "abcd"], 1)
    words = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert words == [[name, end] for name in "abcd" for end in ("begun", "ok")]


def test_the_first_failure_ends_the_others(
    run: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its log is shown, and no other's; what ran is taken down; what waited does not begin."""
    ready, ended, never = tmp_path / "ready", tmp_path / "ended", tmp_path / "never"
    jobs = [
        python(run, "endless", "print('not shown', flush=True)\n" + ENDLESS, ready, ended),
        python(run, "fails", FAILS, ready),
        python(run, "later", "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()", never),
    ]
    with pytest.raises(SystemExit) as raised:
        run.together(jobs, 2)
    assert raised.value.code == 1
    out = capsys.readouterr().out
    assert "broken" in out and "try: step `fails` failed (exit status 1)" in out
    assert "not shown" not in out and "later" not in out and "`endless` failed" not in out
    assert ended.exists() and not never.exists()


def test_what_ignores_ctrl_c_is_killed(run: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the grace."""
    monkeypatch.setattr(steps, "GRACE_SECONDS", 0.1)
    ready = tmp_path / "ready"
    deaf = (
        "import pathlib, signal, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "pathlib.Path(sys.argv[1]).touch(); time.sleep(600)"
    )

    def fails() -> None:
        while not ready.exists():
            time.sleep(0.01)
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own"):
        run.together([python(run, "deaf", deaf, ready), fails], 2)


def test_a_job_that_stops_the_program_stops_it(run: Steps) -> None:
    """With its own exit status, as in a run of one by one."""
    with pytest.raises(SystemExit) as raised:
        run.together([lambda: steps.stop("lacking")], 2)
    assert raised.value.code == 2
