"""Measure hookless against pickle and its peers: `make bench`, or `python benches/python/bench.py --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import kept
import memory
import more_peers  # noqa: F401 (importing it registers the wider field)
import peers
import plots
import report as reports
from environment import describe
from measure import FULL, QUICK, STDERR, Plan, measure, settle_collector
from peers import Codec, Peer
from results import PeerNote, Report, WorkloadResult, ratios
from roundtrip import keeps_sharing
from targets import targets
from workloads import REGISTRY as WORKLOADS
from workloads import Workload

DEFAULT = ("W1", "W2", "W3", "W6", "W7", "W8")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    parser.add_argument("--only", metavar="W1,W2", help=f"these workloads (of {', '.join(WORKLOADS)})")
    parser.add_argument("--all", action="store_true", help="every workload that fits into 4 GiB")
    parser.add_argument("--large", action="store_true", help="W9 as well: needs about 7 GiB")
    parser.add_argument(
        "--peer", metavar="NAME,NAME", help=f"these peers (of {', '.join(peers.REGISTRY)}); all by default"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the JSON to FILE too")
    parser.add_argument(
        "--report",
        metavar="DIR",
        type=Path,
        help="write report.md, report.json and the plots here",
    )
    return parser.parse_args(arguments)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def choose_workloads(options: argparse.Namespace) -> list[Workload]:
    """Return the workloads of this run. Exits with a message on an unknown name."""
    named = _names(options.only)
    for name in named or ():
        if name not in WORKLOADS:
            sys.exit(f"bench: no workload {name!r}; there are {', '.join(WORKLOADS)}")
        if WORKLOADS[name].large and not options.large:
            sys.exit(f"bench: {name} needs gigabytes of memory; say --large")
    return [
        one
        for one in WORKLOADS.values()
        if (one.id in named if named is not None else one.large or options.all or one.id in DEFAULT)
        and (options.large or not one.large)
    ]


def choose_peers(options: argparse.Namespace) -> tuple[list[Peer], dict[str, str]]:
    """Return the peers that are installed, and why each of the others is not here.

    A peer that was asked for by name must be there; hookless always must.
    """
    named = _names(options.peer)
    found, missing = [], {}
    try:
        chosen = list(peers.select(named))
    except KeyError as error:
        sys.exit(f"bench: no peer {error}; there are {', '.join(peers.REGISTRY)}")
    for peer in chosen:
        try:
            peer.load(False)
            found.append(peer)
        except ImportError as error:
            if peer.against is None:
                sys.exit(
                    f"bench: hookless is not importable ({error}); `make bench` builds and installs it first"
                )
            if named is not None:
                sys.exit(f"bench: {peer.name} is not importable: {error}")
            missing[peer.name] = str(error)
    return found, missing


def contenders(found: Sequence[Peer], workload: Workload) -> list[tuple[Peer, Codec]]:
    """Return the peers that join in on this workload, with their calls."""
    return [(peer, peer.load(workload.arrays)) for peer in found if workload.arrays or not peer.arrays_only]


def compare(result: WorkloadResult) -> None:
    """Fill in the ratios: each peer against the contender that promises the same, and what has a target."""
    bounds = targets(result.id)
    ours = {peer.name: peer.against for peer in peers.REGISTRY.values() if peer.against}
    pairs = [(against, name) for name, against in ours.items()]
    pairs += [(against, name) for against, name, _ in bounds if (against, name) not in pairs]
    result.ratios = ratios(result.rows, pairs, bounds)


def add_peaks(result: WorkloadResult) -> None:
    """Fill in the peak memory of each contender that was timed, where it is large enough to be told."""
    found = memory.peaks(result.id, [row.contender for row in result.rows])
    for row in result.rows:
        peaks = found.get(row.contender, {})
        row.peaks = {op: peak for op, peak in peaks.items() if max(peak, row.wire_bytes) >= memory.LEAST}


def describe_peer(peer: Peer) -> PeerNote:
    """Return what the report says of a peer; whether it keeps sharing is tried, not believed."""
    codec = peer.load(False)

    def round_trip(value: object) -> object:
        names = dict(codec.names) | {"value": value}
        names["wire"] = eval(codec.encode, names)
        return eval(codec.decode, names)

    try:
        sharing = "yes" if keeps_sharing(round_trip) else "no"
    except (TypeError, ValueError):
        sharing = "arrays only"
    return PeerNote(
        peer.name, peer.label, peer.version(), peer.trust, sharing, codec.encode, codec.decode, peer.note
    )


def run(options: argparse.Namespace, plan: Plan) -> Report:
    """Measure, printing each workload's tables as soon as they are there."""
    chosen = choose_workloads(options)
    found, missing = choose_peers(options)
    partial = options.quick or not options.all or options.only is not None or options.peer is not None
    report = Report(describe(plan, found), partial, [describe_peer(peer) for peer in found], missing)
    print(reports.environment_text(report.environment) + "\n", flush=True)
    for name, why in missing.items():
        STDERR.say(f"not installed: {name} ({why})")
    settle_collector()
    for number, workload in enumerate(chosen, 1):
        STDERR.say(f"[{number}/{len(chosen)}] {workload.id}: {workload.title}")
        result = measure(workload, contenders(found, workload), plan, STDERR)
        compare(result)
        if not options.quick:
            STDERR.update(f"{workload.id}: memory")
            add_peaks(result)
        report.workloads.append(result)
        STDERR.update("")
        print(reports.workload_text(result), flush=True)
    print(reports.summary(report))
    return report


def write(report: Report, folder: Path, extra_json: Path | None) -> None:
    """Write report.md, report.json and the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = plots.draw(report, folder)
    text = reports.report_json(report)
    (folder / "report.json").write_text(text)
    if extra_json is not None:
        extra_json.write_text(text)
    (folder / "report.md").write_text(
        reports.report_markdown(report, [path for path in pictures if path.suffix == ".svg"])
    )
    STDERR.say(f"wrote report.md, report.json and {len(pictures)} plots to {folder}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if hookless failed a round trip."""
    options = parse(arguments)
    report = run(options, QUICK if options.quick else FULL)
    write(report, options.report or kept.folder(report.partial), options.json)
    failed = [
        f"{result.id}: {name}: {why}"
        for result in report.workloads
        for name, why in result.refused.items()
        if peers.REGISTRY[name].against is None
    ]
    for line in failed:
        STDERR.say(f"FAILED {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
