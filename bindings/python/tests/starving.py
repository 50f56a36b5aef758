"""Refuses each allocation of CPython in turn, in every entry point.

    python starving.py loads|views|feed|dumps|encode|typed|structured [PART]

A program of its own, since what it looks for may end the process. PART picks vectors by part of a name.
It prints how many allocations it refused. `structured` (loads and dumps) goes on in another process after
each crash, for NumPy itself writes through a null pointer there. It may do so only for what it also does it
for without hookless, when it makes the same dtype; these cases are named.

CPython 3.12 and 3.13 do not outlive that many refusals in one process: Python functions of the standard
library end it (3.13.0: `PyFunction_NewWithQualName`). There each case has a process of its own, and every
fortieth one is taken.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import gc
import importlib
import importlib.util
import mmap
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import hookless
from hookless import Decoder, HooklessError, Limits, dumps, encode, loads

# What CPython's own tests refuse allocations with, in all three domains of its allocator.
_testcapi: Any = importlib.import_module("_testcapi")

LARGEST = 2_000
EACH = 1 if sys.version_info < (3, 12) else 40
CANARY = tuple(range(64))
# A decode that must be right whatever went wrong before it.
AFTER = ["after", 1.5, {"k": {1, 2}}]
AFTER_FRAME = dumps(AFTER)


@dataclass
class Call:
    """One call, in one of the forms of `made`."""

    form: str
    function: Callable[..., Any]
    argument: object
    extra: Any = None
    value: Any = None
    error: BaseException | None = None

    def starved(self, refused: int) -> bool:
        """Make the call with that allocation refused; says whether the call came so far.

        It is made from here, so that no other Python frame is in between, which would allocate as well.
        """
        function, argument, extra, form = self.function, self.argument, self.extra, self.form
        met = True
        # Empties the lists of unused objects, so that little comes without an allocation.
        gc.collect()
        _testcapi.set_nomemory(refused, refused + 1)
        try:
            if form == "limits":
                self.value = function(argument, limits=extra)
            elif form == "view":
                self.value = function(argument, limits=extra, copy=False)
            elif form == "type":
                self.value = function(argument, type=extra)
            else:
                self.value = function(argument)
        except BaseException as error:
            self.error = error
        try:
            for _ in CANARY:
                bytearray(4096)
        except MemoryError:
            met = False
        finally:
            _testcapi.remove_mem_hooks()
        return met


@dataclass
class Case:
    """A call that can be made again and again, and what it gives when there is memory."""

    name: str
    start: Callable[[], Call]
    show: Callable[[Any], object]
    expected: object = None
    judged: bool = True

    def outcome(self, call: Call) -> object:
        """What it gives, or the code of its error."""
        call.starved(1 << 30)
        if call.error is None:
            return self.show(call.value)
        assert isinstance(call.error, HooklessError), repr(call.error)
        return code_of(call.error)

    def sweep(self) -> int:
        """Refuse each allocation in turn; give how many there were."""
        # What there is now is not looked through at each of the attempts.
        gc.collect()
        gc.freeze()
        self.expected = self.outcome(self.start())
        refused, met = 0, True
        while met:
            call = self.start()
            met = call.starved(refused)
            self.judge(call, refused)
            refused += 1
        return refused

    def sweep_in_forks(self) -> tuple[int, list[int]]:
        """The same in other processes, another after each crash; gives as well which refusals ended one."""
        gc.collect()
        gc.freeze()
        self.expected = self.outcome(self.start())
        crashed: list[int] = []
        with mmap.mmap(-1, 8) as progress:
            while (status := in_fork(self.sweep_from, progress)) == -signal.SIGSEGV:
                crashed.append(read_number(progress))
                write_number(progress, crashed[-1] + 1)
            refused = read_number(progress)
        assert status == 0, f"{self.name}, allocation {refused}: status {status}"
        return refused + 1, crashed

    def sweep_apart(self) -> int:
        """The same in another process, which may not crash."""
        refused, crashed = self.sweep_in_forks()
        assert not crashed, f"{self.name}: a crash at the allocations {crashed}"
        return refused

    def sweep_from(self, progress: mmap.mmap) -> None:
        """Refuse each allocation from that one on, and keep there how far it came."""
        while True:
            refused = read_number(progress)
            call = self.start()
            met = call.starved(refused)
            if self.judged:
                self.judge(call, refused)
            if not met:
                return
            write_number(progress, refused + 1)

    def judge(self, call: Call, refused: int) -> None:
        """Fail unless the outcome is a documented one."""
        where, error = f"{self.name}, allocation {refused}", call.error
        if error is None:
            try:
                found = self.show(call.value)
            except HooklessError as cannot:
                found = repr(cannot)
            assert found == self.expected, f"{where}: another value, {call.value!r:.300}: {found!r:.300}"
        elif not is_interpreters(error):
            told = f"{where}: {type(error).__name__}: {error}"
            assert isinstance(error, HooklessError), told
            assert code_of(error) in ("out_of_memory", self.expected), told
        assert loads(AFTER_FRAME) == AFTER, where


def read_number(memory: mmap.mmap) -> int:
    return int.from_bytes(memory[:8], "little")


def write_number(memory: mmap.mmap, number: int) -> None:
    memory[:8] = number.to_bytes(8, "little")


def in_fork(run: Callable[[mmap.mmap], None], progress: mmap.mmap) -> int:
    """Run it in a process of its own; give its status: negative for a signal, 1 for an exception."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run(progress)
            status = 0
        except AssertionError as error:
            print(error, flush=True)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def code_of(error: HooklessError) -> str:
    """The code that all errors of decoding and encoding have."""
    code: str = error.code  # type: ignore[attr-defined]
    return code


