"""What decoding must leave as it is, looked at from within the process that decodes."""

from __future__ import annotations

import builtins
import gc
import sys
from typing import Any

# Blocks that a process may come to hold for good: bounded caches, as that of the hashes of fractions.
BLOCKS = 150_000

# References to an object that is always there; one leaked for each of a few thousand inputs goes past it.
REFERENCES = 3_000

# Modules whose classes are those of values, or of hookless.
MODULES = (
    "array",
    "builtins",
    "collections",
    "datetime",
    "decimal",
    "fractions",
    "ipaddress",
    "numpy",
    "pathlib",
    "time",
    "uuid",
    "zoneinfo",
)

Snapshot = dict[str, dict[str, int]]


def classes() -> list[type]:
    """Every class of these modules."""
    found: dict[int, type] = {}
    for name, module in sorted(sys.modules.items()):
        if name in MODULES or name.split(".")[0] == "hookless":
            for value in list(vars(module).values()):
                if isinstance(value, type):
                    found[id(value)] = value
    return list(found.values())


def names() -> Snapshot:
    """What each name of `sys.modules`, of `builtins` and of the classes stands for."""
    taken: dict[str, Any] = {"sys.modules": sys.modules, "builtins": vars(builtins)}
    taken |= {f"{one.__module__}.{one.__qualname__}": vars(one) for one in CLASSES}
    return {name: {str(key): id(value) for key, value in dict(one).items()} for name, one in taken.items()}


def references() -> dict[str, int]:
    """How many references there are to objects that stay."""
    stay: list[Any] = [None, True, False, ..., NotImplemented, (), "", b"", *range(-5, 257), *CLASSES]
    return {f"{one!r}": sys.getrefcount(one) for one in stay}


def blocks() -> int:
    """Blocks of memory in use, when nothing is left to be collected."""
    gc.collect()
    return sys.getallocatedblocks()


def changed() -> str:
    """What has changed since the first look; empty for nothing."""
    now = blocks()
    if not BASE:
        BASE.append((names(), references(), now))
        return ""
    named, referred, held = BASE[0]
    found = names()
    for where, before in named.items():
        after = found[where]
        if after != before:
            return f"{where}: {sorted(set(after.items()) ^ set(before.items()))}"
    for what, count in references().items():
        if abs(count - referred[what]) > REFERENCES:
            return f"{referred[what]} references to {what} became {count}"
    return f"{held} blocks became {now}" if now > held + BLOCKS else ""


CLASSES = classes()
BASE: list[tuple[Snapshot, dict[str, int], int]] = []
