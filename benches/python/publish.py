"""Write the figures of the last whole run into README.md and SCALING.md, between their markers.

    python benches/python/publish.py             write
    python benches/python/publish.py --check     fail if one is not what benches/report says

It needs nothing but the standard library, so that a test can hold the documents to the report.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import kept
import scaling
from report import duration, markdown
from results import Ratio

ROOT = Path(__file__).resolve().parents[2]
NO_RUN = "No whole run has been kept yet: `make bench` fills this in."

# Those that are not one big array, of which a single process says little.
WORKLOADS = ("W1", "W2", "W3", "W6", "W7", "W10", "W11", "W12")
PEERS = {
    "pickle5": "pickle 5",
    "pickle-scan": "pickle 5 behind an opcode scan",
    "msgspec": "msgspec",
    "pyfory": "pyfory",
}
# Of values between two processes, by name: the contenders in the README.
CROSSING = ("8 B", "W2", "1 MiB", "64 MiB", "512 MiB")
CARRIERS = ("hookless", "mp-pipe", "pyzmq", "raw-pipe", "raw-socket", "copy")


def _cell(workload: Any, peer: str, op: str) -> str:
    """Return a ratio with what qualifies it: a tie, doubt, and whether the peer brings back poorer types."""
    if peer in workload["refused"]:
        return "cannot"
    for told in workload["ratios"]:
        if (told["ours"], told["peer"], told["op"]) == ("hookless", peer, op):
            ratio = Ratio(**told)
            doubt = f" ({ratio.verdict})" if ratio.verdict in ("tie", "unclear") else ""
            poorer = next(row["loses"] for row in workload["rows"] if row["contender"] == peer)
            return f"{ratio.value:.2g}{doubt}{' *' if poorer else ''}"
    return ""


def codec_table(report: Any) -> str:
    """Return ratios of times within one process, encode and decode apart."""
    # A table that leaves a peer out says so.
    heads = [
        f"{label}{' (not installed)' if peer in report['missing'] else ''}" for peer, label in PEERS.items()
    ]
    lines = [
        (f"{workload['id']}: {workload['title']}", op, *(_cell(workload, peer, op) for peer in PEERS))
        for workload in report["workloads"]
        if workload["id"] in WORKLOADS
        for op in ("encode", "decode")
    ]
    return markdown(("hookless's time over that of", "", *heads), lines)


def crossing_table(across: Any) -> str:
    """Return times from a question to a child until its answer is a value of the host."""
    lines = [
        (name, *(duration(by[one][1]) if one in by else "" for one in CARRIERS))
        for name, by in across["ns"].items()
        if name in CROSSING
    ]
    return markdown(("value", *CARRIERS), lines)


READING = """\
Below 1 hookless is faster; where nothing stands, the peer's call is that of another row. `*`: what comes
back from the peer is poorer in types, as the report says. Differences within 15 % are ties. The garbage
collector is on. pickle keeps sharing, hookless does not. The opcode scan is written in Python; an
allow-list alone costs what pickle costs, and bounds neither time nor memory."""

CROSSED = """\
From a question to a child until the answer is a value in its host, by sync workers, strictly isolated.
pyzmq's arrays are views of what was received. raw-pipe and raw-socket carry bytes without types, and
`copy` is `src.copy()` within one process."""


def figures(where: Path) -> str:
    """Return what stands in the README."""
    report, across = kept.kept("report", where), kept.kept("across", where)
    if not report or not across:
        return NO_RUN
    told = report["environment"]
    quoted = "medians, with quartiles in [benches/report](benches/report/report.md)."
    first = f"Measured on {told['CPU']}, {told['Python']}; {quoted}"
    return "\n\n".join([first, codec_table(report), READING, crossing_table(across), CROSSED])


def blocks(root: Path) -> dict[Path, dict[str, str]]:
    """Return what stands between which markers of which file."""
    where = root / "benches" / "report"
    return {
        root / "README.md": {"figures": figures(where)},
        root / "benches" / "SCALING.md": {"scaling": scaling.text(where)},
    }


def replaced(document: str, name: str, block: str) -> str:
    """Return the document with this block between its markers. Raises ValueError without them."""
    begin, end = f"<!-- {name}: written by make bench -->", f"<!-- end of {name} -->"
    before, found, rest = document.partition(begin)
    _, also, after = rest.partition(end)
    if not found or not also:
        raise ValueError(f"there is no {begin} … {end}")
    return f"{before}{begin}\n\n{block}\n\n{end}{after}"


def main() -> int:
    """Write, or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--root", metavar="DIR", type=Path, default=ROOT, help="another tree")
    options = parser.parse_args()
    stale = 0
    for path, named in blocks(options.root).items():
        document = wanted = path.read_text()
        for name, block in named.items():
            wanted = replaced(wanted, name, block)
        if wanted != document:
            stale += 1
            print(f"{path}: {'is not' if options.check else 'now is'} what benches/report says")
            if not options.check:
                path.write_text(wanted)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
