"""What a call, a node and a byte cost: fitted to a whole run, and held against points that were left out.

Prints the tables that `publish.py` writes into SCALING.md. `--from DIR` looks at another run: report/raw.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kept
from report import aligned, duration, markdown, size

Table = tuple[tuple[str, ...], Sequence[tuple[str, ...]]]

KIB, MIB = 1 << 10, 1 << 20
# Bytes by the name of the value, as in across_values.py, which needs NumPy; the test compares them.
FITTED = {"1 KiB": KIB, "64 KiB": 64 * KIB, "1 MiB": MIB, "64 MiB": 64 * MIB}
LEFT_OUT = {
    "16 KiB": 16 * KIB,
    "256 KiB": 256 * KIB,
    "4 MiB": 4 * MIB,
    "16 MiB": 16 * MIB,
    "512 MiB": 512 * MIB,
}
# Powers of ten of trees that are fitted; the others are left out.
FITTED_NODES = frozenset({1, 3, 5, 7})
# W2: the list, its records, and key and value of each field (L5).
W2_NODES = 1 + 1000 + 2 * 10_000
WORKERS = 1000


@dataclass(frozen=True, slots=True)
class Line:
    """Nanoseconds = base + slope times the count."""

    base: float
    slope: float

    def at(self, count: float) -> float:
        """Return what the line predicts."""
        return self.base + self.slope * count


def fit(points: Sequence[tuple[float, float]]) -> Line:
    """Fit a line by least squares of *relative* errors: the points span orders of magnitude.

    Raises ValueError for less than two different counts.
    """
    weights = [1 / time**2 for _, time in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    if not spread:
        raise ValueError("a line needs two different counts")
    joint = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True))
    slope = joint / spread
    return Line(mean_y - slope * mean_x, slope)


@dataclass(frozen=True, slots=True)
class Model:
    """The three costs: of a call with so many bytes of an array, and of encode and decode by nodes."""

    call: Line
    encode: Line
    decode: Line


def _nodes(sweeps: Any, op: str, fitted: bool) -> list[tuple[float, float]]:
    return [
        (one["nodes"], one[op][1])
        for one in sweeps["nodes"]
        if one["contender"] == "hookless" and (round(math.log10(one["nodes"])) in FITTED_NODES) == fitted
    ]


def model(across: Any, sweeps: Any) -> Model:
    """Fit the model. Raises KeyError or ValueError if the run lacks what is fitted."""
    call = [(float(count), across["ns"][name]["hookless"][1]) for name, count in FITTED.items()]
    return Model(fit(call), *(fit(_nodes(sweeps, op, True)) for op in ("encode", "decode")))


def predictions(found: Model, across: Any, sweeps: Any) -> list[tuple[str, float, float]]:
    """Return what was not fitted: name, prediction and measurement in nanoseconds."""
    out = [
        (f"array of {name}, child to host", found.call.at(count), across["ns"][name]["hookless"][1])
        for name, count in LEFT_OUT.items()
        if name in across["ns"]
    ]
    for op, line in (("encode", found.encode), ("decode", found.decode)):
        out += [(f"{op} of {count:.0f} nodes", line.at(count), t) for count, t in _nodes(sweeps, op, False)]
    # One empty call, and both ends' work on a value of another kind than was fitted.
    both = found.call.base + (found.encode.slope + found.decode.slope) * W2_NODES
    out.append(("W2, child to host", both, across["ns"]["W2"]["hookless"][1]))
    return out


def fit_tables(across: Any, sweeps: Any) -> tuple[Table, Table]:
    """Return the costs, and the predictions beside what was measured."""
    found = model(across, sweeps)
    costs = [
        ("a call that carries next to nothing", duration(found.call.base)),
        ("a byte of an array, child to host", f"{found.call.slope:.3g} ns ({1 / found.call.slope:.3g} GB/s)"),
        ("a node, encode", f"{found.encode.slope:.3g} ns"),
        ("a node, decode", f"{found.decode.slope:.3g} ns"),
        ("an encode and a decode of next to nothing", duration(found.encode.base + found.decode.base)),
    ]
    lines = [
        (name, duration(predicted), duration(measured), f"{round(predicted / measured - 1, 2) + 0.0:+.0%}")
        for name, predicted, measured in predictions(found, across, sweeps)
    ]
    return (("cost of", ""), costs), (("left out of the fit", "predicted", "measured", "error"), lines)


def many(small: Any) -> Table:
    """Return what so many idle workers on one host come to, by what one was measured to take."""
    idle, calls = small["idle"], small["calls"]
    at_once = next(times for name, times in calls.items() if "at once" in name)[1] / small["at_once"]
    start = small["processes"]["start to first result, strict"][1]
    lines = [
        (
            "descriptors of the host",
            f"{idle['host: descriptors']:g}",
            f"{idle['host: descriptors'] * WORKERS:.0f}",
        ),
        ("threads of the host", f"{idle['host: threads']:g}", f"{idle['host: threads'] * WORKERS:.0f}"),
        ("processes", f"{idle['child: processes']:g}", f"{idle['child: processes'] * WORKERS:.0f}"),
        *(
            (f"{what}, {kind}", size(round(idle[key])), size(round(idle[key]) * WORKERS))
            for what, kind, key in (
                ("memory of the children", "private", "child: private bytes"),
                ("memory of the host", "anonymous", "host: anonymous bytes"),
            )
        ),
        ("start one after the other, strict", duration(start), duration(start * WORKERS)),
        ("a small call of each, by one event loop", duration(at_once), duration(at_once * WORKERS)),
    ]
    return ("", "of one", f"of {WORKERS}"), lines


def text(where: Path, layout: Any = markdown) -> str:
    """Return the tables of a run; what is missing is said."""
    across, sweeps, small = (kept.kept(name, where) for name in ("across", "sweeps", "small"))
    parts = []
    if across and sweeps:
        parts += [layout(*table) for table in fit_tables(across, sweeps)]
    if small:
        parts.append(layout(*many(small)))
    return "\n\n".join(parts) or "No whole run has been kept yet: `make bench` fills this in."


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="where", metavar="DIR", type=Path, default=kept.WHOLE)
    print(text(parser.parse_args().where, aligned))
    return 0


if __name__ == "__main__":
    sys.exit(main())
