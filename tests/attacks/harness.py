"""What the attacks stand on: a throw-away victim for the peer, and watched calls for hookless."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = ROOT / "bindings" / "python" / "tests"
sys.path.insert(1, str(TESTS))

import hookless  # noqa: E402 (its folder comes first)
import naive  # noqa: E402
import same  # noqa: E402
import watching  # noqa: E402

__all__ = [
    "HERE",
    "MARKER",
    "TESTS",
    "Victim",
    "arrives",
    "call",
    "expose",
    "failure",
    "inert",
    "mark",
    "naive",
    "quick",
    "refused",
    "strict_worker",
    "within",
    "worker",
]

# What a gadget makes where it runs. It could be anything else.
MARKER = "MARKER"

# A victim that takes more is stopped: long past what its attack has to show.
SECONDS, MEMORY = 20, 4 << 30

# Far above what a call here takes: what is still running then hangs.
PATIENCE = 60.0


def mark(*_: object) -> None:
    """Leave the marker in the current folder."""
    Path(MARKER).touch()


@dataclass(frozen=True)
class Victim:
    """What became of a process that trusted its input."""

    marked: bool
    """Whether the gadget ran in it."""
    hung: bool
    status: int
    seconds: float
    out: str
    err: str


def expose(attack: str, data: bytes = b"", *, seconds: float = SECONDS, memory: int = MEMORY) -> Victim:
    """Run `victim(data)` of an attack's file in a process, a folder and bounds of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "run.py"), "--victim", attack, str(memory)]
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(data, timeout=seconds)
            hung = False
        except subprocess.TimeoutExpired:
            hung = True
        took = time.monotonic() - began
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and what the gadget may have started
        except ProcessLookupError:
            pass
        if hung:
            out, err = process.communicate()
        marked = Path(folder, MARKER).exists()
    return Victim(
        marked, hung, process.returncode, took, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )


def be_victim(function: Callable[[bytes], object], memory: int) -> None:
    """Be that process: bounded, with the bytes on standard input."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    function(sys.stdin.buffer.read())


@contextmanager
def quick(seconds: float = PATIENCE) -> Iterator[None]:
    """The block ends in time, leaves no marker, and imports nothing but parts of hookless."""
    modules = set(sys.modules)
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.1f} s"
    assert not Path(MARKER).exists(), "the gadget ran"
    imported = {name for name in set(sys.modules) - modules if not name.startswith("hookless.")}
    assert not imported, f"imported {imported}"


def _calls(data: bytes, limits: hookless.Limits | None) -> Iterator[Callable[[], Any]]:
    yield lambda: hookless.loads(data, limits=limits)
    yield lambda: hookless.loads(data, limits=limits, copy=False)
    yield lambda: hookless.decode([data[:40], data[40:]], limits=limits)
    yield lambda: hookless.Decoder(limits=limits).feed(data)


def _watched(call: Callable[[], Any], size: int, limits: hookless.Limits | None) -> Any:
    """What a decoder does with the bytes, under the audit hook, and within its bounds of memory and time."""
    hookless.warm_up()
    bound = min(160 * size, (limits or hookless.Limits()).memory) + (8 << 20)
    with quick(), watching.watched():
        tracemalloc.start()
        try:
            return call()
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= bound, f"{peak} bytes of memory for {size}"


def refused(data: bytes, code: str, offset: int | None = None, limits: hookless.Limits | None = None) -> str:
    """Every way to decode refuses the bytes by that code and offset; nothing ran, and little was taken."""
    for call in _calls(data, limits):
        try:
            _watched(call, len(data), limits)
        except hookless.DecodeError as error:
            assert type(error) in (hookless.DecodeError, hookless.LimitExceeded, hookless.Truncated)
            assert error.code == code, f"{error.code} at {error.offset}, not {code}"
            assert offset is None or error.offset == offset, f"{code} at {error.offset}, not {offset}"
            at = error.offset
        else:
            raise AssertionError("it was accepted")
    return f"`{code}` at byte {at}"


def arrives(data: bytes, limits: hookless.Limits | None = None) -> list[Any]:
    """Every way to decode takes the frame, does no more, and gives what is written as the same bytes."""
    found = []
    for call in _calls(data, limits):
        value = _watched(call, len(data), limits)
        if type(value) is list and value and type(value[0]) is hookless.Frame:
            value = value[0].value
        assert hookless.dumps(value, limits=limits) == data
        found.append(value)
    return found


def inert(data: bytes, value: object, limits: hookless.Limits | None = None) -> Any:
    """It arrives as that value, by type and bits."""
    found = arrives(data, limits)
    for one in found:
        same.assert_same(one, value)
    return found[0]


def within(figure: float, unit: str, *, most: float) -> str:
    """A measured figure, held to a bound. The log's comparison leaves the figure out."""
    assert figure <= most, f"{figure} {unit} is more than {most}"
    return f"≈{figure:.2g} {unit}" if figure < 10 else f"≈{figure:.0f} {unit}"


def worker(**options: Any) -> hookless.Worker:
    """A worker whose child can import the attacks. Its sandbox is off: the transport alone must hold."""
    return hookless.Worker(paths=[HERE], isolation="none", **options)


def strict_worker() -> hookless.Worker:
    """A worker in its sandbox."""
    return hookless.Worker(paths=[HERE, TESTS])


def call(target: str, *arguments: object, deadline: float = PATIENCE, **options: Any) -> Any:
    """Call a function of an attack's file in a child of its own."""
    with worker(**options) as own, quick():
        return own.options(deadline=deadline).call(target, *arguments)


def failure(target: str, *arguments: object, deadline: float = PATIENCE, **options: Any) -> Exception:
    """What such a call raises."""
    try:
        found = call(target, *arguments, deadline=deadline, **options)
    except (hookless.HooklessError, hookless.RemoteError) as error:
        return error
    raise AssertionError(f"it returned {found!r:.100}")


def masked(text: str) -> str:
    """A text without its measured figures."""
    return re.sub(r"≈[\d.e+]+", "≈", text)
