"""The values of the sweeps: trees of so many nodes, and shapes that take far more memory than bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from workloads import REGISTRY, Workload

NODES = tuple(10**power for power in range(1, 8))
# Items of a shape: enough that the peak stands well above what is noise.
ITEMS = 500_000


def tree_rows(nodes: int) -> tuple[int, int]:
    """Return how many rows a tree of about so many nodes has, and how many scalars are in each."""
    rows = 3 if nodes < 1000 else nodes // 100 // 3 * 3
    return rows, (nodes - 1) // rows - 1


def nodes_of(nodes: int) -> int:
    """Return the exact number of nodes of that tree."""
    rows, each = tree_rows(nodes)
    return 1 + rows * (1 + each)


def tree(nodes: int) -> Callable[[Random], object]:
    """Return the maker of a list of lists: rows of ints, of floats and of short strings in turn."""
    rows, each = tree_rows(nodes)

    def make(rng: Random) -> object:
        kinds: tuple[Callable[[], object], ...] = (
            lambda: rng.getrandbits(31),
            lambda: rng.uniform(-1e6, 1e6),
            lambda: f"{rng.getrandbits(32):08x}",
        )
        return [[kinds[row % 3]() for _ in range(each)] for row in range(rows)]

    return make


def _repeat(item: Callable[[], object]) -> Callable[[Random], object]:
    return lambda rng: [item() for _ in range(ITEMS)]


SHAPES: dict[str, tuple[str, Callable[[Random], object]]] = {
    "none": ("None", _repeat(lambda: None)),
    "small-int": ("ints of one byte", _repeat(lambda: 7)),
    "empty-list": ("empty lists", _repeat(list)),
    "empty-dict": ("empty dicts", _repeat(dict)),
    "pair": ("dicts of one pair", _repeat(lambda: {1: 2})),
    "int": ("ints of 31 bits", lambda rng: [rng.getrandbits(31) for _ in range(ITEMS)]),
    "float": ("floats", lambda rng: [rng.random() for _ in range(ITEMS)]),
    "text": ("strings of 8", lambda rng: [f"{rng.getrandbits(32):08x}" for _ in range(ITEMS)]),
    "records": ("W2, ten times", lambda rng: [REGISTRY["W2"].make(rng) for _ in range(10)]),
}


def _workload(name: str, title: str, make: Callable[[Random], object]) -> Workload:
    return Workload(name, title, name, make, arrays=False, large=False)


EXTRA = {
    **{f"nodes-{n}": _workload(f"nodes-{n}", f"{nodes_of(n)} nodes", tree(n)) for n in NODES},
    **{f"shape-{name}": _workload(f"shape-{name}", title, make) for name, (title, make) in SHAPES.items()},
}
