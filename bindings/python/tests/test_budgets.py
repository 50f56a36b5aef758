"""Budgets of a feed, a call and a session, beside those of a frame."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

import hookless
import naive
from hookless import Decoder, Limits, Worker, dumps
from hookless._output import BUDGET, MARK, Outlet, Output

FRAME = dumps([None, "x"])
# Frame, list, None, text of one character.
EACH = 128 + 88 + 32 + 73


def test_l10_frames_of_one_feed_at_the_limit_and_one_past() -> None:
    """All of them; or those before it, and the error on the next call."""
    decoder = Decoder(limits=Limits(undelivered=5 * EACH))
    for _ in range(3):
        assert [frame.value for frame in decoder.feed(FRAME * 5)] == [[None, "x"]] * 5
    decoder = Decoder(limits=Limits(undelivered=5 * EACH - 1))
    assert len(decoder.feed(FRAME * 5)) == 4
    with pytest.raises(hookless.LimitExceeded) as caught:
        decoder.feed(b"")
    assert (caught.value.code, caught.value.offset, caught.value.path) == ("undelivered_limit", 34, "$[1]")


def test_l10_arrays_of_the_region_count() -> None:
    """By their data length, before memory for them is reserved."""
    large = dumps(bytes(1 << 20))
    each = 128 + 96 + (1 << 20)
    assert len(Decoder(limits=Limits(undelivered=3 * each)).feed(large * 3)) == 3
    decoder = Decoder(limits=Limits(undelivered=3 * each - 97))
    assert len(decoder.feed(large * 3)) == 2
    with pytest.raises(hookless.LimitExceeded) as caught:
        decoder.finish()
    assert (caught.value.code, caught.value.offset) == ("undelivered_limit", 0)


def test_l10_one_frame_alone_never_meets_it() -> None:
    """Nothing waits beside it, also in a session: each answer is taken before the next is asked for."""
    least = Limits(undelivered=0)
    assert hookless.loads(FRAME, limits=least) == hookless.decode([FRAME], limits=least) == [None, "x"]
    assert len(Decoder(limits=least).feed(FRAME)) == 1
    with Worker(isolation="none", limits=least) as worker:
        for number in range(5):
            assert worker.call("builtins:str", number) == str(number)


@pytest.mark.parametrize("past", [0, 1])
def test_l10_what_waits_in_a_session_at_the_limit_and_one_past(children: str, past: int) -> None:
    """Two items that are not asked for yet, and the answer of a call between them."""
    size = 1 << 20
    most = 2 * (128 + 96 + size) + 128 + 40

    def ask() -> None:
        # The first of them may be answered before there is a second item.
        for _ in range(10):
            assert worker.call("jobs:add", 1) == 2

    with Worker(paths=[children], isolation="none", limits=Limits(undelivered=most - past)) as worker:
        stream = worker.stream("telling:blocks", 1000, size)
        if past:
            with pytest.raises(hookless.LimitExceeded) as caught:
                ask()
            assert caught.value.code == "undelivered_limit" and not worker.is_alive
        else:
            ask()
            assert [next(stream) for _ in range(2)] == [bytes(size), b"\1" * size]


@pytest.mark.parametrize("past", [0, 1])
def test_the_output_of_a_call_at_its_budget_and_one_past(past: int) -> None:
    """16 MiB are handed on; then one mark, and nothing."""
    output, outlet = Output(), Outlet()
    output.outlets.append(outlet)
    for index in (0, 1):
        output.keep(index, bytes(BUDGET // 2))
        assert outlet.take() == (index, bytes(BUDGET // 2))
    assert output.dropped == 0 and not outlet
    for _ in range(3):
        output.keep(0, b"x" * past)
    assert [outlet.take() for _ in range(len(outlet))] == [(0, MARK)] * past
    assert output.dropped == 3 * past
    # The next call has its own.
    output.outlets.remove(outlet)
    output.outlets.append(Outlet())
    output.keep(1, b"again")
    assert output.outlets[0].take() == (1, b"again") and not outlet


def test_output_that_waits_is_bounded_with_its_pieces() -> None:
    """A listener that is busy holds up no more than the budget, each piece with 128 bytes beside its own."""
    output, outlet = Output(), Outlet()
    output.outlets.append(outlet)
    pieces = BUDGET // 129 + 1
    for _ in range(pieces):
        output.keep(0, b"x")
    assert (len(outlet), output.dropped) == (pieces, 0)
    output.keep(0, b"x")
    assert (len(outlet), output.dropped) == (pieces + 1, 1)
    assert [outlet.take()[1] for _ in range(len(outlet))][-2:] == [b"x", MARK]


WRONG: list[tuple[str, Callable[[Decoder], object], type[Exception], str]] = [
    ("too large", lambda one: one.feed(FRAME + dumps("x" * 99)), hookless.LimitExceeded, "body_limit"),
    ("too much", lambda one: one.feed(FRAME + dumps([1] * 80)), hookless.LimitExceeded, "memory_limit"),
    ("malformed", lambda one: one.feed(FRAME + b"HTTP/1.1"), hookless.DecodeError, "bad_magic"),
    ("cut short", lambda one: one.feed(FRAME + FRAME[:-1]), hookless.Truncated, "truncated"),
]


@pytest.mark.parametrize(("name", "feed", "kind", "code"), WRONG, ids=[one[0] for one in WRONG])
def test_c149_too_large_is_not_malformed(
    name: str, feed: Callable[[Decoder], object], kind: type[Exception], code: str
) -> None:
    """The frame before it arrives, and what is wrong with the next has a class and a code of its own.

    Source: anomalyco/opencode#36442.
    """
    decoder = Decoder(limits=Limits(body=90, memory=2000))
    frames = feed(decoder)
    assert isinstance(frames, list) and [frame.value for frame in frames] == [[None, "x"]]
    with pytest.raises(hookless.DecodeError) as caught:
        decoder.finish()
    assert type(caught.value) is kind
    assert caught.value.code == code


FLOODED = """
import sys
import hookless

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

