"""Finalisers and signal handlers that call back into hookless, wherever they come."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

import hookless
import naive

# What the first decode of a process needs is imported and looked up, and the collector runs in the midst.
FIRST = """
import gc, importlib.util, sys
import hookless

if importlib.util.find_spec("numpy"):
    import numpy

frame = bytes.fromhex(sys.stdin.read())
values = []

class Finaliser:
    def __init__(self):
        self.cycle = self
    def __del__(self):
        values.append(use())

def use():
    value = hookless.loads(frame)
    return value.remote.frames if isinstance(value, hookless.RemoteError) else value

def grow(frame, event, argument):
    # From CPython 3.12 on the collector waits for Python code: this is some, in each module.
    gc.collect(0)

gc.collect()
made = [Finaliser() for _ in range(50)]
sys.setprofile(grow)
gc.set_threshold(1)
while made:
    made.pop()
    mine = use()
gc.set_threshold(0)
sys.setprofile(None)
gc.collect()
assert len(values) == 50, len(values)
assert {type(value) for value in values} == {type(mine)}
print("done")
"""

FRAMES = {
    "a list": hookless.dumps([[], {}]),
    "a date": hookless.dumps(date(2021, 1, 1)),
    "a Decimal": hookless.dumps({Decimal("1.5"): 1}),
    "a time zone": hookless.dumps(ZoneInfo("UTC")),
    "an array": naive.frame(naive.ndarray(naive.dtype("i", "<", 8), [2], bytes(16))),
    "a failure": naive.frame(
        naive.exception(naive.entry(message="x", frames=[naive.trace_frame("f.py", 1, "f")] * 20))
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_finaliser_decodes_while_the_first_decode_is_under_way(name: str) -> None:
    """It may not wait for what waits for it."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST],
        input=FRAMES[name].hex(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


# At each call while a module of a first decode is half imported, the same is decoded again.
IMPORTING = """
import importlib.util, sys
import hookless

if importlib.util.find_spec("numpy"):
    import numpy

frame = bytes.fromhex(sys.stdin.read())
seen, wrong, importing, inside = set(), set(), [], False

def use():
    (found,) = hookless.Decoder().feed(frame)
    return hookless.dumps(found.value)

def profile(where, event, argument):
    global inside
    if inside or event not in ("call", "return"):
        return
    if where.f_code.co_name == "<module>":
        if event == "return":
            importing.pop()
        else:
            importing.append(where.f_globals["__name__"])
    if not importing:
        return
    inside = True
    try:
        seen.add("decoded" if use() == frame else "changed")
    except hookless.ProtocolError as error:
        seen.add(error.code)
    except BaseException as error:
        wrong.add((importing[-1], repr(error)))
    inside = False

sys.setprofile(profile)
mine = use()
sys.setprofile(None)
assert mine == use() == frame
assert not wrong, wrong
assert seen <= {"decoded", "busy"} and "busy" in seen, seen
print("done")
"""


@pytest.mark.parametrize("name", FRAMES)
def test_a_decode_in_the_midst_of_an_import_that_decoding_needs(name: str) -> None:
    """It works, or is told `busy`; the decode that is under way works, and so does every later one."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING],
        input=FRAMES[name].hex(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


# Signals at every point of a call and of a close: some come where the turn is taken and not yet noted.
STORM = """
import faulthandler, signal, sys, time
import hookless

faulthandler.dump_traceback_later(50, exit=True)
inside = False
count = {"value": 0, "refused": 0}

def handler(*_):
    global inside
    if inside:
        return
    inside = True
    try:
        if sys.argv[1] == "close":
            worker.close()
        else:
            assert worker.call("builtins:len", "xy") == 2
        count["value"] += 1
    except hookless.HooklessError:
        count["refused"] += 1
    finally:
        inside = False

signal.signal(signal.SIGALRM, handler)
end = time.monotonic() + 5
while time.monotonic() < end:
    worker = hookless.Worker(isolation="none")
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.00017)
    try:
        for _ in range(10_000 if sys.argv[1] == "call" else 1):
            assert worker.call("builtins:len", "x") == 1
            if time.monotonic() > end:
                break
        worker.close()
    except hookless.HooklessError as error:
        # A handler has closed it, or is not allowed to be called from within.
        assert sys.argv[1] == "close", error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    worker.close()
assert min(count.values()) > 0, count
print("done")
"""


@pytest.mark.parametrize("what", ["call", "close"])
def test_a_signal_handler_uses_the_worker_that_is_in_use(what: str) -> None:
    """It is refused, or has its turn; nobody waits for ever."""
    command = [sys.executable, "-c", STORM, what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
