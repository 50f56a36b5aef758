"""Programs that use `hookless.pools`, one for each name; run as `python pooling.py NAME`. They print JSON."""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.reduction import ForkingPickler
from types import FrameType
from typing import Any

import hookless
import naive
from hookless import pools

UNPICKLED: list[str] = []
SAID: list[str] = []


def watch() -> None:
    """Note every unpickling of this process, by C code and by Python code, in every thread from now on."""

    def hook(frame: FrameType, event: str, function: Any) -> None:
        if (
            event == "c_call"
            and getattr(function, "__module__", "") == "_pickle"
            and "load" in function.__name__
        ):
            UNPICKLED.append(function.__name__)
        elif event == "call" and frame.f_code is pickle._Unpickler.load.__code__:
            UNPICKLED.append("Unpickler")

    def audit(event: str, arguments: Any) -> None:
        if event == "pickle.find_class":
            UNPICKLED.append(str(arguments))

    threading.setprofile(hook)
    sys.setprofile(hook)
    sys.addaudithook(audit)


class Quota(Exception):
    """An exception of the child's own."""


class Private:
    """Nothing that can be sent."""


def fails(number: int) -> None:
    raise Quota("no more", number)


def private() -> object:
    return Private()


def says() -> list[str]:
    return SAID


def listens(word: str) -> None:
    SAID.append(word)


def child_pid(number: int) -> int:
    return os.getpid()


def raw(data: bytes, rest: float = 0.0) -> str:
    """Write bytes to the pipe of results, as foreign code can that finds it."""
    (queue,) = [one for one in gc.get_objects() if type(one) is pools._ResultQueue]
    os.write(queue._writer.fileno(), data)
    time.sleep(rest)
    return "done"


def stays(kind: str) -> str:
    """Say that this process exits, and go on, deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return raw(hookless.dumps((kind, 0, None, os.getpid())), 600.0)


def deaf() -> str:
    """Send what is no result, and go on."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return raw(b"\0" * 32, 600.0)


def outcome(call: Any) -> list[str]:
    try:
        return ["value", repr(call())]
    except hookless.RemoteError as error:
        return ["RemoteError", error.remote.type_name, error.remote.message, *error.remote.notes]
    except BrokenProcessPool as error:
        return ["BrokenProcessPool", str(error.__cause__)]


def honest(method: Any) -> dict[str, Any]:
    """All that an executor does, under watch."""
    watch()
    value = {"rows": [(1, 2.5), None], "bytes": b"x" * 100_000, "set": {1, "a"}}
    with ProcessPoolExecutor(
        2, mp_context=pools.pool_context(method), initializer=listens, initargs=("hello",)
    ) as executor:
        found = {
            "value": executor.submit(dict, value).result() == value,
            "map": list(executor.map(math.sqrt, [1.0, 4.0, 9.0], chunksize=2)),
            "fails": outcome(executor.submit(fails, 7).result),
            "private": outcome(executor.submit(private).result),
            "initializer": executor.submit(says).result(),
            "after": executor.submit(len, "four").result(),
        }
    with ProcessPoolExecutor(1, mp_context=pools.pool_context(method), max_tasks_per_child=1) as executor:
        found["pids"] = len(set(executor.map(child_pid, range(2))))
    return {**found, "unpickled": UNPICKLED}


def stock() -> dict[str, Any]:
    """The same watch over the executor as it is: this is what it does."""
    watch()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        executor.submit(len, "four").result()
    return {"unpickled": UNPICKLED}


class Gadget:
    def __reduce__(self) -> Any:
        return print, ("a pickle ran",)


def hostile(name: str) -> list[str]:
    """What foreign code in a child can write to the pipe."""
    message = bytes(ForkingPickler.dumps(Gadget()))
    tricks: dict[str, tuple[bytes, float]] = {
        "pickle": (message, 0.0),
        "connection's pickle": (len(message).to_bytes(4) + message, 0.0),
        "torn": (hookless.dumps(("result", 0, "x", None))[:-1], 60.0),
        "promise": (naive.frame(b"\xc0", body_length=2**40), 0.0),
        "past the limit": (hookless.dumps("x" * 2000), 0.0),
        "no tuple": (hookless.dumps("result"), 0.0),
        "no exception": (hookless.dumps(("exception", 0, "KeyError", None)), 0.0),
        "another process": (hookless.dumps(("result", 0, "x", os.getpid())), 0.0),
        "a bool": (hookless.dumps(("result", True, "x", None)), 0.0),
    }
    limits = hookless.Limits(body=1000)
    context = pools.pool_context("spawn", limits=limits, stall=0.5)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return outcome(executor.submit(raw, *tricks[name]).result)


def lasting(method: Any) -> list[list[str]]:
    """Children that do not end, for whom nobody waits: that this program ends is the test."""
    found = []
    for task in (partial(stays, "exit"), partial(stays, "result"), deaf):
        context = pools.pool_context(method, stall=0.5)
        with ProcessPoolExecutor(1, mp_context=context) as executor:
            found.append(outcome(executor.submit(task).result))
    return found


def limited() -> list[list[str]]:
    """At the limit and one byte past it, by a child that keeps to it."""
    size = len(hookless.dumps(("result", 0, list(range(5000)), None))) - 32
    context = pools.pool_context("spawn", limits=hookless.Limits(body=size))
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return [outcome(executor.submit(list, range(count)).result) for count in (5000, 5001)]


if __name__ == "__main__":
    programs: dict[str, Any] = {
        "honest": honest,
        "stock": stock,
        "hostile": hostile,
        "lasting": lasting,
        "limited": limited,
    }
    print(json.dumps(programs[sys.argv[1]](*sys.argv[2:])))
