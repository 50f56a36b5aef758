"""The Python functions that decoding enters: the list in SECURITY.md, as far as it holds here."""

from __future__ import annotations

import re
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

__all__ = ["listed", "strangers"]

_SECURITY = Path(__file__).parents[3] / "SECURITY.md"

# The frames of the tests themselves, and how the watch ends.
_OURS = ("__main__", "hooked", "watching", "test_hooks")
_END = ("contextlib", "_GeneratorContextManager.__exit__")


def listed() -> set[tuple[str, str]]:
    """Module and name of each function of the table that can be entered here."""
    text = _SECURITY.read_text(encoding="utf-8").split("## What decoding enters")[1].split("\n## ")[0]
    numpy: Any = sys.modules.get("numpy")
    here = {f"Python {sys.version_info[0]}.{sys.version_info[1]}"}
    if numpy is not None:
        here.add("NumPy " + ".".join(numpy.__version__.split(".")[:2]))
    found = set()
    for row in re.findall(r"^\| `(.*)` \| (`.*`) \| (.*) \|$", text, re.MULTILINE):
        place, names, only = row
        if only.strip() and not here & set(only.strip().split(", ")):
            continue
        if place.startswith("numpy.") and numpy is None:
            continue
        module = place
        while module not in sys.modules and "." in module and not _is_renamed(module):
            module = module.rpartition(".")[0]
        inner = place.removeprefix(module).lstrip(".")
        found |= {(module, f"{inner}.{name}".lstrip(".")) for name in re.findall(r"`(\w+)`", names)}
    assert len(found) > 40
    return found


def _is_renamed(module: str) -> bool:
    """`numpy._core` is `numpy.core` before NumPy 2."""
    return module.replace("numpy._core", "numpy.core") in sys.modules


def strangers(entered: AbstractSet[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those that are neither hookless's own nor the tests'."""
    ours = {one for one in entered if one[0] in _OURS or one == _END}
    return {one for one in entered if not one[0].startswith("hookless")} - ours
