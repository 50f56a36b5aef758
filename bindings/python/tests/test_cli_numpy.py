"""`hookless run` where results hold arrays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.ma as ma
import pytest

from hookless._show import summary, to_json, to_lines


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
        (
            np.rec.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
            "array (numpy.record, [('a', '<i4'), ('b', '<f8')]) (1,): (1, 2.5)",
        ),
        (np.arange(3).astype(ml_dtypes.bfloat16), "array <V2 (3,): 0.0 1.0 2.0"),
        (np.arange(9).astype(ml_dtypes.float8_e5m2), "array <f1 (9,), 0 to 8"),
        (np.arange(9, dtype="g"), f"array {np.dtype('g').str} (9,), 0 to 8"),
    ],
)
def test_summaries(array: object, shown: str) -> None:
    assert summary(array) == shown


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (
            np.array([1, None, "a\x1b", [2], 10**500], object),
            "array of objects (5,): 1 None 'a\\x1b' list 0x",
        ),
        (np.array([[1.5] * 3] * 3, object), "array of objects (3, 3): 1.5 1.5 1.5 1.5 1.5 1.5 …"),
        (np.array([], object), "array of objects (0,)"),
        (ma.masked_array(np.arange(9), np.arange(9) > 6), "masked array <i8 (9,), 0 to 8; 2 masked"),
        (ma.masked_array(1.5), "masked array <f8 (): 1.5; 0 masked"),
        (ma.masked_array(np.zeros(1, [("a", "i4")])), "masked array [('a', '<i4')] (1,): (0,); some masked"),
    ],
)
def test_values_that_hold_more_than_numbers(array: object, shown: str) -> None:
    """One line each, whatever they hold; and JSON has their items."""
    (line,) = to_lines(array)
    assert line.startswith(shown), line
    json.dumps(to_json({"x": array}))


def test_a_record_is_escaped() -> None:
    """Names of fields are the sender's."""
    record = np.rec.array([(1,)], dtype=[("a\n", "i4")])[0]
    (line,) = to_lines(record)
    assert "1" in line and "\n" not in line


@pytest.mark.skipif(np.__version__.startswith("1."), reason="StringDType comes with NumPy 2")
def test_texts_of_any_length() -> None:
    array = np.array(["a\x1b", None], np.dtypes.StringDType(na_object=None))
    assert list(to_lines(array)) == ["array of texts (2,): 'a\\x1b' None"]
    assert to_json(array) == {"type": "array", "shape": [2], "items": ["a\x1b", None]}


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
