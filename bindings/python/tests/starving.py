"""Refuses each allocation of CPython in turn, in every entry point.

    python starving.py loads|views|feed|dumps|encode|typed [PART]

A program of its own, since what it looks for may end the process. PART picks vectors by part of a name.
It prints how many allocations it refused.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import hookless
from hookless import Decoder, HooklessError, Limits, dumps, encode, loads

# What CPython's own tests refuse allocations with, in all three domains of its allocator.
_testcapi: Any = importlib.import_module("_testcapi")

LARGEST = 2_000
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


def frames() -> Iterator[tuple[str, bytes, Limits]]:
    """The frames of all vectors that are not too long, and that NumPy can bear."""
    from test_vectors import vectors

    for folder in ("accept", "reject"):
        for parameter in vectors(folder, "decode"):
            [vector] = parameter.values
            # NumPy itself writes through a null pointer when there is no memory for a structured dtype.
            if len(vector.frame) <= LARGEST and "'fields'" not in repr(vector.value):
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


def main() -> None:
    """Sweep what the command line names."""
    what, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    if importlib.util.find_spec("numpy") is not None:
        importlib.import_module("ml_dtypes")
        hookless.use_numpy()
    hookless.warm_up()
    gc.freeze()
    found, failed = [], []
    for one in cases(what):
        if part in one.name:
            try:
                found.append(one.sweep())
            except AssertionError as error:
                failed.append(str(error))
    print(*failed, sep="\n", end="")
    assert found, f"no case of {what} has {part} in its name"
    print(f"{what}: {len(found)} cases, {sum(found)} allocations refused")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
