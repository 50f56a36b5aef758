"""The code of CARRIERS.md, block by block."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hookless
import hookless.http
import hookless.sse

TEXT = (Path(__file__).parents[3] / "CARRIERS.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]}


def blocks(section: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("section", [name for name in SECTIONS if blocks(name)])
def test_blocks_run(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in one namespace and an empty folder."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "carriers", "hookless": hookless}
    for number, block in enumerate(blocks(section)):
        exec(compile(block, f"CARRIERS.md, {section}, block {number}", "exec"), scope)


@pytest.mark.parametrize("module", [hookless.http, hookless.sse], ids=["http", "sse"])
def test_docstrings_run(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0 and found.attempted > 2


def test_blocks_are_found() -> None:
    assert sum(len(blocks(section)) for section in SECTIONS) == TEXT.count("```python")
