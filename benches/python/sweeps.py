"""Sweeps: cost over the number of nodes, host memory for each byte of the wire, decode time of crafted keys.

Writes sweeps.md, sweeps.json and the plots. Throughput over the size of an array is `across.py`'s: within one
process it would say nothing.
"""

from __future__ import annotations

import argparse
import functools
import gc
import sys
import timeit
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypedDict

import collisions
import kept
import memory
import peers
import sweep_plots
from environment import describe
from measure import STDERR, Plan, measure, settle_allocator, wire_bytes
from report import aligned, duration, environment_text, markdown, size
from results import Timing
from sweep_values import EXTRA, NODES, SHAPES, nodes_of

FULL = Plan(repeats=15, least=5, sample_seconds=0.005, cell_seconds=1.5)
QUICK = Plan(repeats=3, least=3, sample_seconds=0.002, cell_seconds=0.2)

CONTENDERS = ("hookless", "pickle5", "msgspec")
# A tenfold of W2 and more would take minutes in Python.
QUICK_NODES = NODES[:4]
LOG2 = tuple(range(9, 17))


class NodePoint(TypedDict):
    """A tree of so many nodes through one contender: nanoseconds, as quartiles and median."""

    nodes: int
    contender: str
    wire_bytes: int
    encode: list[float]
    decode: list[float]


class ShapePoint(TypedDict):
    """Host memory of a shape, in bytes, at the peak of a decode."""

    shape: str
    title: str
    contender: str
    wire_bytes: int
    peak: int


class KeysPoint(TypedDict):
    """A dict of so many int keys, honest or crafted; `refused` is the code with which the decode ended."""

    keys: int
    crafted: bool
    contender: str
    wire_bytes: int
    decode: list[float]
    refused: str


HONEST = """\
The shapes were written by each contender's own encoder. A hostile pickle needs no byte for what it makes the
host hold; a hostile frame of hookless can do no worse than the worst of these."""

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


def quartiles(timing: Timing) -> list[float]:
    """Return low, median and high."""
    return [timing.low, timing.median, timing.high]


def loaded() -> list[tuple[peers.Peer, peers.Codec]]:
    """Return the contenders with their calls."""
    return [(peers.REGISTRY[name], peers.REGISTRY[name].load(False)) for name in CONTENDERS]


def nodes(plan: Plan, counts: Iterable[int]) -> Iterator[NodePoint]:
    """Measure encode and decode of trees of more and more nodes."""
    for count in counts:
        workload = EXTRA[f"nodes-{count}"]
        STDERR.say(f"nodes: {nodes_of(count)}")
        for row in measure(workload, loaded(), plan, STDERR).rows:
            times = {op: quartiles(timing) for op, timing in row.timings.items()}
            yield NodePoint(
                nodes=nodes_of(count),
                contender=row.contender,
                wire_bytes=row.wire_bytes,
                encode=times["encode"],
                decode=times["decode"],
            )


def shapes() -> Iterator[ShapePoint]:
    """Measure the peak of decodes; a contender that cannot carry a shape has no point."""
    for name, (title, _) in SHAPES.items():
        STDERR.say(f"memory: {title}")
        value = EXTRA[f"shape-{name}"].build()
        found = memory.peaks(f"shape-{name}", CONTENDERS)
        for contender, peaks in found.items():
            codec = peers.REGISTRY[contender].load(False)
            sent = wire_bytes(eval(codec.encode, dict(codec.names) | {"value": value}))
            yield ShapePoint(
                shape=name, title=title, contender=contender, wire_bytes=sent, peak=peaks["decode"]
            )


