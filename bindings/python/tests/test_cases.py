"""The reported problems with other transports, C001 to C170: each of them has a test that says so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
CASES = {f"C{number:03}" for number in range(1, 171)}

# Tables are no kind of value yet, so nothing can be said of them, nor of their metadata.
OF_TABLES = {f"C{number:03}" for number in (*range(69, 89), 147)}


def named(path: Path) -> set[str]:
    """The cases that names and docstrings of a file's tests give, such as `test_c001_liars` or "C001:"."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            text = f"{node.name.replace('_', ' ')} {ast.get_docstring(node) or ''}"
            found |= {word.upper() for word in re.findall(r"\bc\d{3}\b", text, re.IGNORECASE)}
    return found


def test_every_case_has_a_test() -> None:
    """None is missing but those above; who tests one of those takes it off its list."""
    found = set().union(*(named(path) for path in HERE.glob("test_*.py") if path.name != "test_cases.py"))
    assert CASES - found == OF_TABLES
