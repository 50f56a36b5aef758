"""What `make ci` asks of the disk, what it removes, and what it runs."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import pytest

import check
import ci
import steps
from steps import Steps
from venvs import BINDING, Environment


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    """Steps whose logs are elsewhere than those of the run that these tests are a step of."""
    monkeypatch.setattr(steps, "ROOT", tmp_path / "tree")
    return Steps("try")


def test_each_file_is_in_one_part() -> None:
    """What is left out of one is in the other."""
    for file in (BINDING / "tests").glob("test_*.py"):
        assert sum(fnmatch(file.name, f"test_{part}*.py") for part in check.PARTS) == 1, file.name


def test_disk_that_is_enough() -> None:
    """At the limit."""
    ci.check_disk(ci.WANTED_GB * 10**9)


def test_disk_that_is_too_little(capsys: pytest.CaptureFixture[str]) -> None:
    """One byte below it the run does not begin, and says what it wants."""
    with pytest.raises(SystemExit) as raised:
        ci.check_disk(ci.WANTED_GB * 10**9 - 1)
    assert raised.value.code == 2
    assert f"takes up to {ci.WANTED_GB} GB" in capsys.readouterr().err


def test_a_build_is_removed_whole(run: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its size is told; what it links to stays."""
    kept = tmp_path / "kept"
    kept.write_bytes(b"x")
    built = tmp_path / "built" / "deep"
    built.mkdir(parents=True)
    (built / "program").write_bytes(b"x" * 3_000_000)
    (built / "link").symlink_to(kept)
    ci.remove(run, "try", built.parent)
    assert not built.parent.exists() and kept.exists()
    assert capsys.readouterr().out.split() == ["try:", "build", "removed", "3", "MB"]


def test_each_leg_is_a_job(run: Steps) -> None:
    """Beside the sanitizer, the tests of `.venv` and the fuzz targets."""
    legs = {leg: f"python{leg.python}" for leg in ci.LEGS}
    jobs = ci.jobs(run, Environment(".venv"), legs)
    assert len(jobs) == 3 + len(legs)
    found = [job for job in jobs if isinstance(job, partial)]
    assert [(job.func, job.args) for job in found] == [(leg.run, (run, legs[leg])) for leg in ci.LEGS]
