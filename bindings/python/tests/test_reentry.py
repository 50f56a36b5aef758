"""Code of the host that runs in the middle of a decode or an encode, and calls back: no crash, and the right
outcome.

Where such code runs: finalisers and weak references (the collector starts wherever memory is taken), signal
handlers, hooks of profilers, `default=`, the buffers of other objects.
Sources: msgpack/msgpack-python#695, msgpack/msgpack-python#677, msgpack/msgpack-python#734.
"""

from __future__ import annotations

import array
import gc
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import hookless
from hookless import Decoder, dumps, loads

# Enough containers for the collector to start many times.
LARGE = [{"k": [number, (number, "t")], "s": {number}} for number in range(4_000)]
FRAME = dumps(LARGE)
# From 3.12 on the collector waits for Python's own code, of which decoding has little.
OFTEN = 5 if sys.version_info < (3, 12) else 0


@contextmanager
def collecting(call: Callable[[], object]) -> Iterator[list[int]]:
    """Does something at each start of the collector, which runs in the middle of what is done meanwhile."""
    before = gc.get_threshold()
    runs: list[int] = []
    busy = False

    def callback(phase: str, info: dict[str, int]) -> None:
        nonlocal busy
        if phase == "start" and not busy:
            busy = True
            runs.append(info["generation"])
            call()
            busy = False

    gc.collect()
    gc.callbacks.append(callback)
    gc.set_threshold(50, 5, 5)
    try:
        yield runs
    finally:
        gc.callbacks.remove(callback)
        gc.set_threshold(*before)


def test_a_busy_decoder_that_is_fed_by_the_collector_refuses() -> None:
    """C127: ProtocolError for the one inside; the frame outside is whole."""
    decoder = Decoder()
    errors: list[BaseException] = []

    def feed() -> None:
        try:
            decoder.feed(FRAME)
        except hookless.HooklessError as error:
            errors.append(error)

    decoder.feed(FRAME[:100])
    with collecting(feed) as runs:
        [frame] = decoder.feed(FRAME[100:])
    assert frame.value == LARGE
    assert len(runs) > OFTEN
    assert {type(error) for error in errors} <= {hookless.ProtocolError}
    assert {getattr(error, "code", "") for error in errors} <= {"busy"}
    assert len(errors) >= OFTEN
    decoder.finish()


@pytest.mark.parametrize("copy", [True, False])
def test_a_decode_inside_a_decode(copy: bool) -> None:
    """C118: two decodes, and an encode, share nothing."""
    inner: list[object] = []

    def both() -> None:
        inner.append(loads(dumps(LARGE[:20])))

    with collecting(both) as runs:
        assert loads(FRAME, copy=copy) == LARGE
    assert len(runs) > OFTEN
    assert all(one == LARGE[:20] for one in inner)


def test_finalisers_and_weak_references_that_call_back() -> None:
    """A cycle whose `__del__` and callback decode dies in the middle of another decode."""
    seen: list[object] = []

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            seen.append(loads(dumps([1, {2}])))

    kept = []

    def more() -> None:
        cycle = Cycle()
        kept.append(weakref.ref(cycle, lambda _: seen.append(loads(dumps((3,))))))

    with collecting(more):
        for _ in range(5):
            assert loads(FRAME) == LARGE
            assert dumps(LARGE) == FRAME
    gc.collect()
    assert seen.count([1, {2}]) > OFTEN


def test_the_collector_finds_no_half_built_list() -> None:
    """Whatever it finds can be walked: no item is null."""
    walked = 0

    def walk() -> None:
        nonlocal walked
        for one in gc.get_objects():
            if type(one) in (list, tuple, dict, set):
                walked += len(list(one))

    with collecting(walk) as runs:
        assert loads(dumps(LARGE[:300])) == LARGE[:300]
    assert runs
    assert walked


def test_a_profiler_that_calls_back() -> None:
    """Hooks see the calls into hookless's own Python code, and decode."""
    record = dumps([hookless.Record("m", "C", {"x": number}) for number in range(50)])
    calls = 0
    inside = False

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal calls, inside
        if not inside:
            inside = True
            calls += 1
            assert loads(dumps([1.5, {"a": 2}])) == [1.5, {"a": 2}]
            inside = False

    sys.setprofile(profile)
    try:
        value = loads(record)
    finally:
        sys.setprofile(None)
    assert dumps(value) == record
    assert calls > 50