def is_interpreters(error: BaseException) -> bool:
    """Whether what was refused is CPython's own: a frame object, or the traceback of the right error."""
    if type(error) is not MemoryError:
        return False
    return error.__traceback__ is None or isinstance(error.__context__, HooklessError)


def shown(value: Any) -> object:
    """Type and bytes of a value."""
    return type(value), dumps(value, limits=Limits(depth=512))


def frames(*, structured: bool = False) -> Iterator[tuple[str, bytes, Limits]]:
    """The frames of all vectors that are not too long; those with structured dtypes by themselves."""
    from test_vectors import vectors

    for folder in ("accept", "reject"):
        for parameter in vectors(folder, "decode"):
            [vector] = parameter.values
            if len(vector.frame) <= LARGEST and structured == ("'itemsize'" in repr(vector.value)):
                yield f"{folder}/{parameter.id}", vector.frame, vector.limits


def values() -> Iterator[tuple[str, Any, Limits]]:
    """The values of the accept vectors, and some that cannot be sent."""
    for name, frame, limits in frames():
        try:
            yield name, loads(frame, limits=limits), limits
        except HooklessError:
            continue
    # No live exceptions: what cannot be described of one is marked in the report, which is sent.
    outside: dict[str, Any] = {"object": object(), "in a dict": {"a": [len]}, "deep": [[[[{"k": object}]]]]}
    for name, value in outside.items():
        yield f"outside/{name}", value, Limits()


def case(
    name: str,
    form: str,
    function: Callable[..., Any],
    argument: object,
    extra: object,
    show: Callable[[Any], object] = shown,
) -> Case:
    """A case whose calls are all alike."""
    return Case(name, lambda: Call(form, function, argument, extra), show)


def cases(what: str) -> Iterator[Case]:
    """The cases of one entry point."""
    if what in ("dumps", "encode"):
        function, show = (dumps, bytes) if what == "dumps" else (encode, b"".join)
        for name, value, limits in values():
            yield case(name, "limits", function, value, limits, show)
    elif what == "typed":
        for number, (value, wanted) in enumerate(TYPED):
            yield case(f"typed/{number}", "type", loads, dumps(value), wanted, lambda found: found)
    elif what == "feed":
        for name, frame, limits in frames():
            yield Case(name, fed(frame, limits), lambda found: [shown(one.value) for one in found])
    else:
        for name, frame, limits in frames():
            yield case(name, "view" if what == "views" else "limits", loads, frame, limits)


def structured_cases() -> Iterator[tuple[Case, list[Case]]]:
    """Both ways for the vectors with structured dtypes, each with what NumPy does by itself to make those."""
    import numpy as np

    for name, frame, limits in frames(structured=True):
        value = loads(frame, limits=limits)
        dtypes = list(structures(getattr(value[0] if isinstance(value, list) else value, "dtype", None)))
        alone = [
            case(f"numpy/{name}", "plain", functools.partial(np.dtype, align=aligned), spec, None, repr)
            for spec, aligned in dtypes
        ]
        for one in alone:
            # Which exception NumPy raises is its own affair.
            one.judged = False
        yield case(f"loads/{name}", "limits", loads, frame, limits), alone
        yield case(f"dumps/{name}", "limits", dumps, value, limits, bytes), alone


