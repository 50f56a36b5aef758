"""From nothing to a first result: a worker in each mode, beside a bare interpreter that does nothing.

`python benches/python/start.py --runs 40` prints medians, quartiles and ratios to `python -c pass`,
interleaved in one run.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import hookless


def bare() -> None:
    """What any child process of Python costs."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def worker(isolation: str) -> Callable[[], None]:
    """A child, its sandbox, HELLO, one call, its result; the end of the child is not part of it."""

    def start() -> None:
        global last
        last = hookless.Worker(isolation=isolation)
        last.call("math:sqrt", 2.0)

    return start


last: hookless.Worker | None = None


def main() -> None:
    """Measure, in shuffled order, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="samples of each (default: 40)")
    runs = parser.parse_args().runs
    contenders = {"python -c pass": bare, "none": worker("none"), "strict": worker("strict")}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name in random.sample(list(contenders), len(contenders)):
            began = time.perf_counter()
            contenders[name]()
            samples[name].append((time.perf_counter() - began) * 1e3)
            if last is not None:
                last.close()
    base = statistics.median(samples["python -c pass"])
    print("start to first result, milliseconds: median (quartiles), ratio to a bare interpreter")
    for name, taken in samples.items():
        low, middle, high = statistics.quantiles(taken, n=4)
        print(f"  {name:<16} {middle:6.1f} ({low:.1f} .. {high:.1f})  {middle / base:.2f}x")


if __name__ == "__main__":
    main()
