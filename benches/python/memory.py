"""Peak memory of one encode or decode: how far the resident set of a process rises above where it stood.

Each figure is of a process of its own, forked from one that has built the value and freed what that took, and
warmed by a small value, so that the pages of the library are not counted. Linux counts resident pages in
batches: figures under 1 MiB are noise and are not given.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import more_peers  # noqa: F401 (importing it registers the wider field)
import peers
from peers import Codec
from results import Op
from sweep_values import EXTRA
from workloads import REGISTRY

# What is below cannot be told from the batches in which pages are counted.
LEAST = 1 << 20
# A contender that takes longer has no figure.
SECONDS = 60.0

Peaks = dict[str, dict[Op, int]]


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise OSError(f"/proc/self/status has no {field}")


def _rise(work: Callable[[], object]) -> int:
    """Return how many bytes the resident set rose at most, while `work` ran and its result was held."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    kept = work()
    peak = _status("VmHWM")
    del kept
    return max(0, peak - before)


def _names(codec: Codec, value: object) -> dict[str, Any]:
    names = dict(codec.names) | {"value": value}
    names["wire"] = eval(codec.encode, names)
    return names


def _measure(name: str, arrays: bool, value: object) -> dict[Op, int]:
    """Measure a contender in this process, which is of no more use afterwards."""
    codec = peers.REGISTRY[name].load(arrays)
    small: object = np.zeros(8) if arrays else ["a", 1, 2.0]
    warm = _names(codec, small)
    eval(codec.decode, warm)
    names = dict(codec.names) | {"value": value}
    found: dict[Op, int] = {"encode": _rise(lambda: names.setdefault("wire", eval(codec.encode, names)))}
    found["decode"] = _rise(lambda: eval(codec.decode, names))
    return {op: peak for op, peak in found.items() if op in codec.times}


def _forked(work: Callable[[], object]) -> object:
    """Return, by way of JSON, what `work` returned in a fork of this process; None if it failed or hung."""
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        status = 1
        try:
            os.write(into, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(into)
    try:
        if not select.select([out], [], [], SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
            return None
        text = os.read(out, 1 << 16)
    finally:
        os.close(out)
        os.waitpid(child, 0)
    return json.loads(text) if text else None


def serve(workload: str, names: Sequence[str]) -> None:
    """Build the workload and print the peaks of each contender as JSON."""
    one = (REGISTRY | EXTRA)[workload]
    value = one.build()
    gc.collect()
    gc.freeze()
    found = {name: _forked(lambda name=name: _measure(name, one.arrays, value)) for name in names}  # type: ignore[misc]
    print(json.dumps({name: peak for name, peak in found.items() if peak}))


def peaks(workload: str, names: Sequence[str]) -> Peaks:
    """Return the peaks of these contenders on a workload, in bytes; without those that failed.

    In a new interpreter: this one holds threads of the libraries, which a fork would not survive.
    """
    command = [sys.executable, __file__, workload, *names]
    # A fork keeps no threads: BLAS must not have started any.
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env=env)
    found: Peaks = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("contender", nargs="+")
    options = parser.parse_args()
    serve(options.workload, options.contender)
