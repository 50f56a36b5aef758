"""`hookless run` where results hold arrays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hookless._show import summary, to_lines


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (np.arange(12.0).reshape(3, 4), "array <f8 (3, 4), 0 to 11"),
        (np.array([1, 2], ">i2"), "array >i2 (2,): 1 2"),
        (np.zeros((0, 3)), "array <f8 (0, 3)"),
        (np.array(3), "array <i8 (): 3"),
        (np.array([np.nan] * 9), "array <f8 (9,): nan nan nan … nan nan nan"),
        (np.array([1.0, np.inf] * 5), "array <f8 (10,), 1 to 1 (5 not finite)"),
        (np.array([True, False] * 5), "array |b1 (10,), 5 of 10 true"),
        (np.array(["a\x1b"] * 2), "array <U2 (2,): 'a\\x1b' 'a\\x1b'"),
        (np.arange(10).astype("M8[D]"), "array <M8[D] (10,), 1970-01-01 to 1970-01-10"),
        (np.array(["nat", "2020"] * 5, "M8[Y]"), "array <M8[Y] (10,), 2020 to 2020 (5 NaT)"),
        (np.array([1 + 2j]), "array <c16 (1,): (1+2j)"),
    ],
)
def test_summaries(array: object, shown: str) -> None:
    assert summary(array) == shown


def test_lines_of_nested_values() -> None:
    value = {"x": [np.arange(100, dtype="i4")] * 30, "deep": [[[[[[[[1]]]]]]]], "n": [*range(100)]}
    lines = list(to_lines(value))
    assert lines[:3] == ["dict of 3", "  'x': list of 30", "    array <i4 (100,), 0 to 99"]
    assert "    … and 10 more" in lines and len(lines) < 40
    assert lines[-1] == "  'n': list of 100: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"


def test_pictures(tmp_path: Path) -> None:
    """Names and titles come from the child: they become no path, and no TeX."""
    pytest.importorskip("matplotlib")
    script = (
        "import numpy as np\n"
        "result = {'../up/$\\\\frac{': np.arange(9.0), 'image': np.eye(2000)}\n"
        "result |= {'text': np.array(['a']), 'n': [np.ones(3)]}"
    )
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "-m", "hookless", "run", "script.py", "--isolation=none", "--plot", "p"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    assert names == ["p-0-up-frac.png", "p-1-image.png", "p-2-n-0.png"]
    assert "not drawn: text" in done.stderr