def crafted(log2: int) -> list[int]:
    """Return keys of under 32 bits that walk long chains of taken slots, as many as fill such a table."""
    return collisions.chained(log2, (1 << log2) // 8)


def attempt(decode: Callable[[Any], object], wire: object) -> str:
    """Decode and forget; return the code of a refusal."""
    try:
        decode(wire)
    except ValueError as error:
        return str(getattr(error, "code", type(error).__name__))
    return ""


def keys(plan: Plan, sizes: Iterable[int]) -> Iterator[KeysPoint]:
    """Measure decodes of dicts whose keys are honest, and of dicts of as many that are crafted."""
    for log2 in sizes:
        STDERR.say(f"keys: tables of 2^{log2} slots")
        bad = crafted(log2)
        rng = Random(log2)
        tables = {True: dict.fromkeys(bad), False: {rng.getrandbits(31): None for _ in bad}}
        cells: list[tuple[KeysPoint, timeit.Timer, int]] = []
        samples: dict[int, list[float]] = {}
        for is_crafted, table in tables.items():
            for peer, codec in loaded():
                names = dict(codec.names) | {"value": table}
                wire: Any = eval(codec.encode, names)
                decode = eval(f"lambda wire: {codec.decode}", names)
                refused = attempt(decode, wire)
                point = KeysPoint(
                    keys=len(table),
                    crafted=is_crafted,
                    contender=peer.name,
                    wire_bytes=len(wire),
                    decode=[],
                    refused=refused,
                )
                timer = timeit.Timer(functools.partial(attempt, decode, wire), "import gc; gc.enable()")
                loops = max(1, int(plan.sample_seconds / max(timer.timeit(1), 1e-9)))
                cells.append((point, timer, loops))
        slowest = max(timer.timeit(1) for _, timer, _ in cells)
        for _ in range(max(3, min(plan.repeats, int(plan.cell_seconds / slowest)))):
            for at in rng.sample(range(len(cells)), len(cells)):
                _, timer, loops = cells[at]
                gc.collect()
                samples.setdefault(at, []).append(timer.timeit(loops) / loops * 1e9)
        for at, (point, _, loops) in enumerate(cells):
            point["decode"] = quartiles(Timing.of(samples[at], loops))
            yield point


def tables(
    node_points: list[NodePoint], shape_points: list[ShapePoint], key_points: list[KeysPoint]
) -> list[Table]:
    """Return titles, heads and lines."""
    spread = "{} .. {}".format
    return [
        (
            "Cost over the number of nodes",
            (
                "nodes",
                "contender",
                "wire",
                "encode",
                "quartiles",
                "ns/node",
                "decode",
                "quartiles",
                "ns/node",
            ),
            [
                (
                    str(one["nodes"]),
                    one["contender"],
                    size(one["wire_bytes"]),
                    duration(one["encode"][1]),
                    spread(duration(one["encode"][0]), duration(one["encode"][2])),
                    f"{one['encode'][1] / one['nodes']:.3g}",
                    duration(one["decode"][1]),
                    spread(duration(one["decode"][0]), duration(one["decode"][2])),
                    f"{one['decode'][1] / one['nodes']:.3g}",
                )
                for one in node_points
            ],
        ),
        (
            "Host memory at the peak of a decode, for each byte of the wire",
            ("shape", "contender", "wire", "peak", "bytes/byte"),
            [
                (
                    one["title"],
                    one["contender"],
                    size(one["wire_bytes"]),
                    size(one["peak"]),
                    f"{one['peak'] / one['wire_bytes']:.3g}",
                )
                for one in shape_points
            ],
        ),
        (
            "Decode of dicts of crafted int keys, beside as many honest ones",
            ("keys", "", "contender", "wire", "decode", "quartiles", "ends in"),
            [
                (
                    str(one["keys"]),
                    "crafted" if one["crafted"] else "honest",
                    one["contender"],
                    size(one["wire_bytes"]),
                    duration(one["decode"][1]),
                    spread(duration(one["decode"][0]), duration(one["decode"][2])),
                    one["refused"] or "the value",
                )
                for one in key_points
            ],
        ),
    ]


def write(environment: dict[str, str], found: dict[str, list[Any]], partial: bool) -> Path:
    """Write sweeps.md, sweeps.json and the plots; return their folder."""
    folder = kept.folder(partial)
    kept.keep("sweeps", {"environment": environment, "partial": partial, **found}, partial)
    pictures = sweep_plots.draw(found, folder)
    text = ["# Sweeps", *(["**Not for quoting: a quick run.**"] if partial else [])]
    text.append("\n".join(f"- {name}: {fact}" for name, fact in environment.items()))
    text += [f"![{path.stem}]({path.name})" for path in pictures]
    text.append(HONEST)
    for title, head, lines in tables(found["nodes"], found["memory"], found["keys"]):
        text += [f"## {title}", markdown(head, lines)]
    (folder / "sweeps.md").write_text("\n\n".join(text) + "\n")
    return folder


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    settle_allocator()
    environment = describe(plan, [])
    print(environment_text(environment) + "\n", flush=True)
    # Memory first: what follows leaves its own behind.
    memory_points = list(shapes())
    node_points = list(nodes(plan, QUICK_NODES if options.quick else NODES))
    key_points = list(keys(plan, LOG2[:4] if options.quick else LOG2))
    for title, head, lines in tables(node_points, memory_points, key_points):
        print(f"{title}\n{aligned(head, lines)}\n", flush=True)
    found: dict[str, list[Any]] = {"nodes": node_points, "memory": memory_points, "keys": key_points}
    STDERR.say(f"wrote sweeps.md, sweeps.json and the plots to {write(environment, found, options.quick)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