def structures(dtype: Any) -> Iterator[tuple[dict[str, Any], bool]]:
    """What NumPy makes a structured dtype of, in one call; and those inside of it."""
    if dtype is None or dtype.names is None:
        return
    yield spec_of(dtype), dtype.isalignedstruct
    for name in dtype.names:
        yield from structures(dtype.fields[name][0].base)


def spec_of(dtype: Any) -> dict[str, Any]:
    """The dict for `numpy.dtype`, with dicts inside for structures inside."""
    entries = [dtype.fields[name] for name in dtype.names]
    formats: list[Any] = []
    for inner, *_ in entries:
        # Records, and what is aligned otherwise than what it is in, cannot be made in the same call.
        base = inner.base
        alike = (base.type.__name__, base.isalignedstruct) == ("void", dtype.isalignedstruct)
        own = base.names is None or not alike
        formats.append(inner if own else (spec_of(base), inner.shape))
    offsets = [entry[1] for entry in entries]
    spec = {"names": list(dtype.names), "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize}
    if any(len(entry) > 2 for entry in entries):
        spec["titles"] = [entry[2] if len(entry) > 2 else None for entry in entries]
    return spec


def sweep_structured(part: str) -> tuple[list[int], list[str]]:
    """How many allocations were refused in each case, and what failed."""
    found, failed, crashed = [], [], []
    for one, alone in structured_cases():
        if part not in one.name:
            continue
        try:
            refused, crashes = one.sweep_in_forks()
        except AssertionError as error:
            failed.append(str(error))
            continue
        found.append(refused)
        if crashes and any(dtype.sweep_in_forks()[1] for dtype in alone):
            crashed.append(f"{one.name} {crashes}")
        elif crashes:
            failed.append(f"{one.name}: ended at allocations {crashes}, and NumPy alone is not")
    print("ended by NumPy itself, at which allocations:", *crashed, sep="\n    ", file=sys.stderr)
    return found, failed


def fed(frame: bytes, limits: Limits) -> Callable[[], Call]:
    """Calls with all of a frame but its head, for a decoder that has that."""

    def start() -> Call:
        decoder = Decoder(limits=limits)
        try:
            assert decoder.feed(frame[:32]) == []
        except HooklessError:
            return Call("plain", Decoder(limits=limits).feed, frame)
        return Call("plain", decoder.feed, frame[32:])

    return start


class Colour(enum.Enum):
    RED = 1


@dataclass
class Point:
    x: int
    y: float
    tags: list[str] = field(default_factory=list)


TYPED: list[tuple[Any, Any]] = [
    ([1, 2, 2**70], list[int]),
    ({"a": 1.5, "b": -0.0}, dict[str, float]),
    ({(1, "a"), (2, "b")}, set[tuple[int, str]]),
    (Point(1, 2.5, ["t"]), Point),
    ({"x": 1, "y": 2.5}, Point),
    ([Colour.RED, None], list[Colour | None]),
    (datetime.datetime(2024, 2, 3, 4, 5, tzinfo=datetime.UTC), datetime.datetime),
    (decimal.Decimal("1.50"), decimal.Decimal | str),
    ([1, "a"], list[int]),
    ({"x": "no"}, Point),
]


def sweep(what: str, part: str) -> tuple[list[int], list[str]]:
    """How many allocations were refused in each case, and what failed."""
    found, failed = [], []
    for one in list(cases(what))[::EACH]:
        if part in one.name:
            try:
                found.append(one.sweep() if EACH == 1 else one.sweep_apart())
            except AssertionError as error:
                failed.append(str(error))
    return found, failed


def main() -> None:
    """Sweep what the command line names."""
    what, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    if importlib.util.find_spec("numpy") is not None:
        importlib.import_module("ml_dtypes")
        hookless.use_numpy()
    hookless.warm_up()
    gc.freeze()
    found, failed = sweep_structured(part) if what == "structured" else sweep(what, part)
    print(*failed, sep="\n", end="")
    assert found, f"no case of {what} has {part} in its name"
    print(f"{what}: {len(found)} cases, {sum(found)} allocations refused")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
