"""Compare the targets of `bench.py` over several Pythons, from the JSON of a run on each.

    python benches/python/versions.py benches/report/report.json benches/report/python-3.12.json ...

prints a line for each target: what was asked, and what each run has, with a mark where it is past that.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from report import markdown

# A target that is missed by no more than this is near.
NEAR = 1.2

Key = tuple[str, str, str, str]


def ratios(run: dict[str, Any]) -> dict[Key, dict[str, Any]]:
    """Return the ratios of a run that have a target, by workload, ours, peer and way."""
    return {
        (workload["id"], ratio["ours"], ratio["peer"], ratio["op"]): ratio
        for workload in run["workloads"]
        for ratio in workload["ratios"]
        if ratio["target"] is not None
    }


def cell(ratio: dict[str, Any] | None) -> str:
    """Return what one run has: `*` is past the target, `**` by more than a fifth."""
    if ratio is None:
        return ""
    past = ratio["value"] / ratio["target"]
    return f"{ratio['value']:.2g}{'' if past <= 1 else ' *' if past <= NEAR else ' **'}"


def table(runs: list[dict[str, Any]]) -> str:
    """Return a Markdown table, and how many targets each run meets."""
    found = [ratios(run) for run in runs]
    head = ("workload", "way", "hookless / peer", "asked", *(run["environment"]["Python"] for run in runs))
    rows = []
    for key in dict.fromkeys(key for by_key in found for key in by_key):
        workload, ours, peer, op = key
        asked = next(by_key[key]["target"] for by_key in found if key in by_key)
        rows.append(
            (workload, op, f"{ours} / {peer}", f"{asked:.3g}", *(cell(by_key.get(key)) for by_key in found))
        )
    met = [sum(ratio["value"] <= ratio["target"] for ratio in by_key.values()) for by_key in found]
    counts = [f"{count} of {len(by_key)} met" for count, by_key in zip(met, found, strict=True)]
    return markdown(head, [*rows, ("all", "", "", "", *counts)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="report.json of a run")
    print(table([json.loads(file.read_text()) for file in parser.parse_args().files]))


if __name__ == "__main__":
    main()
