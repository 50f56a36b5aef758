"""Calls by the ten thousand with random faults, and none lost: `make soak`, or `soak.py --calls 100000`.

Threads share some workers and own others. Each call has a number, which the child writes to a file when it
runs. At the end each call has had exactly one outcome, of a kind that its fault allows; none ran twice; what
was returned is what was asked for, bit for bit; no zombie and no descriptor is left.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hookless

HERE = str(Path(__file__).resolve().parent)
CHILD = "soak_child"


@dataclass
class Fault:
    """A kind of call: how often, what it does, and how it may end by itself."""

    weight: int
    make: Callable[[Soak, hookless.Worker, int, random.Random], Any]
    ends: tuple[type[BaseException] | None, ...]
    # The worker may be over afterwards, and with it the calls of other threads that were open.
    kills: bool = False


class WrongError(Exception):
    """A call gave what it should not have."""


def check(right: bool, what: str) -> None:
    """Raise WrongError unless it is right."""
    if not right:
        raise WrongError(what)


def _value(rng: random.Random) -> Any:
    size = rng.choice((0, 1, 100, 20_000, 300_000))
    return rng.choice((rng.randbytes(size), [*range(size // 100)], {"k": "é" * (size // 10)}, (None, -1.5)))


def _echo(soak: Soak, worker: hookless.Worker, token: int, rng: random.Random) -> None:
    value = _value(rng)
    name = rng.choice(("echo", "echo_later"))
    found = worker.call(f"{CHILD}:{name}", soak.log, token, value)
    check(found == (token, value) and type(found[1]) is type(value), f"{name}: another value came back")


def _simple(name: str, *more: object) -> Callable[[Soak, hookless.Worker, int, random.Random], None]:
    def call(soak: Soak, worker: hookless.Worker, token: int, rng: random.Random) -> None:
        found = worker.call(f"{CHILD}:{name}", soak.log, token, *more)
        check(found == token, f"{name}: {found!r} came back")

    return call


def _chatter(soak: Soak, worker: hookless.Worker, token: int, rng: random.Random) -> None:
    heard: list[int] = []
    options = worker.options(on_output=lambda stream, data: heard.append(len(data)))
    found = options.call(f"{CHILD}:chatter", soak.log, token, rng.choice((1, 30, 2000)))
    check(found == token and sum(heard) > 0, "chatter: nothing was heard")


def _count(soak: Soak, worker: hookless.Worker, token: int, rng: random.Random) -> None:
    length = rng.choice((0, 1, 10, 300))
    stop = rng.choice((None, 0, 1, 5))
    found = []
    with worker.stream(f"{CHILD}:{rng.choice(('count', 'count_later'))}", soak.log, token, length) as stream:
        for item in stream:
            found.append(item)
            if stop is not None and len(found) > stop:
                break
    wanted = length if stop is None else min(length, stop + 1)
    check(found == [(token, number) for number in range(wanted)], f"count: {found[:5]} … of {wanted}")


def _late(soak: Soak, worker: hookless.Worker, token: int, rng: random.Random) -> None:
    worker.options(deadline=0.05).call(f"{CHILD}:sleep", soak.log, token, 30.0)
    raise WrongError("a sleep of 30 s ended within 0.05 s")


FAULTS = {
    "echo": Fault(600, _echo, (None,)),
    "fail": Fault(60, _simple("fail"), (hookless.RemoteError,)),
    "unsendable": Fault(30, _simple("unsendable"), (hookless.RemoteError,)),
    # After `stop_printing` there is nowhere to print to.
    "chatter": Fault(30, _chatter, (None, OSError)),
    "count": Fault(120, _count, (None,)),
    "late": Fault(6, _late, (hookless.DeadlineExceeded,)),
    "kill": Fault(4, _simple("kill"), (hookless.WorkerDied,), kills=True),
    "leave": Fault(4, _simple("leave", 0), (hookless.WorkerDied,), kills=True),
    "garbage": Fault(4, _simple("garbage"), (hookless.DecodeError, hookless.ProtocolError), kills=True),
    "half": Fault(4, _simple("half"), (hookless.WorkerDied, hookless.DecodeError), kills=True),
    "stop_printing": Fault(4, _simple("stop_printing"), (None, OSError)),
}


@dataclass
class Shared:
    """A worker that is made anew when it is over."""

    soak: Soak
    lock: threading.Lock = field(default_factory=threading.Lock)
    worker: hookless.Worker | None = None

    def get(self) -> hookless.Worker:
        """Return the worker of now."""
        with self.lock:
            if self.worker is None:
                self.worker = hookless.Worker(paths=[HERE], isolation="none", stall=20.0)
                self.soak.started += 1
            return self.worker

    def lose(self, worker: hookless.Worker) -> None:
        """Close a worker that is over, once."""
        with self.lock:
            if self.worker is not worker:
                return
            self.worker = None
        worker.close()


class Soak:
    """One run."""

    def __init__(self, calls: int, threads: int, seed: int) -> None:
        self.calls, self.threads, self.seed = calls, threads, seed
        self.started = 0
        self.outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
        self.wrong: list[str] = []
        self._tokens = iter(range(calls))
        self._lock = threading.Lock()
        file, self.log = tempfile.mkstemp(prefix="soak-")
        os.close(file)

    def run(self) -> bool:
        """Make the calls; return whether all went right."""
        before = len(os.listdir("/proc/self/fd"))
        began = time.monotonic()
        # Two threads to each worker, and one worker of one thread.
        shared = [Shared(self) for _ in range(max(1, self.threads // 2))]
        threads = [
            threading.Thread(target=self._thread, args=(shared[number % len(shared)], number))
            for number in range(self.threads)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            self._show(began)
        for one in shared:
            if one.worker is not None:
                one.worker.close()
        self._examine(before)
        os.unlink(self.log)
        seconds = time.monotonic() - began
        made = sum(self.outcomes.values())
        print(f"\n{made} calls, {self.started} children, {seconds:.0f} s, seed {self.seed}")
        for (name, outcome), number in sorted(self.outcomes.items()):
            print(f"  {name:<14} {outcome:<18} {number}")
        for text in self.wrong[:20]:
            print(f"WRONG: {text}")
        return not self.wrong and made == self.calls

    def _thread(self, shared: Shared, number: int) -> None:
        rng = random.Random(f"{self.seed} {number}")
        names, weights = zip(*((name, fault.weight) for name, fault in FAULTS.items()), strict=True)
        while True:
            with self._lock:
                token = next(self._tokens, None)
            if token is None:
                return
            self._one(shared, token, rng.choices(names, weights)[0], rng)

    def _one(self, shared: Shared, token: int, name: str, rng: random.Random) -> None:
        fault, worker = FAULTS[name], shared.get()
        outcome: BaseException | None = None
        try:
            fault.make(self, worker, token, rng)
        except BaseException as error:
            outcome = error
        expected = any(outcome is None if kind is None else isinstance(outcome, kind) for kind in fault.ends)
        # The fault of another thread took the worker away: this call has failed, and says so.
        collateral = isinstance(outcome, hookless.HooklessError)
        with self._lock:
            self.outcomes[name, type(outcome).__name__ if outcome is not None else "right"] += 1
            if not expected and not collateral:
                self.wrong.append(f"call {token}, {name}: {outcome!r}")
            if expected and fault.kills and outcome is None:
                self.wrong.append(f"call {token}, {name}: the worker should be over")
        if not worker.is_alive:
            shared.lose(worker)

    def _show(self, began: float) -> None:
        done = sum(self.outcomes.values())
        rate = done / max(time.monotonic() - began, 1e-9)
        if sys.stderr.isatty():
            sys.stderr.write(
                f"\r\x1b[K{done} of {self.calls} calls, {rate:.0f} a second, {len(self.wrong)} wrong"
            )
            sys.stderr.flush()

    def _examine(self, before: int) -> None:
        """What is there when all is over."""
        with open(self.log, "rb") as file:
            ran = collections.Counter(map(int, file))
        twice = [token for token, times in ran.items() if times > 1]
        if twice:
            self.wrong.append(f"{len(twice)} calls ran more than once: {twice[:10]}")
        after = len(os.listdir("/proc/self/fd"))
        if after > before:
            self.wrong.append(f"{after - before} descriptors are left")
        try:
            left = os.waitpid(-1, os.WNOHANG)
            self.wrong.append(f"a child is left: {left}")
        except ChildProcessError:
            pass


def main() -> int:
    """Run, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    return 0 if Soak(options.calls, options.threads, options.seed).run() else 1


if __name__ == "__main__":
    sys.exit(main())
