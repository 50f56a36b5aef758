"""The figures in the documents are those of the report that was kept, and a figure that is not is found."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steps import ROOT

PROGRAM = ROOT / "benches" / "python" / "publish.py"
DOCUMENTS = ("README.md", "benches/SCALING.md")


def publish(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROGRAM, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def timing(median: float) -> list[float]:
    return [median * 0.9, median, median * 1.1]


def report() -> dict[str, Any]:
    """A run of one workload that says enough of itself."""
    ratio = {"ours": "hookless", "value": 0.5, "low": 0.4, "high": 0.6, "target": None}
    pairs = [("pickle5", "encode"), ("pickle5", "decode"), ("msgspec", "decode")]
    workload = {
        "id": "W1",
        "title": "a record",
        "refused": {"pyfory": "WRONG VALUE"},
        "rows": [
            {"contender": "pickle5", "loses": []},
            {"contender": "msgspec", "loses": ["tuple becomes list"]},
        ],
        "ratios": [ratio | {"peer": peer, "op": op} for peer, op in pairs],
    }
    return {
        "environment": {"CPU": "a processor", "Python": "CPython"},
        "missing": {"pickle-scan": "no"},
        "workloads": [workload],
    }


def sweep() -> dict[str, Any]:
    """Trees of a hundred nanoseconds and five for each node, exactly."""
    points = [
        {"nodes": 10**power, "contender": "hookless", "encode": timing(cost), "decode": timing(cost)}
        for power in range(1, 8)
        if (cost := 100.0 + 5 * 10**power)
    ]
    return {"nodes": points}


def across() -> dict[str, Any]:
    """Calls of fifty microseconds and a fifth of a nanosecond for each byte, exactly; W2 to match."""
    sizes = {"1 KiB": 1 << 10, "16 KiB": 1 << 14, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "64 MiB": 1 << 26}
    times = {name: {"hookless": timing(50_000 + 0.2 * count)} for name, count in sizes.items()}
    times["W2"] = {"hookless": timing(50_000 + 10 * 21_001)}
    return {"ns": times}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with the documents and a report."""
    folder = tmp_path / "benches" / "report"
    folder.mkdir(parents=True)
    for name in DOCUMENTS:
        shutil.copy(ROOT / name, tmp_path / name)
    for name, content in {"report": report(), "across": across(), "sweeps": sweep()}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_the_documents_say_what_the_report_says() -> None:
    done = publish("--check")
    assert done.returncode == 0, done.stdout


def test_what_is_written_passes_and_a_changed_figure_does_not(tree: Path) -> None:
    assert publish("--check", "--root", tree).returncode == 1
    assert publish("--root", tree).returncode == 0
    assert publish("--check", "--root", tree).returncode == 0
    for name in DOCUMENTS:
        text = (tree / name).read_text()
        figure = "| 0.5 |" if name == "README.md" else "| +0% |"
        assert figure in text
        (tree / name).write_text(text.replace(figure, "| 0.4 |"))
        done = publish("--check", "--root", tree)
        assert done.returncode == 1
        assert name in done.stdout
        (tree / name).write_text(text)


def test_what_qualifies_a_figure_is_written_with_it(tree: Path) -> None:
    publish("--root", tree)
    encode, decode = (
        line for line in (tree / "README.md").read_text().splitlines() if "W1: a record" in line
    )
    assert "| pickle 5 behind an opcode scan (not installed) | msgspec |" in (tree / "README.md").read_text()
    assert encode == "| W1: a record | encode | 0.5 |  |  | cannot |"
    assert decode == "| W1: a record | decode | 0.5 |  | 0.5 * | cannot |"


def test_the_fit_finds_lines_and_predicts_what_was_left_out(tree: Path) -> None:
    publish("--root", tree)
    text = (tree / "benches" / "SCALING.md").read_text()
    assert "| a node, encode | 5 ns |" in text
    assert "| a byte of an array, child to host | 0.2 ns (5 GB/s) |" in text
    assert "| a call that carries next to nothing | 50 us |" in text
    predicted = [line for line in text.splitlines() if line.endswith("% |")]
    assert len(predicted) == 1 + 2 * 3 + 1
    assert all(line.endswith("+0% |") for line in predicted)


def test_the_fit_knows_the_sizes_of_what_is_measured() -> None:
    program = (
        "import across_values, scaling;"
        "known = (scaling.FITTED | scaling.LEFT_OUT).items();"
        "measured = across_values.SIZES.items();"
        "print(sorted(measured - known), sorted(known - measured))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=PROGRAM.parent, stdout=subprocess.PIPE, text=True, check=True)
    # What takes no array at all is in neither.
    assert done.stdout == "[('8 B', 8)] []\n"


def test_the_document_lists_the_parts_of_a_run() -> None:
    command = [sys.executable, "-c", "import whole; print(*(part.program for part in whole.PARTS))"]
    done = subprocess.run(command, cwd=PROGRAM.parent, stdout=subprocess.PIPE, text=True, check=True)
    listed = re.findall(r"^\| `(\w+)\.py` \|", (ROOT / "benches" / "README.md").read_text(), re.MULTILINE)
    assert listed == [*done.stdout.split(), "publish"]


def test_a_document_without_markers_is_an_error(tree: Path) -> None:
    (tree / "README.md").write_text("no markers")
    done = publish("--root", tree)
    assert done.returncode == 1
    assert "<!-- figures: written by make bench -->" in done.stdout
