"""Names that the host remembers for ever.

Wants: to fill the host's memory, little by little, over many messages
Against: `pickle.loads` of paths
Since: 0.1
"""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path, PurePosixPath

import hookless
from harness import expose, inert, naive, within

ROUNDS, PATHS = 20, 5_000


def resident() -> float:
    """MiB of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / (1 << 20)


def name(turn: int, index: int) -> str:
    return f"{turn:08}{index:08}" + "x" * 80


def victim(data: bytes) -> None:
    # A path interns its parts when somebody asks for one of them: for good on CPython 3.12.
    kept = resident()
    for turn in range(ROUNDS):
        for path in pickle.loads(pickle.dumps([Parts(name(turn, index)) for index in range(PATHS)])):
            assert path.name
    print(resident() - kept)


class Parts:
    """What a hostile child writes: the call that makes a path, with a text of its own."""

    def __init__(self, part: str) -> None:
        self.part = part

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return PurePosixPath, (self.part,)


def peer() -> str:
    grown = float(expose(__name__, seconds=60).out)
    assert (grown > 8) == (sys.version_info[:2] == (3, 12)), grown
    return "succeeds: on CPython 3.12 each part stays for ever; before and after it, none does"


def message(turn: int) -> bytes:
    """Paths, records, dict keys and exceptions, all of new names."""
    bodies = []
    for index in range(PATHS // 4):
        text = name(turn, index)
        path = b"\0" + bytes(8) + len(text).to_bytes(4) + text.encode()
        bodies += [
            naive.ext(21, path),
            naive.record([(text, naive.NIL)], module=text, qualname=text),
            naive.mapping([(naive.text(text), naive.text(text))]),
        ]
    bodies.append(
        naive.exception(naive.entry(name(turn, 0), "E", fields=[(naive.text(name(turn, 1)), naive.NIL)]))
    )
    return naive.frame(naive.array(bodies))


def ours() -> str:
    inert(hookless.dumps(PurePosixPath(name(0, 0))), PurePosixPath(name(0, 0)))
    for turn in range(4):
        str(hookless.loads(message(turn))[0])
    before = resident()
    for turn in range(4, 4 + ROUNDS):
        for value in hookless.loads(message(turn)):
            if isinstance(value, PurePosixPath):
                str(value), hash(value), value.parts, value.name
    return f"holds: {ROUNDS * PATHS} names leave {within(max(resident() - before, 0.0), 'MiB', most=4)}"
