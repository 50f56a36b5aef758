"""The clock: every contender is sampled in turn, in one process, in an order shuffled anew for each round.

So a slow minute of the machine falls on all of them alike, and a ratio is of times taken side by side.
"""

from __future__ import annotations

import gc
import sys
import timeit
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TextIO

import numpy as np

from peers import Codec, Peer
from results import Op, Row, Timing, WorkloadResult
from roundtrip import Mismatch, losses
from workloads import Workload


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure."""

    # Samples of each cell (one call of one contender); a slow cell gets fewer, never under `least`.
    repeats: int
    least: int
    # One sample repeats its call until it takes this long.
    sample_seconds: float
    # What one cell may take before its samples are cut down.
    cell_seconds: float


FULL = Plan(repeats=31, least=7, sample_seconds=0.005, cell_seconds=1.5)
QUICK = Plan(repeats=5, least=3, sample_seconds=0.005, cell_seconds=0.5)


class Progress:
    """A line that is rewritten on a terminal, and one plain line per workload anywhere else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()

    def update(self, text: str) -> None:
        """Show where the run is; nothing without a terminal."""
        if self._live:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()

    def say(self, text: str) -> None:
        """Leave a line behind."""
        self._stream.write(f"\r\x1b[K{text}\n" if self._live else f"{text}\n")
        self._stream.flush()


@dataclass(slots=True)
class Cell:
    """One contender's encode or decode on one workload."""

    row: Row
    op: Op
    timer: timeit.Timer
    loops: int = 1
    planned: int = 0
    samples: list[float] = field(default_factory=list)

    def calibrate(self, plan: Plan) -> None:
        """Warm the call up and size the inner loop; a call that is slow by itself gets fewer samples.

        By the fastest of three samples: one during which another program ran would make the loop too short.
        """
        while (seconds := self._fastest(3)) < plan.sample_seconds:
            wanted = int(self.loops * plan.sample_seconds * 1.2 / seconds)
            self.loops = max(self.loops + 1, min(self.loops * 10, wanted))
        self.planned = max(plan.least, min(plan.repeats, int(plan.cell_seconds / seconds)))

    def _fastest(self, tries: int) -> float:
        """Return the shortest of some samples; of one that takes its time, the first."""
        fastest = self.sample()
        for _ in range(tries - 1):
            if fastest > 0.2:
                break
            fastest = min(fastest, self.sample())
        return fastest

    def sample(self) -> float:
        """Return the seconds of one inner loop.

        The garbage collector runs before the clock starts, so that nobody pays for another's garbage, and
        stays on while it runs. What a call returns is freed inside the clock, for every contender alike.
        """
        gc.collect()
        return self.timer.timeit(self.loops)

    def due(self, turn: int, rounds: int) -> bool:
        """Whether this cell takes part in a round: its samples are spread evenly over the run."""
        return (turn + 1) * self.planned // rounds > turn * self.planned // rounds


def _timer(expression: str, names: dict[str, object]) -> timeit.Timer:
    # timeit switches the collector off; its documentation's way to keep it on is this set-up.
    return timeit.Timer(expression, "import gc; gc.enable()", globals=names)


def wire_bytes(wire: Any) -> int:
    """Return the bytes of what an encoder returned: one buffer, or buffers in lists."""
    return sum(map(wire_bytes, wire)) if isinstance(wire, list | tuple) else memoryview(wire).nbytes


def _prepare(peer: Peer, codec: Codec, value: object) -> tuple[Row, list[Cell]]:
    """Check a contender's round trip and return its cells. Raises what the contender raises, or Mismatch."""
    names = dict(codec.names) | {"value": value}
    names["wire"] = eval(codec.encode, names)
    row = Row(peer.name, wire_bytes(names["wire"]), losses(value, eval(codec.decode, names)))
    expressions: dict[Op, str] = {"encode": codec.encode, "decode": codec.decode}
    return row, [Cell(row, op, _timer(text, names)) for op, text in expressions.items() if op in codec.times]


def _interleave(cells: Sequence[Cell], plan: Plan, rng: Random, progress: Progress, title: str) -> None:
    rounds = max((cell.planned for cell in cells), default=0)
    for turn in range(rounds):
        progress.update(f"{title}: round {turn + 1} of {rounds}, {len(cells)} calls")
        due = [cell for cell in cells if cell.due(turn, rounds)]
        rng.shuffle(due)
        for cell in due:
            cell.samples.append(cell.sample() / cell.loops * 1e9)


def settle_allocator() -> None:
    """Bring glibc's malloc into the state of a process that has run for a while.

    It maps large blocks anew for each call, page faults and all, until one of their size has been freed: what
    an array of 1 MiB costs would depend on what the process did before. 32 MiB is the most that it learns.
    """
    bytes(31 << 20)


def settle_memory(size: int) -> None:
    """Have the machine hold as much free memory as two copies of a large value take, and one more.

    A virtual machine gives memory that was free for some seconds back to its host, and to have it again takes
    many times as long as to fill it: 512 MiB of fresh pages took 0.05 to 1.3 s without any transport. That
    would fall on whoever is sampled after a slow contender.
    """
    if size >= 16 << 20:
        # One byte of each page is enough.
        np.empty(3 * size, np.uint8)[::4096] = 1


def settle_collector() -> None:
    """Keep what the contenders' libraries have imported out of every collection from now on.

    Otherwise each would walk the objects of all libraries together, pyarrow's and pymongo's above all, inside
    the clock and before it. A program that uses one of them does not hold the others.
    """
    gc.collect()
    gc.freeze()


def measure(
    workload: Workload, contenders: Sequence[tuple[Peer, Codec]], plan: Plan, progress: Progress
) -> WorkloadResult:
    """Measure every contender on one workload. One that fails is not timed, and the result says why."""
    result = WorkloadResult(workload.id, workload.title)
    progress.update(f"{workload.id}: building the value")
    value = workload.build()
    settle_allocator()
    cells: list[Cell] = []
    for peer, codec in contenders:
        progress.update(f"{workload.id}: checking and warming up {peer.name}")
        try:
            row, own = _prepare(peer, codec, value)
        except Mismatch as error:
            result.refused[peer.name] = f"WRONG VALUE: {error}"
        except Exception as error:
            told = error.__cause__ or error
            result.refused[peer.name] = f"{type(told).__name__}: {told}"
        else:
            result.rows.append(row)
            cells += own
            for cell in own:
                cell.calibrate(plan)
    _interleave(cells, plan, Random(workload.seed), progress, workload.id)
    for cell in cells:
        cell.row.timings[cell.op] = Timing.of(cell.samples, cell.loops)
    return result


STDERR = Progress(sys.stderr)
