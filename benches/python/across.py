"""Measure values that cross from a child process to its host: the last part of `make bench`.

Each contender asks its own child for the same value; a sample is from the question to the value. The children
stay, and every contender gives one sample in each round, in shuffled order.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import across_values as values
import kept
from across_peers import CONTENDERS, Contender
from environment import describe
from measure import STDERR, Plan, settle_allocator, settle_memory
from report import aligned, duration, environment_text, markdown
from results import Ratio, Timing
from sweep_plots import new_figure, save, throughput

FULL = Plan(repeats=31, least=7, sample_seconds=0.005, cell_seconds=1.5)
QUICK = Plan(repeats=5, least=3, sample_seconds=0.005, cell_seconds=0.3)

# (value, ours, peer): the ratio to reach.
TARGETS = {
    ("64 MiB", "hookless", "mp-pipe"): 0.125,
    ("512 MiB", "hookless", "mp-pipe"): 0.125,
    ("64 MiB", "hookless", "raw-pipe"): 0.45,
    ("512 MiB", "hookless", "raw-pipe"): 0.45,
    ("512 MiB", "hookless", "copy"): 1.5,
    # "A tie" is within 15 %.
    ("8 B", "hookless", "mp-pipe"): 1.15,
    ("W2", "hookless", "mp-pipe"): 0.65,
    ("W2", "hookless", "pickle-scan"): 1 / 15,
    ("W2", "hookless", "b85-lines"): 1 / 30,
}

OURS = ("hookless", "hookless-aio", "hookless-pipe")


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same by type and bits; raw bytes stand for what they are the bytes of."""
    if isinstance(other, bytearray):
        return True
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and repr(one) == repr(other)


def measure(name: str, contenders: Iterable[Contender], plan: Plan) -> dict[str, Timing]:
    """Return the times of one value by contender."""
    chosen = [one for one in contenders if name in one.carries]
    samples: dict[str, list[float]] = {one.name: [] for one in chosen}
    loops: dict[str, int] = {}
    rounds = plan.repeats
    for one in chosen:
        if not same(values.value(name), one.fetch(name)):
            sys.exit(f"across: {one.name} gave another value for {name}")
        one.timed(name, 2)
        seconds = min(one.timed(name, 1) for _ in range(3))
        loops[one.name] = max(1, int(plan.sample_seconds / seconds))
        rounds = min(rounds, max(plan.least, int(plan.cell_seconds / seconds)))
    rng = Random(name)
    for turn in range(rounds):
        STDERR.update(f"{name}: round {turn + 1} of {rounds}, {len(chosen)} contenders")
        for one in rng.sample(chosen, len(chosen)):
            gc.collect()
            settle_memory(values.SIZES.get(name, 0))
            samples[one.name].append(one.timed(name, loops[one.name]) / loops[one.name] * 1e9)
    STDERR.update("")
    return {key: Timing.of(taken, loops[key]) for key, taken in samples.items()}


def ratios(name: str, times: dict[str, Timing]) -> list[Ratio]:
    """Compare what is of hookless with all else that took part."""
    found = []
    for ours in OURS:
        for peer in times:
            if ours in times and not peer.startswith("hookless"):
                mine, other = times[ours], times[peer]
                value = mine.median / other.median
                bound = TARGETS.get((name, ours, peer))
                found.append(
                    Ratio(ours, peer, "decode", value, mine.low / other.high, mine.high / other.low, bound)
                )
    return found


HEAD = (
    *("contender", "time", "quartiles", "bytes/s", "hookless / it", "range", "", "target"),
    *("aio / it", "hookless-pipe / it"),
)


