"""`make bench`: every part in turn, each a program that can be run by itself, and the documents at the end.

A part that fails is named at the end, and the documents stay as they were.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Part:
    """A program, what it measures, its arguments (whole, quick), and its minutes on a quiet machine."""

    program: str
    what: str
    whole: tuple[str, ...]
    quick: tuple[str, ...]
    minutes: float


PARTS = (
    Part("small", "import, a child's start, small calls, idle workers", (), ("--quick",), 1),
    Part("across", "values between two processes", ("--large",), ("--quick",), 3.5),
    Part("sweeps", "nodes, memory for each byte, crafted keys", (), ("--quick",), 2.5),
    Part("bench", "every workload and every peer", ("--all", "--large"), ("--quick", "--all"), 12),
    Part("failures", "W14: exceptions", (), ("--quick",), 0.1),
    Part("rust", "the Rust crates by themselves", (), ("--quick",), 3.5),
    Part("instructions", "instructions of the core paths", ("--keep",), (), 0.5),
)


# What the largest values, several times over and in two processes, want free.
LARGE = 8 << 30


def free_memory() -> int:
    """Return the bytes that programs may still have."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def run(program: str, *arguments: str) -> int:
    """Run a program of this folder and return its status."""
    return subprocess.run([sys.executable, HERE / f"{program}.py", *arguments]).returncode


def main() -> int:
    """Run the parts; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it all run? Not to be quoted")
    parser.add_argument("--part", action="append", choices=[part.program for part in PARTS], help="only this")
    options = parser.parse_args()
    chosen = [part for part in PARTS if options.part is None or part.program in options.part]
    if not (fits := free_memory() >= LARGE):
        print(f"bench: without values of 256 MiB and more, which want {LARGE >> 30} GiB of free memory")
    took: dict[str, float] = {}
    failed = []
    for number, part in enumerate(chosen, 1):
        told = "" if options.quick else f", about {part.minutes:g} min on two quiet cores"
        print(f"\n=== {number} of {len(chosen)}, {part.program}: {part.what}{told}\n", flush=True)
        began = time.monotonic()
        arguments = [one for one in (part.quick if options.quick else part.whole) if fits or one != "--large"]
        if run(part.program, *arguments) != 0:
            failed.append(part.program)
        took[part.program] = (time.monotonic() - began) / MINUTE
    print("\nminutes: " + ", ".join(f"{name} {minutes:.1f}" for name, minutes in took.items()))
    if failed:
        print(f"bench: failed: {', '.join(failed)}")
        return 1
    if options.quick:
        return run("scaling", "--from", str(HERE.parent / "report" / "raw"))
    return run("publish")


if __name__ == "__main__":
    sys.exit(main())
