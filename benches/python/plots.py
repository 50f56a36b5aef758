"""The ratios as bars: one picture for encode, one for decode, each as SVG and PNG."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from results import OPS, TIE, Op, Ratio, Report

# The same input gives the same SVG: no date, no random ids.
matplotlib.rcParams["svg.hashsalt"] = "hookless"
COLOURS = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]


def _bars(axes: Axes, groups: list[tuple[str, list[Ratio]]], colours: dict[tuple[str, str], object]) -> None:
    """Draw the bars from 1.0 to the ratio, top to bottom, a gap between workloads."""
    at = 0.0
    labelled: set[tuple[str, str]] = set()
    ticks, names = [], []
    for name, ratios in groups:
        ticks.append(at + (len(ratios) - 1) / 2)
        names.append(name)
        for ratio in ratios:
            pair = (ratio.ours, ratio.peer)
            label = None if pair in labelled else f"{ratio.ours} / {ratio.peer}"
            labelled.add(pair)
            axes.barh(at, ratio.value - 1.0, left=1.0, height=0.8, color=colours[pair], label=label)
            axes.plot([ratio.low, ratio.high], [at, at], color="black", linewidth=0.8)
            if ratio.target is not None:
                axes.plot([ratio.target] * 2, [at - 0.5, at + 0.5], color="crimson", linewidth=2)
            axes.annotate(
                f"{ratio.value:.2g}",
                (min(ratio.low, ratio.value) if ratio.value < 1 else ratio.high, at),
                xytext=(-4 if ratio.value < 1 else 4, 0),
                textcoords="offset points",
                va="center",
                ha="right" if ratio.value < 1 else "left",
                fontsize=7,
            )
            at += 1
        at += 0.8
    axes.set_yticks(ticks, names)
    axes.set_ylim(at - 0.8, -1)


# Drawn alone when there are too many contenders for a legible picture.
MAIN = frozenset(
    {"pickle5", "pickle5-oob", "pickle5-oob-view", "pickle-scan", "msgspec", "msgspec-view", "pyfory"}
)
LEGIBLE = 5


def _chosen(report: Report, op: Op) -> tuple[list[tuple[str, list[Ratio]]], bool]:
    """Return the bars of each workload, and whether the lesser peers were left out."""
    crowded = len({ratio.peer for result in report.workloads for ratio in result.ratios}) > LEGIBLE
    groups = [
        (
            result.id,
            [ratio for ratio in result.ratios if ratio.op == op and (ratio.peer in MAIN or not crowded)],
        )
        for result in report.workloads
    ]
    return [(name, ratios) for name, ratios in groups if ratios], crowded


def _figure(report: Report, op: Op, folder: Path) -> list[Path]:
    groups, crowded = _chosen(report, op)
    if not groups:
        return []
    # Over both pictures, so that a pair has one colour in the two.
    pairs = dict.fromkeys((ratio.ours, ratio.peer) for result in report.workloads for ratio in result.ratios)
    bars = sum(len(ratios) for _, ratios in groups)
    figure, axes = plt.subplots(figsize=(10, 1.8 + 0.24 * (bars + len(groups))), layout="constrained")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvspan(1 / TIE, TIE, color="0.92", zorder=0)
    _bars(axes, groups, {pair: COLOURS[at % len(COLOURS)] for at, pair in enumerate(pairs)})
    axes.axvline(1.0, color="black", linewidth=1)
    axes.plot([], [], color="crimson", linewidth=2, label="target")
    low = min(ratio.low for _, ratios in groups for ratio in ratios)
    high = max(ratio.high for _, ratios in groups for ratio in ratios)
    axes.set_xlim(min(low, 0.5) / 2, max(high, 1.5) * 1.6)
    axes.set_xlabel(
        f"time of hookless / time of the peer, {op} (log scale; left of 1: hookless is faster; grey: a tie)"
    )
    what = f"{op} (main peers only; all are in the tables)" if crowded else op
    axes.set_title(f"{what}: {report.environment['Python']}, {report.environment['CPU']}", fontsize=9)
    axes.grid(axis="x", which="major", color="0.85")
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=8, frameon=False)
    svg, png = folder / f"ratios-{op}.svg", folder / f"ratios-{op}.png"
    figure.savefig(svg, metadata={"Date": None})
    figure.savefig(png, dpi=130)
    plt.close(figure)
    return [svg, png]


def draw(report: Report, folder: Path) -> list[Path]:
    """Write the pictures into `folder` and return their paths."""
    return [path for op in OPS for path in _figure(report, op, folder)]
