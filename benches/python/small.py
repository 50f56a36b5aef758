"""The small things that people feel: import, a child's start, a small call, a worker that idles, the wheel.

Times are medians of samples in shuffled order; a process is counted from its start to its end. Writes
small.md and small.json.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.metadata
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import hookless
import kept
from environment import describe
from hookless import aio
from measure import STDERR, Plan
from report import aligned, duration, environment_text, markdown, size
from results import Timing

ROOT = Path(__file__).resolve().parents[2]
# Workers that idle at once: memory of one is that of many, divided.
IDLE = 64
QUICK_IDLE = 2
# Workers of one loop that are called at the same time.
AT_ONCE = 8

Contenders = dict[str, Callable[[], object]]


def process(code: str) -> Callable[[], object]:
    """Return what runs an interpreter with this code, to its end."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def started(isolation: str) -> Callable[[], object]:
    """A child, its sandbox, HELLO, one call and its result. Its end is in it, as for the bare interpreter."""

    def start() -> None:
        with hookless.Worker(isolation=isolation) as worker:
            worker.call("math:sqrt", 2.0)

    return start


def processes() -> Contenders:
    """What starts a process."""
    imports = ("pickle", "json", "msgspec", "numpy", "hookless")
    return {
        "python -c pass": process("pass"),
        **{f"import {name}": process(f"import {name}") for name in imports},
        "first dumps and loads": process("import hookless as h; h.loads(h.dumps([1]))"),
        "start to first result, none": started("none"),
        "start to first result, strict": started("strict"),
    }


class Loop:
    """An event loop that holds so many workers."""

    def __init__(self, count: int) -> None:
        """Start them."""
        self._loop = asyncio.new_event_loop()
        self._workers = [self._loop.run_until_complete(aio.Worker().__aenter__()) for _ in range(count)]

    def call(self, at_once: int = 1) -> None:
        """Call the first of them, side by side, and wait for all."""
        self._loop.run_until_complete(self._calls(at_once))

    async def _calls(self, at_once: int) -> None:
        chosen = self._workers[:at_once]
        await asyncio.gather(*(worker.call("math:sqrt", 2.0) for worker in chosen))

    def close(self) -> None:
        """End them."""
        for worker in self._workers:
            self._loop.run_until_complete(worker.__aexit__(None, None, None))
        self._loop.close()


@contextmanager
def calls(idle_workers: int) -> Iterator[Contenders]:
    """What does not: small calls of children that are there, once on a loop with idle ones beside it."""
    with ExitStack() as stack:
        worker = stack.enter_context(hookless.Worker())
        executor = stack.enter_context(hookless.Executor(1))
        one, several, many = (
            stack.enter_context(closing(Loop(count))) for count in (1, AT_ONCE, 1 + idle_workers)
        )
        yield {
            "Worker.call": lambda: worker.call("math:sqrt", 2.0),
            "aio.Worker.call": one.call,
            f"aio.Worker.call, beside {idle_workers} idle workers": many.call,
            f"aio.Worker.call, {AT_ONCE} workers at once": lambda: several.call(AT_ONCE),
            "Executor.submit to result, warm": lambda: executor.submit("math:sqrt", 2.0).result(),
        }


