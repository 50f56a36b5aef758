"""CPython's dict and set tables, written for clarity: where each key lands, and what it walked through.

After `Objects/dictobject.c` and `Objects/setobject.c` of CPython 3.11 to 3.13. `test_tables.py` compares it
with what real tables do, and the decoder's guard with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["AT_FIRST", "PER_KEY", "DictTable", "Key", "SetTable"]

BITS = 2**64 - 1

# What `bindings/python/src/keys/guard.rs` allows, and how it counts keys of one hash.
AT_FIRST, PER_KEY, EQUAL = 1024, 256, 4


@dataclass(frozen=True, eq=False)
class Key:
    """A key: what its hash is, and whether it is a str."""

    hash: int
    text: bool = False


def tag(key: Key) -> int:
    """Return what the guard remembers of a key in a slot."""
    return ((key.hash & BITS) * 0x9E3779B97F4A7C15 & BITS) >> 56 | 1


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
    """What both tables count: steps as the guard takes them, and comparisons with keys of the same hash."""

    size: int = 8
    keys: list[Key] = field(default_factory=list)
    slots: dict[int, Key] = field(default_factory=dict)
    steps: int = 0
    comparisons: int = 0

    def walk(self, key: Key, size: int) -> Iterator[tuple[int, bool]]:
        """Yield each slot that is looked at, and whether a step begins after it."""
        raise NotImplementedError

    def place(self, key: Key, *, growing: bool) -> None:
        for slot, steps_on in self.walk(key, self.size):
            found = self.slots.get(slot)
            if found is None:
                self.slots[slot] = key
                return
            self.meet(key, found, growing)
            self.steps += steps_on
        raise AssertionError("a walk has no end")

    def meet(self, key: Key, found: Key, growing: bool) -> None:
        raise NotImplementedError

    def move(self, size: int, keys: Iterable[Key]) -> None:
        self.size, self.slots = size, {}
        for key in keys:
            self.place(key, growing=True)


@dataclass
class DictTable(Table):
    """A dict that is filled from empty."""

    def walk(self, key: Key, size: int) -> Iterator[tuple[int, bool]]:
        for at in places(key, size):
            yield at, True

    def meet(self, key: Key, found: Key, growing: bool) -> None:
        if growing:
            return
        self.comparisons += key.hash == found.hash
        # A step is counted already.
        self.steps += EQUAL - 1 if tag(key) == tag(found) else 0

    def insert(self, key: Key) -> None:
        full = len(self.keys) == self.size * 2 // 3
        first_other = bool(self.keys) and all(one.text for one in self.keys) and not key.text
        if full or first_other:
            size = 16
            while size < 3 * len(self.keys):
                size *= 2
            self.move(size, self.keys)
        self.keys.append(key)
        self.place(key, growing=False)


@dataclass
class SetTable(Table):
    """A set that is filled from empty."""

    def walk(self, key: Key, size: int) -> Iterator[tuple[int, bool]]:
        for at in places(key, size):
            run = 10 if at + 9 < size else 1
            for slot in range(at, at + run):
                yield slot, slot == at + run - 1

    def meet(self, key: Key, found: Key, growing: bool) -> None:
        if growing:
            return
        self.comparisons += key.hash == found.hash
        self.steps += EQUAL if tag(key) == tag(found) else 0

    def insert(self, key: Key) -> None:
        self.keys.append(key)
        self.place(key, growing=False)
        used = len(self.keys)
        if 5 * used >= 3 * (self.size - 1):
            least, size = used * (2 if used > 50_000 else 4), 8
            while size <= least:
                size *= 2
            self.move(size, [self.slots[slot] for slot in sorted(self.slots)])
