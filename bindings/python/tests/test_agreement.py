"""Rust and Python give one verdict: accept or refuse, with the same code at the same byte.

`HOOKLESS_FUZZ_SECONDS=600 pytest tests/test_agreement.py` goes on damaging frames for longer.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from pathlib import Path

import hookless
from describing import expand
from hookless._hookless import through_rust
from test_vectors import wrapped

VECTORS = Path(__file__).resolve().parents[3] / "proto" / "vectors"
# Codes that may differ between hosts (proto/errors.md).
ENVIRONMENT = {"key_collision", "key_error", "zone_unknown", "dtype_unsupported", "out_of_memory"}
TELLING = bytes.fromhex("007f80819091a0a1c0c1c3c4c7cacbcccfd3d4d8dcdfff")

Verdict = tuple[str, int | None, str]


def python(frame: bytes) -> Verdict | bytes:
    try:
        return hookless.dumps(hookless.loads(frame))
    except hookless.DecodeError as error:
        return str(error.code), error.offset, str(error.path)


def rust(frame: bytes) -> Verdict | bytes:
    try:
        return bytes(through_rust(frame))
    except hookless.DecodeError as error:
        return str(error.code), error.offset, str(error.path)


def frames() -> list[bytes]:
    """Every vector that is one frame of moderate size, accepted or refused."""
    found = []
    for file in sorted(VECTORS.glob("*/*.json")):
        for vector in json.loads(file.read_text()):
            if "limits" in vector:
                continue
            if "frame" in vector:
                frame = expand(vector["frame"])
            else:
                frame = wrapped(expand(vector["body"]), expand(vector.get("data", "")))
            if len(frame) < 50_000:
                found.append(frame)
    return found


def damaged(frame: bytes, chance: random.Random) -> bytes:
    """One to four small damages; the body's length in the head is mostly put right again."""
    changed = bytearray(frame)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(32 if chance.random() < 0.9 else 0, 32 + max(1, min(len(changed) - 32, 4096)))
        kind = chance.randrange(5)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(changed):
            changed[at] = chance.choice(TELLING)
        elif kind == 2:
            changed[at:at] = bytes([chance.choice(TELLING)])
        elif kind == 3:
            del changed[at : at + chance.randint(1, 3)]
        else:
            start = chance.randrange(32, max(33, len(changed)))
            changed[at:at] = changed[start : start + chance.randint(1, 12)]
    if len(changed) > 32 and changed[24:32] == bytes(8) and chance.random() < 0.8:
        changed[16:24] = (len(changed) - 32).to_bytes(8)
    return bytes(changed)


def agree(frame: bytes) -> str:
    """Compare the verdicts; return the code, or "accepted"."""
    ours, theirs = python(frame), rust(frame)
    if isinstance(ours, tuple) and ours[0] in ENVIRONMENT:
        return ours[0]
    assert ours == theirs, frame.hex()
    if isinstance(ours, bytes):
        assert ours == frame, frame.hex()
        return "accepted"
    return ours[0]


def test_every_vector() -> None:
    """The vectors themselves, before any damage."""
    verdicts = Counter(agree(frame) for frame in frames())
    assert verdicts["accepted"] > 100
    assert len(verdicts) > 25


def test_damaged_frames() -> None:
    """Thousands of damaged frames, from a seed that is fixed unless more time is asked for."""
    seconds = float(os.environ.get("HOOKLESS_FUZZ_SECONDS", "0"))
    chance = random.Random(time.time_ns() if seconds else 7)
    corpus, verdicts, end = frames(), Counter[str](), time.monotonic() + seconds
    while verdicts.total() < 20_000 or time.monotonic() < end:
        verdicts[agree(damaged(chance.choice(corpus), chance))] += 1
    print(f"{verdicts.total()} damaged frames: {dict(verdicts)}")
    assert verdicts["accepted"] > 100
    assert len(verdicts) > 20
