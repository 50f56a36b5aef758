"""W14: an exception with a traceback of 30 frames and an explicit cause, against tblib and format_exception.

Prints medians, quartiles and ratios, and writes failures.md and failures.json. In "with source" the
frames are of a file, whose lines hookless reads and sends; in "without" they are of code that has none. tblib
sends no source lines at all, and what it makes is unpickled: it runs what the bytes name.
"""

from __future__ import annotations

import argparse
import pickle
import random
import statistics
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hookless
import kept
from report import aligned, duration, markdown

_DEPTH = 29
# Each frame is one of a function of its own, as in most tracebacks.
_CODE = "\n".join(
    [
        'def fall_0(table):\n    raise ValueError("no number in column", len(table))\n',
        *(
            f"def fall_{depth}(table):\n    rows = list(table)\n    return fall_{depth - 1}(rows)\n"
            for depth in range(1, _DEPTH)
        ),
        "def work():",
        "    try:",
        f"        fall_{_DEPTH - 1}([1, 2])",
        "    except ValueError as error:",
        '        raise KeyError("row") from error',
    ]
)

# Ratios to reach: ours, peer, source lines or not.
_TARGETS = {
    ("encode", "tblib", "without"): 0.10,
    ("encode", "tblib", "with source"): 0.40,
    ("encode", "format_exception", "without"): 0.03,
    ("encode", "format_exception", "with source"): 0.12,
    ("decode", "tblib", "without"): 0.05,
    ("decode", "tblib", "with source"): 0.05,
}


def raised(name: str) -> BaseException:
    """Run the code as that of a file of this name, and return what it raises: 30 frames with this one."""
    scope: dict[str, Any] = {}
    exec(compile(_CODE, name, "exec"), scope)
    try:
        scope["work"]()
    except KeyError as error:
        return error
    raise AssertionError("nothing was raised")


def contenders(error: BaseException) -> dict[tuple[str, str], Callable[[], object]]:
    """Return what is timed, by operation and name."""
    frame = hookless.dumps(error)
    assert len(hookless.loads(frame).__cause__.remote.frames) == 30
    found: dict[tuple[str, str], Callable[[], object]] = {
        ("encode", "hookless"): lambda: hookless.dumps(error),
        ("decode", "hookless"): lambda: hookless.loads(frame),
        ("encode", "format_exception"): lambda: traceback.format_exception(error),
    }
    try:
        import tblib.pickling_support
    except ImportError:
        print("tblib is not installed: left out")
        return found
    tblib.pickling_support.install()
    data = pickle.dumps(error)
    return found | {
        ("encode", "tblib"): lambda: pickle.dumps(error),
        ("decode", "tblib"): lambda: pickle.loads(data),
    }


def measure(
    calls: dict[tuple[str, str], Callable[[], object]], rounds: int
) -> dict[tuple[str, str], list[float]]:
    """Return microseconds for each call, in rounds of shuffled order; each sample repeats for 5 ms."""
    samples: dict[tuple[str, str], list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in random.sample(list(calls), len(calls)):
            call, count = calls[name], 0
            began = time.perf_counter()
            while time.perf_counter() - began < 0.005:
                call()
                count += 1
            samples[name].append((time.perf_counter() - began) / count * 1e6)
    return samples


HEAD = ("W14", "", "contender", "time", "quartiles", "hookless / it", "target")


def lines(kind: str, samples: dict[tuple[str, str], list[float]]) -> list[tuple[str, ...]]:
    """Return the table of one kind."""
    medians = {one: statistics.median(taken) for one, taken in samples.items()}
    out: list[tuple[str, ...]] = []
    for (op, who), taken in samples.items():
        low, middle, high = (duration(1e3 * time) for time in statistics.quantiles(taken, n=4))
        ratio, target = medians[op, "hookless"] / medians[op, who], _TARGETS.get((op, who, kind))
        told = "" if who == "hookless" else f"{ratio:.3f}"
        bound = f"<= {target:g} {'met' if ratio <= target else 'MISSED'}" if target else ""
        out.append((kind, op, who, middle, f"{low} .. {high}", told, bound))
    return out


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: to see that it runs, not to quote")
    quick = parser.parse_args().quick
    table: list[tuple[str, ...]] = []
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w14.py"
        path.write_text(_CODE)
        for kind, name in (("with source", str(path)), ("without", "<w14>")):
            samples = measure(contenders(raised(name)), 3 if quick else 31)
            table += lines(kind, samples)
            found[kind] = {f"{op} {who}": statistics.quantiles(t, n=4) for (op, who), t in samples.items()}
    print(f"{aligned(HEAD, table)}\n", flush=True)
    text = ["# W14: an exception with a traceback of 30 frames and a cause", markdown(HEAD, table)]
    text.append(__doc__.partition("\n\n")[2].partition("json. ")[2].strip())
    if quick:
        text.insert(1, "**Not for quoting: a quick run.**")
    (kept.folder(quick) / "failures.md").write_text("\n\n".join(text) + "\n")
    kept.keep("failures", {"partial": quick, "us": found}, quick)


if __name__ == "__main__":
    main()