def sample(contenders: Contenders, runs: int, loops: int) -> dict[str, Timing]:
    """Time each, so many runs of so many loops, in shuffled order."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for work in contenders.values():
        work()
    for run in range(runs):
        STDERR.update(f"run {run + 1} of {runs}")
        for name in random.sample(list(contenders), len(contenders)):
            work = contenders[name]
            gc.collect()
            began = time.perf_counter()
            for _ in range(loops):
                work()
            taken[name].append((time.perf_counter() - began) / loops * 1e9)
    STDERR.update("")
    return {name: Timing.of(times, loops) for name, times in taken.items()}


def children() -> set[int]:
    """Return the processes that this one has started."""
    found = (path.read_text().split() for path in Path("/proc/self/task").glob("*/children"))
    return {int(pid) for pids in found for pid in pids}


def memory_of(pid: int | str) -> dict[str, int]:
    """Return resident, proportional, private and anonymous bytes of a process."""
    fields = {"Rss": 0, "Pss": 0, "Private_Clean": 0, "Private_Dirty": 0, "Anonymous": 0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        if name in fields:
            fields[name] = int(rest.split()[0]) << 10
    private = fields["Private_Clean"] + fields["Private_Dirty"]
    named = {"resident": "Rss", "proportional": "Pss", "anonymous": "Anonymous"}
    return {name: fields[field] for name, field in named.items()} | {"private": private}


def entries(folder: str) -> int:
    """Return how many entries a folder of /proc has."""
    return len(os.listdir(folder))


def idle(count: int) -> dict[str, float]:
    """Start workers that do nothing, and return what one of them takes: of its own, and in the host."""
    with hookless.Worker() as first:  # What the first one brings into the host is not that of each.
        first.call("math:sqrt", 2.0)
    before = children()
    gc.collect()
    host = memory_of("self")["anonymous"]
    descriptors, threads = entries("/proc/self/fd"), entries("/proc/self/task")
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(hookless.Worker()).call("math:sqrt", 2.0)
        found = {
            "host: descriptors": (entries("/proc/self/fd") - descriptors) / count,
            "host: threads": (entries("/proc/self/task") - threads) / count,
            # Not the private ones: pages of libraries that the children map as well are private no more.
            "host: anonymous bytes": (memory_of("self")["anonymous"] - host) / count,
        }
        new = sorted(children() - before)
        kinds = [memory_of(pid) for pid in new]
        for kind in ("private", "proportional", "resident"):
            found[f"child: {kind} bytes"] = sum(one[kind] for one in kinds) / count
        found["child: threads"] = sum(entries(f"/proc/{pid}/task") for pid in new) / count
        found["child: processes"] = len(new) / count
    return found


def sizes() -> dict[str, int]:
    """Return the bytes of the newest wheel that was built, and of what it installs."""
    files = importlib.metadata.files("hookless") or []
    installed = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    found = {"installed": sum(path.stat().st_size for path in installed if path.is_file())}
    wheels = sorted(ROOT.glob("target/wheels/*/*.whl"), key=lambda path: path.stat().st_mtime)
    return ({"wheel": wheels[-1].stat().st_size} if wheels else {}) | found


def lines(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the table: what, how much, its quartiles, and how it compares."""
    base = found["processes"]["python -c pass"][1]
    out: list[tuple[str, ...]] = []
    for name, (low, middle, high) in found["processes"].items():
        spread = f"{duration(low)} .. {duration(high)}"
        out.append((name, duration(middle), spread, f"{middle / base:.2f} of a bare interpreter"))
    for name, (low, middle, high) in found["calls"].items():
        out.append((name, duration(middle), f"{duration(low)} .. {duration(high)}", ""))
    for name, amount in found["idle"].items():
        text = size(round(amount)) if name.endswith("bytes") else f"{amount:g}"
        out.append((f"an idle worker, {name.removesuffix(' bytes')}", text, "", ""))
    out += [(f"size, {name}", size(count), "", "") for name, count in found["sizes"].items()]
    return out


HEAD = ("what", "", "quartiles", "remark")


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    quick = parser.parse_args().quick
    runs = 3 if quick else 31
    plan = Plan(repeats=runs, least=runs, sample_seconds=0, cell_seconds=60)
    environment = describe(plan, []) | {"samples": f"{runs} of each"}
    found: dict[str, Any] = {
        "at_once": AT_ONCE,
        "environment": environment,
        "partial": quick,
        "sizes": sizes(),
    }
    # First, while this process has nothing to give back.
    count = QUICK_IDLE if quick else IDLE
    found["idle"] = idle(count)
    found["processes"] = _quartiles(sample(processes(), runs, 1))
    with calls(count) as contenders:
        found["calls"] = _quartiles(sample(contenders, runs, 20 if quick else 200))
    table = lines(found)
    print(f"{environment_text(found['environment'])}\n\n{aligned(HEAD, table)}\n", flush=True)
    text = ["# Small things", *(["**Not for quoting: a quick run.**"] if quick else [])]
    text.append("\n".join(f"- {name}: {fact}" for name, fact in found["environment"].items()))
    text.append(markdown(HEAD, table))
    folder = kept.folder(quick)
    (folder / "small.md").write_text("\n\n".join(text) + "\n")
    kept.keep("small", found, quick)
    STDERR.say(f"wrote small.md and small.json to {folder}")
    return 0


def _quartiles(timings: dict[str, Timing]) -> dict[str, list[float]]:
    return {name: [one.low, one.median, one.high] for name, one in timings.items()}


if __name__ == "__main__":
    sys.exit(main())
