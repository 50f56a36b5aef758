"""The tables of TYPES.md, and whether a row says what `dumps` and `loads` do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hookless
import naive
from hookless import dumps, loads
from same import assert_same

__all__ = ["Row", "check", "rows"]

ROOT = Path(__file__).parents[3]


class Row(NamedTuple):
    """One line of a table."""

    name: str
    wire: str
    rust: str
    keyable: str
    notes: str


def rows(section: str) -> dict[str, Row]:
    """The lines below a heading, by the type's name."""
    text = (ROOT / "TYPES.md").read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    found = [Row(*(cell.strip(" `") for cell in line.strip("| ").split(" | ", 4))) for line in filled(lines)]
    # `numpy.ndarray` of `object`: two names in one cell.
    named = {row.name.replace("`", ""): row for row in found}
    assert len(named) == len(found) > 0
    return named


def filled(lines: list[str]) -> list[str]:
    """An empty last cell is written as `| |`."""
    return [line if not line.endswith("| |") else line[:-1] + " - |" for line in lines]


def wire_form(value: Any) -> str:
    """The form of a value as the column has it, by its first bytes."""
    body = dumps(value)[32:]
    first = body[0]
    names = {0xC0: "nil", 0xC2: "bool", 0xC3: "bool", 0xCB: "float"}
    if first in names:
        return names[first]
    if first < 0x80 or first >= 0xE0 or 0xCC <= first <= 0xD3:
        return "int"
    if 0xA0 <= first <= 0xBF or 0xD9 <= first <= 0xDB:
        return "str"
    if 0xC4 <= first <= 0xC6:
        return "bin"
    if 0x80 <= first <= 0x8F or first in (0xDE, 0xDF):
        return "map"
    if 0xD4 <= first <= 0xD8:
        return f"ext {body[1]}"
    if 0xC7 <= first <= 0xC9:
        return f"ext {body[{0xC7: 2, 0xC8: 3, 0xC9: 5}[first]]}"
    head = 1 if first <= 0x9F else {0xDC: 3, 0xDD: 5}[first]
    return f"node {body[head + 2]}" if body[head : head + 2] == b"\xd4\x01" else "array"


def keyable(value: Any) -> bool:
    """Whether encoder and decoder take it as a key; they agree."""
    try:
        frame = dumps({value: None})
    except TypeError:
        # Not hashable in Python: what a decoder says is asked with the bytes alone.
        frame = naive.frame(naive.mapping([(dumps(value)[32:], naive.NIL)]))
        with pytest.raises(hookless.DecodeError, match="not_keyable"):
            loads(frame)
        return False
    except hookless.EncodeError as error:
        if error.code != "not_keyable":
            raise
        return False
    assert_same(loads(frame), {value: None})
    return True


def check(row: Row, samples: Sequence[Any]) -> None:
    """The row is true of every sample, and each of its alternatives of one."""
    for sample in samples:
        result = loads(dumps([sample]))[0]
        assert type(result) is type(sample)
        assert_same(result, sample)
    assert {wire_form(sample) for sample in samples} == set(row.wire.split(", "))
    # Long bytes are no exception: in key position they are written inline.
    answers = {keyable(sample) for sample in samples}
    expected = {"yes": {True}, "no": {False}}.get(row.keyable, {True, False})
    assert answers == expected, row
    assert row.keyable in ("yes", "no") or row.keyable.startswith("if ")
    source = (ROOT / "crates/hookless/src/value.rs").read_text()
    source += (ROOT / "crates/hookless/src/value/standard.rs").read_text()
    for variant in row.rust.replace("`", "").split(", "):
        enum, _, name = variant.partition("::")
        body = re.search(rf"pub enum {enum} \{{(.*?)\n\}}", source, re.DOTALL)
        assert body is not None and re.search(rf"^    {name}\b", body[1], re.MULTILINE), variant