def rows(name: str, times: dict[str, Timing], compared: list[Ratio]) -> list[tuple[str, ...]]:
    """Return a line for each contender."""
    by_peer = {(ratio.ours, ratio.peer): ratio for ratio in compared}
    lines = []
    for key, timing in times.items():
        ratio, *others = (by_peer.get((one, key)) for one in OURS)
        rate = f"{values.SIZES[name] / timing.median:.3g} GB/s" if values.SIZES.get(name, 0) > 999 else ""
        quartiles = f"{duration(timing.low)} .. {duration(timing.high)}{' ~' if timing.noisy else ''}"
        line = [key, duration(timing.median), quartiles, rate]
        line += (
            [f"{ratio.value:.3g}", f"{ratio.low:.2g} .. {ratio.high:.2g}", ratio.verdict]
            if ratio
            else ["", "", ""]
        )
        bound = f"<= {ratio.target:.3g} {'met' if ratio.met else 'MISSED'}" if ratio and ratio.target else ""
        lines.append((*line, bound, *(f"{other.value:.3g}" if other else "" for other in others)))
    return lines


def draw(found: dict[str, dict[str, Timing]], folder: Path) -> None:
    """Draw time against size, both by logarithm, one line a contender."""
    figure, axes = new_figure()
    for contender in CONTENDERS:
        points = [
            (values.SIZES[name], times[contender.name].median / 1e3)
            for name, times in found.items()
            if name in values.SIZES and contender.name in times
        ]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=contender.label)
    axes.set(
        xscale="log", yscale="log", xlabel="bytes of the value", ylabel="microseconds from question to value"
    )
    axes.grid(which="major", color="0.85")
    axes.legend(fontsize=8)
    axes.set_title("From a child process to its host, median", fontsize=10)
    save(figure, folder, "across")


def write(
    environment: dict[str, str],
    found: dict[str, dict[str, Timing]],
    tables: list[tuple[str, list[tuple[str, ...]]]],
    notes: list[str],
    partial: bool,
) -> Path:
    """Write across.md, across.json and the plots; return their folder."""
    folder = kept.folder(partial)
    times = {name: {key: [t.low, t.median, t.high] for key, t in by.items()} for name, by in found.items()}
    draw(found, folder)
    throughput(times, values.SIZES, folder)
    text = ["# Between two processes", *(["**Not for quoting.**"] if partial else [])]
    text += ["\n".join(f"- {key}: {fact}" for key, fact in environment.items())]
    text += ["![times](across.svg)", "![throughput](throughput.svg)"]
    text += [f"## {name}\n\n{markdown(HEAD, table)}" for name, table in tables]
    text += ["## Contenders", *notes]
    (folder / "across.md").write_text("\n\n".join(text) + "\n")
    kept.keep("across", {"environment": environment, "partial": partial, "ns": times}, partial)
    return folder


def main() -> int:
    """Measure, print, and write across.md, across.json and the plots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    parser.add_argument("--large", action="store_true", help="512 MiB as well: needs about 6 GiB")
    parser.add_argument("--only", metavar="NAME,NAME", help=f"of {', '.join(values.NAMES)}")
    options = parser.parse_args()
    names = [name for name in values.NAMES if options.large or name != "512 MiB"]
    if options.only:
        names = options.only.split(",")
        if unknown := set(names) - set(values.NAMES):
            parser.error(f"there is no {', '.join(unknown)}")
    plan = QUICK if options.quick else FULL
    partial = options.quick or options.only is not None
    environment = describe(plan, [])
    print(environment_text(environment) + "\n", flush=True)
    settle_allocator()
    contenders: list[Contender] = []
    missing: list[str] = []
    for kind in CONTENDERS:
        try:
            contenders.append(kind())
        except ImportError as error:
            missing.append(f"not installed: {kind.name} ({error})")
    found: dict[str, dict[str, Timing]] = {}
    tables: list[tuple[str, list[tuple[str, ...]]]] = []
    for name in names:
        values.forget(name)
        found[name] = measure(name, contenders, plan)
        table = rows(name, found[name], ratios(name, found[name]))
        tables.append((name, table))
        print(f"{name}\n{aligned(HEAD, table)}\n", flush=True)
    for contender in contenders:
        contender.stop()
    notes = ["\n".join(f"- `{one.name}`: {one.label}" for one in contenders), *missing]
    folder = write(environment, found, tables, notes, partial)
    STDERR.say(f"wrote across.md, across.json and the plots to {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
