"""What a run found, as plain data: the tables, the JSON and the plots are made from this and nothing else."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Op = Literal["encode", "decode"]
OPS: tuple[Op, Op] = ("encode", "decode")

# Within 15 % either way two codecs are called equal: on a shared machine one differs so much from itself.
TIE = 1.15


@dataclass(frozen=True, slots=True)
class Timing:
    """Nanoseconds per call: the median and quartiles of `samples` samples of `loops` calls each."""

    median: float
    low: float
    high: float
    samples: int
    loops: int

    @classmethod
    def of(cls, nanoseconds: list[float], loops: int) -> Timing:
        """Summarise at least two samples."""
        low, median, high = statistics.quantiles(nanoseconds, n=4, method="inclusive")
        return cls(median, low, high, len(nanoseconds), loops)

    @property
    def noisy(self) -> bool:
        """Whether the quartiles are further apart than a difference that would count."""
        return self.high > self.low * TIE


@dataclass(slots=True)
class Row:
    """One contender on one workload."""

    contender: str
    wire_bytes: int
    loses: list[str]
    timings: dict[Op, Timing] = field(default_factory=dict)
    # Bytes by which resident memory rises at most; none where that cannot be told from noise.
    peaks: dict[Op, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ratio:
    """Time of `ours` over time of `peer`: below 1 hookless is faster. The range is of opposite quartiles."""

    ours: str
    peer: str
    op: Op
    value: float
    low: float
    high: float
    target: float | None

    @property
    def verdict(self) -> str:
        """In words: a tie within 15 %, unclear where opposite quartiles would say the contrary."""
        if 1 / TIE <= self.value <= TIE:
            return "tie"
        if self.low <= 1 <= self.high:
            return "unclear"
        if self.value < 1:
            return f"{_times(1 / self.value)} faster"
        return f"{_times(self.value)} slower"

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        return None if self.target is None else self.value <= self.target


@dataclass(slots=True)
class WorkloadResult:
    """All contenders on one workload. `refused` says why a contender has no row."""

    id: str
    title: str
    rows: list[Row] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeerNote:
    """What a reader should know of a contender: the calls as they were timed, and what its bytes can do."""

    name: str
    label: str
    version: str
    trust: str
    sharing: str
    encode: str
    decode: str
    note: str


@dataclass(slots=True)
class Report:
    """A whole run."""

    environment: dict[str, str]
    partial: bool
    peers: list[PeerNote]
    missing: dict[str, str]
    workloads: list[WorkloadResult] = field(default_factory=list)


def _times(factor: float) -> str:
    return f"{factor:.1f}x" if factor < 99.5 else f"{factor:.0f}x"


def ratios(
    rows: Iterable[Row], pairs: Iterable[tuple[str, str]], targets: dict[tuple[str, str, Op], float]
) -> list[Ratio]:
    """Compare each pair (ours, peer) that was timed; a pair of which one side is missing has no ratio."""
    timed = {row.contender: row.timings for row in rows}
    out = []
    for ours, peer in pairs:
        for op in OPS:
            mine, other = timed.get(ours, {}).get(op), timed.get(peer, {}).get(op)
            if mine and other:
                value = mine.median / other.median
                target = targets.get((ours, peer, op))
                out.append(Ratio(ours, peer, op, value, mine.low / other.high, mine.high / other.low, target))
    return out
