"""The pictures of the sweeps, and of throughput between processes; each as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# The same input gives the same SVG: no date, no random ids.
matplotlib.rcParams["svg.hashsalt"] = "hookless"

# What L4 lets a host spend for a byte that has arrived.
BOUND = 80
COLOURS = {"hookless": "tab:blue", "pickle5": "tab:red", "msgspec": "tab:green"}


def new_figure() -> tuple[Figure, Axes]:
    """Return a figure of one pair of axes."""
    return plt.subplots(figsize=(9, 5.5), layout="constrained")


def save(figure: Figure, folder: Path, name: str) -> Path:
    """Write both forms of a picture and return the path of the SVG."""
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=130)
    plt.close(figure)
    return path


def _line(axes: Axes, points: Sequence[tuple[float, list[float]]], label: str, **style: Any) -> None:
    """Draw medians with their quartiles."""
    at = [x for x, _ in points]
    low, middle, high = zip(*(times for _, times in points), strict=True)
    (line,) = axes.plot(at, middle, marker="o", markersize=4, label=label, **style)
    axes.fill_between(at, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def nodes(points: list[Any], folder: Path) -> Path:
    """Nanoseconds for each node over the number of nodes, encode beside decode."""
    figure, both = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for op, axes in zip(("encode", "decode"), both, strict=True):
        for contender in dict.fromkeys(one["contender"] for one in points):
            chosen = [
                (one["nodes"], [time / one["nodes"] for time in one[op]])
                for one in points
                if one["contender"] == contender
            ]
            _line(axes, chosen, contender, color=COLOURS.get(contender))
        axes.set(xscale="log", yscale="log", xlabel="nodes of the value", title=op)
        axes.grid(which="major", color="0.85")
    both[0].set_ylabel("ns for each node, median and quartiles")
    both[0].legend(fontsize=8)
    return save(figure, folder, "nodes")


def memory(points: list[Any], folder: Path) -> Path:
    """Host memory for each byte of the wire, and the bound that hookless keeps."""
    titles = list(dict.fromkeys(one["title"] for one in points))
    contenders = list(dict.fromkeys(one["contender"] for one in points))
    figure, axes = new_figure()
    for place, contender in enumerate(contenders):
        chosen = [one for one in points if one["contender"] == contender]
        at = [titles.index(one["title"]) + (place - 1) * 0.27 for one in chosen]
        ratio = [one["peak"] / one["wire_bytes"] for one in chosen]
        bars = axes.barh(at, ratio, height=0.25, color=COLOURS.get(contender), label=contender)
        axes.bar_label(bars, fmt="%.3g", padding=2, fontsize=7)
    axes.axvline(BOUND, color="black", linestyle="--", label=f"hookless never more than {BOUND} (and 8 MiB)")
    axes.set_yticks(range(len(titles)), titles)
    axes.invert_yaxis()
    axes.set(
        xlim=(0, 100), xlabel="bytes of host memory at the peak of a decode for each byte of its own wire"
    )
    axes.legend(fontsize=8)
    return save(figure, folder, "memory")


def keys(points: list[Any], folder: Path) -> Path:
    """Decode time over the number of keys, crafted and honest; a cross is a refusal."""
    figure, axes = new_figure()
    for contender in dict.fromkeys(one["contender"] for one in points):
        for crafted in (False, True):
            chosen = [one for one in points if one["contender"] == contender and one["crafted"] == crafted]
            label = f"{contender}, {'crafted' if crafted else 'honest'} keys"
            style = {"color": COLOURS.get(contender), "linestyle": "-" if crafted else ":"}
            curve = [(one["keys"], [time / 1e6 for time in one["decode"]]) for one in chosen]
            _line(axes, curve, label, **style)
            refused = [(one["keys"], one["decode"][1] / 1e6) for one in chosen if one["refused"]]
            if refused:
                label = f"{contender}: refused ({chosen[-1]['refused']})"
                at, times = zip(*refused, strict=True)
                axes.scatter(at, times, marker="x", s=70, color="black", label=label, zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="int keys of a dict", ylabel="milliseconds of a decode")
    axes.grid(which="major", color="0.85")
    axes.legend(fontsize=8)
    return save(figure, folder, "keys")


def draw(found: Mapping[str, list[Any]], folder: Path) -> list[Path]:
    """Draw the three sweeps."""
    return [nodes(found["nodes"], folder), memory(found["memory"], folder), keys(found["keys"], folder)]


def throughput(
    found: Mapping[str, Mapping[str, list[float]]], sizes: Mapping[str, int], folder: Path
) -> Path:
    """Bytes per second from a child to its host over the size of an array, under the line of a plain copy."""
    figure, axes = new_figure()
    names = [name for name in found if sizes.get(name, 0) >= 1024]
    for contender in dict.fromkeys(one for name in names for one in found[name]):
        chosen = [
            (sizes[name], [sizes[name] / time for time in reversed(found[name][contender])])
            for name in names
            if contender in found[name]
        ]
        bold = contender in ("copy", "hookless")
        style = {"color": "black", "linestyle": "--"} if contender == "copy" else {}
        label = "src.copy() in one process" if contender == "copy" else contender
        _line(axes, chosen, label, linewidth=2.5 if bold else 1, **style)
    axes.set_xscale("log", base=2)
    axes.set(
        yscale="log", xlabel="bytes of the array", ylabel="GB/s from question to value, median and quartiles"
    )
    axes.grid(which="major", color="0.85")
    axes.legend(fontsize=8)
    return save(figure, folder, "throughput")
