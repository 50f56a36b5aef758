"""`exchange.py` by this Python, with and without NumPy. Between versions it is a step of `make ci`."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# A process of its own, in which NumPy may be as good as absent.
PROGRAM = """
import runpy, sys
if sys.argv[1] == "without":
    sys.modules["numpy"] = None
sys.path.insert(0, sys.argv[2])
sys.argv[:3] = ["exchange.py"]
runpy.run_module("exchange", run_name="__main__")
"""
MODES = ["without", *(["with"] if importlib.util.find_spec("numpy") is not None else [])]


def run(mode: str, action: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, mode, str(HERE), action, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this Python writes with NumPy, if it is there, and without."""
    folder = tmp_path_factory.mktemp("exchange")
    for mode in MODES:
        done = run(mode, "write", folder / mode)
        assert done.returncode == 0, done.stderr
    return folder


def frames(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["frames"]
    return found


@pytest.mark.parametrize("mode", MODES)
def test_c061_every_host_reads_what_every_host_wrote(written: Path, mode: str) -> None:
    """Arrays that NumPy made, read without it and with it; nothing is lacking on the host that wrote."""
    done = run(mode, "read", written)
    assert done.returncode == 0, done.stderr
    count = sum(len(frames(file)) for file in written.glob("*/frames.json"))
    assert done.stdout.startswith(f"{count} frames of {len(MODES)} hosts by ")
    assert done.stdout.endswith("; 0 refused for what is lacking here\n")


def test_c061_frames_name_no_module_of_numpy(written: Path) -> None:
    """A frame says what an array is by letters and numbers, which each NumPy gives its own names."""
    for mode in MODES:
        for one in frames(written / mode / "frames.json"):
            frame = bytes.fromhex(one["frame"]).lower()
            assert not any(name in frame for name in (b"numpy", b"ndarray", b"dtype", b"_reconstruct"))


def change_value(one: dict[str, Any]) -> None:
    one["value"] = ["none"] if one["value"] != ["none"] else ["bool", True]


def damage_frame(one: dict[str, Any]) -> None:
    one["frame"] = one["frame"][:-2]


def lack_nothing(one: dict[str, Any]) -> None:
    one["value"] = ["ZoneInfo", "Nowhere/At-All"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (change_value, "another value"),
        (damage_frame, "refused, and nothing is lacking here"),
        (lack_nothing, "accepted, though this host lacks"),
    ],
)
def test_what_is_not_as_it_was_ends_it(written: Path, tmp_path: Path, change: Any, problem: str) -> None:
    """Status 1, and the name of the one frame at fault."""
    found = json.loads((written / "without" / "frames.json").read_text(encoding="utf-8"))
    change(found["frames"][3])
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "frames.json").write_text(json.dumps(found), encoding="utf-8")
    done = run("without", "read", tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()[1:]
    assert line.startswith(found["frames"][3]["name"]) and problem in line


def test_nothing_to_read_is_no_success(tmp_path: Path) -> None:
    """An empty folder ends with status 1."""
    done = run("without", "read", tmp_path)
    assert done.returncode == 1 and "no frames" in done.stderr
