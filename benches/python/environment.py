"""Where a run took place: the line without which its numbers mean nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from measure import Plan
from peers import Peer


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def describe(plan: Plan, peers: Iterable[Peer]) -> dict[str, str]:
    """Return the environment in words, in the order of the report."""
    versions = {peer.package: peer.version() for peer in peers if peer.package and peer.package != "numpy"}
    return {
        "CPU": f"{_cpu()}, {os.cpu_count()} logical CPUs, load {os.getloadavg()[0]:.1f} at the start",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"CPython {platform.python_version()}, {platform.python_compiler()}",
        "NumPy": np.__version__,
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
        "samples": f"{plan.repeats} per call, each of at least {plan.sample_seconds * 1e3:.0f} ms;"
        f" where that would take over {plan.cell_seconds:g} s, fewer, but at least {plan.least}",
    }
