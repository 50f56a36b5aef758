"""Damaged values of the standard library: only documented errors, nothing opened or imported."""

from __future__ import annotations

import random
from typing import Any

import pytest

import hookless
from hookless import dumps, loads
from standard_samples import STANDARD
from test_hostile import check, mutations
from watching import watched

# A zone's own file may be opened: test_standard_import.py says which.
CALM = {name: found for name, found in STANDARD.items() if name not in ("ZoneInfo", "aware time")}


def frame_of(found: list[Any]) -> bytes:
    """One frame of all that needs no ZoneInfo."""
    return dumps(
        [value for value in found if "zoneinfo" not in type(getattr(value, "tzinfo", None)).__module__]
    )


@pytest.mark.parametrize("name", CALM)
def test_mutated_frames(name: str) -> None:
    """Bits flipped, bytes cut, inserted and doubled, with everything imported beforehand."""
    hookless.warm_up()
    frame = frame_of(CALM[name])
    loads(frame)
    chance = random.Random(f"mutate standard {name}")
    with watched():
        for data in mutations(frame, chance, 400 if len(frame) < 2000 else 60):
            check(data)


def test_every_byte_of_every_payload() -> None:
    """Each byte of each sample replaced by a few others: accepted canonically, or refused."""
    hookless.warm_up()
    for found in CALM.values():
        for value in found:
            frame = dumps(value) if "zoneinfo" not in type(getattr(value, "tzinfo", None)).__module__ else b""
            for at in range(32, min(len(frame), 160)):
                for byte in {0, 1, 2, 0x7F, 0x80, 0xFF, frame[at] ^ 1, (frame[at] + 1) % 256}:
                    check(frame[:at] + bytes([byte]) + frame[at + 1 :])
