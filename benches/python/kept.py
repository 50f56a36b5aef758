"""Where programs keep what they found: a whole run in `report/`, others in `report/raw/`, ignored by git."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BENCHES = Path(__file__).resolve().parent.parent
WHOLE = BENCHES / "report"
PARTIAL = WHOLE / "raw"


def folder(partial: bool) -> Path:
    """Return the folder of a run, made if need be."""
    found = PARTIAL if partial else WHOLE
    found.mkdir(parents=True, exist_ok=True)
    return found


def keep(name: str, content: object, partial: bool) -> Path:
    """Write a JSON file and return its path."""
    path = folder(partial) / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path


def kept(name: str, where: Path = WHOLE) -> Any:
    """Return what a JSON file of a run holds; None if there is no such file."""
    path = where / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None
