"""The run as a table for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from results import OPS, TIE, PeerNote, Ratio, Report, Row, Timing, WorkloadResult

CAVEATS = f"""\
- A ratio is hookless's time over the peer's, of medians; below 1 hookless is faster. Encode and decode are
  never merged into one number. Differences within {TIE - 1:.0%} are called ties; `~` marks a time whose
  quartiles are further apart than that. The range of a ratio is of opposite quartiles: where it holds 1, the
  result is called unclear.
- Everything here happens in one process. A view of a big array costs nothing for anybody, so view is compared
  with view and copy with copy; what big arrays cost *between* processes is another measurement.
- The garbage collector is on while the clock runs. The time includes freeing what the call returned.
- pickle keeps sharing (an object reached twice arrives as one object) and pays for it; hookless writes it
  twice. The table of contenders says who keeps it, and "loses" says what a round trip changed.
- `pickle-scan` walks every opcode in Python before unpickling. It is not the usual "restricted unpickler":
  that is `pickle5-allow`, which costs what pickle costs and bounds neither time nor memory.
- "peak" is how far the resident memory of a fresh process rises during one call, result included, the value
  that is sent not; empty where both that and the wire are under 1 MiB, which cannot be told from noise.
- The same value is encoded again and again, so CPython has its non-ASCII strings cached as UTF-8 for those
  codecs that use that cache; a program that sends each value once has not.
- The values are synthetic and seeded. Yours differ: measure them.
"""


def duration(nanoseconds: float) -> str:
    """Write a time with three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}"
                if nanoseconds < 999.5 * size
                else f"{nanoseconds / size:.0f} {unit}"
            )
    return f"{nanoseconds:.3g} ns"


def size(count: int) -> str:
    """Write a number of bytes."""
    for unit, unit_size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= unit_size:
            return f"{count / unit_size:.1f} {unit}"
    return f"{count} B"


def _time(timing: Timing | None) -> tuple[str, str]:
    if timing is None:
        return "", ""
    return duration(
        timing.median
    ), f"{duration(timing.low)} .. {duration(timing.high)}{' ~' if timing.noisy else ''}"


def _peak(count: int | None) -> str:
    return "" if count is None else size(count)


def _ratio(ratio: Ratio | None) -> tuple[str, str, str, str]:
    if ratio is None:
        return "", "", "", ""
    target = f"<= {ratio.target:g} {'met' if ratio.met else 'MISSED'}" if ratio.target is not None else ""
    return f"{ratio.value:.3g}", f"{ratio.low:.2g} .. {ratio.high:.2g}", ratio.verdict, target


TIME_HEAD = ("contender", "wire", "encode", "quartiles", "peak", "decode", "quartiles", "peak", "loses")
RATIO_HEAD = ("ours / peer", "encode", "range", "", "target", "decode", "range", "", "target")


def time_rows(result: WorkloadResult) -> list[tuple[str, ...]]:
    """Return one line per contender."""

    def line(row: Row) -> tuple[str, ...]:
        encode, decode = ((*_time(row.timings.get(op)), _peak(row.peaks.get(op))) for op in OPS)
        return (row.contender, size(row.wire_bytes), *encode, *decode, "; ".join(row.loses) or "nothing")

    return [line(row) for row in result.rows]


def ratio_rows(result: WorkloadResult) -> list[tuple[str, ...]]:
    """Return one line per pair, encode and decode side by side."""
    pairs: dict[tuple[str, str], dict[str, Ratio]] = {}
    for ratio in result.ratios:
        pairs.setdefault((ratio.ours, ratio.peer), {})[ratio.op] = ratio
    return [
        (f"{ours} / {peer}", *(text for op in OPS for text in _ratio(found.get(op))))
        for (ours, peer), found in pairs.items()
    ]


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay a table out for a terminal: names and remarks to the left, numbers to the right."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    left = [
        at in (0, len(head) - 1) or name in ("", "target", "quartiles", "range")
        for at, name in enumerate(head)
    ]

    def line(cells: Sequence[str]) -> str:
        padded = zip(cells, widths, left, strict=True)
        return "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width) for cell, width, to_left in padded
        ).rstrip()

    return "\n".join(f"  {line(cells)}" for cells in (head, *rows))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay a table out as Markdown."""
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def workload_text(result: WorkloadResult) -> str:
    """Return the two tables of a workload for the terminal."""
    parts = [f"{result.id}  {result.title}", aligned(TIME_HEAD, time_rows(result))]
    if result.ratios:
        parts += ["", aligned(RATIO_HEAD, ratio_rows(result))]
    parts += [f"  not timed: {name}: {why}" for name, why in result.refused.items()]
    return "\n".join(parts) + "\n"


def environment_text(environment: dict[str, str]) -> str:
    """Return the environment, one fact a line."""
    return "\n".join(f"{name}: {value}" for name, value in environment.items())


def summary(report: Report) -> str:
    """Say how far the run is to be trusted, how many targets were met, and which were missed."""
    timings = [
        timing for result in report.workloads for row in result.rows for timing in row.timings.values()
    ]
    noisy = sum(timing.noisy for timing in timings)
    advice = "; measure again on a quiet machine" if noisy * 5 > len(timings) else ""
    held = [
        (result.id, ratio)
        for result in report.workloads
        for ratio in result.ratios
        if ratio.target is not None
    ]
    missed = [
        f"Missed: {name} {ratio.op} {ratio.ours} / {ratio.peer}: {ratio.value:.3g}, target {ratio.target:g}"
        for name, ratio in held
        if not ratio.met
    ]
    lines = [
        f"Noisy times (quartiles more than {TIE - 1:.0%} apart): {noisy} of {len(timings)}{advice}.",
        f"Targets met: {len(held) - len(missed)} of {len(held)}.",
    ]
    return "\n".join(lines + missed)


def _peers_markdown(peers: Sequence[PeerNote]) -> str:
    head = (
        "contender",
        "what it is",
        "version",
        "from hostile bytes",
        "keeps sharing",
        "encode",
        "decode",
        "note",
    )
    rows = [
        (
            note.name,
            note.label,
            note.version,
            note.trust,
            note.sharing,
            f"`{note.encode}`",
            f"`{note.decode}`",
            note.note,
        )
        for note in peers
    ]
    return markdown(head, rows)


def report_markdown(report: Report, plots: Sequence[Path]) -> str:
    """Return report.md."""
    parts = ["# Benchmark of hookless against its peers"]
    if report.partial:
        parts.append("**Not for quoting: a quick run, or a run of some workloads or peers only.**")
    parts.append("\n".join(f"- {name}: {value}" for name, value in report.environment.items()))
    parts += [
        "## How to read it",
        CAVEATS.strip(),
        "## Result",
        "\n".join(f"- {line}" for line in summary(report).splitlines()),
    ]
    if plots:
        parts += ["## Ratios", *(f"![{path.stem}]({path.name})" for path in plots)]
    for result in report.workloads:
        parts += [f"## {result.id}: {result.title}", markdown(TIME_HEAD, time_rows(result))]
        if result.ratios:
            parts.append(markdown(RATIO_HEAD, ratio_rows(result)))
        if result.refused:
            parts.append("\n".join(f"- not timed: `{name}`: {why}" for name, why in result.refused.items()))
    parts += ["## Contenders", _peers_markdown(report.peers)]
    parts += [f"- not installed: {name} ({why})" for name, why in report.missing.items()]
    return "\n\n".join(parts) + "\n"


def report_json(report: Report) -> str:
    """Return report.json: times in nanoseconds."""
    return json.dumps(asdict(report), indent=1, ensure_ascii=False) + "\n"
