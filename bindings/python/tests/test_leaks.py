"""Nothing stays behind: objects, references and memory after many rounds of every kind and of every error.

HOOKLESS_LEAK_ROUNDS sets how many rounds each group has in all (`make long`: 100 000; 3 000 otherwise).
"""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hookless
from hookless import Decoder, HooklessError, Limits, dumps, encode, loads
from samples import frames
from starving import TYPED
from test_vectors import Vector, vectors

ROUNDS = int(os.environ.get("HOOKLESS_LEAK_ROUNDS", "3000"))
# Rounds before the first measure: caches that are filled once, such as NumPy's and PyO3's.
WARM = 3
# What may differ by chance, of allocations and of bytes of the process.
BLOCKS = 200
RESIDENT = 8 << 20

Action = Callable[[], object]


def resident() -> int:
    """Bytes of the process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def shared() -> list[object]:
    """What every value leans on, and whose counts must come back; those of 3.12's immortals never change."""
    classes = [
        hookless.Record,
        hookless.NamedRecord,
        hookless.EnumValue,
        hookless.RemoteError,
        hookless.Limits,
    ]
    errors = [hookless.DecodeError, hookless.EncodeError, hookless.LimitExceeded, hookless.Truncated]
    return [
        None,
        True,
        False,
        ...,
        (),
        "",
        b"",
        0,
        int,
        float,
        str,
        list,
        dict,
        tuple,
        set,
        frozenset,
        *classes,
        *errors,
    ]


