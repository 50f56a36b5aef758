"""Run the criterion benches of the Rust crates and keep their medians: rust.md and rust.json.

Criterion's own reports, with their distributions, are in target/criterion.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import kept
from measure import STDERR
from report import aligned, duration, markdown

ROOT = Path(__file__).resolve().parents[2]
# Seconds: criterion's own three and five would take ten minutes.
WARM_UP, MEASURE = 0.3, 1.0


class Found(TypedDict):
    """One bench: nanoseconds, the median between its 95 % bounds; bytes of an iteration, 0 where not told."""

    group: str
    bench: str
    low: float
    median: float
    high: float
    bytes: int


def target() -> Path:
    """Return cargo's target folder."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return Path(json.loads(done.stdout)["target_directory"])


def run(quick: bool) -> None:
    """Build the benches and run them. Raises CalledProcessError."""
    command = ["cargo", "bench", "--locked", "-p", "hookless-benches", "--benches", "--", "--noplot"]
    seconds = (0.05, 0.1) if quick else (WARM_UP, MEASURE)
    command += ["--warm-up-time", str(seconds[0]), "--measurement-time", str(seconds[1])]
    command += ["--sample-size", "10" if quick else "50"]
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)


def collect(folder: Path) -> list[Found]:
    """Return what criterion has left of this run."""
    found = []
    for path in sorted(folder.glob("**/new/estimates.json")):
        told = json.loads(path.with_name("benchmark.json").read_text())
        median = json.loads(path.read_text())["median"]
        bounds = median["confidence_interval"]
        found.append(
            Found(
                group=told["group_id"],
                bench=told["function_id"] or told["value_str"],
                low=bounds["lower_bound"],
                median=median["point_estimate"],
                high=bounds["upper_bound"],
                bytes=(told["throughput"] or {}).get("Bytes", 0),
            )
        )
    return found


NOT_ALIKE = """\
In `typed` the services differ: hookless and `rmp-serde (named)` write the names of fields, the other rows
leave them out and need the same type at the other end; hookless alone is canonical, checks keys, charges
what it builds against a budget, and builds a tree of values before the type."""

HEAD = ("group", "bench", "median", "95 % bounds", "GB/s")


def rows(found: list[Found]) -> list[tuple[str, ...]]:
    """Return a line for each bench."""
    return [
        (
            one["group"],
            one["bench"],
            duration(one["median"]),
            f"{duration(one['low'])} .. {duration(one['high'])}",
            f"{one['bytes'] / one['median']:.3g}" if one["bytes"] else "",
        )
        for one in found
    ]


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    quick = parser.parse_args().quick
    if shutil.which("cargo") is None:
        STDERR.say("rust: there is no cargo on PATH; nothing was measured")
        return 1
    folder = target() / "criterion"
    # What an earlier run left of benches that are no more.
    shutil.rmtree(folder, ignore_errors=True)
    run(quick)
    found = collect(folder)
    compiler = subprocess.run(["rustc", "--version"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    facts = {"compiler": compiler.stdout.strip(), "load at the end": f"{os.getloadavg()[0]:.1f}"}
    print(f"{aligned(HEAD, rows(found))}\n", flush=True)
    text = ["# The Rust crates by themselves", *(["**Not for quoting: a quick run.**"] if quick else [])]
    text += ["\n".join(f"- {name}: {fact}" for name, fact in facts.items()), markdown(HEAD, rows(found))]
    text.append(NOT_ALIKE)
    where = kept.folder(quick)
    (where / "rust.md").write_text("\n\n".join(text) + "\n")
    kept.keep("rust", {"environment": facts, "partial": quick, "benches": found}, quick)
    STDERR.say(f"wrote rust.md and rust.json to {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