folder, first, then = sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
limits = hookless.Limits.strict()
before = None
for _ in range(4):
    with hookless.Worker(paths=[folder], isolation="none", limits=limits, stall=1.0) as worker:
        worker.call("builtins:len", "x")
        before = before or peak()
        try:
            # The first may be answered: what comes after that answer is the next one's error.
            worker.options(deadline=5.0).call("floods:pour", first, then)
            worker.options(deadline=5.0).call("builtins:len", "x")
        except hookless.HooklessError as error:
            print(type(error).__name__, getattr(error, "code", ""))
print(peak() - before)
"""

RESULT = naive.frame(naive.NIL, kind=naive.RESULT, call_id=2)
FLOODS = {
    "garbage": (b"", b"\xa5\x5a" * 8, "DecodeError bad_magic"),
    "a body past the limit": (
        naive.frame(b"", kind=naive.RESULT, call_id=2, body_length=(16 << 20) + 1),
        b"\x90",
        "LimitExceeded body_limit",
    ),
    "a body of lists": (
        naive.frame(b"\xdd\x00\xf0\x00\x00", kind=naive.RESULT, call_id=2, body_length=16 << 20),
        b"\x90",
        "LimitExceeded",
    ),
    "an array that does not come": (
        naive.frame(
            naive.ndarray(naive.dtype("u", "|", 1), [1 << 27], b""),
            kind=naive.RESULT,
            call_id=2,
            data_length=1 << 27,
        ),
        b"",
        "Stalled",
    ),
    # unknown_call or unexpected_frame: before the next call is sent, or after (S6).
    "answers without end": (RESULT, RESULT, "ProtocolError un"),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_child_that_pours_bytes_takes_bounded_memory(children: str, name: str) -> None:
    """At most the strict body and memory, 16 + 64 MiB, and the 8 of the promise: four children in turn."""
    first, then, told = FLOODS[name]
    done = subprocess.run(
        [sys.executable, "-c", FLOODED, children, first.hex(), then.hex()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *errors, grown = done.stdout.splitlines()
    assert len(errors) == 4 and all(error.startswith(told) for error in errors), done.stdout
    assert int(grown) << 10 < 88 << 20, f"{grown} KiB"
