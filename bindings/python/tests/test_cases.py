"""The reported problems with values and with NumPy, C001 to C068: each of them has a test that says so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
CASES = {f"C{number:03}" for number in range(1, 69)}


def named(path: Path) -> set[str]:
    """The cases that names and docstrings of a file's tests give, such as `test_c001_liars` or "C001:"."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            text = f"{node.name.replace('_', ' ')} {ast.get_docstring(node) or ''}"
            found |= {word.upper() for word in re.findall(r"\bc\d{3}\b", text, re.IGNORECASE)}
    return found


def test_every_case_has_a_test() -> None:
    """None is missing; tests name others of the collection, too."""
    found = set().union(*(named(path) for path in HERE.glob("test_*.py") if path.name != "test_cases.py"))
    assert CASES - found == set()
