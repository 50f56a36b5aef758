"""CPython's dict and set tables, written for clarity: where each key lands, and what it walked through.

After `Objects/dictobject.c` and `Objects/setobject.c` of CPython 3.11 to 3.13. `test_tables.py` compares it
with what real tables do, and the decoder's guard with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["DictTable", "Key", "SetTable"]

BITS = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Key:
    """A key: what its hash is, and whether it is a str."""

    hash: int
    text: bool = False


def places(key: Key, size: int) -> Iterator[int]:
    """Yield where a key is looked for, one place after the other."""
    perturb = key.hash & BITS
    at = perturb % size
    while True:
        yield at
        perturb >>= 5
        at = (5 * at + perturb + 1) % size


@dataclass
class Table:
    """What both count: occupied slots that keys had to pass, and comparisons with keys of the same hash."""

    size: int = 8
    keys: list[Key] = field(default_factory=list)
    slots: dict[int, Key] = field(default_factory=dict)
    probes: int = 0
    comparisons: int = 0
    end: tuple[int, int] | None = None
    """Probes and keys when there were more probes than the guard allows."""

    def walk(self, key: Key) -> Iterator[int]:
        """Yield the slots where a key is looked for."""
        raise NotImplementedError

    def allowed(self) -> int:
        """Return the probes that the decoder's guard allows, as `bindings/python/src/keys/guard.rs` says."""
        raise NotImplementedError

    def place(self, key: Key, *, growing: bool) -> None:
        for slot in self.walk(key):
            found = self.slots.setdefault(slot, key)
            if found is key:
                break
            self.probes += 1
            self.comparisons += not growing and key.hash == found.hash
        if self.end is None and self.probes > self.allowed():
            self.end = self.probes, len(self.keys)

    def move(self, size: int, keys: Iterable[Key]) -> None:
        self.size, self.slots = size, {}
        for key in keys:
            self.place(key, growing=True)


@dataclass
class DictTable(Table):
    """A dict that is filled from empty."""

    only_text: bool = True

    def walk(self, key: Key) -> Iterator[int]:
        return places(key, self.size)

    def allowed(self) -> int:
        return 1024 + (128 + math.isqrt(self.size // 64)) * len(self.keys)

    def grows_early(self, key: Key) -> bool:
        """Return whether this is the first key that is no str in a table of str."""
        return self.only_text and bool(self.keys) and not key.text

    def insert(self, key: Key) -> None:
        full = len(self.keys) == self.size * 2 // 3
        if full or self.grows_early(key):
            size = 16
            while size < 3 * len(self.keys):
                size *= 2
            self.move(size, self.keys)
        self.only_text &= key.text
        self.keys.append(key)
        self.place(key, growing=False)


@dataclass
class SetTable(Table):
    """A set that is filled from empty."""

    def walk(self, key: Key) -> Iterator[int]:
        for at in places(key, self.size):
            yield from range(at, at + 10 if at + 9 < self.size else at + 1)

    def allowed(self) -> int:
        return 1024 + 320 * len(self.keys)

    def insert(self, key: Key) -> None:
        self.keys.append(key)
        self.place(key, growing=False)
        used = len(self.keys)
        if 5 * used >= 3 * (self.size - 1):
            least, size = used * (2 if used > 50_000 else 4), 8
            while size <= least:
                size *= 2
            self.move(size, [self.slots[slot] for slot in sorted(self.slots)])