def settle() -> None:
    """Empties CPython's cache of attributes, which holds the last 4096 names, and collects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        sys._clear_type_cache()
    gc.collect()


def swallowed(action: Action) -> None:
    """Does it, and drops its value or its error."""
    try:
        action()
    except HooklessError:
        pass
    except hookless.RemoteError:
        pass


def check(actions: list[Action]) -> None:
    """Do all of them again and again; objects, references, blocks and resident bytes stay."""
    watched = shared()

    def rounds(count: int) -> None:
        for _ in range(count):
            for action in actions:
                swallowed(action)

    def measure() -> tuple[int, list[int], int]:
        settle()
        return len(gc.get_objects()), [sys.getrefcount(one) for one in watched], sys.getallocatedblocks()

    count = max(40, ROUNDS // len(actions))
    rounds(WARM)
    measure()
    objects, references, blocks = measure()
    before = resident()
    rounds(count)
    after = resident()
    objects_now, references_now, blocks_now = measure()
    # A leak of each round would show `count` times.
    allowed = min(count // 2 + 1, 20)
    assert objects_now - objects < allowed, f"{objects_now - objects} objects more"
    for one, was, now in zip(watched, references, references_now, strict=True):
        assert abs(now - was) < allowed, f"{one!r}: {was} references, then {now}"
    assert blocks_now - blocks < min(BLOCKS, count), f"{blocks_now - blocks} blocks more"
    assert after - before < RESIDENT, f"{(after - before) >> 10} KiB more resident"


def picked(folder: str, entry: str = "decode") -> list[Vector]:
    """The vectors that are not too long to be done often."""
    found = [parameter.values[0] for parameter in vectors(folder, entry)]
    return [vector for vector in found if len(vector.frame) < 2_000]


def decoding(found: list[Vector], **options: Any) -> list[Action]:
    """One `loads` each."""
    return [lambda v=vector: loads(v.frame, limits=v.limits, **options) for vector in found]  # type: ignore[misc]


def accepted() -> Iterator[tuple[Any, Limits]]:
    """The values of the accept vectors that this host can hold."""
    for vector in picked("accept"):
        try:
            yield loads(vector.frame, limits=vector.limits), vector.limits
        except HooklessError:
            continue


def test_decoding_every_kind() -> None:
    check(decoding(picked("accept")))


def test_views_of_every_kind() -> None:
    check(decoding(picked("accept"), copy=False))


def test_every_refusal() -> None:
    check(decoding(picked("reject")))


def test_encoding_every_kind() -> None:
    both = (dumps, encode)
    check([lambda v=v, m=m, f=f: f(v, limits=m) for v, m in accepted() for f in both])  # type: ignore[misc]


def test_every_refusal_of_encoding() -> None:
    """Of each kind: a type, a depth, a size, a `default` that raises, a container that changes."""
    changing: list[Any] = []

    def change(value: object) -> object:
        changing.append(value)
        return 1

    def fail(value: object) -> object:
        raise ValueError(value)

    def changed() -> object:
        changing[:] = [object(), 2]
        return dumps(changing, default=change)

    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    check(
        [
            lambda: dumps(object()),
            lambda: dumps({"a": [1, {"b": object}]}),
            lambda: dumps([memoryview(b"x")]),
            lambda: dumps(deep),
            lambda: dumps([1] * 100, limits=Limits(nodes=10)),
            lambda: dumps(b"x" * 1000, limits=Limits(body=100)),
            lambda: dumps(1 << 4000, limits=Limits(int_bytes=100)),
            lambda: dumps({"a": object()}, default=fail),
            changed,
        ]
    )


def test_streams_that_are_broken_off() -> None:
    """A decoder dropped inside a frame, at each byte in turn, one that is dead, and one that is finished."""

    def broken(frame: bytes, end: int) -> Action:
        def feed() -> object:
            decoder = Decoder()
            decoder.feed(frame[:end])
            decoder.finish()
            return decoder.feed(b"")

        return feed

    some = {name: frame for name, frame in frames().items() if len(frame) < 400 or name == "region array"}
    steps = 40
    check([broken(frame, len(frame) * step // steps) for frame in some.values() for step in range(steps + 1)])


def test_remote_errors_raised_and_dropped() -> None:
    """With cause, context, frames and members; shown, raised by the host, and sent on."""
    error = ValueError("no", 1)
    error.__cause__ = KeyError("k")
    error.__context__ = OSError(2, "gone", "file")
    group = ExceptionGroup("some", [error, TypeError("t")])
    sent = [dumps(error), dumps(group)]

    def raise_it(frame: bytes) -> object:
        try:
            raise loads(frame)
        except Exception as caught:
            return str(caught), repr(caught), dumps(caught)

    check([lambda frame=frame: raise_it(frame) for frame in sent])  # type: ignore[misc]


def test_typed_results() -> None:
    """Those that fit and those that do not."""
    sent = [(dumps(value), wanted) for value, wanted in TYPED]
    check([lambda f=f, w=w: loads(f, type=w) for f, w in sent])  # type: ignore[misc]


def test_traced_memory_of_decoding_is_flat() -> None:
    """What tracemalloc sees of Python's allocations is the same after each round."""
    actions = decoding(picked("accept")[::7] + picked("reject")[::7])
    for action in actions * WARM:
        swallowed(action)
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(8):
            for action in actions:
                swallowed(action)
            settle()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert max(sizes[2:]) - sizes[1] < 4096, sizes


@pytest.mark.parametrize("pure", [True, False])
def test_dropped_paths_leave_nothing(pure: bool) -> None:
    """Names of paths are not interned, which on 3.12 would keep them for ever."""
    import pathlib

    kind = pathlib.PurePosixPath if pure else pathlib.Path
    marker = "q" * 12
    frame = dumps([kind(f"/{marker}{number:07}/{'y' * 30}") for number in range(100)])
    count = max(20, ROUNDS * 10 // 100)

    def renamed(number: int) -> bytes:
        return frame.replace(marker.encode(), f"r{number:011}".encode())

    for number in range(10):
        loads(renamed(number))
    gc.collect()
    before = resident()
    blocks = sys.getallocatedblocks()
    for number in range(10, count):
        loads(renamed(number))
    gc.collect()
    assert sys.getallocatedblocks() - blocks < BLOCKS
    assert resident() - before < RESIDENT