def test_a_signal_handler_that_feeds_the_busy_decoder() -> None:
    """Signals are looked at every 65 536 nodes: what the handler does is refused, and the frame is whole."""
    decoder = Decoder()
    frame = dumps([[]] * 1_000_000)
    codes: list[str] = []

    def handler(signum: int, where: object) -> None:
        try:
            decoder.feed(b"")
        except hookless.ProtocolError as error:
            codes.append(error.code)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        [found] = decoder.feed(frame)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(found.value) == 1_000_000
    assert set(codes) <= {"busy"}


def test_one_decoder_from_many_threads() -> None:
    """Each feed is whole or refused."""
    frame = dumps(LARGE[:50])
    decoder, found, codes = Decoder(), [], set()

    def work() -> None:
        for _ in range(50):
            try:
                found.extend(decoder.feed(frame))
            except hookless.ProtocolError as error:
                codes.add(error.code)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert codes <= {"busy"}
    assert found
    assert all(one.value == LARGE[:50] for one in found)


class Odd:
    """What `default` is asked about."""


def shrinking(make: Callable[[], Any], empty: Callable[[Any], object]) -> None:
    """A container that `default` empties in the middle of its walk is refused, or was past already."""
    value = make()
    with pytest.raises(hookless.EncodeError) as caught:
        dumps([value], default=lambda _: empty(value) or 1)
    assert caught.value.code == "mutated"
    # The encoder holds nothing of it.
    assert loads(dumps([1])) == [1]


def test_containers_that_change_under_the_walk() -> None:
    """Lists, dicts, deques and ordered dicts."""
    import collections

    shrinking(lambda: [Odd(), *range(100)], lambda value: value.clear())
    shrinking(lambda: [Odd(), 1], lambda value: value.append(2))
    shrinking(lambda: {"a": Odd(), **{str(n): n for n in range(100)}}, lambda value: value.clear())
    shrinking(lambda: {"a": Odd(), "b": 1}, lambda value: value.update(c=2))
    shrinking(lambda: collections.deque([Odd(), *range(100)]), lambda value: value.clear())
    shrinking(lambda: collections.OrderedDict(a=Odd(), b=1, c=2), lambda value: value.clear())


@pytest.mark.parametrize("size", [100, 100_000])
def test_buffers_that_change_under_the_walk(size: int) -> None:
    """Large ones cannot be resized while they are sent; small ones have been copied."""
    value: list[Any] = [bytearray(b"a" * size), array.array("i", [7] * size), Odd()]

    def resize(_: object) -> int:
        for one in value[:2]:
            try:
                del one[:]
            except BufferError:
                continue
        return 1

    sent = loads(dumps(value, default=resize))
    assert sent == [bytearray(b"a" * size), array.array("i", [7] * size), 1]


def test_a_buffer_released_in_the_middle() -> None:
    """A memoryview that is released before it is decoded: an error, no crash."""
    view = memoryview(bytearray(FRAME))
    view.release()
    with pytest.raises(ValueError, match="released"):
        loads(view)
    owner = bytearray(FRAME)
    parts = [memoryview(owner)[:50], memoryview(owner)[50:]]
    with collecting(lambda: parts[0].tobytes()):
        assert hookless.decode(parts) == LARGE
    with pytest.raises(BufferError):
        owner.clear()


def test_threads_that_change_what_is_being_encoded() -> None:
    """Whole, or `mutated`: the walk lets other threads run only where Python code runs."""
    value: list[Any] = [Odd() for _ in range(200)]
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            value.append(1)
            value.pop()

    thread = threading.Thread(target=change)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    outcomes: set[int | str] = set()
    try:
        for _ in range(100):
            try:
                outcomes.add(len(loads(dumps(value, default=lambda _: 1))))
            except hookless.EncodeError as error:
                outcomes.add(error.code)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)
    assert outcomes <= {200, 201, "mutated"}, outcomes
