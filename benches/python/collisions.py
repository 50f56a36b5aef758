"""Keys chosen to collide: the probes that are predicted, the time that CPython takes, and the verdict.

    python benches/python/collisions.py              tables of 20 000 keys; --log2 20 for 700 000

Probes come from the naive tables of bindings/python/tests/tables.py, which test_tables.py compares with
real ones, slot by slot. The fit says how well a time per key and a time per probe explain what was measured.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hookless

sys.path.insert(0, str(Path(__file__).parents[2] / "bindings" / "python" / "tests"))
from tables import DictTable, Key, SetTable

MERSENNE = 2**61 - 1
Ints = NDArray[np.int64]


def next_slot(at: Ints, perturb: Ints, mask: int) -> Ints:
    return (5 * at + perturb + 1) & mask


def walkers(taken: NDArray[np.bool_], bits: int, count: int, jumps: int) -> list[int]:
    """Return ints of so many bits that find nothing but taken slots in their first jumps."""
    mask, chance, found = len(taken) - 1, np.random.default_rng(5), np.empty(0, np.int64)
    while len(found) < count:
        keys = chance.integers(len(taken), 1 << bits, 1 << 21)
        at, perturb, alive = keys & mask, keys.copy(), keys
        for _ in range(jumps):
            good = taken[at]
            at, perturb, alive = at[good], perturb[good] >> 5, alive[good]
            at = next_slot(at, perturb, mask)
        found = np.unique(np.append(found, alive[taken[at]]))
    return [int(key) for key in chance.permutation(found)[:count]]


def chained(log2: int, length: int) -> list[int]:
    """Return keys of a dict: chains of taken slots along the walk i -> 5 i + 1, and keys that walk them."""
    size = 1 << log2
    cycle = np.empty(size, np.int64)
    at = 0
    for place in range(size):
        cycle[place] = at
        at = (5 * at + 1) & (size - 1)
    first = cycle[np.arange(size) % (3 * length) < length]
    taken = np.zeros(size, np.bool_)
    taken[first] = True
    return [*map(int, first), *walkers(taken, log2 + 10, size * 2 // 3 - len(first) - 1, log2 // 5 + 2)]


def blocked(log2: int, jumps: int) -> list[int]:
    """Return members of a set: a block of neighbouring slots, and ints that jump about in it."""
    size = 1 << log2
    taken = np.arange(size) < size // 4
    return [*range(size // 4), *walkers(taken, log2 + 5 * jumps, size // 4, jumps)]


def alike(count: int, each: int) -> list[int]:
    """Return ints of which `each` have one hash."""
    return [7 * (i // each) + 1 + (i % each) * MERSENNE for i in range(count)]


def cases(log2: int) -> Iterator[tuple[str, type, list[int]]]:
    count = (1 << log2) * 2 // 3 - 1
    for kind in (dict, set):
        yield "consecutive", kind, list(range(count))
        for shift in (8, 20, 30, 40):
            yield f"stride 2^{shift}", kind, [i << shift for i in range(count)]
        for each in (8, 32, 64, 128):
            yield f"{each} of one hash", kind, alike(count, each)
    for length in (8, 64, 128, 256, 512):
        yield f"chains of {length}", dict, chained(log2, length)
    for jumps in (2, 3, 4, 5):
        yield f"{jumps} jumps in a block", set, blocked(log2, jumps)


def predicted(kind: type, keys: list[int]) -> int:
    table: DictTable | SetTable = DictTable() if kind is dict else SetTable()
    for key in keys:
        table.insert(Key(hash(key)))
    return table.probes


def best(work: Callable[[], object], times: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(times))


def verdict(frame: bytes) -> str:
    """Say how long a megabyte of this frame occupies the decoder, or that it is refused."""
    start = time.perf_counter()
    try:
        hookless.loads(frame)
    except hookless.DecodeError as error:
        return f"{error.code} after {1e3 * (time.perf_counter() - start):.1f} ms"
    return f"{best(lambda: hookless.loads(frame), 3) / len(frame) * 1e6:.3f} s/MB"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--log2", type=int, default=15, help="slots of the table, as a power of two (15)")
    log2 = parser.parse_args().log2
    print(f"{'table':<28}{'keys':>8}{'MB':>7}{'probes/key':>12}{'ns/key':>9}  decoder")
    points: dict[str, list[tuple[float, float]]] = {}
    for name, kind, keys in cases(log2):
        if kind is set:
            keys = sorted(keys, key=lambda key: hookless.dumps(key)[32:])
        make = functools.partial(dict.fromkeys if kind is dict else set, keys)
        frame = hookless.dumps(make())
        probes = predicted(kind, keys) / len(keys)
        spent = best(make) / len(keys) * 1e9
        sort = f"{kind.__name__}, {'keys of one hash' if 'one hash' in name else 'other keys'}"
        points.setdefault(sort, []).append((probes, spent))
        label = f"{kind.__name__}: {name}"
        size = len(frame) / 1e6
        print(f"{label:<28}{len(keys):>8}{size:>7.2f}{probes:>12.1f}{spent:>9.0f}  {verdict(frame)}")
    for sort, found in points.items():
        slope, base = statistics.linear_regression(*zip(*found, strict=True))
        fit = statistics.correlation(*zip(*found, strict=True)) ** 2
        print(f"{sort}: {base:.0f} ns a key and {slope:.1f} ns a probe; r^2 = {fit:.3f}")


if __name__ == "__main__":
    main()
